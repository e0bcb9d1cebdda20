"""The observation log as a block of a prompt: framed data, one line each, the day named where it changes.

Between two runs of the observer the block is the same to the byte: nothing in it depends on the moment, and a run adds
its lines at the end.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from clew.core.model import Trust
from clew.features.observations.observer import Observation
from clew.text.framing import LOG_CLOSE, LOG_OPEN, frame, quote


def block(lines: Sequence[Observation]) -> str:
    """The whole block; the empty string where there is nothing to show."""
    return frame(list(_render(lines)), LOG_OPEN, LOG_CLOSE)


@lru_cache(maxsize=4096)
def line(observation: Observation, *, day: bool = True) -> str:
    """One line of the block, with the day it was said on or without it. Every context shows the same lines."""
    shown = observation.observed if day else ""
    said = f"{quote(shown)},{quote(observation.who)},{quote(observation.text)}"
    notes = ",".join(f'"{name}":{quote(value)}' for name, value in _notes(observation))
    return f"[{observation.priority:d},{said},{{{notes}}}]" if notes else f"[{observation.priority:d},{said}]"


def _render(lines: Iterable[Observation]) -> Iterator[str]:
    shown = ""
    for observation in lines:
        yield line(observation, day=observation.observed != shown)
        shown = observation.observed


def _notes(observation: Observation) -> Iterator[tuple[str, str]]:
    if observation.when:
        yield "on", f"{observation.when}, {observation.relative}"
    if observation.trust in (Trust.UNTRUSTED, Trust.QUARANTINED):
        yield "trust", observation.trust.value
