"""Pictures of figures for the documentation, drawn where matplotlib is installed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import util
from pathlib import Path
from typing import Any

from bench.run import ROOT

FOLDER = ROOT / "docs" / "benchmarks"
COLOURS = ("#1b6ca8", "#e08e2b", "#7a7a7a", "#5a9e6f", "#a45a8b", "#c0504d", "#8c7a4f", "#4fa3a5")


def draw(
    path: Path,
    *,
    columns: int,
    rows: int = 1,
    size_inches: tuple[float, float],
    fill: Callable[[Any, Sequence[Any]], None],
) -> Path | None:
    """Panels filled by a function that is given the figure and its axes, row by row; None without matplotlib."""
    if util.find_spec("matplotlib") is None:
        return None
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(rows, columns, figsize=size_inches, constrained_layout=True, squeeze=False)
    for panel in axes.flat:
        panel.spines[["top", "right"]].set_visible(False)
    fill(figure, list(axes.flat))
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110, metadata={"Software": None})
    pyplot.close(figure)
    return path


def tell(drawn: Path | None) -> str:
    """One line on what became of a picture."""
    return "No picture: matplotlib is not installed." if drawn is None else f"Drawn: {drawn.name}"
