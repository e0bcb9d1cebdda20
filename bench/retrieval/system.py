"""What is measured: anything that can be filled with turns and asked for the best of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from bench.retrieval.corpus import Corpus, Question


class System(Protocol):
    """Made for one corpus at a time, in an empty folder of its own."""

    name: str

    def fill(self, corpus: Corpus) -> None:
        """Take in every turn; when it returns, all of them can be found."""
        ...

    def ranked(self, question: Question, limit: int) -> Sequence[str]:
        """Names of the turns that fit best, best first."""
        ...

    def close(self) -> None: ...


@runtime_checkable
class ShowsContext(Protocol):
    """A system that makes the text for a model itself. For any other, its turns are written out best first."""

    def shown(self, question: Question, budget_tokens: int) -> tuple[str, frozenset[str]]:
        """The text, and the names of the turns whose whole text stands in it."""
        ...
