"""Whether the weights of ranking hold for conversations they were not chosen on, by cross-validation over LoCoMo.

    python -m bench.weights --path locomo.json.gz

Each conversation is left out in turn. Weights are chosen on the others by a climb that starts with every part off and
both lanes alike, and tries a few values of one weight at a time; then they are measured on the one left out. Beside it
stand the weights in the code. Those were chosen while looking at LoCoMo conversations, and so were, in part, the values
that are tried here. Turns are ranked by Clew's own index. Needs the default embedding model.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean, stdev
from time import time_ns

import numpy as np
from numpy.typing import NDArray

from bench.altered import LEXICAL_SHARE, altered, weighing, weights
from bench.conversation import Asked, Conversation, read_conversations
from bench.retrieval.metrics import TURN_DEPTHS
from clew.core.ranking import SIMILARITY_ALONE
from clew.index.search import Query, similarities

NAMES_OUT = "NAMES_OUT"
"""Whether the names of speakers are taken out of what is embedded of a query: 1 if so."""

GRID: Mapping[str, tuple[float, ...]] = {
    LEXICAL_SHARE: (0.1, 0.2, 0.3, 0.4, 0.5),
    NAMES_OUT: (0.0, 1.0),
    "ANSWER": (0.0, 0.2, 0.4, 0.6, 0.8),
    "BEFORE": (0.0, 0.1, 0.2),
    "AFTER": (0.0, 0.1, 0.2, 0.3),
    "BEYOND": (0.0, 0.05, 0.1, 0.15, 0.2),
    "SESSION": (0.0, 0.05, 0.1, 0.15, 0.2),
    "SPEAKER": (0.0, 0.03, 0.07, 0.1, 0.14),
    "DATE": (0.0, 0.07, 0.14, 0.2, 0.3),
}
START = dict.fromkeys(GRID, 0.0) | {LEXICAL_SHARE: 0.5}
LEAST_GAIN = 1e-4
"""A weight is changed for no less than this: less is chance."""

Weights = Mapping[str, float]
Recalls = NDArray[np.float64]
"""One figure a depth."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--path", type=Path, required=True, help="LoCoMo as JSON, gzipped or not")
    parser.add_argument("--vectors", type=Path, help="keep the vectors of turns in this file, for the next run")
    parser.add_argument("--rounds", type=int, default=2, help="how often each weight is tried again (2)")
    options = parser.parse_args()
    conversations = [_Measured(each) for each in read_conversations(options.path, options.vectors)]
    in_code = weights() | {NAMES_OUT: 1.0}
    chosen = {}
    for left_out in conversations:
        others = [conversation for conversation in conversations if conversation is not left_out]
        chosen[left_out.name] = _climb(others, options.rounds)
        _say(f"{left_out.name} left out: done")
    _print_weights(chosen, in_code)
    _print_recalls(conversations, chosen, in_code)


# --- measuring ---------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Measured:
    """A conversation with what each choice of weights was found to give."""

    conversation: Conversation
    known: dict[tuple[tuple[str, float], ...], Recalls] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.conversation.name

    @property
    def questions(self) -> int:
        return len(self.conversation.asked)

    def recalls(self, values: Weights) -> Recalls:
        """The mean over its questions, at each depth."""
        key = tuple(sorted(values.items()))
        if key not in self.known:
            names_out = bool(values[NAMES_OUT])
            with altered(*weighing({name: value for name, value in values.items() if name != NAMES_OUT})):
                found = [self._recalls(asked, names_out) for asked in self.conversation.asked]
            self.known[key] = np.mean(found, axis=0)
        return self.known[key]

    def _recalls(self, asked: Asked, names_out: bool) -> list[float]:
        query = Query(
            terms=asked.terms,
            vector=asked.vector if names_out else asked.vector_with_names,
            calibration=self.conversation.calibration,
            now_ms=time_ns() // 1_000_000,
            weights=SIMILARITY_ALONE,
            dates=asked.dates,
        )
        return self.conversation.recalls(asked, similarities(self.conversation.index, query), TURN_DEPTHS)


# --- choosing ----------------------------------------------------------------------------------------------


def _climb(conversations: Sequence[_Measured], rounds: int) -> Weights:
    """The best weights that changing one at a time leads to."""
    best, most = START, _objective(conversations, START)
    for _ in range(rounds):
        before = best
        for name, values in GRID.items():
            for value in values:
                tried = {**best, name: value}
                reached = _objective(conversations, tried)
                if reached > most + LEAST_GAIN:
                    best, most = tried, reached
        if best == before:
            break
    return best


def _objective(conversations: Sequence[_Measured], values: Weights) -> float:
    """The mean over depths and over questions, each question counting the same."""
    return float(
        _over_questions(conversations, [conversation.recalls(values) for conversation in conversations]).mean()
    )


def _over_questions(conversations: Sequence[_Measured], recalls: Sequence[Recalls]) -> Recalls:
    counts = [conversation.questions for conversation in conversations]
    mean_recalls: Recalls = np.average(recalls, axis=0, weights=counts)
    return mean_recalls


# --- printing ----------------------------------------------------------------------------------------------


def _print_weights(chosen: Mapping[str, Weights], in_code: Weights) -> None:
    print("| weight | in the code |" + "".join(f" without {name} |" for name in chosen))
    print("| --- |" + " ---: |" * (len(chosen) + 1))
    for weight in GRID:
        print(f"| {weight} |" + "".join(f" {each[weight]:g} |" for each in (in_code, *chosen.values())))


def _print_recalls(conversations: Sequence[_Measured], chosen: Mapping[str, Weights], in_code: Weights) -> None:
    depths = [f"recall@{depth}" for depth in TURN_DEPTHS]
    header = (
        "left out",
        "questions",
        *(f"{depth}, {whose}" for whose in ("chosen without it", "code") for depth in depths),
    )
    print(f"\n| {' | '.join(header)} |\n| --- |" + " ---: |" * (len(header) - 1))
    without = [each.recalls(chosen[each.name]) for each in conversations]
    with_code = [each.recalls(in_code) for each in conversations]
    for conversation, *recalls in zip(conversations, without, with_code, strict=True):
        _print_row(conversation.name, conversation.questions, *recalls)
    total = sum(conversation.questions for conversation in conversations)
    _print_row("all questions", total, *(_over_questions(conversations, each) for each in (without, with_code)))
    for title, summed in (("mean of conversations", mean), ("standard deviation", stdev)):
        columns = [[summed(column) for column in np.transpose(each).tolist()] for each in (without, with_code)]
        _print_row(title, "", *columns)


def _print_row(title: str, count: int | str, *recalls: Sequence[float] | Recalls) -> None:
    print(f"| {title} | {count} |" + "".join(f" {value * 100:.1f} |" for each in recalls for value in each))


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
