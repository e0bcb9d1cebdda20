"""Reads data files as they were published: JSON or JSON lines, gzipped or not."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

import msgspec

from clew.errors import InvalidInput, NotFound

T = TypeVar("T")


def read_json(path: Path, kind: type[T]) -> T:
    """The whole file as one value of this type. Raises InvalidInput where it is anything else."""
    return _decoded(path, _content(path), kind)


def read_lines(path: Path, kind: type[T]) -> Iterator[T]:
    """Each line that is not blank as one value of this type."""
    for number, line in enumerate(_content(path).splitlines(), 1):
        if line.strip():
            yield _decoded(f"{path}: line {number}", line, kind)


def _content(path: Path) -> bytes:
    if not path.exists():
        raise NotFound(f"{path} does not exist")
    if path.is_dir():
        raise InvalidInput(f"{path} is a folder, not a file")
    try:
        return gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise InvalidInput(f"{path} cannot be unpacked: {error}") from error


def _decoded(place: Path | str, content: bytes, kind: type[T]) -> T:
    try:
        return msgspec.json.decode(content, type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise InvalidInput(f"{place}: {error}") from error
