"""The one way in: Clew redacts and judges every text here and gives it its properties, before it writes the text.

Redaction leaves no trace of a secret but its kind. Trust comes from the origin of a text; wording can only lower
it: a text that reads like an attempt to steer its reader is quarantined until someone has looked at it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import msgspec

from clew.core.collections import Collection, CollectionKind
from clew.core.marks import By, Mark, made
from clew.core.model import (
    STABILITY_OF_PROVENANCE,
    TRUST_OF_PROVENANCE,
    Draft,
    Kind,
    Metadata,
    Provenance,
    Role,
    Trust,
)
from clew.core.operation import JsonObject
from clew.core.projects import MAX_PROJECT_CHARS
from clew.errors import InvalidInput, TooLarge
from clew.kernel.parts import Parts
from clew.text.grading import importance
from clew.text.grading.kinds import kind_of_text
from clew.text.injection import suspect
from clew.text.own_text import without_own
from clew.text.redaction import Policy, redact, redact_json, secret_in_name
from clew.text.terms import analyse, lexical_text, pack, signs

MAX_TS_MS = 253_402_300_799_999  # the last millisecond of the year 9999

SOURCE_URL = "sourceUrl"
"""Where metadata names the outside address a text came from."""

_GRADED = frozenset({CollectionKind.MEMORIES, CollectionKind.GLOBAL, CollectionKind.LEDGER})
"""Kinds of collection whose records are kept for what they say, and graded by it."""


@dataclass(frozen=True, slots=True)
class Intake:
    draft: Draft
    redacted: tuple[str, ...]
    """Kinds of secrets that were cut out, each once."""


def draft_of(
    parts: Parts,
    text: str,
    *,
    collection: Collection,
    also: Iterable[Collection] = (),
    role: Role | None,
    provenance: Provenance,
    ts_ms: int,
    metadata: JsonObject,
    kind: Kind | None = None,
    tool: str | None = None,
    source: str | None = None,
) -> Intake:
    """A text that comes in from outside, for one collection or several.

    Its source is the one that the caller names, or else the address that its metadata gives.
    """
    if source is not None:
        metadata = {**metadata, SOURCE_URL: source}
    _check_sizes(parts, text, metadata)
    policy = policy_of(parts, collection, *also)
    clean = redact(text, policy)
    clean_metadata, cut = redact_json(metadata, policy)
    draft = make_draft(
        parts,
        clean.text,
        role=role,
        provenance=Provenance.WEB if source is not None or _names_source(metadata) else provenance,
        ts_ms=ts_ms,
        metadata=clean_metadata,
    )
    draft = judge_draft(draft, parts.clock.now_ms())
    if any(name.kind in _GRADED for name in (collection, *also)):
        draft = grade_draft(draft, parts.clock.now_ms(), kind, tool)
    return Intake(draft, tuple(dict.fromkeys([*(found.kind for found in clean.found), *cut])))


def make_draft(
    parts: Parts, text: str, *, role: Role | None, provenance: Provenance, ts_ms: int, metadata: JsonObject
) -> Draft:
    """A text with the properties of its origin. For texts that Clew makes itself from those it has taken in."""
    _check_sizes(parts, text, metadata)
    return Draft(
        text=text,
        ts_ms=ts_ms,
        role=role,
        provenance=provenance,
        trust=TRUST_OF_PROVENANCE[provenance],
        stability=STABILITY_OF_PROVENANCE[provenance],
        tokens=parts.counter.estimate(text),
        terms=search_terms(text, speaker_in(metadata), ts_ms),
        metadata=metadata,
    )


def judge_draft(draft: Draft, now_ms: int) -> Draft:
    """Quarantine a draft that reads like an attempt to steer its reader, unless it is a rule of the operator.

    A note is judged: anything may be in a folder of notes, a saved page as well.
    The names of the speaker and the tool are shown with the text, so they are judged with it.
    """
    read = "\n".join([*_names_in(draft.metadata), draft.text])
    suspicion = None if draft.provenance is Provenance.AUTHORED else suspect(read)
    if suspicion is None:
        return draft
    verdict = {"trust": Trust.QUARANTINED.value, "reason": suspicion.reason, "signals": list(suspicion.signals)}
    marks = {**draft.marks, Mark.TRUST.value: made(verdict, By.CLEW, now_ms)}
    return replace(draft, trust=Trust.QUARANTINED, marks=marks)


def grade_draft(draft: Draft, now_ms: int, kind: Kind | None = None, tool: str | None = None) -> Draft:
    """Mark a draft with its kind and how important it is."""
    learnt = without_own(draft.text)
    kind = kind or kind_of_text(learnt, draft.role)
    marks = {
        **draft.marks,
        Mark.KIND.value: made(kind.value, By.CLEW, now_ms),
        Mark.GRADE.value: made(grade_value(importance.grade(learnt, kind, tool)), By.CLEW, now_ms),
    }
    return replace(draft, marks=marks)


def grade_value(grade: importance.Grade) -> JsonObject:
    """A grade as a mark keeps it."""
    return {
        "score": grade.score,
        "label": grade.label.value,
        "reasons": list(grade.reasons),
        "method": importance.METHOD,
        "version": importance.VERSION,
    }


def policy_of(parts: Parts, *collections: Collection) -> Policy:
    """How redaction treats a text for these collections: the first setting that names one of them decides."""
    return Policy(parts.config.redaction_of(*collections))


def check_names(parts: Parts, user_id: str | None, session_id: str | None, **names: str | None) -> None:
    """Refuses names that hold a secret: Clew keeps a name as it is, and shows it wherever it cites a record.

    Every operation that keeps a new name asks here. Old names that hold one can still be read and purged.
    """
    owners = [] if user_id is None else [Collection.memories(user_id)]
    owners += [] if session_id is None else [Collection.session(session_id)]
    owners += [Collection(name) for what, name in names.items() if what == "collection" and name is not None]
    if policy_of(parts, *owners) is Policy.OFF:
        return
    for what, name in {"userId": user_id, "sessionId": session_id, **names}.items():
        kind = None if name is None else _kind_of_secret(name)
        if kind is not None:
            raise InvalidInput(f"{what} holds a secret ({kind}); choose a name without one")


@lru_cache(maxsize=4096)
def _kind_of_secret(name: str) -> str | None:
    """Remembered: the same user and session come with every turn."""
    return secret_in_name(name)


def redact_value(parts: Parts, value: Any, *collections: Collection) -> Any:
    """JSON, redacted by the policy of these collections."""
    return redact_json(value, policy_of(parts, *collections))[0]


def search_terms(text: str, speaker: str | None, ts_ms: int) -> bytes:
    """Leaves out Clew's own words that came back in a transcript."""
    own = without_own(text)
    return pack(analyse(lexical_text(own, speaker, ts_ms)), signs(own, speaker, ts_ms))


def speaker_in(metadata: Metadata) -> str | None:
    speaker = metadata.get("speaker")
    return speaker if isinstance(speaker, str) and speaker else None


def check_unicode(what: str, text: str) -> None:
    """Refuses a text that cannot be stored, and so cannot be searched for."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise _half_a_character(what) from None


def check_project(project: str | None) -> None:
    """Refuses what cannot name a project."""
    if project is not None:
        check_unicode("project", project)
        if not project.strip() or len(project) > MAX_PROJECT_CHARS:
            raise InvalidInput(f"project must have from 1 to {MAX_PROJECT_CHARS} characters")


def checked_ts(ts_ms: int) -> int:
    if not 0 <= ts_ms <= MAX_TS_MS:
        raise InvalidInput(f"ts must be milliseconds since 1970, at most the year 9999, not {ts_ms}")
    return ts_ms


def check_size(what: str, encode: Callable[[], bytes], limit: int) -> None:
    """Refuses a value that cannot be encoded, or is too long once it is."""
    try:
        size = len(encode())
    except UnicodeEncodeError:
        raise _half_a_character(what) from None
    except (TypeError, RecursionError) as error:
        raise InvalidInput(f"{what} must be JSON: {error}") from None
    if size > limit:
        raise TooLarge(f"{what} has {size} bytes; the limit is {limit} (setting max_text_bytes)")


def check_json(what: str, value: Any, limit: int) -> None:
    """Refuses a value that could not come back as it was given, and one that is too long."""
    try:
        trouble = _not_json(value)
    except RecursionError:
        trouble = "it is nested too deeply"
    if trouble is not None:
        raise InvalidInput(f"{what} must be JSON: {trouble}")
    check_size(what, lambda: msgspec.json.encode(value), limit)


def _not_json(value: Any) -> str | None:
    """Why a value is no JSON; None where it is. An encoder would make something else of most of these."""
    if isinstance(value, dict):
        if not all(isinstance(key, str) for key in value):
            return "every key must be a text"
        value = list(value.values())
    if isinstance(value, list | tuple):
        return next(filter(None, map(_not_json, value)), None)
    if isinstance(value, int):
        return None if -(2**63) <= value < 2**64 else "a whole number must fit into 64 bits"
    if isinstance(value, float):
        return None if math.isfinite(value) else f"{value} is no number"
    return None if value is None or isinstance(value, str) else f"it holds a {type(value).__name__}"


def _half_a_character(what: str) -> InvalidInput:
    return InvalidInput(f"{what} must be valid Unicode; it holds half of a surrogate pair")


def _check_sizes(parts: Parts, text: str, metadata: JsonObject) -> None:
    check_size("text", text.encode, parts.config.max_text_bytes)
    check_json("metadata", metadata, parts.config.max_text_bytes)


def _names_source(metadata: JsonObject) -> bool:
    address = metadata.get(SOURCE_URL)
    return isinstance(address, str) and address != ""


def _names_in(metadata: Metadata) -> list[str]:
    """The names that a text claims to be from."""
    names = (metadata.get(key) for key in ("speaker", "toolName"))
    return [name for name in names if isinstance(name, str) and name]
