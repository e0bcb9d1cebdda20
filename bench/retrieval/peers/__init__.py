"""Other memories, each driven by its own public interface with the same texts and, where it allows, the same vectors.

Their dependencies conflict, so each is meant for an environment of its own; none is imported before it is asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module, metadata
from pathlib import Path

from bench.retrieval.system import System
from clew.core.ports import Embedder
from clew.errors import NotAvailable, NotFound


@dataclass(frozen=True, slots=True)
class Peer:
    distribution: str
    """What `pip install` calls it."""
    module: str
    """The adapter, beside this file."""
    system: str
    """The adapter's class."""
    beside: tuple[str, ...] = ()
    """What must be installed with it, in the versions it works with."""

    @property
    def install(self) -> str:
        return " ".join(["pip install", self.distribution, *(f"'{requirement}'" for requirement in self.beside)])


PEERS = {
    "context-pack": Peer("openclaw-context-pack", "context_pack", "ContextPack"),
    "mem0": Peer("mem0ai", "mem0", "Mem0", ("pymilvus>=2.4,<2.6", "milvus-lite>=2.5,<3", "setuptools<81")),
    "mempalace": Peer("mempalace", "mempalace", "MemPalace"),
    "memsearch": Peer("memsearch", "memsearch", "MemSearch"),
}


def missing(name: str) -> str | None:
    """Why this peer cannot run here; None if it can."""
    if installed_version(name) is not None:
        return None
    return f"not installed: {_peer(name).install}"


def installed_version(name: str) -> str | None:
    try:
        return metadata.version(_peer(name).distribution)
    except metadata.PackageNotFoundError:
        return None


def open_peer(name: str, folder: Path, embedder: Embedder) -> System:
    """The peer, with all its files in `folder`, which must be empty."""
    reason = missing(name)
    if reason is not None:
        raise NotAvailable(f"{name} cannot run: {reason}")
    peer = _peer(name)
    make: Callable[[Path, Embedder], System] = getattr(import_module(f"{__name__}.{peer.module}"), peer.system)
    return make(folder, embedder)


def _peer(name: str) -> Peer:
    try:
        return PEERS[name]
    except KeyError:
        raise NotFound(f"no peer is called {name}; there are {', '.join(PEERS)}") from None
