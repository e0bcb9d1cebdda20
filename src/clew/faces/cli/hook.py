"""`clew hook`: what a host's settings call at its events."""

from __future__ import annotations

import click

from clew.faces.cli.command import Verb
from clew.faces.cli.invocation import Invocation
from clew.faces.hosts.dialects import EVENTS

NAMES = tuple(dict.fromkeys(event for events in EVENTS.values() for event in events))


@click.command(
    "hook",
    cls=Verb,
    examples=["clew hook claude-code UserPromptSubmit < event.json", "clew hook gemini BeforeAgent --user ada"],
)
@click.argument("host", metavar="HOST", type=click.Choice(tuple(EVENTS)))
@click.argument("event", metavar="EVENT", type=click.Choice(NAMES))
@click.option(
    "--user", "user_id", metavar="ID", help="Whose memory; else CLEW_USER, else the name you are logged in by."
)
@click.pass_obj
def command(invocation: Invocation, host: str, event: str, user_id: str | None) -> None:
    """Answer one event of a host; `clew hooks install` makes the host call this.

    HOST is claude-code, codex or gemini, and EVENT is what the host calls it. The event comes as JSON on standard
    input. At a session's start and at a prompt, what memory knows of it is the answer; prompts and replies are
    kept as turns, outcomes of tools are captured, compactions and ends of sessions are noted in the journal.

    It needs the daemon (`clew up`), gives up after a second, and says nothing and ends with status 0 where anything
    goes wrong, so that no agent ever waits for its memory.
    """
    from clew.faces.hosts.hook import run

    given = ["--user", user_id] if user_id else []
    if invocation.data_dir is not None:
        given += ["--data", str(invocation.data_dir)]
    if invocation.endpoint is not None:
        given += ["--endpoint", invocation.endpoint]
    run([host, event, *given])
