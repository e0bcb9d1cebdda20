"""The datasets that are read as corpora, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from bench.retrieval import locomo, longmemeval
from bench.retrieval.corpus import Corpus
from clew.errors import InvalidInput


def _tools(path: Path) -> list[Corpus]:
    from bench.retrieval import tools

    return tools.read(path)


def _cjk(path: Path) -> list[Corpus]:
    from bench.retrieval import cjk

    return cjk.read(path)


READERS: Mapping[str, Callable[[Path], list[Corpus]]] = {
    "locomo": locomo.read,
    "longmemeval": longmemeval.read,
    "tools": _tools,
    "cjk": _cjk,
}


def read(dataset: str, path: Path, only: Sequence[str] = ()) -> list[Corpus]:
    """The corpora of a dataset, or those of these names."""
    corpora = READERS[dataset](path)
    known = {corpus.name for corpus in corpora}
    unknown = [name for name in only if name not in known]
    if unknown:
        raise InvalidInput(f"{path} has no corpus {unknown[0]!r}; its corpora are {_some(sorted(known))}")
    chosen = [corpus for corpus in corpora if not only or corpus.name in only]
    if not any(corpus.questions for corpus in chosen):
        raise InvalidInput(f"{path} has no question with evidence")
    return chosen


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:10]) + (f" and {len(names) - 10} more" if len(names) > 10 else "")
