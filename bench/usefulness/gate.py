"""How well the gate tells turns worth keeping from the others, on labelled turns of real conversations.

    python -m bench.usefulness.gate --data FOLDER
    python -m bench.usefulness.gate --data FOLDER --embedder none

Every conversation is one user of one store. Its turns go through ingest in their order, so each is judged beside what
the gate kept before. Turns behind the last labelled one of a conversation would change nothing and are left out. A
turn that is never kept, whatever its score, counts with the score 0. The threshold proposed is that of `clew gate
calibrate`. A third of the labels is unseen: nobody looked at it while the rules were written; `--unseen` adds it.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple
from unittest.mock import patch

from msgspec import Struct

from bench.retrieval.files import read_lines
from bench.usefulness.labels import Data
from bench.usefulness.turns import Turn, user_turns
from clew import Memory, Message
from clew.api import Flush
from clew.config import Config
from clew.features.gate import rules, service
from clew.features.gate.reliability import Examples, Outcome, outcome, propose_threshold, separation

LABELS = Path(__file__).parents[1] / "labels" / "usefulness"
AIM = 0.75
SETTLE_MS = 3_600_000
CURVE = tuple(number / 100 for number in range(10, 46, 2))


class Row(NamedTuple):
    name: str
    value: float
    aim: float | None


@dataclass(frozen=True, slots=True)
class Measured:
    rows: list[Row]
    curve: list[Outcome]
    """What other thresholds would give, with the memories of the one in use."""


class Label(Struct):
    file: str
    at: str
    keep: bool
    rule: bool = False
    unseen: bool = False


@dataclass(frozen=True, slots=True)
class Judged:
    score: float
    """0 for a turn that is never kept."""
    kept: bool


def main() -> int:
    options = _parser().parse_args()
    measured = measure(options.labels, options.data, options.unseen, options.embedder)
    print("| | value | aim |\n| --- | ---: | ---: |")
    for name, value, aim in measured.rows:
        print(f"| {name} | {value:.3f} | {'' if aim is None else f'≥ {aim:.2f}'} |")
    print("\n| threshold | precision | recall | kept |\n| ---: | ---: | ---: | ---: |")
    for point in measured.curve:
        precision = "" if point.precision is None else f"{point.precision:.3f}"
        print(f"| {point.threshold:.2f} | {precision} | {point.recall:.3f} | {point.kept:.3f} |")
    return 0


def measure(labels: Path, data: Path, unseen: bool = False, embedder: str = "auto") -> Measured:
    """Judge every labelled turn; `labels` is the folder of the labels, `unseen` adds the third nobody looked at."""
    known = [label for label in read_lines(labels / "gate.jsonl", Label) if unseen or not label.unseen]
    turns = _read_turns(Data(data, labels), known)
    with TemporaryDirectory(prefix="bench-") as folder:
        config = Config.load(data_dir=Path(folder), embedder=embedder)
        judged = _judge(config, turns)
    return _summarise(known, judged, config.gate_threshold)


def _summarise(labels: Sequence[Label], judged: dict[str, Judged], threshold: float) -> Measured:
    found = {label.file: _examples([one for one in labels if one.file == label.file], judged) for label in labels}
    together = _examples(labels, judged)
    now = outcome(together, threshold)
    rows = [
        Row("turns", len(labels), None),
        Row("worth keeping, share", float(together.useful.mean()), None),
        Row("threshold", threshold, None),
        Row("precision", now.precision or 0.0, AIM),
        Row("recall", now.recall, AIM),
        Row("kept, share", now.kept, None),
        Row("separation", separation(together), None),
        Row("threshold proposed", propose_threshold(together) or 0.0, None),
    ]
    for name, examples in found.items():
        here = outcome(examples, threshold)
        rows += [Row(f"{name}, precision", here.precision or 0.0, None), Row(f"{name}, recall", here.recall, None)]
    rows += _without_each(labels, judged)
    return Measured(rows, [outcome(together, point) for point in CURVE])


def _without_each(labels: Sequence[Label], judged: dict[str, Judged]) -> Iterator[Row]:
    """Each file by the threshold that the others propose."""
    files = list(dict.fromkeys(label.file for label in labels))
    for name in files if len(files) > 1 else ():
        proposed = propose_threshold(_examples([label for label in labels if label.file != name], judged)) or 0.0
        here = outcome(_examples([label for label in labels if label.file == name], judged), proposed)
        yield Row(f"{name} by the threshold of the others ({proposed:g}), precision", here.precision or 0.0, None)
        yield Row(f"{name} by the threshold of the others ({proposed:g}), recall", here.recall, None)


def _examples(labels: Sequence[Label], judged: dict[str, Judged]) -> Examples:
    return Examples.of((judged[f"{label.file}:{label.at}"].score, label.keep) for label in labels)


# --- the engine ----------------------------------------------------------------------------------------


def _judge(config: Config, turns: Sequence[Turn]) -> dict[str, Judged]:
    """Every turn's score and whether the gate kept it, in the order of each conversation."""
    judged: dict[str, Judged] = {}
    with Memory(config) as memory:
        for name in dict.fromkeys(turn.conversation for turn in turns):
            spoken = [turn for turn in turns if turn.conversation == name]
            with _scores() as scores:
                memory.ingest_batch(
                    name,
                    [Message(role="user", text=one.text, id=one.place, speaker=one.speaker) for one in spoken],
                    user_id=name,
                )
                memory.call(Flush(timeout_ms=SETTLE_MS))
            kept = {str(record.metadata["source"]["id"]) for record in memory.list(f"user:{name}").records}
            for turn, score in zip(spoken, scores, strict=True):
                judged[turn.place] = Judged(score, f"{name}/{turn.place}" in kept)
    return judged


@contextmanager
def _scores() -> Iterator[list[float]]:
    """The scores of the turns that the gate judges meanwhile, in order."""
    scores: list[float] = []
    real = rules.refusal

    def recorded(text: str, parts: rules.GateParts, held: Iterable[str] = ()) -> str | None:
        reason = real(text, parts, held)
        scores.append(parts.gate if reason is None else 0.0)
        return reason

    with patch.object(service, "refusal", recorded):
        yield scores


# --- the data ------------------------------------------------------------------------------------------


def _read_turns(data: Data, labels: Sequence[Label]) -> list[Turn]:
    """The user's turns of every conversation with labels, each up to its last labelled one."""
    wanted = {f"{label.file}:{label.at}" for label in labels}
    found: list[Turn] = []
    for name in dict.fromkeys(label.file for label in labels):
        turns = list(user_turns(data, name))
        for conversation in dict.fromkeys(turn.conversation for turn in turns):
            spoken = [turn for turn in turns if turn.conversation == conversation]
            last = max((place for place, turn in enumerate(spoken) if turn.place in wanted), default=-1)
            found += spoken[: last + 1]
    return found


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder of the datasets")
    parser.add_argument("--labels", type=Path, default=LABELS, help="folder of the labels")
    parser.add_argument("--unseen", action="store_true", help="add the labels that nobody looked at")
    parser.add_argument("--embedder", default="auto", help="none: by words alone (auto)")
    return parser


if __name__ == "__main__":
    raise SystemExit(main())
