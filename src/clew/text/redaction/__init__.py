"""Cuts secrets, and personal data where asked for, out of a text before Clew keeps it.

One pass over the text looks for letters that secrets have or follow; only there does a detector look closer.
`[redacted:KIND]` replaces each cut, and no result holds the secret itself. Names, hosts and all other text stay as they
are. Time is linear in the text, whatever it holds.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

import re2

from clew.text.redaction import encoded, pii, runs, shapes
from clew.text.redaction.fields import (
    is_secret_beside,
    is_value_field,
    looks_secret,
    name_beside,
    names_a_secret,
    names_an_action,
)
from clew.text.redaction.languages import foreign_names
from clew.text.redaction.names import (
    KEY_NAMES,
    PASSWORD_NAMES,
    SERVICE_NAMES,
    SHORT_NAMES,
    TOKEN_NAMES,
    Names,
)
from clew.text.redaction.rules import RULES
from clew.text.redaction.tables import table_cuts
from clew.text.redaction.values import MARKER_START, Cut, is_stand_in


class Policy(StrEnum):
    """What to cut: nothing, secrets, or secrets and personal data."""

    OFF = "off"
    SECRETS = "secrets"
    PII = "pii"


@dataclass(frozen=True, slots=True)
class Found:
    """What was cut, by kind; the place is in characters of the text as it was."""

    kind: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Redacted:
    text: str
    found: tuple[Found, ...]
    """In the order of the text, without overlaps."""


def redact(text: str, policy: Policy = Policy.SECRETS) -> Redacted:
    """The text without what the policy cuts. Redacting the result again finds nothing."""
    found: list[Found] = []
    if policy is Policy.OFF:
        return Redacted(text, ())
    shown = text
    for _ in range(_MOST_PASSES):
        cuts = _cuts(shown, policy)
        if not cuts:
            break
        found = _join_findings(found, cuts)
        shown = _without(text, found)
    return Redacted(shown, tuple(found))


def redact_json(value: Any, policy: Policy = Policy.SECRETS) -> tuple[Any, tuple[str, ...]]:
    """The value with every string in it redacted, keys too, and the kinds that were cut, in order.

    A string under a key that names a secret is cut whole, unless it is a placeholder; so is one in a list or in a field
    for the value under such a key. A value that a field beside it names must look like a secret, too, and so must one
    under a key that names an action (`reset_password`). A value with nothing to cut comes back as the same object.
    """
    if policy is Policy.OFF:
        return value, ()
    kinds: dict[str, None] = {}
    return _Tree(policy, kinds).redacted(value), tuple(kinds)


def secret_in_name(name: str) -> str | None:
    """The kind of secret that a name holds for sure: by the form of its issuer, or by what is called a password.

    What only looks made by chance is no secret here: so do most ids.
    """
    return next((cut.kind for cut in _secrets(name) if cut.kind not in _MADE_BY_CHANCE), None)


_MOST_PASSES = 8
"""Cutting may free the edge of another secret; beyond this many layers, text was made to do so."""

_Detector = Callable[[str, int, int], Iterator[Cut]]

_VAGUE_KINDS = {
    "generic-secret": 0,
    "password": 1,
    "authorization": 1,
    "bearer-token": 1,
    "phone": 2,
    "connection-string": 2,
}
_SURE = 3
_MADE_BY_CHANCE = frozenset({"generic-secret", "twitter-token"})


def marker(kind: str) -> str:
    return f"{MARKER_START}{kind}]"


def _cuts(text: str, policy: Policy) -> list[Cut]:
    """What the detectors want to cut, in order, merged where it overlaps, and nothing of a marker."""
    cuts = list(_secrets(text))
    if policy is Policy.PII:
        cuts += pii.cuts(text)
    if not cuts:
        return cuts
    markers = [found.span() for found in _MARKER.finditer(text)]
    return _merge(cut for cut in cuts if not _touches(markers, cut.start, cut.end))


def _secrets(text: str, layer: int = 0) -> Iterator[Cut]:
    # One byte for each character keeps places the same; what Latin-1 lacks is in no secret's fixed part.
    raw = text.encode("latin-1", "replace")
    yield from _anchored(text, raw.lower())
    yield from table_cuts(text)

    def find_deeper(decoded: str) -> list[Cut]:
        return list(_secrets(decoded, layer + 1)) if layer < encoded.MOST_LAYERS else []

    for start, end in runs.long_runs(raw):
        yield from runs.run_cuts(text, start, end)
        yield from encoded.run_cuts(text, start, end, find_deeper)
    yield from encoded.disguised_cuts(text, find_deeper)


def _anchored(text: str, letters: bytes) -> Iterator[Cut]:
    """What follows the letters that secrets have or follow."""
    names = Names()
    by_name = {
        "password": names.password_cuts,
        "short": names.short_password_cuts,
        "token": names.token_cuts,
        "key": names.key_cuts,
    }
    # Inside what a detector has cut it need not look again; by identity, as hashing a rule costs more than running it.
    done: dict[int, int] = {}
    for match in _ANCHORS.finditer(letters):
        start, end = match.span()
        if letters[start] == _BACKSLASH:
            start += len(r"\n")
        elif letters[start:end] not in _AT_ANCHOR:
            start += len("_")
        for first, last, detector in _AT_ANCHOR[letters[start:end]]:
            detect = by_name[detector] if isinstance(detector, str) else detector
            if done.get(id(detector), 0) > start + first:
                continue
            for cut in detect(text, start + first, start + last):
                done[id(detector)] = cut.end
                yield cut
    for start, end, detector in foreign_names(text):
        yield from by_name[detector](text, start, end)


def _merge(cuts: Iterable[Cut]) -> list[Cut]:
    """Overlapping cuts become one, of the kind that is surest."""
    merged: list[Cut] = []
    for cut in sorted(cuts):
        if merged and cut.start < merged[-1].end:
            last = merged[-1]
            kind = max(last, cut, key=_sureness).kind
            merged[-1] = Cut(last.start, max(last.end, cut.end), kind)
        else:
            merged.append(cut)
    return merged


def _sureness(cut: Cut) -> int:
    return _VAGUE_KINDS.get(cut.kind, _SURE)


def _touches(spans: list[tuple[int, int]], start: int, end: int) -> bool:
    place = bisect_right(spans, (start, end))
    return (place > 0 and spans[place - 1][1] > start) or (place < len(spans) and spans[place][0] < end)


def _join_findings(found: list[Found], cuts: list[Cut]) -> list[Found]:
    """Earlier findings and those in the text made from them, all in places of the original text."""
    places: list[Found] = []
    shift = 0
    rest = iter(found)
    earlier = next(rest, None)
    for cut in cuts:
        while earlier and earlier.start - shift <= cut.start:
            shift += earlier.end - earlier.start - len(marker(earlier.kind))
            places.append(earlier)
            earlier = next(rest, None)
        places.append(Found(cut.kind, cut.start + shift, cut.end + shift))
    return [*places, *([earlier] if earlier else []), *rest]


def _without(text: str, found: list[Found]) -> str:
    pieces = []
    done = 0
    for item in found:
        pieces += [text[done : item.start], marker(item.kind)]
        done = item.end
    return "".join([*pieces, text[done:]])


class _Called(NamedTuple):
    """What a value of a JSON object is called: by its key, or by a field beside it."""

    name: str
    by_field: bool = False


class _Tree:
    """Walks nested JSON without recursion, since its depth is the sender's choice."""

    def __init__(self, policy: Policy, kinds: dict[str, None]) -> None:
        self._policy = policy
        self._kinds = kinds

    def redacted(self, value: Any) -> Any:
        """Visits containers from the outside in, then rebuilds those that changed from the inside out."""
        if isinstance(value, str):
            return self._string(value)
        containers: list[tuple[Any, _Called]] = [(value, _Called(""))] if isinstance(value, dict | list) else []
        for container, called in containers:
            inside = (
                _called_inside(container, called) if isinstance(container, dict) else ((c, called) for c in container)
            )
            containers += [(child, own) for child, own in inside if isinstance(child, dict | list)]
        changed: dict[int, Any] = {}
        for container, called in reversed(containers):
            rebuild = self._dict if isinstance(container, dict) else self._list
            rebuilt = rebuild(container, called, changed)
            if rebuilt is not None:
                changed[id(container)] = rebuilt
        return changed.get(id(value), value)

    def _list(self, items: list[Any], called: _Called, changed: dict[int, Any]) -> list[Any] | None:
        rebuilt = [self._item(item, called, changed) for item in items]
        return rebuilt if any(new is not old for new, old in zip(rebuilt, items, strict=True)) else None

    def _dict(self, items: dict[Any, Any], called: _Called, changed: dict[int, Any]) -> dict[Any, Any] | None:
        rebuilt: dict[Any, Any] = {}
        differs = False
        for (key, old), (_, own) in zip(items.items(), _called_inside(items, called), strict=True):
            shown = self._string(key) if isinstance(key, str) else key
            new = self._item(old, own, changed)
            differs = differs or new is not old or shown is not key
            rebuilt[_number_key(shown, rebuilt) if shown is not key else key] = new
        return rebuilt if differs else None

    def _item(self, item: Any, called: _Called, changed: dict[int, Any]) -> Any:
        return self._named(called, item) if isinstance(item, str) else changed.get(id(item), item)

    def _named(self, called: _Called, value: str) -> str:
        kind = names_a_secret(called.name) if called.name else None
        if kind is None or is_stand_in(value) or not _may_be_secret(called, value):
            return self._string(value)
        self._kinds[kind] = None
        return marker(kind)

    def _string(self, value: str) -> str:
        redacted = redact(value, self._policy)
        if not redacted.found:
            return value
        self._kinds.update((item.kind, None) for item in redacted.found)
        return redacted.text


def _may_be_secret(called: _Called, value: str) -> bool:
    """Whether the value may be what it is called, where the name alone leaves that open."""
    if called.by_field:
        return is_secret_beside(called.name, value)
    return not names_an_action(called.name) or looks_secret(value)


def _called_inside(items: dict[Any, Any], called: _Called) -> Iterator[tuple[Any, _Called]]:
    """Each value of a JSON object and what it is called.

    That is its key, or, in a field for values, what a field beside it says, or else the key that the object is under.
    """
    beside = name_beside(items)
    said = called if beside is None else _Called(beside, by_field=True)
    for key, value in items.items():
        own = key if isinstance(key, str) else ""
        yield value, said if said.name and own and is_value_field(own) else _Called(own)


def _number_key(key: str, taken: dict[Any, Any]) -> str:
    """The key, numbered where two keys are the same without their secrets."""
    number = 1
    numbered = key
    while numbered in taken:
        number += 1
        numbered = f"{key} ({number})"
    return numbered


# --- the search for letters -----------------------------------------------------------------------------------------

_FORMS: dict[str, _Detector] = {
    "-----begin": shapes.private_keys,
    "://": shapes.url_logins,
    "bearer": shapes.bearer_tokens,
    "basic": shapes.basic_logins,
    "ssws": shapes.okta_tokens,
    "cookie": shapes.cookies,
    "-u": shapes.command_logins,
    "--user": shapes.command_logins,
    "sig=": shapes.signed_queries,
    "signature=": shapes.signed_queries,
    "bundle_": shapes.bundler_logins,
    "data:": shapes.manifest_secrets,
    "stringdata:": shapes.manifest_secrets,
}


def _anchors() -> Iterator[tuple[str, bool, _Detector | str]]:
    """Letters to look for, whether only at the start of a word, and who looks closer."""
    for rule in RULES:
        for letters in rule.anchors:
            yield letters, not rule.joins and rule.back == 0 and letters[0].isalnum(), rule.cuts
    for letters, form in _FORMS.items():
        yield letters, letters in {"bearer", "basic", "ssws", "bundle_"}, form
    for words, name in (
        (PASSWORD_NAMES, "password"),
        (SHORT_NAMES, "short"),
        (TOKEN_NAMES, "token"),
        (KEY_NAMES, "key"),
        (SERVICE_NAMES, "key"),
    ):
        for word in words:
            yield word, False, name


def _compile(anchors: list[tuple[str, bool, _Detector | str]]) -> Any:
    """One expression for all letters; longer ones first, as the first that fits is taken.

    A word also starts behind an underscore, and behind an escaped line end, which is how lines end in JSON that was not
    read yet.
    """
    free = {letters for letters, at_word, _ in anchors if not at_word}
    bound = {letters for letters, at_word, _ in anchors if at_word} - free
    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    ordered = sorted(free | bound, key=len, reverse=True)
    first = "|".join(rf"\b{re.escape(letters)}" if letters in bound else re.escape(letters) for letters in ordered)
    words = {letters for letters, _, detector in anchors if letters[0].isalnum() and not isinstance(detector, str)}
    behind = "|".join(re.escape(letters) for letters in ordered if letters in words)
    return re2.compile(rf"{first}|(?:_|\\[nrtf])(?:{behind})".encode("latin-1"), options)


def _table(anchors: list[tuple[str, bool, _Detector | str]]) -> dict[bytes, list[tuple[int, int, _Detector | str]]]:
    """For each string of letters, the detectors of all strings inside it, since the longest hides the shorter."""
    table: dict[bytes, list[tuple[int, int, _Detector | str]]] = {}
    named = {letters for letters, _, detector in anchors if isinstance(detector, str)}
    for outer in {letters for letters, _, _ in anchors}:
        inside = []
        for letters, _, detector in anchors:
            at = outer.find(letters)
            if at >= 0 and not (isinstance(detector, str) and outer in named and letters != outer):
                inside.append((at, at + len(letters), detector))
        table[outer.encode()] = inside
    return table


_ALL_ANCHORS = list(_anchors())
_ANCHORS = _compile(_ALL_ANCHORS)
_AT_ANCHOR = _table(_ALL_ANCHORS)
_BACKSLASH = ord("\\")
_MARKER = re.compile(re.escape(MARKER_START) + r"[a-z]{2,20}(?:-[a-z]{2,20}){0,2}\]")
