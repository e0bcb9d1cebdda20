"""Command-line options made from the fields of a request, so that a new field is a new option by itself.

@click.command("pack", cls=Verb)
@takes(Pack, "query")
def command(invocation: Invocation, request: Pack) -> None: ...
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable
from functools import lru_cache, update_wrapper
from itertools import pairwise
from types import ModuleType, NoneType, UnionType
from typing import Any, TypeVar, cast, get_args, get_origin

import click
from msgspec import NODEFAULT
from msgspec.structs import FieldInfo, fields

from clew.api import Request

F = TypeVar("F", bound=Callable[..., Any])


def takes(kind: type[Request[Any]], *arguments: str, without: tuple[str, ...] = ()) -> Callable[[F], F]:
    """Gives a command an argument or an option for each field, and hands it the request they make."""
    wanted = [item for item in fields(kind) if item.name not in without]
    by_place = sorted((item for item in wanted if item.name in arguments), key=lambda item: arguments.index(item.name))

    def decorate(command: F) -> F:
        def run(invocation: Any, /, **given: Any) -> Any:
            return command(invocation, kind(**given))

        decorated: Callable[..., Any] = update_wrapper(click.pass_obj(run), command)
        for item in reversed([item for item in wanted if item.name not in arguments]):
            decorated = _option(kind, item)(decorated)
        for item in reversed(by_place):
            decorated = click.argument(item.name)(decorated)
        return cast(F, decorated)

    return decorate


def _option(kind: type[Request[Any]], item: FieldInfo) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    inner, is_many = _value_type(item.type)
    word = item.name.removesuffix("_id").removesuffix("_tokens")
    word = word.removesuffix("s") if is_many else word
    names = (f"--{word.replace('_', '-')}", item.name)
    meaning = _meanings(inspect.getmodule(kind)).get(item.name, "")
    said = f"{meaning.rstrip('.')}; may be repeated." if is_many else meaning
    if inner is bool:
        return click.option(*names, is_flag=True, help=said)
    return click.option(
        *names,
        type=inner,
        multiple=is_many,
        required=item.default is NODEFAULT and item.default_factory is NODEFAULT,
        default=None if is_many or item.default is NODEFAULT else item.default,
        metavar=_metavar(item.name, inner, word),
        help=said,
    )


def _value_type(written: Any) -> tuple[type, bool]:
    """The type of one value, and whether the field takes many."""
    if get_origin(written) is UnionType or type(None) in get_args(written):
        (written,) = (option for option in get_args(written) if option is not NoneType)
    return (get_args(written)[0], True) if get_origin(written) is tuple else (written, False)


def _metavar(name: str, inner: type, word: str) -> str:
    if name.endswith("_id") or "session" in name:
        return "ID"
    if name.endswith("_tokens"):
        return "TOKENS"
    if inner is int:
        return "N"
    return "TEXT" if inner is str and word in ("query", "text") else word.rpartition("_")[2].upper()


@lru_cache(maxsize=8)
def _meanings(module: ModuleType | None) -> dict[str, str]:
    """What the fields of a module's requests mean, by name: the text under each."""
    found = {}
    classes = ast.parse(inspect.getsource(module)).body if module is not None else []
    for body in (node.body for node in classes if isinstance(node, ast.ClassDef)):
        for node, text in pairwise(body):
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and isinstance(text, ast.Expr):
                found[node.target.id] = inspect.cleandoc(ast.literal_eval(text.value))
    return found
