"""Captured lines that are later than an order to purge, and so are not what it is about."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import msgspec

from clew.core.ids import digest
from clew.core.structs import make_known
from clew.errors import StoreError
from clew.features.ledger.lines import folder_of, log_files, number_of, object_of
from clew.kernel.parts import Parts

_KEY_BYTES = 16

_encode = msgspec.json.Encoder(order="sorted").encode


class LogEnd(NamedTuple):
    """How far the capture log reached. A place in one of its files is the same for good."""

    file: str
    offset: int


def end_of_log(parts: Parts) -> LogEnd:
    try:
        files = log_files(folder_of(parts.config))
        return LogEnd(files[-1].name, files[-1].stat().st_size) if files else LogEnd("", 0)
    except OSError as error:
        raise StoreError(f"the capture log cannot be read: {error.strerror or error}") from error


class LaterLines:
    """The events of the lines behind a place of the log.

    They are read when the first event is looked for: whoever judges lines holds the log then, so none can be missed.
    An event stays also where a line before that place is equal to it, since it was given again.
    """

    def __init__(self, parts: Parts, end: LogEnd | None) -> None:
        self._folder = folder_of(parts.config)
        self._end = end
        self._keys: frozenset[bytes] | None = None

    def __contains__(self, event: Mapping[str, Any]) -> bool:
        if self._keys is None:
            self._keys = frozenset(self._read())
        return bool(self._keys) and _key(event) in self._keys

    def _read(self) -> Iterable[bytes]:
        end = self._end
        for path in [] if end is None else log_files(self._folder):
            if end is None or number_of(path.name) < number_of(end.file):
                continue
            with path.open("rb") as stream:
                stream.seek(end.offset if path.name == end.file else 0)
                for line in stream:
                    event = object_of(line) if line.strip() else None
                    if event is not None:
                        yield _key(event)


def _key(event: Mapping[str, Any]) -> bytes:
    return digest(_encode(event).decode("utf-8"), size_bytes=_KEY_BYTES)


make_known([LogEnd])
