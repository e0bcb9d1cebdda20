"""Writes the figures into the page of benchmarks, between two marks; the rest of the page stays as it is."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from bench.results import Report
from bench.table import MEASURES, OURS, Table, layouts, multiple, ratio, tables

START = "<!-- figures: written by python -m bench -->"
END = "<!-- end of figures -->"
_NEW_PAGE = f"# Benchmarks\n\n{START}\n{END}\n"
_CLEARLY_LESS = 0.95
"""A peer is ahead from here; nearer to 1, two runs differ as much."""


def write_page(report: Report, path: Path, chart: Path | None) -> None:
    text = path.read_text("utf-8") if path.exists() else _NEW_PAGE
    before, _, rest = text.partition(START)
    _, _, after = rest.partition(END)
    path.write_text("".join([before, START, "\n\n", _figures(report, path, chart), "\n", END, after]), "utf-8")


def _figures(report: Report, path: Path, chart: Path | None) -> str:
    machine = ", ".join(f"{name} {value}" for name, value in report.machine.items())
    parts = [f"Made by `{report.command}` on this machine: {machine}.\n"]
    if chart is not None:
        parts.append(f"![Bars of each figure by system, size and layout]({chart.relative_to(path.parent)})\n")
    parts += [_markdown(table) for table in tables(report)]
    behind = list(_where_behind(report))
    if behind:
        parts.append("### Where Clew is behind\n\n" + "\n".join(behind) + "\n")
    if report.notes:
        parts.append("### Notes on this run\n\n" + "\n".join(f"- {note}" for note in report.notes) + "\n")
    return "\n".join(parts)


def _markdown(table: Table) -> str:
    rule = ["---", *["---:"] * (len(table.header) - 1)]
    lines = [" | ".join(cells) for cells in (table.header, rule, *table.rows)]
    return "\n".join([f"### {table.title}\n", *(f"| {line} |" for line in lines), ""])


def _where_behind(report: Report) -> Iterator[str]:
    """One line for each peer and figure that is better than Clew's anywhere."""
    peers = dict.fromkeys(case.system for case in report.cases if case.system != OURS)
    for peer in peers:
        for measure in MEASURES:
            ahead = []
            for title, cases in layouts(report):
                times = ratio(measure, cases[peer], cases.get(OURS)) if peer in cases else None
                if times is not None and times < _CLEARLY_LESS:
                    ahead.append(f"{title} ({multiple(times)})")
            if ahead:
                yield f"- {measure.name}: {peer} is ahead at {'; '.join(ahead)}."
