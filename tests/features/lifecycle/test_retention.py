"""Retention classes, and when a record has been unused for too long."""

from __future__ import annotations

from typing import Any

import pytest

from clew.core.collections import Collection
from clew.core.marks import By, Mark, made
from clew.core.model import Metadata, Provenance, Record, Trust
from clew.features.lifecycle.retention import DAY_MS, Retention, is_due, label_in, resting_since_ms, retention_of

pytestmark = pytest.mark.requirement("LIFE-3")

NOW_MS = 1_790_000_000_000
DAYS = (90, 30)


def grade_mark(label: Any) -> dict[str, Any]:
    return {Mark.GRADE.value: made({"label": label, "score": 0.5}, By.CLEW, NOW_MS)}


def retention_label(retention: Any) -> dict[str, Any]:
    return {Mark.RETENTION.value: made(retention, By.OPERATOR, NOW_MS)}


def record(ts_ms: int, last_used_ms: int | None = None, marks: Metadata | None = None) -> Record:
    return Record(
        collection=Collection("user:ana"),
        id="a",
        text="",
        ts_ms=ts_ms,
        role=None,
        provenance=Provenance.MEMORY,
        trust=Trust.UNKNOWN,
        stability=0.5,
        tokens=1,
        metadata={},
        seq=1,
        version=1,
        access_count=0,
        last_used_ms=last_used_ms,
        marks=marks or {},
    )


@pytest.mark.parametrize(
    ("marks", "retention"),
    [
        ({}, Retention.LONG),
        (grade_mark("must_remember"), Retention.FOR_GOOD),
        (grade_mark("nice_to_have"), Retention.LONG),
        (grade_mark("ignore"), Retention.SHORT),
        (grade_mark("ignore") | retention_label("P0"), Retention.FOR_GOOD),
        (grade_mark("must_remember") | retention_label("P2"), Retention.SHORT),
    ],
)
def test_the_class_follows_from_importance_unless_the_operator_says_otherwise(
    marks: Metadata, retention: Retention
) -> None:
    assert retention_of(marks) is retention


@pytest.mark.parametrize("value", [None, "", "P3", "p0", 2, ["P2"], {"P2": 1}, "unheard of"])
def test_an_unreadable_grade_counts_as_worth_keeping(value: Any) -> None:
    assert retention_of(retention_label(value)) is Retention.LONG
    assert retention_of(grade_mark(value)) is Retention.LONG
    assert label_in(grade_mark(value)) is None
    assert retention_of({Mark.GRADE.value: value}) is Retention.LONG


@pytest.mark.parametrize(
    ("retention", "days", "due"),
    [
        (Retention.FOR_GOOD, 36_500, False),
        (Retention.LONG, 90, False),
        (Retention.LONG, 91, True),
        (Retention.SHORT, 30, False),
        (Retention.SHORT, 31, True),
        (Retention.SHORT, -31, False),
    ],
)
def test_a_record_is_due_when_unused_for_longer_than_its_class_allows(
    retention: Retention, days: int, due: bool
) -> None:
    assert is_due(retention, NOW_MS - days * DAY_MS, NOW_MS, DAYS) is due


def test_unused_time_counts_from_the_last_use() -> None:
    assert resting_since_ms(record(5)) == 5
    assert resting_since_ms(record(5, last_used_ms=9)) == 9
    assert resting_since_ms(record(9, last_used_ms=5)) == 9


def test_unused_time_counts_from_the_operators_revival() -> None:
    back = {Mark.ARCHIVED.value: made(None, By.CLEW, 20)}
    assert resting_since_ms(record(5, 9, back)) == 20
    archived = {Mark.ARCHIVED.value: made("user:ana", By.CLEW, 20)}
    assert resting_since_ms(record(5, 9, archived)) == 9
