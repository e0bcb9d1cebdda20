"""What every measured system must be able to do, and which ones there are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module, util
from pathlib import Path
from typing import Protocol, cast

from bench.corpus import Question, Record
from clew.core.ports import Vectors

HITS = 10


class System(Protocol):
    """A store of texts and vectors in one folder. Vectors are given, so that no system pays for making them."""

    def load(self, records: Sequence[Record], vectors: Vectors) -> None:
        """Take many records in whatever way is quickest."""

    def store(self, record: Record, vector: Vectors) -> None:
        """Keep one record; it survives a power cut once this returns."""

    def settle(self) -> None:
        """Wait until everything stored is searchable by words and by meaning."""

    def search(self, question: Question, vector: Vectors) -> int:
        """Find the ten best of the question's collection by words and by meaning; how many came back."""

    def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Candidate:
    """A system by name: where its code is and what must be installed for it."""

    name: str
    module: str
    needs: str

    @property
    def installed(self) -> bool:
        return util.find_spec(self.needs) is not None

    def opener(self) -> Callable[[Path], System]:
        """The function that opens its store, with all its code imported."""
        return cast(Callable[[Path], System], import_module(self.module).open_store)


CANDIDATES = {
    candidate.name: candidate
    for candidate in (
        Candidate("clew", "bench.clew_store", "clew"),
        Candidate("fts5", "bench.fts5", "sqlite_vec"),
        Candidate("context-pack", "bench.context_pack", "openclaw_mem"),
    )
}
