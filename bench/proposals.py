"""How well candidates for facts and plans are read from turns: precision and recall, for each predicate.

    python -m bench.proposals DATA --json proposals.json

DATA is the folder of public data sets. The turns are those of a real coding session, of LoCoMo and of LongMemEval that
`bench/labels/proposals.jsonl` names, drawn at random (seeded), a part of them among turns with an everyday word of
possession, taste, change or intent. Labels name a turn, the hash of its text, and places in it; no text. They come in
three parts: turns that were looked at while the rules were written; turns that were labelled and measured when they
were done, and by which they were then mended; and turns that were drawn and labelled after that, and held back.

A candidate is right where the turn has a label with the same predicate, whose subject has the same owner and shares
its head word, and whose object shares at least half of the words of the shorter of the two; a plan must also name the
labelled day. Each label counts once.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import re
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench.retrieval import locomo
from clew.core.model import Role
from clew.features.claims.proposals import NOBODY, Proposal, proposals
from clew.text.dates import day_of

LABELS = Path(__file__).parent / "labels" / "proposals.jsonl"
CONVERSATIONS = Path("locomo", "locomo5_dev.json.gz")
QUESTIONS = Path("longmemeval", "oracle.json.gz")
SESSION = Path("agent_sessions", "normalized", "pi_large-session.jsonl.gz")
PARTS = ("looked at", "mended by", "held back")

_WORD = re.compile(r"\w+")
_IDLE = frozenset("a an the my our to of in on at for with and or is are this that it".split())


@dataclass(frozen=True, slots=True)
class Turn:
    text: str
    speaker: str
    role: Role
    ts_ms: int


@dataclass(frozen=True, slots=True)
class Label:
    """What a reader of the turn would accept."""

    predicate: str
    owner: str
    """The speaker, where it is theirs or about them; empty where something else is named."""
    subject: str
    object: str
    day: str | None


@dataclass(slots=True)
class Score:
    turns: int = 0
    proposed: int = 0
    labelled: int = 0
    right: int = 0

    @property
    def precision(self) -> float | None:
        return self.right / self.proposed if self.proposed else None

    @property
    def recall(self) -> float | None:
        return self.right / self.labelled if self.labelled else None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures to this file, too")
    options = parser.parse_args()
    parts = measure(options.data)
    for name, scores in parts.items():
        print(_table(name, scores))
    if options.json:
        options.json.write_text(json.dumps(_figures(parts), indent=2) + "\n", "utf-8")
    return 0


def measure(data: Path) -> dict[str, dict[str, Score]]:
    """The scores of each part: of all predicates together first, then of each."""
    turns = dict(_turns(data))
    parts: dict[str, dict[str, Score]] = {name: defaultdict(Score, all=Score()) for name in PARTS}
    for row in map(json.loads, LABELS.read_text("utf-8").splitlines()):
        turn = turns[row["turn"]]
        if hashlib.sha256(turn.text.encode()).hexdigest() != row["sha256"]:
            raise SystemExit(f"{row['turn']} is not the turn that was labelled")
        _add(parts[row["part"]], turn, [_label(turn, item) for item in row["proposals"]])
    return parts


def _add(scores: dict[str, Score], turn: Turn, labels: Sequence[Label]) -> None:
    scores["all"].turns += 1
    left = list(labels)
    for label in labels:
        for name in ("all", label.predicate):
            scores[name].labelled += 1
    for proposal in (each for each in proposals(turn.text, turn.speaker, turn.ts_ms, turn.role) if not each.ends):
        found = next((label for label in left if _agree(turn, proposal, label)), None)
        if found is not None:
            left.remove(found)
        for name in ("all", proposal.predicate):
            scores[name].proposed += 1
            scores[name].right += found is not None


def _agree(turn: Turn, proposal: Proposal, label: Label) -> bool:
    owner = turn.speaker or NOBODY
    is_theirs = proposal.subject == owner or proposal.subject.startswith(f"{owner}'s ")
    attribute = proposal.subject[len(owner) :].removeprefix("'s ") if is_theirs else proposal.subject
    return (
        proposal.predicate == label.predicate
        and is_theirs == bool(label.owner)
        and _share_head(attribute, label.subject)
        and _overlap(f"{attribute} {proposal.object}" if is_theirs else proposal.object, label.object)
        and (label.day is None or label.day == _day(proposal))
    )


def _share_head(one: str, other: str) -> bool:
    """Whether both are empty, or the last word of either stands in the other."""
    ours, theirs = _words(one), _words(other)
    if not ours or not theirs:
        return not ours and not theirs
    return ours[-1] in theirs or theirs[-1] in ours


def _overlap(one: str, other: str) -> bool:
    ours, theirs = set(_words(one)), set(_words(other))
    return 2 * len(ours & theirs) >= min(len(ours), len(theirs)) > 0


def _words(text: str) -> list[str]:
    return [word for word in _WORD.findall(text.casefold()) if word not in _IDLE]


def _day(proposal: Proposal) -> str | None:
    date_ms = proposal.trigger.date_ms if proposal.trigger else None
    day = day_of(date_ms) if date_ms is not None else None
    return day.isoformat() if day else None


def _label(turn: Turn, item: Mapping[str, Any]) -> Label:
    subject = item.get("subject")
    return Label(
        predicate=item["predicate"],
        owner=(turn.speaker or NOBODY) if item.get("speaker") else "",
        subject=turn.text[slice(*subject)] if subject else item.get("attribute", ""),
        object=turn.text[slice(*item["object"])],
        day=item.get("day"),
    )


# --- turns ---------------------------------------------------------------------------------------------


def _turns(data: Path) -> Iterator[tuple[str, Turn]]:
    for corpus in locomo.read(data / CONVERSATIONS):
        for turn in corpus.turns:
            yield f"{corpus.name}/{turn.name}", Turn(turn.text, turn.speaker or "", Role.USER, turn.ts_ms or 0)
    for line in gzip.decompress((data / SESSION).read_bytes()).decode("utf-8").rstrip("\n").split("\n"):
        item = json.loads(line)
        if item["kind"] == "text" and item["role"] in (Role.USER, Role.ASSISTANT):
            ts_ms = int(datetime.fromisoformat(item["ts"]).timestamp() * 1000)
            yield f"session/{item['i']}", Turn(item["text"], "", Role(item["role"]), ts_ms)
    yield from _asked_turns(data / QUESTIONS)


def _asked_turns(path: Path) -> Iterator[tuple[str, Turn]]:
    """What users of LongMemEval say, under the question, the session and the place in it."""
    for asked in json.loads(gzip.decompress(path.read_bytes())):
        told = zip(asked["haystack_sessions"], asked["haystack_dates"], strict=True)
        for session, (messages, date) in enumerate(told):
            at = datetime.strptime(date, "%Y/%m/%d (%a) %H:%M").replace(tzinfo=UTC)
            for place, message in enumerate(messages):
                name = f"longmemeval/{asked['question_id']}/{session}/{place}"
                yield name, Turn(message["content"], "", Role(message["role"]), int(at.timestamp() * 1000))


# --- printing ------------------------------------------------------------------------------------------


def _table(name: str, scores: Mapping[str, Score]) -> str:
    heading = f"{name}, {scores['all'].turns:,} turns"
    rows = [f"{heading:34}{'labels':>8}{'read':>6}{'right':>7} | precision  recall"]
    for predicate, score in scores.items():
        rows.append(
            f"{predicate:34}{score.labelled:>8}{score.proposed:>6}{score.right:>7} |"
            f"{_share(score.precision):>10}{_share(score.recall):>8}"
        )
    return "\n".join([*rows, ""])


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.1%}"


def _figures(parts: Mapping[str, Mapping[str, Score]]) -> dict[str, Any]:
    return {
        name: {
            predicate: {**asdict(score), "precision": score.precision, "recall": score.recall}
            for predicate, score in scores.items()
        }
        for name, scores in parts.items()
    }


if __name__ == "__main__":
    sys.exit(main())
