"""The named statements of `queries.sql`, and the migration scripts beside it.

No statement is ever put together from strings at run time: values are bound, names are looked up.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from importlib import resources
from typing import Any

import apsw

Row = tuple[Any, ...]
Values = tuple[Any, ...] | Mapping[str, Any]

_NAME = re.compile(r"^-- name: (\w+)$", re.MULTILINE)


def _load() -> Mapping[str, str]:
    source = resources.files(__package__).joinpath("queries.sql").read_text("utf-8")
    pieces = _NAME.split(source)
    return dict(zip(pieces[1::2], (piece.strip() for piece in pieces[2::2]), strict=True))


_STATEMENTS = _load()


def run(connection: apsw.Connection, name: str, values: Values = ()) -> None:
    connection.execute(_STATEMENTS[name], values)


def run_each(connection: apsw.Connection, name: str, values: Iterable[tuple[Any, ...]]) -> None:
    connection.executemany(_STATEMENTS[name], values)


def each(connection: apsw.Connection, name: str, values: Values = ()) -> Iterator[Row]:
    """Rows as they are read; for what must not be held at once."""
    yield from connection.execute(_STATEMENTS[name], values)


def many(connection: apsw.Connection, name: str, values: Values = ()) -> list[Row]:
    return connection.execute(_STATEMENTS[name], values).fetchall()


def first(connection: apsw.Connection, name: str, values: Values = ()) -> Row | None:
    return connection.execute(_STATEMENTS[name], values).fetchone()


def only(connection: apsw.Connection, name: str, values: Values = ()) -> Row:
    """The row of a statement that always gives one."""
    row = first(connection, name, values)
    assert row is not None, name
    return row


def statement_names() -> frozenset[str]:
    return frozenset(_STATEMENTS)


def migration_scripts() -> list[str]:
    """The scripts that bring a store from version n to n + 1, in order, starting from an empty file."""
    folder = resources.files(__package__).joinpath("migrations")
    names = sorted(item.name for item in folder.iterdir() if item.name.endswith(".sql"))
    return [folder.joinpath(name).read_text("utf-8") for name in names]
