"""How search lanes are best put together, measured on LoCoMo conversations.

    python -m bench.fusion --path locomo.json.gz

Prints turn-level recall@10 per conversation for each lane alone, for weighted sums of z-scores, and for the
fusion Clew uses, over a range of weights: each turn by itself, without what stands around it. Needs the default
embedding model.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench.conversation import Asked, Conversation, read_conversations
from clew.core.ranking import fuse
from clew.index.collection import LexicalLane
from clew.index.vectors import cosines

Floats = NDArray[np.float32]
CUTOFF = 10


@dataclass(frozen=True, slots=True)
class Lanes:
    """What both lanes say of every turn, for one question."""

    asked: Asked
    lexical: LexicalLane
    cosines: Floats
    dense: Floats


Fusion = Callable[[Lanes], Floats]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--path", type=Path, required=True, help="LoCoMo as JSON, gzipped or not")
    parser.add_argument("--vectors", type=Path, help="keep the vectors of turns in this file, for the next run")
    options = parser.parse_args()
    conversations = [(each, list(_lanes(each))) for each in read_conversations(options.path, options.vectors)]
    print(f"{'fusion':<28}" + "".join(f"{each.name:>9}" for each, _ in conversations) + f"{'mean':>9}")
    for name, fusion in _fusions():
        recalls = [_recall(conversation, lanes, fusion) for conversation, lanes in conversations]
        print(f"{name:<28}" + "".join(f"{value:9.1f}" for value in [*recalls, float(np.mean(recalls))]))


def _fusions() -> Iterator[tuple[str, Fusion]]:
    yield "lexical alone", lambda lanes: lanes.lexical.scores
    yield "dense alone", lambda lanes: lanes.cosines
    for share in (0.1, 0.2, 0.3, 0.4):
        yield f"z-scores, {share:.2f} lexical", lambda lanes, share=share: _z_sum(lanes, share)  # type: ignore[misc]
    for share in (0.1, 0.2, 0.25, 0.3, 0.35, 0.4, 0.5):
        yield f"clew, {share:.2f} lexical", lambda lanes, share=share: _clew(lanes, share)  # type: ignore[misc]


def _clew(lanes: Lanes, share: float) -> Floats:
    return fuse(lanes.lexical.scores, lanes.dense, lanes.lexical.exact_share, share)


def _z_sum(lanes: Lanes, share: float) -> Floats:
    """Made positive, since only what has more than 0 is found."""
    words, meaning = ((lane - lane.mean()) / (lane.std() + 1e-9) for lane in (lanes.lexical.scores, lanes.cosines))
    fused = share * words + (1 - share) * meaning
    positive: Floats = fused - fused.min() + np.float32(1.0)
    return positive


def _recall(conversation: Conversation, questions: list[Lanes], fusion: Fusion) -> float:
    """In percent."""
    return float(np.mean([conversation.recalls(each.asked, fusion(each), [CUTOFF]) for each in questions])) * 100


def _lanes(conversation: Conversation) -> Iterator[Lanes]:
    index = conversation.index
    rows = index.vectors_at(index.seqs.tolist())
    assert rows is not None
    for asked in conversation.asked:
        raw = cosines(rows, asked.vector)
        yield Lanes(asked, index.lexical(asked.terms), raw, conversation.calibration.similarity(raw))


if __name__ == "__main__":
    main()
