"""Changes the code's own constants and functions for a while, to see what each of them is worth.

What is measured is then the code that everybody runs, and not a copy of its formulas.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from unittest import mock

from clew.core import ranking
from clew.index import surroundings

LEXICAL_SHARE = "LEXICAL_SHARE"
SURROUNDINGS = ("BEFORE", "AFTER", "BEYOND", "ANSWER", "SESSION", "SPEAKER", "DATE")
"""The weights of what stands around a turn, by their names in the code."""


@dataclass(frozen=True, slots=True)
class Change:
    owner: object
    name: str
    value: object


@contextmanager
def altered(*changes: Change) -> Iterator[None]:
    with ExitStack() as stack:
        for change in changes:
            stack.enter_context(mock.patch.object(change.owner, change.name, change.value))
        yield


def weights() -> dict[str, float]:
    """Every weight of ranking as it is in the code."""
    return {LEXICAL_SHARE: ranking.LEXICAL_SHARE} | {name: getattr(surroundings, name) for name in SURROUNDINGS}


def weighing(values: Mapping[str, float]) -> list[Change]:
    """The changes that give weights these values. The share of words is a default of the functions that fuse."""
    changes = [Change(surroundings, name, value) for name, value in values.items() if name != LEXICAL_SHARE]
    if LEXICAL_SHARE in values:
        fusing = (ranking.fuse, ranking.lexical_part)
        assert all(function.__defaults__ == (ranking.LEXICAL_SHARE,) for function in fusing)
        changes += [Change(function, "__defaults__", (values[LEXICAL_SHARE],)) for function in fusing]
    return changes
