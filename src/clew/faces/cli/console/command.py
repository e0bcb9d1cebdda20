"""What every verb has in common: the global options on either side of its name, and examples."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

from clew.faces.cli.console.invocation import Invocation


class _WithSharedParts:
    """Adds the global options and an examples section to a click command."""

    params: list[click.Parameter]
    examples: tuple[str, ...]

    def _add_shared_parts(self, examples: Sequence[str]) -> None:
        self.examples = tuple(examples)
        self.params.extend(global_options())

    def format_epilog(self, _: click.Context, formatter: click.HelpFormatter) -> None:
        if self.examples:
            with formatter.section("Examples"):
                for example in self.examples:
                    formatter.write(f"{'':{formatter.current_indent}}{example}\n")


class Verb(_WithSharedParts, click.Command):
    def __init__(self, *arguments: Any, examples: Sequence[str] = (), **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self._add_shared_parts(examples)


class VerbGroup(_WithSharedParts, click.Group):
    command_class = Verb

    def __init__(self, *arguments: Any, examples: Sequence[str] = (), **settings: Any) -> None:
        settings.setdefault("no_args_is_help", False)
        super().__init__(*arguments, **settings)
        self._add_shared_parts(examples)


def global_options() -> list[click.Option]:
    """New option objects; they work before and after the verb, and the later place wins.

    All are eager, so that `--json` holds for `--version` too, in any order.
    """
    return [
        click.Option(
            ["--data"],
            type=click.Path(file_okay=False, path_type=Path),
            metavar="DIR",
            expose_value=False,
            is_eager=True,
            callback=_remember("data_dir"),
            help="Data folder; else CLEW_HOME, else the user's data folder.",
        ),
        click.Option(
            ["--endpoint"],
            metavar="ENDPOINT",
            expose_value=False,
            is_eager=True,
            callback=_remember("endpoint"),
            help="A daemon elsewhere: unix:PATH or tcp:127.0.0.1:PORT.",
        ),
        click.Option(
            ["--json"],
            is_flag=True,
            expose_value=False,
            is_eager=True,
            callback=_remember("json"),
            help="Print one JSON object and nothing else.",
        ),
    ]


def _remember(name: str) -> Callable[[click.Context, click.Parameter, Any], None]:
    def callback(ctx: click.Context, _: click.Parameter, value: Any) -> None:
        if value:
            setattr(ctx.ensure_object(Invocation), name, value)

    return callback
