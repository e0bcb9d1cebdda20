"""How search lanes are best put together, measured on LoCoMo conversations.

    python -m bench.fusion --path locomo.json.gz

Prints turn-level recall@10 per conversation for each lane alone, for weighted sums of z-scores, and for the
fusion Clew uses, over a range of weights. Needs the default embedding model.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clew.domain import ranking
from clew.domain.terms import analyse, analyse_query, lexical_text, pack, passage_text
from clew.index.collection import CollectionIndex, LexicalLane
from clew.index.vectors import cosines, decode, encode, to_grid
from clew.models.onnx import OnnxEmbedder
from clew.models.pack import DEFAULT_PACK, find_pack, packs_dir
from clew.storage.protocol import Feed, FeedRow

Floats = NDArray[np.float32]
Fusion = Callable[["Question"], Floats]
CUTOFF = 10


@dataclass(frozen=True, slots=True)
class Question:
    evidence: frozenset[int]
    lexical: LexicalLane
    cosines: Floats
    dense: Floats


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--path", type=Path, required=True, help="LoCoMo as JSON, gzipped or not")
    path = parser.parse_args().path
    embedder = OnnxEmbedder(find_pack(DEFAULT_PACK, packs_dir()))
    data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    conversations = {item["sample_id"]: list(_questions(item, embedder)) for item in json.loads(data)}
    print(f"{'fusion':<28}" + "".join(f"{name:>9}" for name in conversations) + f"{'mean':>9}")
    for name, fusion in _fusions():
        recalls = [_recall(questions, fusion) for questions in conversations.values()]
        print(f"{name:<28}" + "".join(f"{value:9.1f}" for value in [*recalls, float(np.mean(recalls))]))


def _fusions() -> Iterator[tuple[str, Fusion]]:
    yield "lexical alone", lambda question: question.lexical.scores
    yield "dense alone", lambda question: question.cosines
    for share in (0.1, 0.2, 0.3, 0.4):
        yield f"z-scores, {share:.2f} lexical", lambda question, share=share: _z_sum(question, share)  # type: ignore[misc]
    for share in (0.1, 0.2, 0.25, 0.3, 0.35, 0.4, 0.5):
        yield f"clew, {share:.2f} lexical", lambda question, share=share: _clew(question, share)  # type: ignore[misc]


def _clew(question: Question, share: float) -> Floats:
    return ranking.fuse(question.lexical.scores, question.dense, question.lexical.exact_share, share)


def _z_sum(question: Question, share: float) -> Floats:
    lanes = [(lane - lane.mean()) / (lane.std() + 1e-9) for lane in (question.lexical.scores, question.cosines)]
    fused: Floats = share * lanes[0] + (1 - share) * lanes[1]
    return fused


def _recall(questions: list[Question], fusion: Fusion) -> float:
    shares = []
    for question in questions:
        best = np.argsort(-fusion(question), kind="stable")[:CUTOFF]
        shares.append(len(question.evidence.intersection(best.tolist())) / len(question.evidence))
    return float(np.mean(shares)) * 100


def _questions(item: dict[str, Any], embedder: OnnxEmbedder) -> Iterator[Question]:
    turns = list(_turns(item["conversation"]))
    places = {turn["dia_id"]: place for place, (turn, _) in enumerate(turns)}
    vectors = encode(embedder.embed_passages([passage_text(_said(turn), turn["speaker"]) for turn, _ in turns]))
    index = CollectionIndex()
    rows = [
        FeedRow(seq, ts, pack(analyse(lexical_text(_said(turn), turn["speaker"], ts))), vector)
        for seq, ((turn, ts), vector) in enumerate(zip(turns, vectors, strict=True), 1)
    ]
    index.apply(Feed(len(rows), False, rows))
    calibration = embedder.calibration.of_queries
    grid = decode(vectors, embedder.identity.dimensions).astype(np.float32)
    for asked in item["qa"]:
        evidence = frozenset(places[name] for name in asked.get("evidence") or [] if name in places)
        if evidence:
            raw = cosines(grid, to_grid(embedder.embed_query(asked["question"]))[0])
            lane = index.lexical(analyse_query(asked["question"]))
            yield Question(evidence, lane, raw, calibration.similarity(raw))


def _turns(conversation: dict[str, Any]) -> Iterator[tuple[dict[str, Any], int]]:
    number = 1
    while f"session_{number}" in conversation:
        at = datetime.strptime(conversation[f"session_{number}_date_time"], "%I:%M %p on %d %B, %Y")
        ts_ms = int(at.replace(tzinfo=UTC).timestamp() * 1000)
        yield from ((turn, ts_ms) for turn in conversation[f"session_{number}"])
        number += 1


def _said(turn: dict[str, Any]) -> str:
    caption = turn.get("blip_caption")
    return f"{turn['text']} {caption}" if caption else str(turn["text"])


if __name__ == "__main__":
    main()
