"""The registry of predicates that facts may use, and whether each takes one value or many.

A subject has one value at a time of a single-valued predicate: a new one ends the one before. Of a many-valued one it
has as many as hold. The operator may add predicates, and may say otherwise of those that are here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from clew.errors import InvalidInput

PLAN = "plan"
"""An intention is no fact, so no fact has this predicate."""

_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")
_BETWEEN_WORDS = re.compile(r"[\s_-]+")


class Values(StrEnum):
    """How many values of a predicate a subject has at one time."""

    SINGLE = "single"
    MANY = "many"


BUILT_IN: Mapping[str, Values] = {
    "owns": Values.MANY,
    "uses": Values.MANY,
    "depends_on": Values.MANY,
    "replaces": Values.MANY,
    "prefers": Values.MANY,
    "decision": Values.MANY,
    "status": Values.SINGLE,
    "configured_as": Values.SINGLE,
    "source_of_truth": Values.SINGLE,
    "retired_by": Values.SINGLE,
}

_IN_A_SENTENCE: Mapping[str, str] = {
    "status": "is",
    "configured_as": "is configured as",
    "decision": "decided",
    "source_of_truth": "has its source of truth in",
    "retired_by": "is retired by",
}
"""Of predicates that are no verbs."""


@dataclass(frozen=True, slots=True)
class Registry:
    """The predicates that facts may use."""

    values: Mapping[str, Values]

    def __contains__(self, predicate: str) -> bool:
        return predicate in self.values

    def is_single(self, predicate: str) -> bool:
        """Of a predicate that is not known, nothing ends anything."""
        return self.values.get(predicate) is Values.SINGLE

    def checked(self, name: str) -> str:
        """The predicate a name means. Raises InvalidInput where there is none."""
        predicate = canonical(name)
        if predicate not in self.values:
            known = ", ".join(sorted(self.values))
            raise InvalidInput(f"{name[:80]!r} is no known predicate; there are {known} (setting fact_predicates)")
        return predicate


def registry(settings: Sequence[str] = ()) -> Registry:
    """The built-in predicates with the operator's own, each as `lives_in=single`. Raises InvalidInput."""
    added = dict(_read(setting) for setting in settings)
    return Registry({**BUILT_IN, **added})


def canonical(name: str) -> str:
    """How a predicate is written: `Depends on` is `depends_on`."""
    return _BETWEEN_WORDS.sub("_", name.strip()[:200].casefold())


def sentence(subject: str, predicate: str, object_: str) -> str:
    """A fact as one plain sentence, by which it is found."""
    said = f"{subject} {_IN_A_SENTENCE.get(predicate, predicate.replace('_', ' '))} {object_}"
    return said if said.endswith((".", "!", "?", "。")) else f"{said}."


def _read(setting: str) -> tuple[str, Values]:
    name, _, values = setting.partition("=")
    if values not in list(Values):
        raise InvalidInput(f"fact_predicates: {setting[:100]!r} must be NAME=single or NAME=many")
    if name == PLAN or not _NAME.fullmatch(name):
        rule = f"a predicate has small letters, digits and _, and is not {PLAN}"
        raise InvalidInput(f"fact_predicates: {name[:80]!r} cannot be one: {rule}")
    return name, Values(values)
