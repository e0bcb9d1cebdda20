"""Whether the rules that users lay down in passing are kept as guidance, and reach the tasks they apply to.

The labels hold users with their rules, their other talk, and tasks; sentences that look like rules and are none; and
positions of turns in public data with no rule in them. Each user's turns go through a whole engine, in one session;
every task is then asked in a new session.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from bench.usefulness.labels import Data, Row, rows_of
from bench.usefulness.turns import user_turns
from clew.api import Context, Message
from clew.engine import Memory

USER = "ana"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one user's rules."""

    marked: list[bool]
    """For each rule, whether it is kept."""
    fit: bool
    """Whether all rules of the user fit the reserve."""
    whole: list[bool]
    """For each task, whether every rule that holds is in its context."""
    applicable: list[bool]
    """For each rule and task that it applies to, whether it is in the context."""
    other: list[bool]
    """The same for tasks that it does not apply to."""
    replaced: list[bool]
    """For each rule that a later one replaces, whether it gave way."""


def measure(data: Data, *, unseen: bool) -> list[Row]:
    users = list(rows_of("rules", unseen=unseen))
    look_alikes = [row["text"] for row in rows_of("not_rules", unseen=unseen)]
    ordinary = ordinary_turns(data, unseen=unseen)
    talk = [text for user in users for text in user["talk"]]
    outcomes = [_outcome(user) for user in users]
    roomy = [outcome for outcome in outcomes if outcome.fit]
    tight = [outcome for outcome in outcomes if not outcome.fit]
    return [
        Row("guidance: rules marked as guidance", _mean(flag for one in outcomes for flag in one.marked), "1"),
        Row("guidance: all rules fit: tasks with every rule", _mean(flag for one in roomy for flag in one.whole), "1"),
        Row("guidance: all rules fit: applicable rules", _mean(flag for one in roomy for flag in one.applicable), "1"),
        Row(
            "guidance: over-full: applicable rules", _mean(flag for one in tight for flag in one.applicable), ">= 0.85"
        ),
        Row("guidance: over-full: other rules", _mean(flag for one in tight for flag in one.other), "less"),
        Row("guidance: replaced rules that gave way", _mean(flag for one in outcomes for flag in one.replaced), "1"),
        Row(f"guidance: false guidance, {len(ordinary)} ordinary turns", _share_kept(ordinary), "<= 0.005"),
        Row(f"guidance: false guidance, {len(talk)} turns of talk", _share_kept(talk), "small"),
        Row(f"guidance: false guidance, {len(look_alikes)} look-alikes", _share_kept(look_alikes), "small"),
        *(_spoken() if unseen else ()),
    ]


def _spoken() -> Iterator[Row]:
    """Turns in seven languages, with rules and with what looks like one. The weights are learnt from the seen ones."""
    turns = list(rows_of("spoken", unseen=True))
    for language in dict.fromkeys(turn["lang"] for turn in turns):
        own = [turn for turn in turns if turn["lang"] == language]
        laid_down = [turn["text"] for turn in own if turn["rules"]]
        other = [turn["text"] for turn in own if not turn["rules"]]
        yield Row(f"guidance: {language}, {len(laid_down)} turns with a rule: kept", _share_kept(laid_down))
        yield Row(f"guidance: {language}, {len(other)} turns without: kept", _share_kept(other), "small")


def _outcome(user: dict[str, Any]) -> Outcome:
    rules = {rule["id"]: rule["text"] for rule in user["rules"]}
    replaced = {rule["replaces"] for rule in user["rules"] if rule.get("replaces")}
    with tempfile.TemporaryDirectory() as folder, Memory.open(data_dir=folder) as memory:
        memory.ingest_batch("told", _conversation(user), user_id=USER)
        memory.flush(timeout_ms=120_000)
        items = memory.guidance(user_id=USER).items
        kept = {item.record.text for item in items}
        gone = {item.record.text for item in items if item.superseded_by}
        tasks = {pair["task"]: _asked(memory, f"asked{at}", pair["task"]) for at, pair in enumerate(user["pairs"])}
    shown = {task: {hit.record.text for hit in context.guidance} for task, context in tasks.items()}
    holding = {text for id_, text in rules.items() if id_ not in replaced}
    fit = not any(item.reason.startswith("over") for context in tasks.values() for item in _left_out(context))
    return Outcome(
        marked=[text in kept for text in rules.values()],
        fit=fit,
        whole=[holding <= texts for texts in shown.values()],
        applicable=[rules[pair["rule"]] in shown[pair["task"]] for pair in user["pairs"] if pair["applies"]],
        other=[rules[pair["rule"]] in shown[pair["task"]] for pair in user["pairs"] if not pair["applies"]],
        replaced=[rules[id_] in gone for id_ in sorted(replaced)],
    )


def _conversation(user: dict[str, Any]) -> list[Message]:
    """Rules and talk by turns, a minute apart."""
    rules, talk = [rule["text"] for rule in user["rules"]], list(user["talk"])
    mixed = []
    for at in range(max(len(rules), len(talk))):
        mixed += [*talk[at : at + 1], *rules[at : at + 1]]
    start_ms = 1_700_000_000_000
    return [Message(role="user", text=text, ts=start_ms + 60_000 * at) for at, text in enumerate(mixed)]


def _asked(memory: Memory, session_id: str, task: str) -> Context:
    return memory.assemble(session_id, messages=[Message(role="user", text=task)], user_id=USER)


def _left_out(context: Context) -> Iterator[Any]:
    return (item for section in context.sections if section.name == "guidance" for item in section.left_out)


def _share_kept(texts: list[str]) -> float:
    """The share of these turns that are kept as guidance, each said by a user."""
    if not texts:
        return 0.0
    with tempfile.TemporaryDirectory() as folder, Memory.open(data_dir=folder) as memory:
        for start in range(0, len(texts), 200):
            turns = [Message(role="user", text=text) for text in texts[start : start + 200]]
            memory.ingest_batch(f"s{start}", turns, user_id=USER)
        memory.flush(timeout_ms=600_000)
        return len(memory.guidance(user_id=USER, limit=10_000).items) / len(texts)


def ordinary_turns(data: Data, *, unseen: bool) -> list[str]:
    """Turns of public data that hold no rule."""
    wanted = [*rows_of("ordinary", unseen=unseen), *rows_of("gate", unseen=unseen)]
    places = [f"{row['file']}:{row['at']}" for row in wanted if not row.get("rule")]
    files = dict.fromkeys(str(row["file"]) for row in wanted)
    texts = {turn.place: turn.text for name in files for turn in user_turns(data, name)}
    return [texts[place] for place in places]


def _mean(flags: Iterator[bool]) -> float:
    found = list(flags)
    return sum(found) / len(found) if found else 0.0
