"""What is gained by recalling what assistants said: evidence of whole conversations, with replies and without.

    python -m bench.replies --path oracle.json.gz

All evidence sessions of LongMemEval become sessions of one user, with both sides of each conversation; every question
is then asked from a new session. Counted is the share of its evidence turns that stand in a context of 2,000 tokens, in
a pack, and among ten hits. Without replies, only what the user said is taken in. Needs the default embedding model.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from tempfile import TemporaryDirectory

from bench.knowledge_updates import SETTLE_MS, USER, Asked, SetClock, ms, shown_as
from bench.retrieval.files import read_json
from clew import Memory, Message
from clew.api import Flush, Pack
from clew.config import Config

BUDGET_TOKENS = 2_000
HITS = 10
ASSISTANT = "single-session-assistant"


class Told(Asked):
    haystack_session_ids: list[str]


@dataclass(frozen=True, slots=True)
class Found:
    """Shares of one question's evidence."""

    sort: str
    context: float
    pack: float
    hits: float


def main() -> int:
    options = _parser().parse_args()
    questions = read_json(options.path, list[Told])
    print(
        "| taken in | questions | context | pack | ten hits | context, said by the assistant |\n| --- |" + " ---: |" * 5
    )
    for name, roles in (("the user's words alone", {"user"}), ("replies, too", {"user", "assistant"})):
        found = measure(questions, roles, options.embedder)
        by_assistant = [one.context for one in found if one.sort == ASSISTANT]
        figures = (mean(one.context for one in found), mean(one.pack for one in found), mean(one.hits for one in found))
        cells = " | ".join(f"{figure:.3f}" for figure in (*figures, mean(by_assistant)))
        print(f"| {name} | {len(found)} | {cells} |")
    return 0


def measure(questions: Sequence[Told], roles: set[str], embedder: str) -> list[Found]:
    with TemporaryDirectory(prefix="bench-") as folder:
        clock = SetClock(0)
        config = Config.load(environment={}, data_dir=Path(folder), embedder=embedder)
        with Memory(config, clock=clock) as memory:
            _take_in(memory, questions, roles)
            return [_ask(memory, clock, asked) for asked in questions if _evidence(asked)]


def _take_in(memory: Memory, questions: Iterable[Told], roles: set[str]) -> None:
    told = {
        id_: (date, said)
        for asked in questions
        for id_, date, said in zip(
            asked.haystack_session_ids, asked.haystack_dates, asked.haystack_sessions, strict=True
        )
    }
    for id_, (date, said) in sorted(told.items(), key=lambda item: ms(item[1][0])):
        messages = [
            Message(role=one.role, text=one.content, id=f"t{place}", ts=ms(date) + place * 1000)
            for place, one in enumerate(said)
            if one.role in roles
        ]
        memory.ingest_batch(id_, messages, user_id=USER)
    memory.call(Flush(timeout_ms=SETTLE_MS * 6))


def _ask(memory: Memory, clock: SetClock, asked: Told) -> Found:
    clock.set(max(ms(date) for date in (asked.question_date, *asked.haystack_dates)) + 1000)
    context = memory.assemble("asking", query=asked.question, user_id=USER, budget_tokens=BUDGET_TOKENS)
    bundle = memory.call(Pack(query=asked.question, user_id=USER))
    hits = memory.search(asked.question, k=HITS, user_id=USER).hits
    return Found(
        asked.question_type,
        _share(asked, (f"{hit.record.collection}/{hit.record.id}" for hit in context.recalled)),
        _share(asked, (item.record_ref for item in bundle.items)),
        _share(asked, (f"{hit.record.collection}/{hit.record.id}" for hit in hits)),
    )


def _share(asked: Told, refs: Iterable[str]) -> float:
    shown = set(refs)
    evidence = _evidence(asked)
    return sum(not shown.isdisjoint(shown_as(turn)) for turn in evidence) / len(evidence)


def _evidence(asked: Told) -> set[str]:
    sessions = zip(asked.haystack_session_ids, asked.haystack_sessions, strict=True)
    return {f"{id_}/t{place}" for id_, said in sessions for place, one in enumerate(said) if one.has_answer}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--path", type=Path, required=True, help="the published file with evidence sessions alone")
    parser.add_argument("--embedder", default="auto", help="the embedder (auto)")
    return parser


if __name__ == "__main__":
    raise SystemExit(main())
