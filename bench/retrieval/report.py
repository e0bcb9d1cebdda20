"""All figures of a run as one object, with what they were made with; nothing in it names or locates the machine."""

from __future__ import annotations

import os
import platform
import resource
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, fields
from importlib import metadata
from pathlib import Path
from typing import Any

import clew
from bench.retrieval.corpus import Corpus
from bench.retrieval.metrics import Outcome, after_audit, figures, percentile
from bench.retrieval.peers import PEERS, installed_version
from bench.retrieval.persistbench import Held, Row
from bench.retrieval.run import Measured, Results
from bench.retrieval.systems import Equipment
from clew.config import Config
from clew.core.tuning import Tuning

PACKAGES = ("numpy", "onnxruntime", "tokenizers", "tiktoken", "bm25s")

_SETTINGS = ("embed", "pack_", "gate_", "redaction", "tokenizer")
_PRIVATE = ("_url", "_env")
_DECIMALS = 4


def of_corpora(
    dataset: str, path: Path, corpora: Sequence[Corpus], equipment: Equipment, results: Results
) -> dict[str, Any]:
    counts = {
        "corpora": len(corpora),
        "turns": sum(len(corpus.turns) for corpus in corpora),
        "questions": sum(bool(question.evidence) for corpus in corpora for question in corpus.questions),
        "audited_questions": sum(bool(question.audited) for corpus in corpora for question in corpus.questions),
    }
    systems = {name: _system(measured) for name, measured in results.measured.items()}
    head = {"dataset": dataset, "path": path.name, "counts": counts}
    return _whole(head, equipment, {"systems": systems, "not_run": results.not_run})


def of_packs(
    path: Path, rows: Sequence[Row], equipment: Equipment, held: Mapping[str, Held], not_run: Mapping[str, str]
) -> dict[str, Any]:
    counts = {"rows": len(rows), "memories": sum(len(row.memories) for row in rows)}
    systems = {"clew": {"packs": {sort: asdict(each) for sort, each in held.items()}}} if held else {}
    head = {"dataset": "persistbench", "path": path.name, "counts": counts}
    return _whole(head, equipment, {"systems": systems, "not_run": dict(not_run)})


def _whole(head: dict[str, Any], equipment: Equipment, found: dict[str, Any]) -> dict[str, Any]:
    embedder = equipment.embedder
    whole = {
        **head,
        "settings": _settings(equipment.config) | asdict(Tuning()),
        "versions": _versions() | {"embedder": str(embedder.identity) if embedder else None},
        "commit": commit(),
        "machine": {"cores": _cores()},
        **found,
        "embedding": {"texts": embedder.texts, "seconds": embedder.seconds} if embedder else None,
        "query_embedding_ms": _spread(embedder.query_ms) if embedder else None,
        "peak_resident_mb": _peak_resident_mb(),
    }
    rounded: dict[str, Any] = _rounded(whole)
    return rounded


def _system(measured: Measured) -> dict[str, Any]:
    audited = after_audit(measured.outcomes)
    several = len(measured.outcomes) > len({outcome.corpus for outcome in measured.outcomes})
    return {
        **figures(measured.outcomes),
        "by_category": _by(measured.outcomes, "kind"),
        "audited": figures(audited) | {"by_category": _by(audited, "kind")},
        "per_corpus": _by(measured.outcomes, "corpus") if several else {},
        "latency_ms": _spread(measured.ranked_ms),
        "fill_s": measured.fill_s,
        "embedding_s": measured.embedding_s,
    }


def _by(outcomes: Iterable[Outcome], attribute: str) -> dict[str, Any]:
    """The figures of each group apart, with the number of its questions."""
    groups: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        if outcome.evidence:
            groups.setdefault(getattr(outcome, attribute), []).append(outcome)
    return {name: {"questions": len(group), **figures(group)} for name, group in sorted(groups.items())}


def _spread(times_ms: Sequence[float]) -> dict[str, float]:
    return {"p50": percentile(times_ms, 50), "p95": percentile(times_ms, 95)}


def _settings(config: Config) -> dict[str, Any]:
    """What bears on what is found, without addresses and names of keys."""
    names = [item.name for item in fields(config)]
    return {name: getattr(config, name) for name in names if name.startswith(_SETTINGS) and not name.endswith(_PRIVATE)}


def _versions() -> dict[str, str | None]:
    found = {name: _version(name) for name in PACKAGES} | {name: installed_version(name) for name in PEERS}
    installed = {name: version for name, version in found.items() if version is not None}
    return {"clew": clew.__version__, "python": platform.python_version(), **installed}


def _version(distribution: str) -> str | None:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None


def commit() -> str | None:
    """The commit this package was run from, with a mark where files differ from it; None outside a clone of it."""
    root = Path(clew.__file__).resolve().parents[2]
    if not (root / ".git").exists():
        return None
    command = ["git", "-C", str(root), "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=10)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip() or None


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _peak_resident_mb() -> float:
    """Of this process, over all systems; the unit of the system call depends on the system."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1e6 if sys.platform == "darwin" else 1e3)


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return round(value, _DECIMALS)
    if isinstance(value, dict):
        return {key: _rounded(item) for key, item in value.items()}
    return value
