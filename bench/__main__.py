"""Measure Clew against its peers, print the tables, and rewrite the page, the chart and the results file."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from time import monotonic

import msgspec

from bench.chart import draw_chart
from bench.page import write_page
from bench.run import ROOT, Plan, run
from bench.system import CANDIDATES
from bench.table import plain_tables

SIZES = "10000,100000"
QUICK_SIZE = 1000


def main() -> int:
    options = _parser().parse_args()
    sizes = (QUICK_SIZE,) if options.quick else tuple(int(size) for size in options.sizes.split(","))
    systems = tuple(options.systems.split(","))
    unknown = [name for name in systems if name not in CANDIDATES]
    if unknown:
        sys.stderr.write(f"unknown system {unknown[0]!r}; there are {', '.join(CANDIDATES)}\n")
        return 2
    plan = Plan(sizes, systems, options.quick, _command(options))
    started = monotonic()
    report = run(plan, say=lambda line: print(f"{monotonic() - started:4.0f} s  {line}", file=sys.stderr, flush=True))
    out = options.out or (None if options.quick else ROOT / "docs" / "benchmarks")
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        (out / "results.json").write_bytes(msgspec.json.format(msgspec.json.encode(report)) + b"\n")
        chart = draw_chart(report, out / "store-and-search.png")
        write_page(report, out.with_name(f"{out.name}.md"), chart)
    print(msgspec.json.encode(report).decode() if options.json else plain_tables(report))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--sizes", default=SIZES, help=f"numbers of records, with commas between ({SIZES})")
    parser.add_argument("--systems", default=",".join(CANDIDATES), help=f"which to measure ({','.join(CANDIDATES)})")
    parser.add_argument("--out", type=Path, help="folder for results and chart; the page stands beside it")
    parser.add_argument("--json", action="store_true", help="print the results as JSON instead of the table")
    parser.add_argument("--quick", action="store_true", help="a small run; writes nothing unless --out is given")
    return parser


def _command(options: argparse.Namespace) -> str:
    """The command that makes these figures again; where they go is left out."""
    words = ["python -m bench"]
    if options.quick:
        words.append("--quick")
    elif options.sizes != SIZES:
        words.append(f"--sizes {options.sizes}")
    if options.systems != ",".join(CANDIDATES):
        words.append(f"--systems {options.systems}")
    return " ".join(words)


if __name__ == "__main__":
    sys.exit(main())
