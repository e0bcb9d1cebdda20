"""Serves over HTTP on this machine, and refuses strangers.

Every user of the machine can reach a port on loopback, and so can any page in a browser: by a form, by a script, or
under a name of its own that leads to this machine. So each request must show the token, be addressed to this server by
a loopback name, and, where a page sent it, come from a page of this machine.
"""

from __future__ import annotations

import signal
from collections.abc import Callable
from urllib.parse import urlsplit

import anyio
import uvicorn
from mcp.server.mcpserver import MCPServer
from mcp.server.transport_security import TransportSecuritySettings
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from clew.faces.daemon.auth import same_token
from clew.faces.daemon.lock import listening
from clew.wire.endpoint import LOOPBACK, TcpEndpoint

PATH = "/mcp"
MAX_BODY_BYTES = 1024 * 1024
SHUTDOWN_S = 5


def serve_http(server: MCPServer, address: TcpEndpoint, token: str, announce: Callable[[str], None]) -> None:
    """Serves until the process is told to stop; `announce` gets the URL once the port is open."""
    with listening(address) as (listener, bound):
        assert isinstance(bound, TcpEndpoint)  # what a TCP endpoint becomes once it is bound
        app = server.streamable_http_app(
            streamable_http_path=PATH, max_request_body_size=MAX_BODY_BYTES, transport_security=_CHECKED_BEFORE
        )
        config = uvicorn.Config(
            Guard(app, token, bound.port),
            log_level="warning",
            access_log=False,
            ws="none",
            server_header=False,
            timeout_graceful_shutdown=SHUTDOWN_S,
        )
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, _ignore_signal)
        announce(f"http://{str(bound).removeprefix('tcp:')}{PATH}")
        anyio.run(uvicorn.Server(config).serve, [listener])


_CHECKED_BEFORE = TransportSecuritySettings(enable_dns_rebinding_protection=False)
"""The guard checks Host and Origin for every path; the SDK's own check knows no letter case and no port."""


class Guard:
    """Refuses every request without the token or from a foreign page, before anything else sees it."""

    def __init__(self, app: ASGIApp, token: str, port: int) -> None:
        self._app = app
        self._token = token
        self._hosts = {f"{_bracket(name)}:{port}" for name in LOOPBACK}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        refusal = self._refusal(Headers(scope=scope)) if scope["type"] == "http" else None
        await (refusal or self._app)(scope, receive, send)

    def _refusal(self, headers: Headers) -> PlainTextResponse | None:
        host = _only(headers, "host")
        if host is None or host.lower() not in self._hosts:
            return PlainTextResponse("This server answers only to a loopback name and its own port.", 403)
        if "origin" in headers and not _is_loopback(_only(headers, "origin")):
            return PlainTextResponse("This server takes no requests from pages of other machines.", 403)
        scheme, _, given = (_only(headers, "authorization") or "").partition(" ")
        if scheme.lower() != "bearer" or not same_token(given.strip(), self._token):
            return PlainTextResponse(
                "This server asks for its token: Authorization: Bearer TOKEN.", 401, {"WWW-Authenticate": "Bearer"}
            )
        return None


def _only(headers: Headers, name: str) -> str | None:
    """The value of a header that occurs once; None for a repeated one, because nobody knows which value counts."""
    values = headers.getlist(name)
    return values[0] if len(values) == 1 else None


def _is_loopback(origin: str | None) -> bool:
    try:
        parts = urlsplit(origin or "")
        return parts.scheme in ("http", "https") and parts.hostname in LOOPBACK and parts.username is None
    except ValueError:
        return False


def _bracket(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _ignore_signal(_: int, __: object) -> None:
    """The server repeats the signal that stopped it once it has closed; there is nothing left to do then."""
