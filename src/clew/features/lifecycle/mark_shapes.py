"""The marks of a record that comes from elsewhere: in the shape Clew gives them, or not at all."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct, field

from clew.core.ids import MAX_ID_LENGTH
from clew.core.marks import By, Mark
from clew.core.model import Kind, Trust
from clew.errors import InvalidInput
from clew.features.lifecycle.retention import Retention
from clew.kernel.echoes import MOST_SOURCES
from clew.kernel.intake import MAX_TS_MS
from clew.text.grading.importance import Label
from clew.text.redaction import Policy, redact_json

Ref = Annotated[str, Meta(max_length=2 * MAX_ID_LENGTH + 1, pattern="/")]


MAX_DECLINED = 1000
"""Proposals that are remembered as declined of one record; no text makes as many."""


class _Shape(Struct, frozen=True, forbid_unknown_fields=True):
    pass


class _Mark(_Shape, frozen=True):
    value: Any
    by: By
    ts: Annotated[int, Meta(ge=0, le=MAX_TS_MS)]


class _Grade(_Shape, frozen=True):
    score: Annotated[float, Meta(ge=0, le=1)]
    label: Label
    reasons: list[str]
    method: str
    version: Annotated[int, Meta(ge=0, le=2**53)]


class _Verdict(_Shape, frozen=True):
    trust: Trust
    reason: str
    signals: list[str] = []
    origin: Ref = field(name="from", default="")
    before: Trust | None = None
    sources: Annotated[list[Ref], Meta(max_length=MOST_SOURCES)] = []


class _Ended(_Shape, frozen=True):
    state: Literal["done", "dropped"]
    source: Ref = ""


class _Guiding(_Shape, frozen=True):
    general: bool = False
    superseded_by: Ref = ""


_VALUES: dict[Mark, Any] = {
    Mark.KIND: Kind,
    Mark.GRADE: _Grade,
    Mark.RETENTION: Retention,
    Mark.ARCHIVED: str | None,
    Mark.TRUST: _Verdict,
    Mark.SUPERSEDED_BY: Ref,
    Mark.CONTRADICTS: list[Ref],
    Mark.MERGED: list[Ref],
    Mark.DECLINED: Annotated[list[Annotated[str, Meta(max_length=64)]], Meta(max_length=MAX_DECLINED)],
    Mark.PLAN_STATE: _Ended,
    Mark.GUIDANCE: _Guiding,
}

_IN_WORDS = frozenset({Mark.GRADE, Mark.TRUST})
"""Marks that hold free text. What the others say is one of a few words, or a name."""


def known_marks(marks: dict[str, dict[str, Any]], policy: Policy) -> dict[str, Any]:
    """The marks without what the policy cuts. Raises InvalidInput where one is not as Clew writes it."""
    known = {}
    for name, mark in marks.items():
        if name not in list(Mark):
            raise InvalidInput(f"a mark must be one of {', '.join(Mark)}")
        _check(Mark(name), mark)
        known[name] = _redact(mark, policy) if name in _IN_WORDS else mark
    return known


def _check(name: Mark, mark: dict[str, Any]) -> None:
    try:
        value = msgspec.convert(mark, _Mark).value
        msgspec.convert(value, _VALUES[name])
    except msgspec.ValidationError:
        raise InvalidInput(f"the mark {name} is not as Clew writes it") from None


def _redact(mark: dict[str, Any], policy: Policy) -> dict[str, Any]:
    """References are names, and names stay."""
    value = mark["value"]
    names = {key: value[key] for key in ("from", "sources") if key in value}
    return {**mark, "value": {**redact_json(value, policy)[0], **names}}
