"""Where a pack should rather hold nothing: the least similarity, on memories that help and memories that do not.

    python -m bench.persistbench --path persistbench

Each row has a query and some ten memories of one user. In the rows of one file the memories help; in the others they
are of another domain than the query, or are opinions that should not sway the answer. No row says which of its
memories those are, so what is measured is coarse: whether a pack holds anything, and how many memories it holds. A row
whose memories help should get something; one of another domain is best answered with nothing. Opinions are on the
query's own subject: no measure of similarity can tell them from what helps, and they are shown, not judged.

The threshold is the one with the widest gap between rows that help and rows of another domain that get something,
among those that leave at least four of five helpful rows something. It is chosen on every other row and
checked on the rest, with the embedder and by words alone.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from clew import Memory
from clew.api import Pack
from clew.config import Config
from clew.core.tuning import Tuning
from clew.features.pack.rules import STRONGER
from clew.text.grading.importance import Label

FILES = {"helps": "beneficial_samples", "another domain": "cross_domain", "opinion": "sycophancy"}
THRESHOLDS = [step / 50 for step in range(5, 36)]
LEAST_HELPED = 0.8
SETTLE_MS = 3_600_000


@dataclass(frozen=True, slots=True)
class Row:
    sort: str
    similarities: tuple[float, ...]
    """Of its memories to its query, less what is asked of those that were graded as not worth remembering."""

    def held(self, threshold: float) -> int:
        """How many memories a pack for its query would hold."""
        return sum(similarity >= threshold for similarity in self.similarities)


def main() -> int:
    options = _parser().parse_args()
    for name in ("none", options.embedder):
        rows = _measure(options.path, name)
        tuned, checked = rows[::2], rows[1::2]
        chosen = choose(tuned)
        print(f"\nembedder {name}: chosen {chosen:.2f} on {len(tuned)} rows; the other {len(checked)}:\n")
        _print_curve(checked, chosen)
    return 0


def choose(rows: Sequence[Row]) -> float:
    """The threshold with the widest gap between helpful rows and those of another domain, the lowest of equals."""

    def gap(threshold: float) -> float:
        return share(rows, "helps", threshold) - share(rows, "another domain", threshold)

    allowed = [step for step in THRESHOLDS if share(rows, "helps", step) >= LEAST_HELPED]
    return max(allowed or THRESHOLDS[:1], key=lambda step: (gap(step), -step))


def share(rows: Sequence[Row], sort: str, threshold: float) -> float:
    """The share of rows whose pack holds something."""
    wanted = [row for row in rows if row.sort == sort]
    return sum(row.held(threshold) > 0 for row in wanted) / len(wanted)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--path", type=Path, required=True, help="folder of the three files")
    parser.add_argument("--embedder", default="auto", help="the embedder to measure beside none (auto)")
    return parser


def _measure(path: Path, embedder: str) -> list[Row]:
    given = [(sort, json.loads(line)) for sort, file in FILES.items() for line in _lines(path / f"{file}.jsonl")]
    with TemporaryDirectory(prefix="bench-") as folder:
        config = Config.load(data_dir=Path(folder), embedder=embedder)
        with Memory(config, tuning=Tuning(pack_min_similarity=0.0)) as memory:
            for number, (_, row) in enumerate(given):
                for place, text in enumerate(row["memories"]):
                    memory.put(f"user:{number}", f"m{place}", text)
            memory.flush(timeout_ms=SETTLE_MS)
            return [Row(sort, _similarities(memory, number, row)) for number, (sort, row) in enumerate(given)]


def _similarities(memory: Memory, number: int, row: dict[str, str]) -> tuple[float, ...]:
    bundle = memory.call(Pack(query=row["query"], user_id=str(number), trace=True))
    if bundle.trace is None:
        raise RuntimeError("the pack has no trace")
    return tuple(
        candidate.similarity - (STRONGER if candidate.importance == Label.IGNORE else 0.0)
        for candidate in bundle.trace.candidates
    )


def _lines(path: Path) -> list[str]:
    return path.read_text("utf-8").splitlines()


def _print_curve(rows: Sequence[Row], chosen: float) -> None:
    print("| least similarity |" + "".join(f" {sort}: packs with something | items |" for sort in FILES))
    print("| ---: |" + " ---: | ---: |" * len(FILES))
    for threshold in sorted({*THRESHOLDS[::3], chosen}):
        cells = []
        for sort in FILES:
            wanted = [row for row in rows if row.sort == sort]
            mean = sum(row.held(threshold) for row in wanted) / len(wanted)
            cells += [f"{share(rows, sort, threshold):.0%}", f"{mean:.1f}"]
        mark = " (chosen)" if threshold == chosen else ""
        print(f"| {threshold:.2f}{mark} | {' | '.join(cells)} |")


if __name__ == "__main__":
    sys.exit(main())
