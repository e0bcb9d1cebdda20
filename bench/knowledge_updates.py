"""Whether a pack shows what is so now, where a value has changed: questions on updates of LongMemEval.

    python -m bench.knowledge_updates --path oracle.json.gz

Each question has a session in which a value was given, and a later one in which it changed. Both are taken in, turn by
turn with their dates, and a pack is made for the question at its own date. Counted are the packs that hold a turn with
the newer value, those that hold one with the older value, and those in which an older one stands unmarked: neither
superseded nor in the slot of dissent. Once as things were said, and once with every proposal of the review queue
accepted, unread.

Beside them, questions over several sessions, whose turns add to one another: there a mark would be wrong.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from msgspec import Struct

from bench.retrieval.files import read_json
from clew import Memory, Message
from clew.api import Bundle, FactsAccept, FactsReview, Flush, Pack
from clew.config import Config
from clew.core.collections import Collection
from clew.core.ids import memory_id

USER = "u"
UPDATES, ADDED_UP = "knowledge-update", "multi-session"
SETTLE_MS = 600_000


class Said(Struct):
    role: str
    content: str
    has_answer: bool = False


class Asked(Struct):
    question_id: str
    question_type: str
    question: str
    question_date: str
    haystack_dates: list[str]
    haystack_sessions: list[list[Said]]


@dataclass(frozen=True, slots=True)
class Outcome:
    newer: bool
    older: bool
    unmarked: bool
    """Whether an older value stands there as if it were so."""
    marked: int
    """Evidence, of any age, that is marked as overtaken."""


class SetClock:
    def __init__(self, now_ms: int) -> None:
        self._now_ms = now_ms

    def now_ms(self) -> int:
        return self._now_ms

    def set(self, now_ms: int) -> None:
        self._now_ms = now_ms


def main() -> int:
    options = _parser().parse_args()
    questions = read_json(options.path, list[Asked])
    print(
        "| questions | packs | newer value | older value | older, unmarked | evidence marked |\n| --- |" + " ---: |" * 5
    )
    for sort in (UPDATES, ADDED_UP):
        wanted = [asked for asked in questions if asked.question_type == sort]
        pairs = [outcome for asked in wanted if (outcome := measure(asked, options.embedder)) is not None]
        for name, outcomes in zip(("as it was said", "proposals accepted"), zip(*pairs, strict=True), strict=True):
            print(f"| {sort}, {name} | {len(outcomes)} | {' | '.join(_cells(outcomes))} |")
    return 0


def measure(asked: Asked, embedder: str) -> tuple[Outcome, Outcome] | None:
    """A pack before and after what was proposed is accepted; None where the question has no two dates of evidence."""
    days = sorted({date for date, said in _evidence(asked)}, key=ms)
    if len(days) < 2:
        return None
    now_ms = max(ms(asked.question_date), ms(days[-1]))
    with TemporaryDirectory(prefix="bench-") as folder:
        config = Config.load(environment={}, data_dir=Path(folder), embedder=embedder)
        with Memory(config, clock=SetClock(now_ms)) as memory:
            newest, evidence = _take_in(memory, asked, days[-1])
            before = judge(_packed(memory, asked), newest, evidence)
            _accept_all(memory)
            return before, judge(_packed(memory, asked), newest, evidence)


def judge(bundle: Bundle, newest: set[str], evidence: set[str]) -> Outcome:
    """What a pack shows of the turns with the newest value, and of the others that have one."""
    turn_of = {ref: turn for turn in evidence for ref in shown_as(turn)}
    shown = {turn_of[item.record_ref]: item for item in bundle.items if item.record_ref in turn_of}
    is_marked = {turn: item.dissent or item.superseded_by is not None for turn, item in shown.items()}
    older = shown.keys() - newest
    return Outcome(
        newer=bool(newest & shown.keys()),
        older=bool(older),
        unmarked=any(not is_marked[turn] for turn in older),
        marked=sum(is_marked.values()),
    )


def _take_in(memory: Memory, asked: Asked, newest_date: str) -> tuple[set[str], set[str]]:
    """All sessions, oldest first; gives the names of the turns with the newest value, and of all that have one."""
    newest, evidence = set(), set()
    told = sorted(zip(asked.haystack_dates, asked.haystack_sessions, strict=True), key=lambda one: ms(one[0]))
    for number, (date, said) in enumerate(told):
        session = f"s{number}"
        messages = [
            Message(role=one.role, text=one.content, id=f"t{place}", ts=ms(date) + place * 1000)
            for place, one in enumerate(said)
        ]
        memory.ingest_batch(session, messages, user_id=USER)
        with_answer = {f"{session}/t{place}" for place, one in enumerate(said) if one.has_answer}
        evidence |= with_answer
        newest |= with_answer if date == newest_date else set()
    memory.call(Flush(timeout_ms=SETTLE_MS))
    return newest, evidence


def _packed(memory: Memory, asked: Asked) -> Bundle:
    return memory.call(Pack(query=asked.question, user_id=USER))


def _accept_all(memory: Memory) -> None:
    while proposals := memory.call(FactsReview(user_id=USER)).proposals:
        for proposal in proposals:
            memory.call(FactsAccept(user_id=USER, source=proposal.source, proposal=proposal.id))
    memory.call(Flush(timeout_ms=SETTLE_MS))


def shown_as(turn: str) -> set[str]:
    """The references under which a pack may show a turn, or the memory that was kept from it."""
    session, _, id_ = turn.partition("/")
    views = (Collection.session(session), Collection.raw(session))
    across = (Collection.turns(USER), Collection.replies(USER), Collection.guidance(USER))
    own = (*(f"{name}/{id_}" for name in views), *(f"{name}/{turn}" for name in across))
    return {*own, f"{Collection.memories(USER)}/{memory_id(Collection.turns(USER), turn)}"}


def _evidence(asked: Asked) -> Iterator[tuple[str, Said]]:
    for date, session in zip(asked.haystack_dates, asked.haystack_sessions, strict=True):
        yield from ((date, said) for said in session if said.has_answer)


def _cells(outcomes: tuple[Outcome, ...]) -> list[str]:
    counts = [sum(getattr(outcome, name) for outcome in outcomes) for name in ("newer", "older", "unmarked")]
    return [*(f"{count / len(outcomes):.3f}" for count in counts), str(sum(outcome.marked for outcome in outcomes))]


def ms(date: str) -> int:
    return int(datetime.strptime(date, "%Y/%m/%d (%a) %H:%M").replace(tzinfo=UTC).timestamp() * 1000)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--path", type=Path, required=True, help="the published file with evidence sessions alone")
    parser.add_argument("--embedder", default="auto", help="the embedder (auto)")
    return parser


if __name__ == "__main__":
    raise SystemExit(main())
