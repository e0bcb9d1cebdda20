"""The `clew` command: finds the verb, runs it, and turns what goes wrong into one line and a status."""

from __future__ import annotations

import importlib
import os
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from itertools import takewhile

import click

from clew.errors import ClewError, InvalidInput
from clew.faces.cli.console.command import VerbGroup
from clew.faces.cli.console.invocation import Invocation
from clew.faces.cli.console.terminal import print_error, print_json, silence_stdout

PROGRAM = "clew"
COMPLETE_VARIABLE = "_CLEW_COMPLETE"

SECTIONS: dict[str, dict[str, str]] = {
    "Try it": {"demo": "demo.run:command"},
    "Keep and find": {
        "ingest": "records:ingest_command",
        "search": "records:search_command",
        "assemble": "context:assemble_command",
        "collections": "records:collections_command",
        "list": "records:list_command",
        "get": "records:get_command",
        "put": "records:put_command",
        "delete": "records:delete_command",
        "gate": "gate:gate_command",
    },
    "Capture and pack": {
        "capture": "ledger:capture_command",
        "harvest": "ledger:harvest_command",
        "spool": "ledger:spool_command",
        "recall": "ledger:recall_command",
        "timeline": "ledger:timeline_command",
        "replay": "ledger:replay_command",
        "artifact": "ledger:artifact_command",
        "pack": "pack:pack_command",
        "trace": "pack:trace_command",
        "why": "pack:why_command",
        "redact": "ledger:redact_command",
    },
    "What is true and connected": {
        "facts": "facts:facts_command",
        "plans": "plans:command",
        "graph": "graph:graph_command",
        "observe": "observations:observe_command",
    },
    "Govern": {
        "trust": "trust:command",
        "lifecycle": "lifecycle:lifecycle_command",
        "duplicates": "lifecycle:duplicates_command",
        "label": "lifecycle:label_command",
        "purge": "upkeep:purge_command",
    },
    "History and rules": {
        "session": "history:session_command",
        "compact": "history:compact_command",
        "guidance": "guidance:command",
        "authored": "authored:command",
    },
    "Run": {
        "up": "running:up_command",
        "down": "running:down_command",
        "status": "running:status_command",
        "flush": "running:flush_command",
        "journal": "running:journal_command",
    },
    "Look after the store": {
        "verify": "upkeep:verify_command",
        "backup": "upkeep:backup_command",
        "restore": "upkeep:restore_command",
        "export": "upkeep:export_command",
        "import": "imports:import_command",
        "reembed": "running:reembed_command",
        "reindex": "running:reindex_command",
    },
    "Connect agents": {
        "openclaw": "hosts.openclaw:command",
        "mcp": "hosts.mcp:mcp_command",
        "hooks": "hosts.hooks:hooks_command",
        "hook": "hosts.hooks:hook_command",
        "hermes": "hosts.hermes:command",
    },
    "Measure": {"bench": "bench:command"},
    "Set up": {
        "model": "setup:model_command",
        "config": "setup:config_command",
        "completion": "setup:completion_command",
    },
}
"""Every verb under its heading in the help, with the module and the name of its command."""

HELP_COLUMNS = 100
INTERRUPTED = 130
BROKEN_PIPE = 141


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit status."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    as_json = "--json" in takewhile(lambda argument: argument != "--", arguments)
    try:
        status = _run(arguments or ["--help"])
        sys.stdout.flush()
        return status
    except BrokenPipeError:
        silence_stdout()
        return BROKEN_PIPE
    except (ClewError, click.ClickException, click.Abort, KeyboardInterrupt, OSError) as error:
        code, message, status = _explain(error)
        print_error(code, message, as_json=as_json)
        return status


def leave(status: int) -> int:
    """The status to end with; ends here and now where a thread of ours did not end in its time.

    It may be inside a native library, where the end of the interpreter would abort the process. What was
    acknowledged is on disk.
    """
    if any(thread.daemon and thread.name.startswith("clew-") for thread in threading.enumerate()):
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):
                stream.flush()
        os._exit(status)
    return status


class Verbs(VerbGroup):
    """The root group. A verb's module is loaded only when that verb is asked for."""

    def list_commands(self, _: click.Context) -> list[str]:
        return [verb for verbs in SECTIONS.values() for verb in verbs]

    def get_command(self, _: click.Context, cmd_name: str) -> click.Command | None:
        for verbs in SECTIONS.values():
            if cmd_name in verbs:
                module, name = verbs[cmd_name].split(":")
                command: click.Command = getattr(importlib.import_module(f"clew.faces.cli.{module}"), name)
                return command
        return None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for heading, verbs in SECTIONS.items():
            with formatter.section(heading):
                formatter.write_dl([(verb, self._summary(ctx, verb)) for verb in verbs])

    def _summary(self, ctx: click.Context, verb: str) -> str:
        command = self.get_command(ctx, verb)
        return command.get_short_help_str(limit=80) if command else ""


def _show_version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if not wanted or ctx.resilient_parsing:
        return
    from clew import __version__

    if ctx.ensure_object(Invocation).json:
        print_json({"version": __version__})
    else:
        click.echo(f"{PROGRAM} {__version__}")
    ctx.exit()


@click.group(
    PROGRAM,
    cls=Verbs,
    examples=[
        "clew demo",
        "clew ingest --session s1 --user ada 'I like tea.'",
        "clew search tea --user ada",
    ],
)
@click.option("--version", is_flag=True, expose_value=False, callback=_show_version, help="Print the version and stop.")
def cli() -> None:
    """Memory for AI agents: every turn kept, found again, and explained.

    Talks to the daemon of the data folder where one runs, and opens the store itself where none does.
    """


def _run(arguments: list[str]) -> int:
    _refuse_broken_text(arguments)
    instruction = os.environ.get(COMPLETE_VARIABLE)
    if instruction:
        from click.shell_completion import shell_complete

        return shell_complete(cli, {}, PROGRAM, COMPLETE_VARIABLE, instruction)
    color = False if os.environ.get("NO_COLOR") else None
    try:
        with cli.make_context(PROGRAM, arguments, obj=Invocation(), color=color, max_content_width=HELP_COLUMNS) as ctx:
            cli.invoke(ctx)
    except click.exceptions.Exit as done:
        return done.exit_code
    return 0


def _refuse_broken_text(arguments: list[str]) -> None:
    """Bytes that are no UTF-8 reach Python as lone surrogates, which no later step can store or send."""
    for argument in arguments:
        try:
            argument.encode("utf-8")
        except UnicodeEncodeError as error:
            raise InvalidInput(f"argument {argument!r} is not valid UTF-8") from error


def _explain(error: BaseException) -> tuple[int, str, int]:
    """The code, the sentence and the exit status for what went wrong."""
    match error:
        case ClewError():
            return error.code, error.message, error.exit_status
        case click.UsageError():
            return InvalidInput.code, _describe_usage(error), InvalidInput.exit_status
        case click.ClickException():
            return ClewError.code, error.format_message(), error.exit_code
        case OSError():
            return ClewError.code, _describe(error), ClewError.exit_status
        case _:
            return ClewError.code, "interrupted", INTERRUPTED


def _describe_usage(error: click.UsageError) -> str:
    path = error.ctx.command_path if error.ctx else PROGRAM
    message = " ".join(error.format_message().split())
    return f"{message if message.endswith(('.', '?')) else f'{message}.'} Try '{path} --help'."


def _describe(error: OSError) -> str:
    reason = error.strerror or str(error) or type(error).__name__
    return f"{error.filename}: {reason}" if error.filename else reason


if __name__ == "__main__":
    sys.exit(leave(main()))
