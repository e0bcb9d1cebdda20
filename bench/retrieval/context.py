"""The context of a system that makes none itself: its turns written out, best first, as long as there is room."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime

from bench.retrieval.corpus import Corpus, Turn
from clew.core.ports import TokenCounter


class PlainContext:
    """One line a turn, with its date and who said it, and nothing around them."""

    def __init__(self, corpus: Corpus, counter: TokenCounter) -> None:
        self._lines = {turn.name: _line(turn) for turn in corpus.turns}
        self._tokens = {name: counter.bound(f"{line}\n") for name, line in self._lines.items()}

    def shown(self, ranked: Iterable[str], budget_tokens: int) -> tuple[str, frozenset[str]]:
        """The text, and the turns in it: each whole or not at all; a shorter one takes what room is left."""
        left = budget_tokens
        taken: dict[str, str] = {}
        for name in ranked:
            if self._tokens[name] <= left and name not in taken:
                left -= self._tokens[name]
                taken[name] = self._lines[name]
        return "\n".join(taken.values()), frozenset(taken)


def _line(turn: Turn) -> str:
    said = f"{turn.speaker or turn.role}: {turn.text}"
    if turn.ts_ms is None:
        return said
    return f"[{datetime.fromtimestamp(turn.ts_ms / 1000, UTC):%Y-%m-%d}] {said}"
