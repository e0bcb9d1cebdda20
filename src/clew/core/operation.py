"""What an operation is: a request that names its method, and the answer it gets."""

from __future__ import annotations

from typing import Any, ClassVar, Generic, TypeVar

from msgspec import Struct

JsonObject = dict[str, Any]


class Answer(Struct, frozen=True, kw_only=True, rename="camel"):
    """Base of every result."""


class Done(Answer, frozen=True):
    ok: bool = True
    count: int = 0
    """How many things the call changed."""


R = TypeVar("R")


class Request(Struct, Generic[R], frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """Base of every request; `R` is what it is answered with."""

    method: ClassVar[str]
    answer: ClassVar[type[Answer]]
    deadline_factor: ClassVar[int] = 1
    """How many ordinary deadlines it may take; more for what reads the whole store."""
