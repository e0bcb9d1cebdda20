"""Storing one transcript: its turns in batches, each of one session, and what came of it."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import IO

import msgspec
from msgspec import Struct

from clew.api import MemoryApi
from clew.config import Config
from clew.errors import ClewError, Conflict, InvalidInput, TooLarge
from clew.faces.cli.source import in_batches
from clew.faces.transcripts import BadLine, Format, Tally, Turn, read_turns
from clew.faces.transcripts.lines import MAX_LINE_BYTES

ENVELOPE_BYTES = 16 * 1024
"""Room in a request beside a text: ids, times, names."""


class FileReceipt(Struct, frozen=True, kw_only=True, rename="camel"):
    """What one file came to."""

    file: str
    format: str
    stored: int = 0
    unchanged: int = 0
    turns: int = 0
    roles: dict[str, int] = {}
    sessions: dict[str, int] = {}
    tool_calls: int = 0
    coupled_results: int = 0
    unanswered_calls: int = 0
    uncoupled_results: int = 0
    thinking: int = 0
    attachments: int = 0
    cut: int = 0
    passed_over: dict[str, int] = {}
    first_ts: int | None = None
    last_ts: int | None = None
    set_aside: int = 0
    bad: tuple[BadLine, ...] = ()


@dataclass(frozen=True, slots=True)
class Plan:
    """How transcripts are to be stored. Without a session, each goes to the one it names."""

    user_id: str
    session_id: str | None
    config: Config

    @property
    def batch_bytes(self) -> int:
        return self.config.frame_limit_bytes // 2

    @property
    def text_bytes(self) -> int:
        """Every text has to fit a request of its own."""
        return min(self.config.max_text_bytes, max(self.batch_bytes - ENVELOPE_BYTES, self.batch_bytes // 2))


def import_transcript(
    memory: MemoryApi | None, lines: Iterable[bytes], form: Format, plan: Plan, *, name: str, file_session: str
) -> FileReceipt:
    """Store the turns of a transcript, or only count them where there is no memory to store them in."""
    tally = Tally()
    turns = read_turns(
        lines, form,
        session_id=plan.session_id, file_session=file_session, limit_bytes=plan.text_bytes, tally=tally,
    )  # fmt: skip
    stored = unchanged = 0
    for session_id, group in groupby(turns, key=lambda turn: turn.session_id):
        for batch in in_batches(group, _wire_size, plan.batch_bytes):
            if memory is not None:
                new, known = _store(memory, session_id, batch, plan.user_id, tally)
                stored, unchanged = stored + new, unchanged + known
    return _receipt(name, form, tally, stored, unchanged)


def bounded_lines(stream: IO[bytes]) -> Iterator[bytes]:
    """The lines of a stream; of one without end, no more is read than what shows that it is too long."""
    while line := stream.readline(MAX_LINE_BYTES + 2):
        yield line
        while not line.endswith(b"\n") and len(line) > MAX_LINE_BYTES + 1:
            line = stream.readline(MAX_LINE_BYTES + 2)


def _store(memory: MemoryApi, session_id: str, batch: list[Turn], user_id: str, tally: Tally) -> tuple[int, int]:
    """How many turns are new and how many were there already.

    A batch is stored as a whole or not at all, so one that is refused is halved until the turn at fault stands
    alone; that one is set aside.
    """
    messages = [turn.message for turn in batch]
    try:
        receipts = memory.ingest_batch(session_id, messages, user_id=user_id).receipts
    except (Conflict, InvalidInput, TooLarge) as error:
        if len(batch) == 1:
            tally.set_aside(batch[0].line, error.message)
            return 0, 0
        half = len(batch) // 2
        first = _store(memory, session_id, batch[:half], user_id, tally)
        second = _store(memory, session_id, batch[half:], user_id, tally)
        return first[0] + second[0], first[1] + second[1]
    except ClewError as error:
        place = f"stopped at line {batch[0].line}"
        raise type(error)(f"{place}: {error.message}; the same command again goes on from there") from error
    stored = sum(receipt.stored for receipt in receipts)
    return stored, len(receipts) - stored


def _wire_size(turn: Turn) -> int:
    """What cannot be written goes alone, to be refused and set aside alone."""
    try:
        return len(msgspec.json.encode(turn.message))
    except RecursionError:
        return sys.maxsize


def _receipt(name: str, form: Format, tally: Tally, stored: int, unchanged: int) -> FileReceipt:
    return FileReceipt(
        file=name,
        format=form.value,
        stored=stored,
        unchanged=unchanged,
        turns=tally.turns,
        roles=dict(sorted(tally.roles.items())),
        sessions=dict(tally.sessions),
        tool_calls=tally.calls,
        coupled_results=tally.coupled,
        unanswered_calls=tally.unanswered,
        uncoupled_results=tally.uncoupled,
        thinking=tally.thinking,
        attachments=tally.attachments,
        cut=tally.cut,
        passed_over=dict(sorted(tally.passed_over.items())),
        first_ts=tally.first_ts,
        last_ts=tally.last_ts,
        set_aside=tally.bad_count,
        bad=tuple(sorted(tally.bad, key=lambda bad: bad.line)),
    )
