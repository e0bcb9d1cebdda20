"""Types that are read from JSON by several threads, or written to it.

msgspec learns how to read a type when it first meets it, and two threads that bring it the same new type at once can
crash the process. A module therefore makes its types known to msgspec when it is imported.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

import msgspec

T = TypeVar("T")

KNOWN: set[type] = set()


def make_known(types: Iterable[type]) -> None:
    """Let msgspec learn the types, and those inside them, while only one thread runs."""
    for kind in types:
        msgspec.json.Decoder(kind)
        KNOWN.add(kind)


def plain(value: object) -> str:
    """For encoders: turn an instance of a subclass of `str`, such as the name of a collection, into a plain string."""
    if isinstance(value, str):
        return str(value)
    raise TypeError(f"{type(value).__name__} is no JSON")


def subclasses(root: type[T]) -> list[type[T]]:
    """Every class below a root."""
    below: list[type[T]] = []
    child: type[T]
    for child in type.__subclasses__(root):
        below += [child, *subclasses(child)]
    return below
