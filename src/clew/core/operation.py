"""An operation: a request that names its method, and the answer it gets."""

from __future__ import annotations

from typing import Any, ClassVar, Generic, TypeVar, get_args

from msgspec import Struct

JsonObject = dict[str, Any]


class Answer(Struct, frozen=True, kw_only=True, rename="camel"):
    """Base of every result."""


class Done(Answer, frozen=True):
    ok: bool = True
    """Whether all is well."""
    count: int = 0
    """How many things the call changed."""


R = TypeVar("R")


class Request(Struct, Generic[R], frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """An operation, said once: its name, its fields, its answer `R`, and how it is carried out.

    The daemon's ordering and limits, the methods of `MemoryApi` and of the asynchronous client, and the reference pages
    are made from this. The docstring of the class says what the operation does, that of a field what it means.
    """

    method: ClassVar[str]
    """Its name on the wire."""
    answer: ClassVar[type[Answer]]
    writes: ClassVar[bool] = False
    """Whether it changes what later requests find. The daemon runs the writes of one connection in the order sent."""
    lets_writes_pass: ClassVar[bool] = False
    """Whether later writes of its connection need not wait for it: it takes long, and changes only what is derived."""
    leaves_work: ClassVar[bool] = False
    """Whether the queue may hold something new afterwards."""
    deadline_factor: ClassVar[int] = 1
    """How many ordinary deadlines it may take; more for what reads the whole store."""
    python_name: ClassVar[str] = ""
    """Its name in Python, where that is not the one on the wire."""
    positional: ClassVar[tuple[str, ...]] = ()
    """Optional fields that may be given by place; required ones always may."""
    spread: ClassVar[str] = ""
    """A field whose values are given one by one, as `get(collection, "a", "b")`."""
    flatten: ClassVar[str] = ""
    """A field that is an object, whose fields are given in its place."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        base = cls.__orig_bases__[0]  # type: ignore[attr-defined]  # what `Request[R]` was written as
        (answer,) = get_args(base)
        if isinstance(answer, type):  # not where a shape that several operations share leaves it open
            cls.answer = answer
