"""Arguments and options of a verb, made from the fields of its request, so that a new field is a new option by itself.

@click.command("pack", cls=Verb)
@takes(Pack, "query", refs=None)
def command(invocation: Invocation, request: Pack) -> None: ...
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping
from functools import update_wrapper
from types import NoneType
from typing import Any, NamedTuple, TypeVar, cast, get_args, get_origin

import click
from msgspec import NODEFAULT, Struct
from msgspec.structs import FieldInfo, fields

from clew.api import Request
from clew.api.meanings import meanings
from clew.core.projects import project_at
from clew.errors import InvalidInput

F = TypeVar("F", bound=Callable[..., Any])

_METAVARS = {
    "collections": "NAME",
    "object": "TEXT",
    "predicate": "NAME",
    "query": "TEXT",
    "reason": "TEXT",
    "source": "URL",
    "sources": "REF",
    "speaker": "NAME",
    "statement": "TEXT",
    "subject": "TEXT",
    "superseded_by": "REF",
    "tool": "NAME",
    "ts": "MS",
}
"""The name of a value in the help, where the name of its field does not tell what it is."""


class Option(NamedTuple):
    """A verb's own name and settings for the option of a field; the rest comes from the field."""

    names: tuple[str, ...]
    settings: Mapping[str, Any]


def option(*names: str, **settings: Any) -> Option:
    """The option, or with settings alone the argument, of a field: `kinds=option("--edge", type=...)`."""
    return Option(names, settings)


HITS = option("-k", type=click.IntRange(1, 1000))
"""How many hits: refused here, before anything is opened."""


class _Project(click.ParamType[str]):
    """A project by its name or address, or by a folder: `.` is the one you are in."""

    name = "project"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if not value.startswith((".", "/", "~")):
            return value
        found = project_at(os.path.abspath(os.path.expanduser(value)))
        return found or self.fail(f"the folder {value!r} is no project that has a name", param, ctx)


PROJECT = option(type=_Project(), metavar="NAME|FOLDER")


def one_of(words: Iterable[str]) -> click.Choice[str]:
    """A choice of the values of an enumeration."""
    return click.Choice([str(word) for word in words])


def takes(kind: type[Struct], /, *arguments: str, **own: Option | str | None) -> Callable[[F], F]:
    """Gives a command an argument or an option for each field that a shell can write, and hands it the request.

    A keyword changes the option of a field. A string is the value of the field, and None means its default: then
    it has no option. Where the request is refused, the message names its fields as the user typed them.
    """
    fixed = {name: value for name, value in own.items() if isinstance(value, str)}
    offered = {
        item.name: (_argument if item.name in arguments else _option)(kind, item, how)
        for item in _fields(kind)
        if isinstance(how := own.get(item.name, option()), Option) and _value_type(item)
    }
    order = [*arguments, *(name for name in offered if name not in arguments)]
    typed = {item.encode_name: offered[item.name].typed for item in _fields(kind) if item.name in offered}

    def decorate(command: F) -> F:
        def run(invocation: Any, /, **given: Any) -> Any:
            request = _build(kind, fixed | {name: given.pop(name) for name in order})
            try:
                return command(invocation, request, **given)
            except InvalidInput as error:
                raise InvalidInput(name_as_typed(error.message, typed)) from error

        decorated: Callable[..., Any] = update_wrapper(click.pass_obj(run), command)
        for name in reversed(order):
            decorated = offered[name].decorator(decorated)
        return cast(F, decorated)

    return decorate


def name_as_typed(message: str, typed: Mapping[str, str]) -> str:
    """The message with options for fields: those of several words anywhere, others only where they are its subject."""
    several = "|".join(name for name in typed if not name.islower())
    single = "|".join(name for name in typed if name.islower())
    pattern = rf"\b(?:{several or '(?!)'})\b|^(?:{single or '(?!)'})(?= must )"
    said, quote, quoted = message.partition("'")  # what a user wrote is quoted, and stays as it is
    return re.sub(pattern, lambda match: typed[match.group()], said) + quote + quoted


class _Parameter(NamedTuple):
    typed: str
    """What a user types for it, and what messages call it."""
    decorator: Callable[[Callable[..., Any]], Callable[..., Any]]


def _argument(_: type[Struct], item: FieldInfo, own: Option) -> _Parameter:
    metavar = _word(item).upper()
    settings = _settings(item) | {"metavar": f"{metavar}..." if _is_many(item) else metavar}
    if _is_many(item):
        settings["nargs"] = -1
    elif not settings["required"]:
        settings["metavar"] = f"[{metavar}]"
    settings |= own.settings
    return _Parameter(settings["metavar"].strip("[.]"), click.argument(item.name, **settings))


def _option(kind: type[Struct], item: FieldInfo, own: Option) -> _Parameter:
    meaning = " ".join(_meanings(kind)[item.name].split())
    settings = _settings(item) | {"help": meaning, "metavar": _metavar(item)}
    if _is_many(item):
        settings |= {"multiple": True, "help": f"{meaning.rstrip('.')}; may be repeated."}
    if isinstance(own.settings.get("type"), click.Choice):
        del settings["metavar"]
    name = _word(item).replace("_", "-")
    if settings["type"] is bool:
        settings = {"is_flag": True, "help": meaning, "default": item.default}
        name = f"{name}/--no-{name}" if item.default else name
    settings |= own.settings
    names = own.names or (f"--{name}",)
    shows = bool(settings.get("default"))
    return _Parameter(names[0].partition("/")[0], click.option(*names, item.name, show_default=shows, **settings))


def _settings(item: FieldInfo) -> dict[str, Any]:
    """The settings that arguments and options share."""
    required = item.default is NODEFAULT and item.default_factory is NODEFAULT
    settings: dict[str, Any] = {"type": _value_type(item), "required": required}
    return settings if required or _is_many(item) else settings | {"default": item.default}


def _fields(kind: type[Struct]) -> list[FieldInfo]:
    """Its fields. An object that it flattens gives its own fields instead."""
    outer, inner = _flattened_field(kind), _inner_type(kind)
    own = [item for item in fields(kind) if item.name != outer]
    return own if inner is None else [*own, *fields(inner)]


def _flattened_field(kind: type[Struct]) -> str:
    return kind.flatten if issubclass(kind, Request) else ""


def _inner_type(kind: type[Struct]) -> type[Struct] | None:
    return next((item.type for item in fields(kind) if item.name == _flattened_field(kind)), None)


def _meanings(kind: type[Struct]) -> dict[str, str]:
    inner = _inner_type(kind)
    return meanings(kind) if inner is None else meanings(inner) | meanings(kind)


def _build(kind: type[Struct], given: dict[str, Any]) -> Struct:
    inner = _inner_type(kind)
    if inner is not None:
        of_inner = {name: given.pop(name) for name in inner.__struct_fields__ if name in given}
        given[_flattened_field(kind)] = inner(**of_inner)
    return kind(**given)


def _word(item: FieldInfo) -> str:
    word = item.name.removesuffix("_id").removesuffix("_tokens")
    return word.removesuffix("s") if _is_many(item) else word


def _is_many(item: FieldInfo) -> bool:
    return get_origin(item.type) is tuple


def _value_type(item: FieldInfo) -> type | None:
    """The type of one value; None where a shell cannot write it."""
    written = get_args(item.type)[0] if _is_many(item) else item.type
    if NoneType in get_args(written):
        (written,) = (part for part in get_args(written) if part is not NoneType)
    return written if written in (str, int, float, bool) else None


def _metavar(item: FieldInfo) -> str:
    name = item.name
    if name.endswith("_id") or name == "id" or "session" in name:
        return "ID"
    if name.endswith("_tokens"):
        return "TOKENS"
    of_type = {int: "N", float: "X"}
    kind = _value_type(item)
    return _METAVARS.get(name) or (of_type.get(kind) if kind else None) or _word(item).rpartition("_")[2].upper()
