"""The reflector: shortens an observation log that has grown too long.

It runs seldom and cuts deep, because every run changes the beginning of a prompt. It first merges neighbouring lines of
one speaker that matter least, then drops lines, those that matter least before all others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby

from clew.core.budget import portion
from clew.core.model import Trust
from clew.features.observations.observer import LONGEST_LINE_CHARS, Costing, Observation, Priority, within
from clew.features.observations.tools import MOST_SOURCES
from clew.text.sentences import shorten

KEPT_SHARE = 0.6
"""The share of its budget that is left of the log, so that the next run is far away."""

_MERGED_CHARS = 72
"""The length of a line within a merged one."""

_SEAM = "; "


def reflect(lines: Sequence[Observation], budget: int, cost: Costing) -> list[Observation]:
    """The log as it is while it fits its budget, and otherwise a strictly smaller one, in the same order."""
    if sum(map(cost, lines)) <= budget:
        return list(lines)
    target = portion(budget, KEPT_SHARE)
    return within(_merge(lines, target, cost), target, cost)


def _merge(lines: Sequence[Observation], target: int, cost: Costing) -> list[Observation]:
    """Oldest first, only as far as it takes, and only where it saves something."""
    merged: list[Observation] = []
    over = sum(map(cost, lines)) - target
    for _, group in groupby(lines, key=_likeness):
        for run in _split(list(group)):
            one = [_merge_run(run)] if over > 0 and len(run) > 1 and run[0].priority is Priority.LOW else run
            saved = sum(map(cost, run)) - sum(map(cost, one))
            merged += one if saved > 0 else run
            over -= max(saved, 0)
    return merged


def _likeness(line: Observation) -> tuple[str, str, Priority, Trust, bool]:
    return line.observed, line.who, line.priority, line.trust, line.is_own


def _split(group: list[Observation]) -> list[list[Observation]]:
    """The group in pieces that neither rest on too many turns nor exceed one line."""
    pieces: list[list[Observation]] = []
    sources = chars = 0
    for line in group:
        size = min(len(line.text), _MERGED_CHARS) + len(_SEAM)
        if not pieces or sources + len(line.sources) > MOST_SOURCES or chars + size > LONGEST_LINE_CHARS:
            pieces.append([])
            sources = chars = 0
        pieces[-1].append(line)
        sources += len(line.sources)
        chars += size
    return pieces


def _merge_run(run: Sequence[Observation]) -> Observation:
    """One line at the place of the first, with the sources of all."""
    texts = dict.fromkeys(shorten(line.text, _MERGED_CHARS) for line in run)
    sources = dict.fromkeys(source for line in run for source in line.sources)
    return replace(run[0], text=_SEAM.join(texts), sources=tuple(sources), when="", relative="", method="merged")
