"""`clew gate explain`: why a user's turn would be kept as a memory, or not."""

from __future__ import annotations

import click

from clew.api import GateScore
from clew.cli.command import Verb, VerbGroup
from clew.cli.invocation import Invocation
from clew.cli.source import text_or_stdin
from clew.cli.terminal import print_heading, print_table


@click.group("gate", cls=VerbGroup, examples=["clew gate explain 'I prefer tabs over spaces.' --user ada"])
def command() -> None:
    """See how worth keeping a text is."""


@command.command("explain", cls=Verb, examples=["clew gate explain 'I prefer tabs over spaces.' --user ada"])
@click.argument("text", required=False)
@click.option("--user", metavar="ID", help="Compare with what is known of this user.")
@click.pass_obj
def explain(invocation: Invocation, text: str | None, user: str | None) -> None:
    """Show every part of a text's gate score. Without TEXT, reads standard input."""
    content = text_or_stdin(text)
    with invocation.open() as memory:
        invocation.show(memory.gate(content, user_id=user), _print_score)


def _print_score(score: GateScore) -> None:
    verdict = "kept as a memory" if score.keep else "not kept"
    print_heading(f"{score.gate:.3f} against a threshold of {score.threshold:g}: {verdict}")
    print_table(
        ("value", "part", "meaning"),
        [
            (score.technical, "technical", "how technical the text is; weighs the two scores below"),
            (score.conversational_score, "conversational score", "novelty, repetition and personal detail"),
            (score.novelty, "· novelty", "unlike what is already remembered"),
            (score.repetition, "· repetition", "said before, and not yet remembered"),
            (score.input_frequency, "· · input frequency", "how often the user said the like"),
            (score.memory_saturation, "· · memory saturation", "how well it is remembered already"),
            (score.natural_density, "· personal detail", "preferences, people, dates, quantities, facts"),
            (score.technical_score, "technical score", "artefacts, actions and definitions"),
            (score.artefacts, "· artefacts", "paths, functions, error codes, commits, endpoints"),
            (score.actions, "· actions", "decisions, fixes, milestones, configuration"),
            (score.technical_density, "· definitions", "definitions, structures, dependencies, tests"),
        ],
    )
