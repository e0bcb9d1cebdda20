"""Sends requests to a model server that the operator runs or rents: OpenAI-compatible or Ollama."""

from __future__ import annotations

import http.client
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import msgspec

from clew.errors import ClewError, InvalidInput

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Address:
    """The address of a model, from the operator's settings."""

    url: str
    model: str
    key: str = ""


class ModelServer:
    """Sends questions in JSON over HTTP and reads answers in JSON, within bounds of time and size.

    It raises every error as `failure`, under the name `title`. An error never contains the key or the server's
    answer, which could repeat the question.
    """

    def __init__(
        self,
        address: Address,
        path: str,
        *,
        setting: str,
        title: str,
        failure: type[ClewError],
        timeout_ms: int,
        answer_limit_bytes: int,
    ) -> None:
        """`setting` is the prefix of the operator's settings for this server."""
        if not address.model:
            raise InvalidInput(f"{setting}_model must name the model to ask the server for")
        self.url = _check_url(address.url, setting).rstrip("/") + path
        self.model = address.model
        self._key = _check_key(address.key, title)
        self._timeout_ms = timeout_ms
        self._title = title
        self._failure = failure
        self._answer_limit_bytes = answer_limit_bytes
        self._opener = urllib.request.build_opener(_NoRedirects)

    def ask(self, question: Mapping[str, Any], form: type[T]) -> T:
        """The server's answer, in the given form."""
        body = self._exchange(self._request(question))
        try:
            return msgspec.json.decode(body, type=form)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            raise self._failure(f"{self._title}'s answer is not of the expected form") from error

    def close(self) -> None:
        self._opener.close()

    def _request(self, question: Mapping[str, Any]) -> urllib.request.Request:
        request = urllib.request.Request(
            self.url, data=msgspec.json.encode(question), headers={"Content-Type": "application/json"}
        )
        if self._key:
            request.add_unredirected_header("Authorization", f"Bearer {self._key}")
        return request

    def _exchange(self, request: urllib.request.Request) -> bytes:
        deadline = time.monotonic() + self._timeout_ms / 1000
        try:
            with self._opener.open(request, timeout=self._timeout_ms / 1000) as response:
                return self._read_bounded(response.read1, deadline)
        except urllib.error.HTTPError as error:
            error.close()
            raise self._failure(f"{self._title} answered with status {error.code}") from None
        except TimeoutError:
            raise self._failure(f"{self._title} did not answer within {self._timeout_ms} ms") from None
        except (OSError, http.client.HTTPException, ValueError) as error:
            reason = getattr(error, "reason", None)
            kind = type(reason if isinstance(reason, Exception) else error).__name__
            raise self._failure(f"{self._title} cannot be reached ({kind})") from None

    def _read_bounded(self, read: Callable[[int], bytes], deadline: float) -> bytes:
        """The whole answer, unless it is too long or too slow."""
        body = bytearray()
        while chunk := read(1 << 16):
            body += chunk
            if len(body) > self._answer_limit_bytes:
                raise self._failure(f"{self._title}'s answer is too large")
            if time.monotonic() > deadline:
                raise TimeoutError
        return bytes(body)


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """A redirect is an error: following it would send texts and key to an address that the operator did not set."""

    def redirect_request(self, *_: Any) -> None:
        return None


def _check_url(url: str, setting: str) -> str:
    try:
        parts = urllib.parse.urlsplit(url)
        usable = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise InvalidInput(f"{setting}_url must be an http or https address such as http://127.0.0.1:11434")
    if parts.username is not None or parts.password is not None:
        raise InvalidInput(f"{setting}_url must not hold a user or password; use {setting}_key_env for a key")
    return url


def _check_key(key: str, title: str) -> str:
    if key and (not key.isascii() or not key.isprintable() or " " in key):
        raise InvalidInput(f"{title}'s key has characters that no key has, such as a line break")
    return key
