"""`clew authored`: what of the operator's Markdown is always in the context, and whether it fits."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from clew.config import Config
from clew.core.budget import portion
from clew.errors import InvalidInput
from clew.faces.cli.console.command import VerbGroup
from clew.faces.cli.console.invocation import Invocation
from clew.faces.cli.console.terminal import one_line, print_heading, print_note, print_table, print_text
from clew.features.authored.files import MAX_FILE_BYTES, core_files, read_file
from clew.features.authored.rules import Document, Kind, Tier, parse

if TYPE_CHECKING:  # loading it needs numpy, which help texts should not wait for
    from clew.core.ports import TokenCounter

NOT_OK = 1
STDIN = "-"
USUAL_BUDGETS = (8_000, 32_000, 128_000)
CLIPPED_CHARS = 100


@dataclass(frozen=True, slots=True)
class ShownNode:
    tier: Tier
    kind: Kind
    start: int
    end: int
    tokens: int
    heading: str
    conflicts: tuple[str, ...]
    links: tuple[str, ...]
    text: str


@dataclass(frozen=True, slots=True)
class ShownDocument:
    file: str
    parsed: bool
    nodes: tuple[ShownNode, ...]


@dataclass(frozen=True, slots=True)
class Inconsistency:
    """A node that demands and forbids the same; offsets are in bytes."""

    start: int
    end: int
    actions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CheckedFile:
    file: str
    parsed: bool
    hard_tokens: int
    soft_tokens: int
    lore_tokens: int
    conflicts: tuple[Inconsistency, ...]


@dataclass(frozen=True, slots=True)
class BudgetUse:
    """What hard text takes of one budget, and the most it may take."""

    budget_tokens: int
    hard_share: float
    hard_limit_tokens: int
    fits: bool


@dataclass(frozen=True, slots=True)
class Check:
    ok: bool
    hard_tokens: int
    budget: BudgetUse
    usual_budgets: tuple[BudgetUse, ...]
    files: tuple[CheckedFile, ...]


@click.group(
    "authored", cls=VerbGroup, examples=["clew authored show AGENTS.md", "clew authored check AGENTS.md SOUL.md"]
)
def command() -> None:
    """See how Markdown written for an agent is read."""


_hard_kinds_option = click.option(
    "--hard-kinds",
    metavar="KINDS",
    help="Try other kinds of node as hard, parted by commas, such as front_matter,rule_item.",
)


@command.command("show", examples=["clew authored show AGENTS.md", "clew authored show - --json < SOUL.md"])
@click.argument("file")
@_hard_kinds_option
@click.pass_obj
def show(invocation: Invocation, file: str, hard_kinds: str | None) -> None:
    """Print every node of FILE with its tier and place; `-` is standard input."""
    config = invocation.config()
    document = _parse(config, file, hard_kinds)
    invocation.show(_list_nodes(file, document, config), _print_document)


@command.command("check", examples=["clew authored check", "clew authored check AGENTS.md --budget 32000"])
@click.argument("files", nargs=-1)
@click.option(
    "--budget", type=click.IntRange(min=1), metavar="TOKENS", help="Budget to fit; else that of the settings."
)
@_hard_kinds_option
@click.pass_obj
def check(invocation: Invocation, files: tuple[str, ...], budget: int | None, hard_kinds: str | None) -> None:
    """Count tokens by tier and find rules at odds with themselves.

    The status is 1 when hard text does not fit or a rule is inconsistent. Without FILES, those of the
    settings. They are weighed together, as one context holds them all.
    """
    config = invocation.config()
    names = files or tuple(str(file.path) for file in core_files(config))
    if not names:
        raise InvalidInput("no files: name some, or set authored_files")
    checked = tuple(_check_file(name, _parse(config, name, hard_kinds), config) for name in names)
    report = _weigh(checked, budget or config.budget_tokens, config.authored_hard_share)
    invocation.show(report, _print_check)
    if not report.ok:
        raise click.exceptions.Exit(NOT_OK)


def _parse(config: Config, file: str, hard_kinds: str | None) -> Document:
    kinds = config.authored_hard_kinds if hard_kinds is None else _names(hard_kinds)
    try:
        return parse(_read_stdin() if file == STDIN else read_file(Path(file)).text, kinds)
    except InvalidInput as error:
        raise InvalidInput(error.message if Path(file).name in error.message else f"{file}: {error.message}") from error


def _names(listed: str) -> list[str]:
    return [name for part in listed.split(",") if (name := part.strip())]


def _read_stdin() -> str:
    data = sys.stdin.buffer.read(MAX_FILE_BYTES + 1)
    if len(data) > MAX_FILE_BYTES:
        raise InvalidInput(f"standard input has over {MAX_FILE_BYTES} bytes, which is too much for an authored file")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InvalidInput(f"standard input is not UTF-8 text: byte {error.start}") from error


def _list_nodes(file: str, document: Document, config: Config) -> ShownDocument:
    count = _counter(config).bound
    nodes = (
        ShownNode(
            tier=node.tier,
            kind=node.kind,
            start=node.start,
            end=node.end,
            tokens=count(node.text),
            heading=node.heading,
            conflicts=node.conflicts,
            links=node.links,
            text=node.text,
        )
        for node in document.nodes
    )
    return ShownDocument(file, document.parsed, tuple(nodes))


def _check_file(file: str, document: Document, config: Config) -> CheckedFile:
    count = _counter(config).bound
    hard, soft, lore = (sum(count(node.text) for node in document.of(tier)) for tier in Tier)
    conflicts = (Inconsistency(node.start, node.end, node.conflicts) for node in document.inconsistent)
    return CheckedFile(file, document.parsed, hard, soft, lore, tuple(conflicts))


def _weigh(files: tuple[CheckedFile, ...], budget_tokens: int, hard_share: float) -> Check:
    hard_tokens = sum(file.hard_tokens for file in files)
    budget, *usual = (_use(hard_tokens, tokens, hard_share) for tokens in (budget_tokens, *USUAL_BUDGETS))
    consistent = not any(file.conflicts for file in files)
    return Check(budget.fits and consistent, hard_tokens, budget, tuple(usual), files)


def _use(hard_tokens: int, budget_tokens: int, hard_share: float) -> BudgetUse:
    limit = portion(budget_tokens, hard_share)
    return BudgetUse(budget_tokens, hard_tokens / budget_tokens, limit, hard_tokens <= limit)


def _print_document(document: ShownDocument) -> None:
    print_table(
        ("tier", "kind", "start", "end", "tokens", "text"),
        [
            (node.tier, node.kind, node.start, node.end, node.tokens, one_line(node.text, CLIPPED_CHARS))
            for node in document.nodes
        ],
    )
    _note_unparsed([document])


def _print_check(report: Check) -> None:
    print_table(
        ("hard", "soft", "lore", "inconsistent", "file"),
        [
            (file.hard_tokens, file.soft_tokens, file.lore_tokens, len(file.conflicts), file.file)
            for file in report.files
        ],
    )
    click.echo()
    print_table(
        ("budget", "hard takes", "may take", "fits"),
        [
            (use.budget_tokens, f"{use.hard_share:.1%}", use.hard_limit_tokens, use.fits)
            for use in dict.fromkeys((report.budget, *report.usual_budgets))
        ],
    )
    for file in report.files:
        for conflict in file.conflicts:
            actions = ", ".join(conflict.actions)
            print_text(f"{file.file}: bytes {conflict.start} to {conflict.end} demand and forbid the same: {actions}")
    _note_unparsed(report.files)
    print_heading("ok" if report.ok else "not ok")


def _note_unparsed(files: Sequence[ShownDocument | CheckedFile]) -> None:
    for file in files:
        if not file.parsed:
            print_note(f"{file.file} has too many lines to be parsed; all of it is lore")


def _counter(config: Config) -> TokenCounter:
    from clew.models.tokens import make_counter

    return make_counter(config)
