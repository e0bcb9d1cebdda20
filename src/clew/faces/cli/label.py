"""`clew label`: the operator's word on a record, which Clew does not overwrite."""

from __future__ import annotations

import click

from clew.api import Label, RecordView
from clew.faces.cli.command import Verb
from clew.faces.cli.invocation import Invocation
from clew.faces.cli.terminal import Cell, compact_json, print_fields, print_heading


@click.command(
    "label",
    cls=Verb,
    examples=[
        "clew label user:ada/m_5f0c --importance must_remember",
        "clew label user:ada/m_5f0c --retention P2 --kind task",
        "clew label user:ada/m_5f0c --superseded-by user:ada/m_77d1",
        "clew label user:ada/m_5f0c --superseded-by ''",
    ],
)
@click.argument("ref")
@click.option("--kind", metavar="KIND", help="fact, preference, decision, task, plan, observation, event or note.")
@click.option("--importance", metavar="LABEL", help="must_remember, nice_to_have or ignore.")
@click.option("--retention", metavar="CLASS", help="P0 is never archived, P1 and P2 after a while without use.")
@click.option("--superseded-by", metavar="REF", help="The record that holds in its place.")
@click.pass_obj
def command(
    invocation: Invocation,
    ref: str,
    *,
    kind: str | None,
    importance: str | None,
    retention: str | None,
    superseded_by: str | None,
) -> None:
    """Say what a record is; an empty word takes an earlier one back. The text stays as it is."""
    request = Label(ref=ref, kind=kind, importance=importance, retention=retention, superseded_by=superseded_by)
    with invocation.open() as memory:
        invocation.show(memory.call(request), print_marks)


def print_marks(record: RecordView) -> None:
    """What is known of a record beside its text, and who says so."""
    print_heading(f"{record.collection}/{record.id}")
    print_fields({name: _said(mark) for name, mark in sorted(record.marks.items())})


def _said(mark: dict[str, object]) -> Cell:
    value = mark.get("value")
    if isinstance(value, dict):
        value = value.get("label") or value.get("trust") or compact_json(value)
    elif isinstance(value, list):
        value = ", ".join(map(str, value))
    return f"{value or 'no'} ({mark.get('by')})"
