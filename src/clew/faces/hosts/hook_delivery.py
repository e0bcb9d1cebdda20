"""The way of an event from a hook to the daemon; into the spool where no daemon takes it.

Every hook loads this module, so it imports nothing that takes time. Redaction takes time to load, and only an event on
its way to the disk needs it here.
"""

from __future__ import annotations

import os
import time

from clew.faces.hosts.hook_wire import CONFLICT, FOR_GOOD, Daemon, is_own_endpoint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from clew.core.collections import Collection
    from clew.wire.spool import Spool

_OWN = "spool"
"""The folder of the spool, named here as well, so that a hook loads the spool only where there is something in it."""
_METHODS = ("ingest", "capture", "add_hint")
_SPOOL_S = 0.25
"""The part of a hook's time that is kept for the spool, in case a daemon does not answer."""
_SETTLE_SHARE = 0.3
"""The share of the remaining time in which older events may go first."""
FAILURES = (OSError, ValueError, LookupError, TypeError)
"""A daemon that went away in the middle of an answer, or that answers nonsense."""
_UNSURE = -32014, -32016, -32017
"""Refusals that say nothing about the event: no right, no time, too busy."""


class Delivery:
    """One connection to the daemon, if one answers, and the spool beside it."""

    def __init__(self, data_dir: str, deadline: float, endpoint: str | None) -> None:
        self._data_dir = data_dir
        self._endpoint = endpoint
        self.daemon = self._connect(deadline - min(_SPOOL_S, (deadline - time.monotonic()) / 2))
        self._is_clear = self._settle()

    def close(self) -> None:
        if self.daemon is not None:
            self.daemon.close()

    def lose(self) -> None:
        """Gives the daemon up: what comes from now on goes into the spool."""
        self.close()
        self.daemon = None

    def deliver(self, method: str, params: dict[str, Any]) -> None:
        """Keeps one event: behind the older ones where those still wait."""
        if self.daemon is not None and self._is_clear:
            try:
                if give(self.daemon, method, params):
                    return
            except FAILURES:
                self.lose()
        self._spool(method, params)

    def _connect(self, deadline: float) -> Daemon | None:
        try:
            return Daemon(self._data_dir, deadline, self._endpoint)
        except Exception:  # noqa: BLE001 — whatever keeps the daemon away, the event must not be lost
            return None

    # --- the spool -------------------------------------------------------------------------------------

    @property
    def _folder(self) -> str:
        if self._endpoint is None or is_own_endpoint(self._data_dir, self._endpoint):
            return _OWN
        import hashlib

        from clew.wire.spool import ELSEWHERE

        return f"{ELSEWHERE}{hashlib.blake2b(self._endpoint.encode('utf-8', 'replace'), digest_size=8).hexdigest()}"

    def _settle(self) -> bool:
        """Lets older events go first. False where some of them still wait."""
        if self.daemon is None or not _has_files(os.path.join(self._data_dir, self._folder)):
            return True
        from clew.wire.spool import Spool

        try:
            with Spool(self._data_dir, self._folder) as spool:
                if not spool.names():
                    return True
                until = self.daemon.part_of_time(_SETTLE_SHARE)
                if self._folder != _OWN:
                    return _hand_over(self.daemon, spool, self._data_dir, until)
            left = self.daemon.ask("take_spool", {}, until).get("waiting")
            # A daemon that does not know the spool leaves it alone; newer events need not wait for that.
            return left == 0 or (self.daemon.refusal is not None and self.daemon.refusal not in _UNSURE)
        except FileNotFoundError:
            return True
        except FAILURES:
            return False

    def _spool(self, method: str, params: dict[str, Any]) -> None:
        from clew.wire.spool import Spool

        clean = _redact(self._data_dir, method, params)
        with Spool(self._data_dir, self._folder, create=True) as spool:
            spool.append(method=method, params=clean)


def give(daemon: Daemon, method: str, params: dict[str, Any], until: float | None = None) -> bool:
    """Whether the daemon has answered for an event: it has it, or no repetition would make it take the event."""
    daemon.ask(method, params, until)
    if daemon.refusal == CONFLICT and method == "ingest":  # the same event has other words of the same length
        message = params["message"]
        daemon.ask(method, {**params, "message": {**message, "id": f"{message['id']}-b"}}, until)
    return daemon.has_answered and (daemon.refusal is None or daemon.refusal in FOR_GOOD)


def _hand_over(daemon: Daemon, spool: Spool, data_dir: str, until: float) -> bool:
    """Sends the events for a daemon that cannot see this data folder. False where some still wait."""
    import json
    from contextlib import closing

    from clew.wire.spool import ASIDE_FOLDER, Spool

    with closing(spool.take()) as names:
        for name in names:
            line = b""
            try:
                line = spool.read(name)
                method, params = (event := json.loads(line))["method"], event["params"]
                if method not in _METHODS:
                    raise ValueError(f"unknown method {method!r}")
            except FAILURES as error:
                with Spool(data_dir, ASIDE_FOLDER, create=True) as aside:
                    aside.append(reason=str(error), line=line.decode("utf-8", "replace"))
            else:
                if time.monotonic() >= until or not give(daemon, method, params, until):
                    return False
            spool.remove(name)
    return not spool.names()


def _redact(data_dir: str, method: str, params: dict[str, Any]) -> dict[str, Any]:
    """The event as intake would write it: without what the settings of the data folder cut. Ids stay as they are."""
    from clew.text.redaction import Policy, redact, redact_json

    policy = Policy(_policy(data_dir, method, params))

    def clean(fields: dict[str, Any], *names: str) -> dict[str, Any]:
        found = {name: fields[name] for name in names if name in fields}
        return fields | {
            name: redact(value, policy).text if isinstance(value, str) else redact_json(value, policy)[0]
            for name, value in found.items()
        }

    if method == "ingest":
        return {**params, "message": clean(params["message"], "text", "source", "metadata")}
    if method == "capture":
        texts = ("text", "tool", "source", "metadata", "payload")
        return {**params, "events": [clean(event, *texts) for event in params["events"]]}
    return clean(params, "hook", "details")


def _policy(data_dir: str, method: str, params: dict[str, Any]) -> str:
    """The policy that intake would have for the event; the strictest where the settings cannot be read."""
    if not any(name.startswith("CLEW_REDACTION") for name in os.environ) and not _mentions_redaction(data_dir):
        return "secrets"
    from clew.config import Config
    from clew.errors import ClewError

    try:
        return Config.load(data_dir=data_dir).redaction_of(*_collections(method, params))
    except (ClewError, OSError):
        return "pii"


def _collections(method: str, params: dict[str, Any]) -> list[Collection]:
    from clew.core.collections import Collection

    if method == "add_hint":
        return [Collection.session(params["sessionId"])]
    if method == "capture":
        (event,) = params["events"]
        return [Collection.ledger(None, event["sessionId"]), Collection.ledger(event["userId"])]
    return [Collection.raw(params["sessionId"]), Collection.turns(params["userId"])]


def _mentions_redaction(data_dir: str) -> bool:
    try:
        with open(os.path.join(data_dir, "clew.toml"), "rb") as file:
            return b"redaction" in file.read()
    except FileNotFoundError:
        return False
    except OSError:
        return True


def _has_files(folder: str) -> bool:
    """Whether events may wait there: a quick look, since there are seldom any."""
    try:
        return any(name.endswith(".jsonl") for name in os.listdir(folder))
    except OSError:
        return False
