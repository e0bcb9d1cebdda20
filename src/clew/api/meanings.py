"""The meaning of each field of a request or an answer: the docstring under it, which only the source has."""

from __future__ import annotations

import ast
import inspect
import sys
from functools import cache
from itertools import pairwise

from msgspec import Struct


def meanings(kind: type[Struct]) -> dict[str, str]:
    """By the name of the field, with those of the classes that this one extends."""
    owners = reversed(kind.__mro__[: kind.__mro__.index(Struct)])
    return {name: text for owner in owners for name, text in _notes(owner.__module__).get(owner.__name__, {}).items()}


@cache
def _notes(module: str) -> dict[str, dict[str, str]]:
    """For each class of a module, the strings that follow its fields."""
    tree = ast.parse(inspect.getsource(sys.modules[module]))
    return {node.name: dict(_notes_in(node)) for node in tree.body if isinstance(node, ast.ClassDef)}


def _notes_in(definition: ast.ClassDef) -> list[tuple[str, str]]:
    return [
        (target.id, inspect.cleandoc(text))
        for before, after in pairwise(definition.body)
        if isinstance(before, ast.AnnAssign) and isinstance(target := before.target, ast.Name)
        if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)
        if isinstance(text := after.value.value, str)
    ]
