"""Retention: how long a record that nobody uses stays in ordinary recall.

The class is the operator's word, or follows from how important the record is. A record of the first class
is never archived; one of the others is due when it has rested longer than its class allows. What is not
known never makes a record due: no grade counts as worth keeping, and a time that lies ahead as no rest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum

from clew.core.marks import Mark, value_of
from clew.core.model import Metadata, Record
from clew.text.grading.importance import Label

DAY_MS = 86_400_000


class Retention(StrEnum):
    FOR_GOOD = "P0"
    LONG = "P1"
    SHORT = "P2"


_CLASSES = {retention.value: retention for retention in Retention}
_LABELS = {label.value: label for label in Label}
_BY_LABEL = {
    Label.MUST_REMEMBER: Retention.FOR_GOOD,
    Label.NICE_TO_HAVE: Retention.LONG,
    Label.IGNORE: Retention.SHORT,
}


def retention_of(marks: Metadata) -> Retention:
    """The class the operator gave, else the one that the grade gives; without either, the long one."""
    said = value_of(marks, Mark.RETENTION)
    if isinstance(said, str) and said in _CLASSES:
        return _CLASSES[said]
    label = label_in(marks)
    return Retention.LONG if label is None else _BY_LABEL[label]


def label_in(marks: Metadata) -> Label | None:
    """How important a record is by its grade; None where it has no grade that can be read."""
    grade = value_of(marks, Mark.GRADE)
    label = grade.get("label") if isinstance(grade, Mapping) else None
    return _LABELS.get(label) if isinstance(label, str) else None


def resting_since_ms(record: Record) -> int:
    """When it was last of use: written, used, or brought back by the operator."""
    return max(record.ts_ms, record.last_used_ms or 0, _back_since_ms(record.marks))


def known_since_ms(record: Record) -> int:
    """When it was taken in and graded; 0 where it has no grade yet."""
    graded = record.marks.get(Mark.GRADE)
    since = graded.get("ts") if isinstance(graded, Mapping) else None
    return since if isinstance(since, int) else 0


def is_due(retention: Retention, since_ms: int, now_ms: int, retention_days: Sequence[int]) -> bool:
    """Whether a record of this class has rested too long. `retention_days` are those of the two mortal classes."""
    if retention is Retention.FOR_GOOD:
        return False
    days = dict(zip((Retention.LONG, Retention.SHORT), retention_days, strict=True))[retention]
    return now_ms - since_ms > days * DAY_MS


def _back_since_ms(marks: Metadata) -> int:
    """When the operator brought it back from the archive: an `archived` mark that says it is not, and since when."""
    mark = marks.get(Mark.ARCHIVED)
    since = mark.get("ts") if isinstance(mark, Mapping) and mark.get("value") is None else None
    return since if isinstance(since, int) else 0
