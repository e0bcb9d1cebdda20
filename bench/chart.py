"""The figures as a picture: one panel a figure, one group of bars a layout, one colour a system."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from bench.picture import COLOURS, draw
from bench.results import Report
from bench.table import MEASURES, Measure, figure, layouts

PANELS = {
    "search p95, ms": "log",
    "search after a write p95, ms": "log",
    "open and first answer, ms": "log",
    "ingest p95, ms": "log",
    "resident memory, MB": "linear",
    "disk, bytes a record": "linear",
}
"""The figures shown, and their scales: times span three orders of magnitude, sizes do not."""


def draw_chart(report: Report, path: Path) -> Path | None:
    """Write the picture; None without matplotlib, or without anything to show."""
    if not report.cases:
        return None
    return draw(path, columns=3, rows=2, size_inches=(15, 8), fill=partial(_draw_panels, report=report))


def _draw_panels(chart: Any, panels: Sequence[Any], report: Report) -> None:
    named = {measure.name: measure for measure in MEASURES}
    for panel, name in zip(panels, PANELS, strict=True):
        if any(named[name].of(case) for case in report.cases):
            _draw_panel(panel, named[name], report)
        else:
            panel.set_axis_off()
    handles, labels = panels[0].get_legend_handles_labels()
    chart.legend(handles, labels, loc="outside upper center", ncols=len(labels), frameon=False)


def _draw_panel(panel: Any, measure: Measure, report: Report) -> None:
    groups = list(layouts(report))
    systems = list(dict.fromkeys(case.system for case in report.cases))
    width = 0.8 / len(systems)
    for place, (system, colour) in enumerate(zip(systems, COLOURS, strict=False)):
        values = [measure.of(cases[system]) if system in cases else None for _, cases in groups]
        heights = [value if value is not None else float("nan") for value in values]
        places = [group + (place - (len(systems) - 1) / 2) * width for group in range(len(groups))]
        bars = panel.bar(places, heights, width, label=system, color=colour)
        panel.bar_label(bars, [figure(value) for value in values], fontsize=7, padding=1)
    panel.set_title(f"{measure.name} ({PANELS[measure.name]} scale, less is better)", fontsize=10)
    panel.set_yscale(PANELS[measure.name])
    panel.margins(y=0.12)
    panel.set_xticks(range(len(groups)), [title.replace(" records in ", "\nin ") for title, _ in groups], fontsize=8)
