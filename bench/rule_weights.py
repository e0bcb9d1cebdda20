"""Computes what words and meaning weigh for or against a rule, and writes `clew/text/rules/weights.json`.

    python -m bench.rule_weights --data FOLDER

Learns from the seen part of the labels of `bench.usefulness` (written turns in seven languages, and public talk without
rules) and from more public talk that no label points at. Logistic regression over the features of each sentence; then,
for English and the default embedder, over the score of the words and the vector. What a rule needs is set so that of
the ordinary turns left out of the training, so many are kept as guidance as `FALSE_SHARE` says. It prints how each
language does on turns left out; the unseen labels are for `bench.usefulness --unseen`.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from bench.usefulness.guidance import ordinary_turns
from bench.usefulness.labels import Data, rows_of
from bench.usefulness.turns import user_turns
from clew.config import Config
from clew.features.guidance.likeness import MAX_CHARS
from clew.models.choose import make_embedder
from clew.text.own_text import without_own
from clew.text.rules import Reading, is_sure, readings
from clew.text.rules.features import words_in
from clew.text.rules.weights import FILE, UNIT, Meaning, Weights, clipped
from clew.text.speech import own_words

FALSE_SHARE = 0.005
FALSE_SHARE_BY_WORDS = 0.015
"""In English without an embedder: a plain rule that is lost is worse than a turn that is kept without need."""
FALSE_SHARE_ELSEWHERE = 0.003
"""In other languages, on talk in three of them."""
ORDINARY_TURNS = 1_500
"""Of each file of public talk in English."""
CHAT_TURNS = 600
"""Of each file of public talk in another language."""
CHATS = {"zh": "Zh", "ja": "Jp", "ko": "Ko"}
MOST_FEATURES = 4_000
LEAST_OF_FEATURE, LEAST_OF_WORD = 3, 10
"""Sentences in which a feature or a word must occur to be learnt."""
EASE, MEANING_EASE = 2.0, 2.0
MEANING_SCALE = 8.0
"""So much the vectors are stretched before they are eased: their differences are small."""
PLAIN_WEIGHT = 3.0
"""Most of the written rules avoid `always`, `never` and `must`; most of those that people lay down do not."""
LOOK_ALIKE_WEIGHT = 0.4
"""Written turns without a rule were made to look like one; people say far fewer of those."""
FOLDS = 5
STEPS = 300
SEED = 1

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Example:
    """One sentence of a turn."""

    turn: int
    language: str
    reading: Reading
    is_rule: bool
    is_ordinary: bool
    """Whether it is of public talk, and not written for this."""
    is_plain: bool
    """Whether it is of a turn that lays down a rule in so many words."""
    is_measure: bool
    """Whether it is of an ordinary turn that sets what a rule needs. In English, those that a reader has looked at."""

    @property
    def weight(self) -> float:
        if self.is_plain:
            return PLAIN_WEIGHT
        return 1.0 if self.is_rule or self.is_ordinary else LOOK_ALIKE_WEIGHT


def main() -> int:
    options = _parser().parse_args()
    data = Data(options.data)
    examples = list(_examples(data, options.data))
    print(f"{len(examples):,} sentences, {sum(one.is_rule for one in examples):,} of them rules")
    by_words = _scores_left_out(examples)
    trained = _train(examples)
    least = {
        "en": _least(examples, by_words, FALSE_SHARE_BY_WORDS, "en"),
        "other": _least(examples, by_words, FALSE_SHARE_ELSEWHERE, *CHATS),
    }
    _print("by words", examples, by_words, least)
    meaning = _with_meaning(examples, by_words - least["en"])
    weights = _weights(trained, least, meaning)
    options.out.write_bytes(msgspec.json.format(msgspec.json.encode(weights), indent=0) + b"\n")
    print(f"{len(weights.features):,} features written to {options.out}")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="the folder with the public data")
    parser.add_argument("--out", type=Path, default=FILE, help="where to write the weights")
    return parser


# --- examples -----------------------------------------------------------------------------------------


def _examples(data: Data, folder: Path) -> Iterator[Example]:
    for number, turn in enumerate([*_written(), *_ordinary(data, folder)]):
        rules = [_letters(rule) for rule in turn.get("rules", ())]
        for reading in readings(own_words(without_own(turn["text"]))):
            is_rule = _is_among(_letters(reading.text), rules)
            yield Example(
                turn=number,
                language=turn["lang"],
                reading=reading,
                is_rule=is_rule,
                is_ordinary="rules" not in turn,
                is_plain=is_rule and "plain" in turn,
                is_measure="measure" in turn,
            )


def _written() -> Iterator[dict[str, Any]]:
    yield from rows_of("spoken", unseen=False)
    for user in rows_of("rules", unseen=False):
        yield from ({"lang": "en", "text": rule["text"], "rules": [rule["text"]]} for rule in user["rules"])
        yield from ({"lang": "en", "text": text, "rules": []} for text in user["talk"])
    yield from ({"lang": "en", "text": row["text"], "rules": []} for row in rows_of("not_rules", unseen=False))


def _is_among(said: str, rules: Sequence[str]) -> bool:
    """A rule may be several sentences, and a sentence may be cut where the label goes on."""
    return any(said in rule or (rule in said and 2 * len(rule) >= len(said)) for rule in rules if said)


def _letters(text: str) -> str:
    return "".join(character for character in text.casefold() if character.isalnum())


def _ordinary(data: Data, folder: Path) -> Iterator[dict[str, Any]]:
    yield from ({"lang": "en", "text": text, "measure": True} for text in ordinary_turns(data, unseen=False))
    labelled = {f"{row['file']}:{row['at']}" for name in ("ordinary", "gate") for row in rows_of(name, unseen=None)}
    chance = random.Random(SEED)
    for name in ("locomo", "longmemeval"):
        texts = [turn.text for turn in user_turns(data, name) if turn.place not in labelled]
        yield from ({"lang": "en", "text": text} for text in chance.sample(texts, min(ORDINARY_TURNS, len(texts))))
    for language, name in CHATS.items():
        path = next(iter((folder / "xpersona").glob(f"{name}_*.json.gz")))
        talks: list[dict[str, Any]] = json.loads(gzip.decompress(path.read_bytes()))
        texts = [text for talk in talks for pair in talk["dialogue"] for text in pair]
        yield from ({"lang": language, "text": text, "measure": True} for text in chance.sample(texts, CHAT_TURNS))


# --- weights of words ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Table:
    """The features of all examples: the numbers of those that each has, in one row after the other."""

    row: NDArray[np.int64]
    feature: NDArray[np.int64]
    points: Floats
    features: int

    def times(self, weights: Floats) -> Floats:
        found = np.bincount(self.row, weights[self.feature], minlength=len(self.points))
        return np.asarray(found + self.points * weights[-2] + weights[-1])

    def back(self, errors: Floats) -> Floats:
        found = np.bincount(self.feature, errors[self.row], minlength=self.features)
        return np.concatenate([found, [self.points @ errors, errors.sum()]])


def _table(examples: Sequence[Example], names: Sequence[str]) -> Table:
    number = {name: at for at, name in enumerate(names)}
    known = words_in(names)
    pairs = [
        (row, number[name])
        for row, one in enumerate(examples)
        for name in sorted(one.reading.features(known))
        if name in number
    ]
    row, feature = np.array(pairs, dtype=np.int64).T
    points = np.array([clipped(one.reading.points) for one in examples])
    return Table(row, feature, points, len(names))


def _train(examples: Sequence[Example]) -> tuple[list[str], Floats]:
    """The features that tell most, and their weights; behind them those of a point, and the bias."""
    words = Counter(word.text for one in examples for word in set(one.reading.sentence.words))
    known = {word for word, count in words.items() if count >= LEAST_OF_WORD}
    counts = Counter(name for one in examples for name in one.reading.features(known))
    names = sorted(name for name, count in counts.items() if count >= LEAST_OF_FEATURE)
    weights = _fit_table(examples, names)
    telling = np.argsort(-np.abs(weights[:-2]), kind="stable")[:MOST_FEATURES]
    names = sorted(names[at] for at in telling)
    return names, _fit_table(examples, names)


def _fit_table(examples: Sequence[Example], names: Sequence[str]) -> Floats:
    table = _table(examples, names)
    wanted = np.array([one.is_rule for one in examples], dtype=np.float64)
    ease = np.concatenate([np.full(len(names), EASE), [0.1, 0.0]])
    weight = np.array([one.weight for one in examples])
    return _fit(table.times, lambda errors: table.back(errors * weight), wanted, ease)


def _fit(times: Callable[[Floats], Floats], back: Callable[[Floats], Floats], wanted: Floats, ease: Floats) -> Floats:
    """Logistic regression by Adam's steps over all examples at once: the same weights each time."""
    weights = np.zeros(len(ease))
    mean, square = np.zeros(len(ease)), np.zeros(len(ease))
    for step in range(1, STEPS + 1):
        errors = 1 / (1 + np.exp(-times(weights))) - wanted
        slope = back(errors) + ease * weights
        mean, square = 0.9 * mean + 0.1 * slope, 0.99 * square + 0.01 * slope**2
        weights -= 0.05 * (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.99**step)) + 1e-8)
    return weights


def _scores_left_out(examples: Sequence[Example]) -> Floats:
    """Of each example, by weights that were learnt from other turns."""
    fold = np.array([one.turn % FOLDS for one in examples])
    scores = np.zeros(len(examples))
    for out in range(FOLDS):
        names, weights = _train([one for one, own in zip(examples, fold, strict=True) if own != out])
        left = [one for one, own in zip(examples, fold, strict=True) if own == out]
        scores[fold == out] = _table(left, names).times(weights)
    return scores


def _least(examples: Sequence[Example], scores: Floats, share: float, *languages: str) -> float:
    """The score that this share of ordinary turns reaches."""
    wanted = [one.is_measure and one.language in languages for one in examples]
    return float(np.quantile(list(_by_turn(examples, scores, wanted).values()), 1 - share))


def _by_turn(examples: Sequence[Example], scores: Floats, wanted: Sequence[bool]) -> dict[int, float]:
    best: dict[int, float] = {}
    for one, score, is_wanted in zip(examples, scores, wanted, strict=True):
        if is_wanted:
            best[one.turn] = max(best.get(one.turn, -np.inf), float(score))
    return best


# --- weights of meaning -------------------------------------------------------------------------------


def _with_meaning(examples: Sequence[Example], by_words: Floats) -> dict[str, Meaning]:
    english = [at for at, one in enumerate(examples) if one.language == "en"]
    own = [examples[at] for at in english]
    identity, vectors = _embed([one.reading.text[:MAX_CHARS] for one in own])
    middle = vectors.mean(axis=0)
    table = np.column_stack([by_words[english], (vectors - middle) * MEANING_SCALE, np.ones(len(own))])
    wanted = np.array([one.is_rule for one in own], dtype=np.float64)
    weights_of = np.array([one.weight for one in own])
    ease = np.concatenate([[0.01], np.full(vectors.shape[1], MEANING_EASE), [0.0]])

    def fit(rows: NDArray[np.bool_]) -> Floats:
        some, weight = table[rows], weights_of[rows]
        return _fit(lambda weights: some @ weights, lambda errors: some.T @ (errors * weight), wanted[rows], ease)

    fold = np.array([one.turn % FOLDS for one in own])
    scores = np.zeros(len(own))
    for out in range(FOLDS):
        scores[fold == out] = table[fold == out] @ fit(fold != out)
    sure = [is_sure(one.reading.points, score) for one, score in zip(own, by_words[english], strict=True)]
    scores[sure] = np.inf
    least = _least(own, scores, FALSE_SHARE, "en")
    _print("by words and meaning", own, scores, {"en": least, "other": least})
    weights = fit(np.ones(len(own), dtype=np.bool_))
    direction = weights[1:-1] * MEANING_SCALE
    bias = float(weights[-1] - middle @ direction - least)
    rounded = [round(float(value), 3) for value in direction]
    return {identity: Meaning(by_words=round(float(weights[0]), 3), direction=rounded, bias=round(bias, 3))}


def _embed(texts: Sequence[str]) -> tuple[str, Floats]:
    embedder = make_embedder(Config.load()).model
    assert embedder is not None, "needs the default embedder"
    distinct = sorted(set(texts), key=len)
    vectors: dict[str, Floats] = {}
    for start in range(0, len(distinct), 16):
        some = distinct[start : start + 16]
        vectors |= zip(some, np.asarray(embedder.embed_passages(some), dtype=np.float64), strict=True)
    return str(embedder.identity), np.stack([vectors[text] for text in texts])


# --- what comes out -----------------------------------------------------------------------------------


def _weights(trained: tuple[list[str], Floats], least: dict[str, float], meaning: dict[str, Meaning]) -> Weights:
    names, weights = trained
    features = {name: round(float(weight) * UNIT) for name, weight in zip(names, weights[:-2], strict=True)}
    return Weights(
        bias=round(float(weights[-1]), 3),
        points=round(float(weights[-2]), 4),
        features={name: weight for name, weight in features.items() if weight},
        least={name: round(score, 3) for name, score in least.items()},
        meaning=meaning,
    )


def _print(title: str, examples: Sequence[Example], scores: Floats, least: dict[str, float]) -> None:
    laid_down = {one.turn for one in examples if one.is_rule}
    for language in dict.fromkeys(one.language for one in examples):
        needed = least.get(language, least["other"])
        written = [one.language == language and not one.is_ordinary for one in examples]
        best = _by_turn(examples, scores, written)
        kept = [score >= needed for turn, score in best.items() if turn in laid_down]
        false = [score >= needed for turn, score in best.items() if turn not in laid_down]
        print(f"{title}, {language}: {np.mean(kept):.0%} of turns with a rule, {np.mean(false):.0%} of look-alikes")


if __name__ == "__main__":
    raise SystemExit(main())
