"""Summarizers that know nothing of conversations: lead, random, LexRank and TextRank over sentences."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from clew.text import sentences
from clew.text.terms import analyse

Order = Callable[[Sequence[tuple[int, str]]], Sequence[int]]
"""Sentences with the number of their turn; gives their places, best first."""
Matrix = npt.NDArray[np.float64]

_READ_SENTENCES = 600
_DAMPING, _ROUNDS, _SIMILAR = 0.85, 30, 0.1


def summarise(turns: Sequence[str], room: int, order: Order, count: Callable[[str], int]) -> str:
    """Sentences in this order while they fit the room, shown in the order of the turns."""
    pieces = [(turn, piece) for turn, text in enumerate(turns) for piece in sentences.split(text)][:_READ_SENTENCES]
    chosen = []
    for place in order(pieces):
        size = count(pieces[place][1]) + 1
        if size <= room:
            chosen.append(place)
            room -= size
    return "\n".join(pieces[place][1] for place in sorted(chosen))


def lead(pieces: Sequence[tuple[int, str]]) -> list[int]:
    """The first sentence of every turn, then the second ones."""
    met: Counter[int] = Counter()
    depth = []
    for turn, _ in pieces:
        depth.append(met[turn])
        met[turn] += 1
    return sorted(range(len(pieces)), key=lambda place: (depth[place], place))


def at_random(pieces: Sequence[tuple[int, str]]) -> list[int]:
    return random.Random(len(pieces)).sample(range(len(pieces)), len(pieces))


def lexrank(pieces: Sequence[tuple[int, str]]) -> list[int]:
    """Central sentences of the graph whose edges are cosines of weighted words above a threshold."""
    bags = [Counter(analyse(piece)) for _, piece in pieces]
    spread = Counter(term for bag in bags for term in bag)
    vocabulary = {term: place for place, term in enumerate(spread)}
    vectors = np.zeros((len(pieces), max(len(vocabulary), 1)))
    for row, bag in enumerate(bags):
        for term, times in bag.items():
            vectors[row, vocabulary[term]] = times * math.log(1 + len(pieces) / spread[term])
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    vectors /= np.where(lengths > 0, lengths, 1.0)
    near = vectors @ vectors.T
    return _central(np.where(near >= _SIMILAR, 1.0, 0.0))


def textrank(pieces: Sequence[tuple[int, str]]) -> list[int]:
    """Central sentences of the graph whose edges count shared words, beside the lengths of both."""
    bags = [frozenset(analyse(piece)) for _, piece in pieces]
    near = np.zeros((len(bags), len(bags)))
    for one, first in enumerate(bags):
        for other in range(one):
            shared = len(first & bags[other])
            if shared:
                lengths = math.log(1 + len(first)) + math.log(1 + len(bags[other]))
                near[one, other] = near[other, one] = shared / lengths
    return _central(near)


def _central(near: Matrix) -> list[int]:
    """Places by the weight that a random walk gives them."""
    if not len(near):
        return []
    np.fill_diagonal(near, 0.0)
    out = near.sum(axis=0)
    steps = near / np.where(out > 0, out, 1.0)
    weight = np.full(len(near), 1.0 / len(near))
    for _ in range(_ROUNDS):
        weight = (1 - _DAMPING) / len(near) + _DAMPING * steps @ weight
    return sorted(range(len(near)), key=lambda place: (-weight[place], place))


BASELINES: dict[str, Order] = {"lead": lead, "random": at_random, "LexRank": lexrank, "TextRank": textrank}
