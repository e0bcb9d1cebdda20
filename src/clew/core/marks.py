"""Marks: judgements on a record beside its text, each with who set it and when.

A record's text, time and metadata stay as they came in. Its kind, its grade, how long it is kept and why it
is or is not trusted are judgements, and may change; they are kept apart from the text, so that a raw turn
can be judged without being touched. Clew does not overwrite marks that the operator set.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from enum import StrEnum
from typing import Any

from clew.core.model import Draft, Metadata, Trust

Marks = Mapping[str, Mapping[str, Any]]
"""By name: `{"value": …, "by": …, "ts": …}`."""


class Mark(StrEnum):
    KIND = "kind"
    GRADE = "grade"
    """Score, label, reasons, method and version of the importance grader."""
    RETENTION = "retention"
    ARCHIVED = "archived"
    """The collection it came from."""
    TRUST = "trust"
    """The trust it was given that its provenance does not give, and why: `{"trust": …, "reason": …}`."""
    SUPERSEDED_BY = "superseded_by"
    CONTRADICTS = "contradicts"
    MERGED = "merged"
    """References of the records that were merged into it."""
    DECLINED = "declined"
    """Ids of what was proposed from its words and is not to be proposed again."""
    GUIDANCE = "guidance"
    """That a turn was kept as guidance: whether it holds whatever the task, and the reference of the piece that takes
    its place: `{"general": …, "superseded_by": …}`."""
    PLAN_STATE = "plan_state"
    """How a plan ended, and the turn that says so: `{"state": …, "source": …}`; open where it is not set."""


class By(StrEnum):
    CLEW = "clew"
    OPERATOR = "operator"


_TOWARDS_OTHERS = (Mark.SUPERSEDED_BY, Mark.CONTRADICTS, Mark.MERGED)
"""Marks on how the words of a record relate to those of others."""


def made(value: Any, by: By, ts_ms: int) -> dict[str, Any]:
    """A mark as it is stored."""
    return {"value": value, "by": by.value, "ts": ts_ms}


def value_of(marks: Metadata, name: Mark) -> Any:
    """The value of a mark; None where it is not set."""
    found = marks.get(name)
    return found.get("value") if isinstance(found, Mapping) else None


def set_by(marks: Metadata, name: Mark) -> str | None:
    found = marks.get(name)
    return found.get("by") if isinstance(found, Mapping) else None


def merge_marks(old: Metadata, changes: Mapping[str, Any]) -> dict[str, Any]:
    """The marks after a change: None removes one, and only the operator changes a mark that the operator set."""
    result = dict(old)
    for name, change in changes.items():
        if change is None:
            result.pop(name, None)
        elif change["by"] == By.OPERATOR or set_by(old, Mark(name)) != By.OPERATOR:
            result[str(name)] = dict(change)
    return result


def keep_operator_marks(draft: Draft, old: Metadata, *, same_text: bool) -> Draft:
    """Give a draft that replaces another one the marks that the operator set on the old one.

    Where the words are new, this drops those on confidence and on relations to others: they were about the old words.
    """
    kept = {
        name: mark
        for name, mark in old.items()
        if isinstance(mark, Mapping) and mark.get("by") == By.OPERATOR and (same_text or name not in _TOWARDS_OTHERS)
    }
    judged = kept.pop(Mark.TRUST, None)
    if judged is not None and (same_text or judged["value"]["trust"] == Trust.QUARANTINED):
        given = Trust(judged["value"]["trust"])
        return replace(draft, trust=given, marks={**draft.marks, **kept, Mark.TRUST: judged})
    return replace(draft, marks={**draft.marks, **kept})
