"""How much of what people later ask for an extractive summary keeps, at the length it has.

    python -m bench.summaries --locomo locomo.json.gz --qmsum qmsum.jsonl.gz

On LoCoMo, turns are summarised in clusters of 20; of the words of each answer that stand in the clusters
of its evidence, the share that also stands in their summaries is kept. On QMSum, meetings are summarised
in the same way, and the share is that of the words of the reference summaries. Each baseline gets as many
tokens for each cluster as the summary took, with its heading: random sentences, the first sentences of the
turns, and sentences by the mean rarity of their words. Prints the mean, and the spread over conversations.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import random
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from clew.config import Config
from clew.core.model import Role
from clew.features.history import summary
from clew.features.history.summary import Source
from clew.features.history.tail import split_clusters
from clew.models.tokens import make_counter
from clew.text import sentences
from clew.text.terms import analyse

TURNS_PER_CLUSTER = 20
Order = Callable[[list[tuple[int, str]]], list[int]]
"""Sentences with the number of their turn; gives their places, first to be taken first."""


@dataclass(frozen=True, slots=True)
class Conversation:
    """Clusters of turns, and for each question the wanted words with the clusters they are looked for in."""

    name: str
    clusters: list[list[Source]]
    asked: list[tuple[frozenset[str], frozenset[int]]]


@dataclass(slots=True)
class Score:
    kept: list[float] = field(default_factory=list)
    compression: list[float] = field(default_factory=list)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--locomo", type=Path, help="LoCoMo as JSON, gzipped or not")
    parser.add_argument("--qmsum", type=Path, help="QMSum as JSONL, gzipped or not")
    options = parser.parse_args()
    if options.locomo:
        _report("LoCoMo, words of answers", [_locomo(item) for item in json.loads(_read(options.locomo))])
    if options.qmsum:
        lines = _read(options.qmsum).decode().splitlines()
        _report("QMSum, words of reference summaries", [_qmsum(n, json.loads(line)) for n, line in enumerate(lines)])


def _report(title: str, conversations: Sequence[Conversation]) -> None:
    count = make_counter(Config()).estimate
    scores = {name: Score() for name in ("clew", *_baselines())}
    seconds, made = 0.0, 0
    for conversation in conversations:
        sizes = [sum(count(source.text) for source in cluster) for cluster in conversation.clusters]
        started = time.perf_counter()
        summaries = _summaries(conversation, sizes, count)
        seconds, made = seconds + time.perf_counter() - started, made + len(summaries)
        rooms = [count(text) for text in summaries]
        _add(scores["clew"], conversation, summaries, sum(rooms) / sum(sizes))
        for name, order in _baselines().items():
            texts = [
                _taken(cluster, room, order, count) for cluster, room in zip(conversation.clusters, rooms, strict=True)
            ]
            _add(scores[name], conversation, texts, sum(map(count, texts)) / sum(sizes))
    print(f"{title}: {len(conversations)} conversations, {made} summaries, {seconds / made * 1000:.1f} ms each")
    print(f"{'':<12}{'of length':>10}{'kept':>8}{'lowest':>8}{'highest':>8}{'std':>6}")
    for name, score in scores.items():
        kept = np.array(score.kept) * 100
        length = float(np.mean(score.compression)) * 100
        print(f"{name:<12}{length:9.1f}%{kept.mean():7.1f}%{kept.min():7.1f}%{kept.max():7.1f}%{kept.std():6.1f}")


def _summaries(conversation: Conversation, sizes: Sequence[int], count: Callable[[str], int]) -> list[str]:
    made: list[str] = []
    for cluster, size in zip(conversation.clusters, sizes, strict=True):
        found = summary.summarise(cluster, earlier=made[-2:], below=size, count=count)
        made.append(found.text if found else "")
    return made


def _add(score: Score, conversation: Conversation, texts: Sequence[str], compression: float) -> None:
    told = [frozenset(analyse(text)) for text in texts]
    shares = []
    for wanted, places in conversation.asked:
        kept = frozenset[str]().union(*(told[place] for place in places))
        shares.append(len(wanted & kept) / len(wanted))
    score.kept.append(float(np.mean(shares)))
    score.compression.append(compression)


# --- baselines -----------------------------------------------------------------------------------------


def _baselines() -> dict[str, Order]:
    return {"random": _at_random, "lead": _leading, "rarity": _by_rarity}


def _taken(cluster: Sequence[Source], room: int, order: Order, count: Callable[[str], int]) -> str:
    """Sentences in the given order while they fit, each with its speaker."""
    pieces = [(turn, piece) for turn, source in enumerate(cluster) for piece in sentences.split(source.text)]
    lines: list[str] = []
    for place in order(pieces):
        turn, piece = pieces[place]
        line = f"{cluster[turn].who}: {piece}"
        if (size := count(line) + 1) <= room:
            lines.append(line)
            room -= size
    return "\n".join(lines)


def _at_random(pieces: list[tuple[int, str]]) -> list[int]:
    return random.Random(len(pieces)).sample(range(len(pieces)), len(pieces))


def _leading(pieces: list[tuple[int, str]]) -> list[int]:
    """The first sentence of every turn, then the second ones."""
    met: Counter[int] = Counter()
    depth = []
    for turn, _ in pieces:
        depth.append(met[turn])
        met[turn] += 1
    return sorted(range(len(pieces)), key=lambda place: (depth[place], place))


def _by_rarity(pieces: list[tuple[int, str]]) -> list[int]:
    terms = [frozenset(analyse(piece)) for _, piece in pieces]
    standing = Counter(term for found in terms for term in found)
    rarity = {term: math.log(len(pieces) / times) for term, times in standing.items()}
    means = [sum(rarity[term] for term in found) / max(len(found), 1) for found in terms]
    return sorted(range(len(pieces)), key=lambda place: (-means[place], place))


# --- data ----------------------------------------------------------------------------------------------


def _read(path: Path) -> bytes:
    return gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()


def _clustered(sources: Sequence[Source]) -> list[range]:
    return split_clusters(range(len(sources) + 1), len(sources), TURNS_PER_CLUSTER)


def _conversation(name: str, sources: Sequence[Source], asked: Iterator[tuple[str, set[int]]]) -> Conversation:
    """Only words that stand in the looked-for clusters are wanted: no extract can keep others."""
    ranges = _clustered(sources)
    cluster_of = [number for number, span in enumerate(ranges) for _ in span]
    grouped = [[sources[place] for place in span] for span in ranges]
    standing = [frozenset[str]().union(*(analyse(source.text) for source in cluster)) for cluster in grouped]
    questions = []
    for answer, turns in asked:
        places = frozenset(cluster_of[turn] for turn in turns)
        wanted = frozenset(analyse(answer)) & frozenset[str]().union(*(standing[place] for place in places))
        if wanted:
            questions.append((wanted, places))
    return Conversation(name, grouped, questions)


def _locomo(item: dict[str, Any]) -> Conversation:
    sources: list[Source] = []
    places: dict[str, int] = {}
    number = 1
    conversation = item["conversation"]
    while f"session_{number}" in conversation:
        at = datetime.strptime(conversation[f"session_{number}_date_time"], "%I:%M %p on %d %B, %Y")
        ts_ms = int(at.replace(tzinfo=UTC).timestamp() * 1000)
        for turn in conversation[f"session_{number}"]:
            places[turn["dia_id"]] = len(sources)
            sources.append(Source(turn["speaker"], Role.USER, ts_ms, turn["text"]))
        number += 1
    asked = (
        (str(question["answer"]), {places[name] for name in question.get("evidence") or [] if name in places})
        for question in item["qa"]
        if "answer" in question and not question.get("gold_excluded")
    )
    return _conversation(item["sample_id"], sources, asked)


def _qmsum(number: int, meeting: dict[str, Any]) -> Conversation:
    said = meeting["meeting_transcripts"]
    sources = [Source(turn["speaker"], None, place * 5000, turn["content"]) for place, turn in enumerate(said)]
    asked = (
        (query["answer"], {turn for span in query["relevant_text_span"] for turn in _span(span, len(said))})
        for query in meeting["specific_query_list"]
    )
    return _conversation(str(number), sources, asked)


def _span(span: Sequence[str], count: int) -> range:
    return range(int(span[0]), min(int(span[1]) + 1, count))


if __name__ == "__main__":
    main()
