"""A long session made from a real one: replayed with other names, numbers and paths, with rules planted in it."""

from __future__ import annotations

import gzip
import json
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from clew.api import Message

DAY_MS = 86_400_000

_NAME = re.compile(r"[A-Za-z]\w*(?:[-./]\w+)+|[a-z]+[A-Z]\w*|[a-z]{8,}")
"""Paths, dotted and hyphenated names, names in camel case, and long words."""

_PIECE = re.compile(r"[A-Z]?[a-z]{3,}")
_NUMBER = re.compile(r"\d{1,12}")


@dataclass(frozen=True, slots=True)
class Rule:
    """A lasting wish of the user in passing, and a later question on which it bears."""

    text: str
    query: str


RULES = (
    Rule(
        "one more thing: from now on never push straight to the release branch, open a merge request instead",
        "how do I get this change onto the release branch?",
    ),
    Rule(
        "You must always run the linter and the unit tests before you tell me that a task is finished.",
        "is the task finished, did you run the linter and the tests?",
    ),
    Rule(
        "please don't add new npm dependencies without asking me first, our supply chain review takes weeks",
        "can we add an npm dependency for parsing dates?",
    ),
    Rule("I prefer tabs to spaces in every Go file of mine.", "how should the Go files be indented, tabs or spaces?"),
    Rule(
        "Never print customer e-mail addresses in log output, not even in debug builds.",
        "what may I write to the debug log about a customer's e-mail?",
    ),
    Rule(
        "going forward, all timestamps must be stored in UTC and shown in Europe/Vienna",
        "in which time zone are timestamps stored and shown?",
    ),
    Rule(
        "do not touch the vendored zlib folder; patches to zlib go upstream",
        "there is a bug in the vendored zlib, shall I patch it?",
    ),
    Rule(
        "Always answer me in British English, and keep it under ten lines unless I ask for more.",
        "how long should answers be, and in which English?",
    ),
    Rule(
        "you should never drop a database table in a migration; rename it to archive_ first",
        "write a migration that removes the old invoices database table",
    ),
    Rule(
        "For charts prefer the colour-blind safe palette, and you must label both axes.",
        "draw a chart of latency over time with which palette and axes?",
    ),
)


def make_session(source: Path, turns: int, seed: int, rules_until: int) -> list[Message]:
    """So many turns, with all rules somewhere in the first `rules_until` of them, each before a turn of the user.

    Raises ValueError where the user has too few turns there.
    """
    original = [message for row in _rows(source) if (message := _message(row)) is not None]
    endless = _replayed(original, random.Random(seed))
    messages = [next(endless) for _ in range(turns - len(RULES))]
    asked = [place for place, message in enumerate(messages[: max(rules_until, 0)]) if message.role == "user"]
    if len(asked) < len(RULES):
        raise ValueError(f"the first {rules_until} turns are too few for {len(RULES)} rules")
    chance = random.Random(seed)
    before = sorted(chance.sample(asked, len(RULES)))
    planted = list(zip(before, chance.sample(RULES, len(RULES)), strict=True))
    for place, rule in reversed(planted):
        messages.insert(place, _planted(rule, messages[place]))
    return messages


def _rows(source: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(source, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def _message(row: Mapping[str, Any]) -> Message | None:
    """A line of the normalised session as a turn; changes of settings have no text and are none."""
    if not row["text"]:
        return None
    calling = row["kind"] == "tool_call"
    return Message(
        role="tool_call" if calling else row["role"],
        text=row["text"],
        id=str(row["i"]),
        ts=int(datetime.fromisoformat(row["ts"]).timestamp() * 1000),
        speaker=row.get("tool"),
        tool_call_ids=(row["call_id"],) if calling else (),
        tool_call_id=row["call_id"] if row["kind"] == "tool_result" else None,
    )


def _planted(rule: Rule, next_turn: Message) -> Message:
    assert next_turn.ts is not None
    return Message(role="user", text=rule.text, id=f"rule-{RULES.index(rule)}", ts=next_turn.ts - 1)


def _replayed(original: Sequence[Message], chance: random.Random) -> Iterator[Message]:
    """The session again and again, a day apart: pieces of names change places, numbers move, ids are new."""
    names = [name for message in original for name in _NAME.findall(message.text)]
    pieces = sorted({piece for name in names for piece in _PIECE.findall(name)})
    replay = 0
    while True:
        others = dict(zip(pieces, chance.sample(pieces, len(pieces)), strict=True)) if replay else {}
        for message in original:
            yield _edited(message, replay, others)
        replay += 1


def _edited(message: Message, replay: int, others: Mapping[str, str]) -> Message:
    def renamed(name: re.Match[str]) -> str:
        return _PIECE.sub(lambda piece: others.get(piece[0], piece[0]), name[0])

    def moved(number: re.Match[str]) -> str:
        digits = len(number[0])  # a number keeps its length, so that escapes stay what they are
        return f"{(int(number[0]) + 37 * replay) % 10**digits:0{digits}d}"

    assert message.ts is not None
    return Message(
        role=message.role,
        text=_NUMBER.sub(moved, _NAME.sub(renamed, message.text)),
        id=f"{replay}-{message.id}",
        ts=message.ts + replay * DAY_MS,
        speaker=message.speaker,
        tool_call_ids=tuple(f"{replay}-{call}" for call in message.tool_call_ids),
        tool_call_id=None if message.tool_call_id is None else f"{replay}-{message.tool_call_id}",
    )
