"""The picture of a gate's calibration: how the scores lie, and what they mean."""

from __future__ import annotations

from importlib import util
from pathlib import Path
from typing import Any

import numpy as np

from clew.faces.cli.console.output import replaced_whole
from clew.features.gate.reliability import Assessment, Examples, held_out, reliability_bins

PLOTS_MISSING = "no picture was drawn: matplotlib is not installed; pip install 'clew[plots]' brings it"

_USEFUL, _OTHER, _NOW, _PROPOSED = "#1b6ca8", "#e08e2b", "#7a7a7a", "#111111"
_SCORE_BINS = 25
_CURVE_POINTS = 401


def draw(path: Path, examples: Examples, assessment: Assessment) -> bool:
    """Write the picture as PNG; False where matplotlib is missing."""
    if util.find_spec("matplotlib") is None:
        return False
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12, 5.2), layout="constrained")
    left, right = figure.subplots(1, 2)
    _draw_scores(left, examples, assessment)
    _draw_reliability(right, examples, assessment)
    for panel in (left, right):
        panel.set_xlim(0, 1)
        panel.spines[["top", "right"]].set_visible(False)
        panel.legend(frameon=False, fontsize=9)
    with replaced_whole(path) as stream:
        figure.savefig(stream, format="png", dpi=120, metadata={"Software": None})
    return True


def _draw_scores(panel: Any, examples: Examples, assessment: Assessment) -> None:
    edges = np.linspace(0, 1, _SCORE_BINS + 1)
    for chosen, name, colour in ((examples.useful, "useful", _USEFUL), (~examples.useful, "not useful", _OTHER)):
        panel.hist(examples.scores[chosen], edges, label=f"{name} ({int(chosen.sum()):,})", color=colour, alpha=0.6)
    now, proposed = assessment.now.threshold, assessment.proposed
    panel.axvline(now, color=_NOW, linestyle="--", label=f"threshold now: {now:g}")
    if proposed is not None:
        panel.axvline(proposed.threshold, color=_PROPOSED, label=f"proposed: {proposed.threshold:g}")
    panel.set(title="Scores by label", xlabel="gate score", ylabel="texts")
    panel.margins(y=0.15)


def _draw_reliability(panel: Any, examples: Examples, assessment: Assessment) -> None:
    panel.plot([0, 1], [0, 1], color="#bbbbbb", linewidth=1, label="perfectly calibrated")
    for predicted, name, colour, mark in (
        (examples, f"raw score (Brier {assessment.brier_raw:.3f})", _OTHER, "o"),
        (held_out(examples), f"calibrated, held out (Brier {assessment.brier_calibrated:.3f})", _USEFUL, "s"),
    ):
        bins = reliability_bins(predicted)
        points = [item.predicted for item in bins], [item.observed for item in bins]
        sizes = [20 + 180 * item.count / len(examples.scores) for item in bins]
        panel.plot(*points, color=colour, linewidth=1, alpha=0.6)
        panel.scatter(*points, s=sizes, color=colour, marker=mark, label=name, zorder=3)
    scores = np.linspace(0, 1, _CURVE_POINTS)
    curve = assessment.curve.probabilities(scores)
    panel.plot(scores, curve, color=_PROPOSED, linestyle=":", label="isotonic curve of the score")
    panel.set(
        title="Reliability (a larger mark: more texts)",
        xlabel="score, or predicted share",
        ylabel="share that was useful",
        ylim=(-0.03, 1.03),
    )
