"""What compaction costs recall: evidence within reach of 2,000 tokens, before it and after it, on LoCoMo.

    python -m bench.locomo_compaction --path locomo.json.gz

Each conversation is one session, its first speaker the user, its second the assistant. Before, a context of 2,000
tokens is assembled for each question. Then all but the last turns are compacted. After, a smaller context is
assembled, the best three summaries in it are opened for the question, and all of it together keeps within the
same 2,000 tokens. No context has a tail. An evidence turn counts as reached where its whole text stands in
what a model would see as a turn or as a memory of one; that a summary quotes it does not count, and is shown apart.

Both are measured with a user, whose own turns can be recalled from the collection of all he said, and without, when the
session's view is all there is. `audited` leaves out questions whose answer is known to be wrong, and takes the
corrected evidence where there is one. Needs the default embedding model.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from clew import Memory
from clew.api import Compact, Context, Message, RecordView
from clew.config import Config

BUDGET_TOKENS = 2_000
CONTEXT_TOKENS = 280
WORDS_ALONE = "none"
USER = "reader"
MOST_OPENED = 3
TAIL_TURNS = 1
SUMMARY = "summary"
SETTLE_MS = 3_600_000
_TURN_NAME = re.compile(r"D\d+:\d+")


@dataclass(frozen=True, slots=True)
class Question:
    text: str
    evidence: tuple[str, ...]
    audited: tuple[str, ...]
    """The evidence after the audit; empty where the question is not to be counted."""


@dataclass(frozen=True, slots=True)
class Conversation:
    name: str
    messages: list[Message]
    questions: list[Question]

    def texts(self, names: Sequence[str]) -> list[str]:
        known = {message.id: message.text for message in self.messages}
        return [known[name] for name in names]


@dataclass(frozen=True, slots=True)
class Seen:
    """What a model would see of a conversation for one question."""

    turns: frozenset[str]
    summaries: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Shares:
    """Mean shares of the evidence that is reached: in whole turns, after the audit, and quoted by summaries too."""

    reached: float
    audited: float
    quoted: float


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--path", type=Path, required=True, help="LoCoMo as JSON, gzipped or not")
    parser.add_argument(
        "--context", type=int, default=CONTEXT_TOKENS, help="tokens of the context before summaries are opened (280)"
    )
    parser.add_argument("--only", help="names of conversations, with commas between")
    options = parser.parse_args()
    wanted = options.only.split(",") if options.only else None
    found = [each for each in conversations(options.path) if wanted is None or each.name in wanted]
    held = True
    for user in (USER, None):
        rows = {each.name: measure(each, user, options.context) for each in found}
        print(_table("with a user" if user else "without a user", rows))
        before, after = (np.mean([pair[place].reached for pair in rows.values()]) for place in (0, 1))
        held = held and bool(after >= before)
    return 0 if held else 1


def measure(
    conversation: Conversation, user: str | None, context_tokens: int = CONTEXT_TOKENS, embedder: str = "auto"
) -> tuple[Shares, Shares]:
    """Before and after. Each has a store of its own, since a context counts what it uses."""
    with TemporaryDirectory(prefix="bench-") as folder:
        whole, compacted = Path(folder) / "whole", Path(folder) / "compacted"
        with _open(whole, embedder) as memory:
            _ingest(memory, conversation, user, words_alone=embedder == WORDS_ALONE)
        shutil.copytree(whole, compacted)
        with _open(whole, embedder) as memory:
            before = _shares(
                conversation, [_before(memory, conversation.name, q.text, user) for q in conversation.questions]
            )
        with _open(compacted, embedder) as memory:
            memory.call(Compact(session_id=conversation.name, force=True, min_turns=TAIL_TURNS))
            memory.flush(timeout_ms=SETTLE_MS)
            after = _shares(
                conversation,
                [_after(memory, conversation.name, q.text, user, context_tokens) for q in conversation.questions],
            )
    return before, after


def _open(folder: Path, embedder: str) -> Memory:
    return Memory(Config.load(environment={}, data_dir=folder, embedder=embedder))


def _ingest(memory: Memory, conversation: Conversation, user: str | None, *, words_alone: bool) -> None:
    memory.ingest_batch(conversation.name, conversation.messages, user_id=user)
    memory.flush(timeout_ms=SETTLE_MS)
    status = memory.status()
    if status.embedding_profile is None and not words_alone:
        raise SystemExit(f"the default embedding model is needed: {status.message}")


# --- what a model would see ----------------------------------------------------------------------------


def _before(memory: Memory, session: str, question: str, user: str | None) -> Seen:
    context = memory.assemble(session, query=question, messages=[], budget_tokens=BUDGET_TOKENS, user_id=user)
    return _seen(context, [], context.used_tokens)


def _after(memory: Memory, session: str, question: str, user: str | None, context_tokens: int) -> Seen:
    """A context, then the best of its summaries opened with all the tokens that are left."""
    context = memory.assemble(session, query=question, messages=[], budget_tokens=context_tokens, user_id=user)
    found = [hit.record.id for hit in context.recalled if hit.record.provenance == SUMMARY][:MOST_OPENED]
    if not found:
        return _seen(context, [], context.used_tokens)
    left = BUDGET_TOKENS - context.used_tokens
    shown = zip(context.recalled, _texts(context.recalled_text), strict=True)
    whole = [hit.record for hit, text in shown if text == hit.record.text]
    there = [id_ for record in whole if (id_ := _turn(session, record)) is not None]
    opened = memory.expand(session, *found, query=question, budget_tokens=left, exclude=there)
    return _seen(context, [opened.text], context.used_tokens + opened.tokens)


def _turn(session: str, record: RecordView) -> str | None:
    """The id of the turn that stands in a context, by itself, among all of its user, or as the memory kept from it."""
    source = record.metadata.get("source")
    name = source["id"] if isinstance(source, dict) else record.id
    return None if record.provenance == SUMMARY else str(name).removeprefix(f"{session}/")


def _seen(context: Context, opened: Sequence[str], tokens: int) -> Seen:
    assert tokens <= BUDGET_TOKENS
    recalled = list(zip(context.recalled, _texts(context.recalled_text), strict=True))
    summaries = [text for hit, text in recalled if hit.record.provenance == SUMMARY]
    turns = [text for hit, text in recalled if hit.record.provenance != SUMMARY]
    turns += _texts(context.guidance_text)
    turns += [text for framed in opened for _, text, *_ in _arrays(framed, at_least=2)]
    return Seen(frozenset(turns), tuple(summaries))


def _texts(framed: str) -> list[str]:
    """The texts in a frame, as they were before they were quoted."""
    return [text for _, _, _, text, *_ in _arrays(framed)]


def _arrays(framed: str, at_least: int = 1) -> list[list[str]]:
    return [array for array in map(json.loads, framed.splitlines()[1:-1]) if len(array) >= at_least]


# --- shares --------------------------------------------------------------------------------------------


def _shares(conversation: Conversation, seen: Sequence[Seen]) -> Shares:
    reached, audited, quoted = [], [], []
    for question, what in zip(conversation.questions, seen, strict=True):
        texts = conversation.texts(question.evidence)
        if texts:
            reached.append(_share([text in what.turns for text in texts]))
            quoted.append(_share([text in what.turns or _in_any(text, what.summaries) for text in texts]))
        if question.audited:
            audited.append(_share([text in what.turns for text in conversation.texts(question.audited)]))
    return Shares(*(_share(values) * 100 for values in (reached, audited, quoted)))


def _share(values: Sequence[float]) -> float:
    return float(np.mean(values))


def _in_any(text: str, summaries: Sequence[str]) -> bool:
    return any(text in summary for summary in summaries)


def _table(title: str, rows: Mapping[str, tuple[Shares, Shares]]) -> str:
    mean = tuple(_mean([pair[place] for pair in rows.values()]) for place in (0, 1))
    header = (title, "before", "after", "audited, before", "audited, after", "after, quotes of summaries too")
    lines = [header, ("---", *["---:"] * 5)]
    for name, (before, after) in [*rows.items(), ("mean", (mean[0], mean[1]))]:
        figures = (before.reached, after.reached, before.audited, after.audited, after.quoted)
        lines.append((name, *(f"{figure:.1f}" for figure in figures)))
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines) + "\n"


def _mean(shares: Sequence[Shares]) -> Shares:
    return Shares(
        _share([each.reached for each in shares]),
        _share([each.audited for each in shares]),
        _share([each.quoted for each in shares]),
    )


# --- data ----------------------------------------------------------------------------------------------


def _read(path: Path) -> bytes:
    return gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()


def conversations(path: Path) -> list[Conversation]:
    return [_conversation(item) for item in json.loads(_read(path))]


def _conversation(item: Mapping[str, Any]) -> Conversation:
    messages = list(_messages(item["conversation"]))
    known = {str(message.id) for message in messages}
    questions = [question for asked in item["qa"] if (question := _question(asked, known)).evidence]
    return Conversation(item["sample_id"], messages, questions)


def _messages(conversation: Mapping[str, Any]) -> Iterator[Message]:
    number = 1
    while f"session_{number}" in conversation:
        at = datetime.strptime(conversation[f"session_{number}_date_time"], "%I:%M %p on %d %B, %Y")
        for turn in conversation[f"session_{number}"]:
            yield Message(
                role="user" if turn["speaker"] == conversation["speaker_a"] else "assistant",
                text=" ".join(filter(None, (turn["text"], turn.get("blip_caption")))),
                id=turn["dia_id"],
                ts=int(at.replace(tzinfo=UTC).timestamp() * 1000),
                speaker=turn["speaker"],
            )
        number += 1


def _question(asked: Mapping[str, Any], known: set[str]) -> Question:
    named = _known_turns(asked.get("evidence"), known)
    corrected = (asked.get("audit") or {}).get("correct_evidence")
    sound = () if asked.get("gold_excluded") else _known_turns(corrected, known) or named
    return Question(asked["question"], named, sound)


def _known_turns(names: Sequence[str] | None, known: set[str]) -> tuple[str, ...]:
    """The turns that are named and exist; some labels hold several names, or half of one."""
    found = (name for label in names or () for name in _TURN_NAME.findall(str(label)))
    return tuple(dict.fromkeys(name for name in found if name in known))


if __name__ == "__main__":
    sys.exit(main())
