"""The tour: stores two users' conversations, asks, compacts, assembles, checks. What it finds is what it returns."""

from __future__ import annotations

import time
from collections.abc import Callable
from importlib import resources

from msgspec import Struct, structs

from clew.api import (
    CompactReceipt,
    Context,
    GuidanceList,
    MemoryApi,
    Message,
    Node,
    RecordView,
    SearchResult,
    VerifyReport,
)
from clew.faces.transcripts import read_transcript

SESSIONS = {
    "maren-1-plan": "maren",
    "maren-2-outage": "maren",
    "maren-3-change": "maren",
    "tomas-1-garden": "tomas",
}
"""Each bundled conversation, oldest first, with the user it belongs to."""

DAY_MS = 86_400_000
MAX_TEXT_BYTES = 65_536


class Question(Struct, frozen=True):
    text: str
    user: str
    why: str
    session: str | None = None


QUESTIONS = (
    Question("where are the bookings kept?", "maren", "The decision and its change, both kept."),
    Question("may we deploy on a Friday?", "maren", "A rule from weeks ago."),
    Question("E1047", "maren", "An error code is matched exactly.", session="maren-2-outage"),
    Question("円で表示", "maren", "Scripts without spaces are searched, too."),
)
TRESPASS = Question("ferry bookings, E1047, deploy on a Friday", "tomas", "Another user asks for all that.")
COMPACTED = "maren-1-plan"
FINAL_QUERY = "Can we deploy on Friday instead?"
BUDGET_TOKENS = 1600


class Answered(Struct, frozen=True, rename="camel"):
    question: Question
    result: SearchResult


class Trespass(Struct, frozen=True, rename="camel"):
    question: Question
    hits: int
    hits_of_others: int


class Compacted(Struct, frozen=True, rename="camel"):
    """A session whose old turns a summary covers, and how many of those turns are still there: all."""

    receipt: CompactReceipt
    summary: Node
    guidance: GuidanceList
    turns: tuple[RecordView, ...]
    """What opening the summary gives."""
    turns_as_said: int
    """How many of these are word for word what was stored."""


class Tour(Struct, frozen=True, rename="camel"):
    """Everything the demo did, in order."""

    data_dir: str
    embedder: str | None
    turns: int
    stored: int
    stored_again: int
    memories: int
    answers: tuple[Answered, ...]
    trespass: Trespass
    compacted: Compacted
    context: Context
    verified: VerifyReport
    seconds: float


def take_tour(memory: MemoryApi, data_dir: str, now_ms: int, report: Callable[[int], None]) -> Tour:
    """Every step of the demo on an empty store, the newest turn set one day before `now_ms`."""
    started = time.monotonic()
    conversations = _conversations(now_ms)
    stored = _store(memory, conversations, report)
    stored_again = _store(memory, conversations, lambda _: None)
    memory.flush()
    status = memory.status()
    return Tour(
        data_dir=data_dir,
        embedder=status.embedding_profile,
        turns=sum(map(len, conversations.values())),
        stored=stored,
        stored_again=stored_again,
        memories=status.memory_count,
        answers=tuple(Answered(question, _ask(memory, question, k=5)) for question in QUESTIONS),
        trespass=_trespass(memory, conversations),
        compacted=_compact(memory, conversations[COMPACTED]),
        context=memory.assemble("maren-3-change", query=FINAL_QUERY, budget_tokens=BUDGET_TOKENS, user_id="maren"),
        verified=memory.verify(),
        seconds=round(time.monotonic() - started, 2),
    )


def _conversations(now_ms: int) -> dict[str, list[Message]]:
    """The bundled turns with their times moved, so that the story ended yesterday."""
    read = {session: _read(session) for session in SESSIONS}
    newest = max(message.ts or 0 for messages in read.values() for message in messages)
    shift = now_ms - DAY_MS - newest
    return {
        session: [structs.replace(message, ts=(message.ts or 0) + shift) for message in messages]
        for session, messages in read.items()
    }


def _read(session: str) -> list[Message]:
    data = resources.files(__package__).joinpath(f"{session}.jsonl").read_bytes()
    return read_transcript(data.splitlines(), session, MAX_TEXT_BYTES).messages


def _store(memory: MemoryApi, conversations: dict[str, list[Message]], report: Callable[[int], None]) -> int:
    stored = done = 0
    for session, messages in conversations.items():
        receipts = memory.ingest_batch(session, messages, user_id=SESSIONS[session]).receipts
        stored += sum(receipt.stored for receipt in receipts)
        done += len(messages)
        report(done)
    return stored


def _ask(memory: MemoryApi, question: Question, k: int) -> SearchResult:
    return memory.search(question.text, k=k, user_id=question.user, session_id=question.session)


def _trespass(memory: MemoryApi, conversations: dict[str, list[Message]]) -> Trespass:
    """Ask in one user's name for what only the other said, and count what crossed over."""
    hits = _ask(memory, TRESPASS, k=50).hits
    foreign = [
        message.text
        for session, messages in conversations.items()
        if SESSIONS[session] != TRESPASS.user
        for message in messages
    ]
    crossed = [hit for hit in hits if any(text in hit.record.text for text in foreign)]
    return Trespass(TRESPASS, len(hits), len(crossed))


def _compact(memory: MemoryApi, said: list[Message]) -> Compacted:
    """Let a summary cover all but the newest turns of one conversation, then open it again."""
    receipt = memory.compact(COMPACTED, force=True)
    memory.flush()
    summary = memory.describe(COMPACTED, receipt.summaries[-1])
    turns = memory.expand(COMPACTED, summary.id).turns
    pairs = zip(turns, said, strict=False)  # the oldest ones, in order; the tail was not compacted
    return Compacted(
        receipt=receipt,
        summary=summary,
        guidance=memory.guidance(user_id=SESSIONS[COMPACTED]),
        turns=turns,
        turns_as_said=sum((turn.id, turn.text) == (message.id, message.text) for turn, message in pairs),
    )
