"""How much of the evidence stands in a context, against its size: one panel a dataset, one line a system.

    clew bench --dataset locomo --path locomo.json.gz --system all --json > locomo.json
    python -m bench.budget locomo.json

Takes what `clew bench --json` printed. Several files of one dataset are shown together, as where systems were measured
apart; of a system that is in two of them, the later counts.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence
from functools import partial
from itertools import cycle
from pathlib import Path
from typing import Any

from msgspec import Struct

from bench.picture import COLOURS, FOLDER, draw, tell
from bench.retrieval.files import read_json

OURS = "clew"

Curve = dict[int, float]
"""By tokens: the share of the evidence that stands whole in a context of so many."""
Curves = dict[str, dict[str, Curve]]
"""By dataset, then by system."""


class System(Struct):
    budget: dict[int, float] = {}


class Answer(Struct):
    """What is read of the object that `clew bench --json` prints."""

    dataset: str
    systems: dict[str, System]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", type=Path, nargs="+", metavar="FILE", help="what clew bench --json printed")
    parser.add_argument("--out", type=Path, default=FOLDER / "budget.png", help="where to draw the picture")
    options = parser.parse_args()
    curves = _curves(read_json(path, Answer) for path in options.files)
    if not curves:
        print("none of these files holds evidence by budget", file=sys.stderr)
        return 1
    for dataset, systems in curves.items():
        _print_table(dataset, systems)
    size = (6.0 * len(curves), 4.5)
    print(tell(draw(options.out, columns=len(curves), size_inches=size, fill=partial(_fill, curves=curves))))
    return 0


def _curves(answers: Iterable[Answer]) -> Curves:
    curves: Curves = {}
    for answer in answers:
        measured = {name: system.budget for name, system in answer.systems.items() if system.budget}
        if measured:
            curves.setdefault(answer.dataset, {}).update(measured)
    return curves


def _print_table(dataset: str, systems: dict[str, Curve]) -> None:
    budgets = _budgets(systems)
    print(f"| {dataset}, % inside tokens |" + "".join(f" {budget:,} |" for budget in budgets))
    print("| --- |" + " ---: |" * len(budgets))
    for name, curve in systems.items():
        cells = (f" {curve[budget] * 100.0:.1f} |" if budget in curve else " – |" for budget in budgets)
        print(f"| {name} |" + "".join(cells))
    print()


def _fill(_: Any, panels: Sequence[Any], curves: Curves) -> None:
    for panel, (dataset, systems) in zip(panels, curves.items(), strict=True):
        for (name, curve), colour in zip(systems.items(), cycle(COLOURS), strict=False):
            budgets = sorted(curve)
            width = 2.5 if name == OURS else 1.2
            shares = [curve[budget] * 100.0 for budget in budgets]
            panel.plot(budgets, shares, "o-", color=colour, linewidth=width, markersize=3, label=name)
        ticks = _budgets(systems)
        panel.set_xscale("log")
        panel.xaxis.set_ticks(ticks, [f"{tick:,}" for tick in ticks], fontsize=8)
        panel.xaxis.set_minor_formatter("")
        panel.set_title(f"{dataset}: evidence inside a context, %", fontsize=10)
        panel.set_xlabel("tokens of the context", fontsize=9)
        panel.grid(True, linewidth=0.3)
        panel.legend(fontsize=8, frameon=False, loc="lower right")


def _budgets(systems: dict[str, Curve]) -> list[int]:
    return sorted({budget for curve in systems.values() for budget in curve})


if __name__ == "__main__":
    sys.exit(main())
