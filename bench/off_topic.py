"""What is recalled where nothing is to be recalled: questions about something else, on real sessions.

    python -m bench.off_topic --data FOLDER
    python -m bench.off_topic --data FOLDER --embedder none

Every store is asked every question of `labels/off_topic.jsonl` from a new session of its user: once for a pack, once
for a context. None of these questions has anything to do with what was said. Counted are packs and contexts that
recall nothing, and what the others take. The coding session is also asked the questions of
`labels/coding_session.jsonl`, which its user might ask later; there a pack or a context should hold the turn that
answers. The floor of relevance was set on the stores and questions of one part; the others were looked at afterwards.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from statistics import mean
from tempfile import TemporaryDirectory
from typing import Any

from msgspec import Struct, json

from bench.retrieval import locomo
from bench.retrieval.embedding import SharedEmbedder
from bench.retrieval.files import read_lines
from clew import Memory, Message
from clew.api import Flush, Get
from clew.config import Config
from clew.faces.transcripts import Format, Tally, read_turns
from clew.models.choose import make_embedder
from clew.text.terms import passage_text

LABELS = Path(__file__).parent / "labels"
USER = "u"
SETTLE_MS = 3_600_000
PARTS = {"set": ("coding", "conv-26", "conv-30"), "check": ("agents", "conv-42", "conv-47", "conv-49")}
"""Where the floor was set, and where it was looked at afterwards."""

BACK = ("back", "back-check")
"""Questions about something else in words that look back, as if they asked for what is remembered; in two parts."""

_AGENTS = "agent_sessions"
_TEXT_BYTES = 1_000_000

Sessions = list[tuple[str, list[Message]]]


class OffTopic(Struct):
    question: str
    sort: str
    part: str


class Asked(Struct):
    question: str
    evidence: str
    """A part of the turn that answers it."""


@dataclass(frozen=True, slots=True)
class Recalled:
    """For one question."""

    sort: str
    pack_tokens: int
    context_tokens: int
    pack_holds: bool = False
    context_holds: bool = False


def main() -> int:
    options = _parser().parse_args()
    with TemporaryDirectory(prefix="bench-") as folder:
        config = Config.load(data_dir=Path(folder), embedder=options.embedder)
        chosen = make_embedder(config).model
        if chosen is None:
            _measure(options, replace(config, embedder="none"), None)
            return 0
        with closing(chosen):
            shared = SharedEmbedder(chosen)
            if options.vectors is not None:
                shared.load(options.vectors)
            _measure(options, config, shared)
            if options.vectors is not None:
                shared.save(options.vectors)
    return 0


def _measure(options: argparse.Namespace, config: Config, embedder: SharedEmbedder | None) -> None:
    asked = list(read_lines(LABELS / "off_topic.jsonl", OffTopic))
    unrelated = [one for one in asked if one.part in options.questions]
    print(f"{len(unrelated)} questions about something else\n")
    print("| store | empty packs | tokens, mean | empty contexts | tokens, mean |\n| --- |" + " ---: |" * 4)
    found: list[Recalled] = []
    related: list[Recalled] = []
    for name in (name for part in options.stores for name in PARTS[part]):
        with (
            TemporaryDirectory(dir=config.data_dir) as folder,
            Memory(replace(config, data_dir=Path(folder)), embedder=embedder) as memory,
        ):
            _fill(memory, sessions_of(options.data, name), embedder)
            here = [_recalled(memory, one.question, one.sort) for one in unrelated]
            if name == "coding":
                questions = read_lines(LABELS / "coding_session.jsonl", Asked)
                related = [_recalled(memory, one.question, name, one.evidence) for one in questions]
        _print_row(name, here)
        found += here
    _print_row("all", found)
    for sort in dict.fromkeys(one.sort for one in unrelated):
        _print_row(f"all, {sort}", [one for one in found if one.sort == sort])
    if related:
        packs, contexts = (
            mean(flags) for flags in zip(*((r.pack_holds, r.context_holds) for r in related), strict=True)
        )
        empty = sum(not one.pack_tokens for one in related), sum(not one.context_tokens for one in related)
        print(f"\n{len(related)} questions about the coding session: evidence in {packs:.1%} of packs,")
        print(f"in {contexts:.1%} of contexts; empty packs {empty[0]}, empty contexts {empty[1]}")


def _fill(memory: Memory, sessions: Sessions, embedder: SharedEmbedder | None) -> None:
    if embedder is not None:
        texts = (passage_text(message.text, message.speaker) for _, messages in sessions for message in messages)
        embedder.prepare(texts, lambda *_: None)
    for session_id, messages in sessions:
        memory.ingest_batch(session_id, messages, user_id=USER)
    memory.call(Flush(timeout_ms=SETTLE_MS))


def _recalled(memory: Memory, question: str, sort: str, evidence: str = "") -> Recalled:
    bundle = memory.pack(question, user_id=USER)
    messages = [Message(role="user", text=question)]
    context = memory.assemble("new", user_id=USER, messages=messages)
    packed = [_text(memory, item.record_ref) for item in bundle.items] if evidence else []
    return Recalled(
        sort,
        bundle.used_tokens,
        next(section.used_tokens for section in context.sections if section.name == "recalled"),
        pack_holds=any(evidence in text for text in packed),
        context_holds=any(evidence in hit.record.text for hit in context.recalled),
    )


def _text(memory: Memory, ref: str) -> str:
    collection, _, id_ = ref.partition("/")
    return memory.call(Get(collection=collection, ids=(id_,))).records[0].text


# --- stores ------------------------------------------------------------------------------------------


def sessions_of(data: Path, name: str) -> Sessions:
    if name == "coding":
        return _transcript(_content_lines(data / _AGENTS / "pi_large-session.jsonl.gz"), Format.OPENCLAW)
    if name == "agents":
        samples = [row["entry"] for row in _rows(data / _AGENTS / "claude_code_log_message_samples.jsonl.gz")]
        trajectories = _rows(data / _AGENTS / "openhands_sdk_trajectories.jsonl.gz")
        openhands = [(str(row["trajectory"]), list(_openhands(row["events"]))) for row in trajectories]
        return openhands + _transcript([json.encode(entry) for entry in samples], Format.CLAUDE_CODE)
    corpus = next(one for one in locomo.read(data / "locomo" / "locomo5_dev.json.gz") if one.name == name)
    return [
        (
            session,
            [
                Message(role=turn.role, text=turn.text, id=turn.name, ts=turn.ts_ms, speaker=turn.speaker)
                for turn in turns
            ],
        )
        for session, turns in groupby(corpus.turns, key=lambda turn: turn.session)
    ]


def _transcript(lines: Sequence[bytes], form: Format) -> Sessions:
    turns = read_turns(lines, form, session_id=None, file_session="session", limit_bytes=_TEXT_BYTES, tally=Tally())
    return [
        (name, [turn.message for turn in group]) for name, group in groupby(turns, key=lambda turn: turn.session_id)
    ]


def _openhands(events: Sequence[dict[str, Any]]) -> Iterator[Message]:
    """What was said; tools are called for little but an echo there."""
    for event in events:
        said = event.get("llm_message") or {}
        text = "\n".join(part["text"] for part in said.get("content", ()) if part.get("text"))
        if text and said["role"] in ("user", "assistant"):
            yield Message(role=said["role"], text=text, id=event["id"])


def _rows(path: Path) -> list[dict[str, Any]]:
    return list(read_lines(path, dict[str, Any]))


def _content_lines(path: Path) -> list[bytes]:
    return [json.encode(row) for row in _rows(path)]


def _print_row(name: str, found: Sequence[Recalled]) -> None:
    packs, contexts = [one.pack_tokens for one in found], [one.context_tokens for one in found]
    cells = [f"{sum(not tokens for tokens in of) / len(of):.1%} | {mean(of):,.0f}" for of in (packs, contexts)]
    print(f"| {name} | {' | '.join(cells)} |", flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder of the datasets")
    parser.add_argument("--stores", nargs="+", choices=PARTS, default=list(PARTS), help="which stores (both parts)")
    parser.add_argument(
        "--questions", nargs="+", choices=(*PARTS, *BACK), default=list(PARTS), help="which questions (both parts)"
    )
    parser.add_argument("--embedder", default="auto", help="none: by words alone (auto)")
    parser.add_argument("--vectors", type=Path, help="keep the vectors of texts in this file, for the next run")
    return parser


if __name__ == "__main__":
    raise SystemExit(main())
