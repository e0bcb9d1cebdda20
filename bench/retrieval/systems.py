"""Which systems can be measured, what each needs, and how it is opened."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib import util
from pathlib import Path

from bench.retrieval.baselines import Bm25, Dense, ReciprocalRanks
from bench.retrieval.clew_memory import ClewMemory
from bench.retrieval.embedding import SharedEmbedder
from bench.retrieval.peers import PEERS, missing, open_peer
from bench.retrieval.system import System
from clew.config import Config
from clew.errors import InvalidInput, NotAvailable

USUAL = ("clew", "bm25", "dense", "rrf")
ALL = "all"


@dataclass(frozen=True, slots=True)
class Equipment:
    """What every system of a run is given."""

    config: Config
    """Its data folder is one to work in, and goes with the run."""
    embedder: SharedEmbedder | None
    no_embedder_reason: str = ""


@dataclass(frozen=True, slots=True)
class Candidate:
    name: str
    open: Callable[[Path], System]
    """Opens it in an empty folder of its own."""
    missing: str | None = None
    """Why it cannot run here; None if it can."""
    foreign: bool = False
    """Whether its code is not ours, and may fail in any way."""


def candidates(names: Sequence[str], equipment: Equipment) -> list[Candidate]:
    """The systems of these names, in this order, each once; `all` is every one there is."""
    known = (*USUAL, *PEERS)
    wanted = [each for name in names or USUAL for each in (known if name == ALL else (name,))]
    unknown = [name for name in wanted if name not in known]
    if unknown:
        raise InvalidInput(f"no system is called {unknown[0]!r}; there are {', '.join((*known, ALL))}")
    return [_candidate(name, equipment) for name in dict.fromkeys(wanted)]


def _candidate(name: str, equipment: Equipment) -> Candidate:
    match name:
        case "clew":
            return Candidate(name, lambda folder: _open_clew(folder, equipment))
        case "bm25":
            return Candidate(name, lambda _: Bm25(), _without_bm25())
        case "dense":
            return Candidate(name, lambda _: Dense(_embedder(equipment)), _without_embedder(equipment))
        case "rrf":
            lacking = _without_embedder(equipment) or _without_bm25()
            return Candidate(name, lambda _: ReciprocalRanks(_embedder(equipment)), lacking)
        case peer:
            lacking = missing(peer) or _without_embedder(equipment)
            return Candidate(peer, lambda folder: open_peer(peer, folder, _embedder(equipment)), lacking, foreign=True)


def _open_clew(folder: Path, equipment: Equipment) -> System:
    embedder = equipment.config.embedder if equipment.embedder else "none"
    return ClewMemory(replace(equipment.config, data_dir=folder, embedder=embedder), equipment.embedder)


def _embedder(equipment: Equipment) -> SharedEmbedder:
    if equipment.embedder is None:
        raise NotAvailable(f"there is no embedder: {equipment.no_embedder_reason}")
    return equipment.embedder


def _without_embedder(equipment: Equipment) -> str | None:
    return None if equipment.embedder else f"there is no embedder: {equipment.no_embedder_reason}"


def _without_bm25() -> str | None:
    return None if util.find_spec("bm25s") else "bm25s is not installed: pip install 'clew[bench]'"
