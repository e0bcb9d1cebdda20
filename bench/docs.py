"""Measures retrieval anew: prints the tables of the page of benchmarks and draws its pictures.

    python -m bench.docs --data FOLDER

The folder holds the datasets, each in a folder of its own. What is not there is skipped, and said to be. Vectors of
texts are kept in a file, so that a second run takes a fraction of the time of the first.
"""

from __future__ import annotations

import argparse
import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from bench.run import ROOT

DATASETS: Mapping[str, tuple[str, ...]] = {
    "locomo": ("locomo/locomo5_dev.json.gz", "locomo/locomo10.json"),
    "longmemeval": ("longmemeval",),
    "tools": ("agent_sessions",),
    "cjk": ("xpersona",),
}
"""Where each may be in the folder."""

BUDGETED = ("locomo", "longmemeval")
"""Those on which systems are compared by what a budget of tokens holds."""

SYSTEMS = "all"


@dataclass(frozen=True, slots=True)
class Step:
    title: str
    arguments: tuple[str, ...]
    """Of the interpreter."""
    output: Path | None = None
    """Where its answer goes; None where it prints tables."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder of the datasets")
    parser.add_argument("--work", type=Path, default=ROOT / "build" / "bench", help="folder for vectors and answers")
    parser.add_argument("--system", default=SYSTEMS, help=f"which systems stand beside each other ({SYSTEMS})")
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    found = dict(_found(options.data))
    for name in DATASETS.keys() - found.keys():
        print(f"Skipped: {name}, which is not in {options.data}\n", flush=True)
    failed = [step.title for step in _steps(found, options.work.resolve(), options.system) if not _done(step)]
    for title in failed:
        print(f"Failed: {title}", file=sys.stderr)
    return 1 if failed else 0


def _found(folder: Path) -> Iterator[tuple[str, Path]]:
    for name, places in DATASETS.items():
        path = next((folder / place for place in places if (folder / place).exists()), None)
        if path is not None:
            yield name, path.resolve()


def _steps(found: Mapping[str, Path], work: Path, system: str) -> Iterator[Step]:
    vectors = ("--vectors", str(work / "vectors.npz"))
    answers = []
    for name in filter(found.__contains__, BUDGETED):
        answers.append(work / f"{name}.json")
        given = ("--dataset", name, "--path", str(found[name]), "--system", system)
        yield Step(
            f"systems on {name}", ("-m", "clew.faces.cli.main", "bench", *given, *vectors, "--json"), answers[-1]
        )
    if answers:
        yield Step("evidence against token budget", ("-m", "bench.budget", *map(str, answers)))
    if "locomo" in found:
        yield Step("cross-validation of weights", ("-m", "bench.weights", "--path", str(found["locomo"]), *vectors))
    if found:
        paths = tuple(word for name, path in found.items() for word in (f"--{name}", str(path)))
        yield Step("ablation", ("-m", "bench.ablation", *paths, *vectors))
    yield Step("time against size", ("-m", "bench.size"))


def _done(step: Step) -> bool:
    print(f"## {step.title}\n\n    python {shlex.join(step.arguments)}\n", flush=True)
    command = [sys.executable, *step.arguments]
    if step.output is None:
        done = subprocess.run(command, cwd=ROOT, check=False).returncode == 0
    else:
        with step.output.open("wb") as file:
            done = subprocess.run(command, cwd=ROOT, check=False, stdout=file).returncode == 0
    print(flush=True)
    return done


if __name__ == "__main__":
    sys.exit(main())
