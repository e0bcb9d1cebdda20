"""`clew gate`: why a user's turn would be kept as a memory, or not; and where the threshold should be."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec
from msgspec.structs import replace

from clew.api import Gate, GateScore, MemoryApi
from clew.config import CONFIG_FILE
from clew.errors import InvalidInput, TooLarge
from clew.faces.cli.console.command import VerbGroup
from clew.faces.cli.console.fields import takes
from clew.faces.cli.console.invocation import Invocation
from clew.faces.cli.console.source import text_or_stdin
from clew.faces.cli.console.terminal import print_fields, print_heading, print_note, print_table
from clew.faces.transcripts import BadLine

if TYPE_CHECKING:
    from clew.features.gate.reliability import Assessment, Examples

LISTED_BAD_LINES = 20
FEWEST_OF_EACH = 10
"""With fewer useful texts or fewer others than this, every figure is mostly chance."""


@click.group(
    "gate",
    cls=VerbGroup,
    examples=[
        "clew gate explain 'I prefer tabs over spaces.' --user ada",
        "clew gate calibrate labels.jsonl --plot gate.png",
    ],
)
def gate_command() -> None:
    """See how worth keeping a text is, and set the threshold by examples."""


@gate_command.command("explain", examples=["clew gate explain 'I prefer tabs over spaces.' --user ada"])
@takes(Gate, text="")
@click.argument("text", required=False)
def explain(invocation: Invocation, request: Gate, text: str | None) -> None:
    """Show every part of a text's gate score. Without TEXT, reads standard input."""
    invocation.answer(replace(request, text=text_or_stdin(text)), _print_score)


@gate_command.command("calibrate", examples=["clew gate calibrate labels.jsonl --user ada --plot gate.png"])
@click.argument("labels", type=click.Path(exists=True, dir_okay=False, allow_dash=True))
@click.option("--user", metavar="ID", help="Compare with what is known of this user, where a line names none.")
@click.option(
    "--plot",
    metavar="FILE",
    type=click.Path(dir_okay=False, writable=True, path_type=Path),
    help="Draw scores and reliability to this PNG file.",
)
@click.pass_obj
def calibrate(invocation: Invocation, labels: str, user: str | None, plot: Path | None) -> None:
    """Propose a threshold from texts labelled as useful or not; nothing is stored.

    LABELS is JSONL, one {"text", "useful"} object a line, with "userId" where wanted; - is standard input.
    The proposed threshold has the largest recall less false alarms (Youden's J). Name a user: to nobody's
    memory everything is new, and scores are higher there than in use.
    """
    from clew.faces.cli.drawing.gate import PLOTS_MISSING, draw
    from clew.features.gate.reliability import Examples, assess

    with click.open_file(labels, "rb") as lines:
        texts, bad = _read_labelled(lines, user, invocation.config().max_text_bytes)
    _refuse_too_few(labels, texts, bad)
    with invocation.open() as memory, invocation.progress("Grading", len(texts)) as report:
        graded = _grade(memory, texts, bad, report)
    _refuse_too_few(labels, [text for text, _ in graded], bad)
    examples = Examples.of((_ranked(score), text.useful) for text, score in graded)
    assessment = assess(examples, graded[0][1].threshold)
    drawn = plot is not None and draw(plot, examples, assessment)
    notes = [PLOTS_MISSING] if plot is not None and not drawn else []
    answer = _answer(labels, examples, bad, assessment) | {"plot": str(plot) if drawn else None, "notes": notes}
    invocation.show(answer, lambda shown: _print_calibration(shown, assessment, invocation.config().data_dir))


@dataclass(frozen=True, slots=True)
class _Labelled:
    line: int
    text: str
    useful: bool
    user_id: str | None


class _Line(msgspec.Struct, rename="camel"):
    """The fields of a line that mean something here."""

    text: str
    useful: bool
    user_id: str | None = None


def _read_labelled(
    lines: Iterable[bytes], user: str | None, max_text_bytes: int
) -> tuple[list[_Labelled], list[BadLine]]:
    """Every line as a labelled text or as a bad line with its number; blank lines are passed over."""
    texts: list[_Labelled] = []
    bad: list[BadLine] = []
    for number, line in enumerate(lines, start=1):
        content = line.removeprefix(b"\xef\xbb\xbf").strip() if number == 1 else line.strip()
        if not content:
            continue
        try:
            read = msgspec.json.decode(content, type=_Line)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            bad.append(BadLine(number, str(error)))
        else:
            if len(read.text.encode("utf-8")) > max_text_bytes:
                bad.append(BadLine(number, f"text is longer than {max_text_bytes:,} bytes"))
            else:
                texts.append(_Labelled(number, read.text, read.useful, read.user_id or user))
    return texts, bad


def _grade(
    memory: MemoryApi, texts: list[_Labelled], bad: list[BadLine], report: Callable[[int], None]
) -> list[tuple[_Labelled, GateScore]]:
    """Each text with its grade; one that the memory does not take joins the bad lines."""
    graded: list[tuple[_Labelled, GateScore]] = []
    for done, text in enumerate(texts, start=1):
        try:
            graded.append((text, memory.gate(text.text, user_id=text.user_id)))
        except (InvalidInput, TooLarge) as error:
            bad.append(BadLine(text.line, error.message))
        report(done)
    return graded


def _ranked(score: GateScore) -> float:
    """The score that a threshold is held against: none lets through what is never kept.

    That a memory has the words already says nothing about the text: it may be the memory that this text made.
    """
    from clew.features.gate.rules import ALREADY_SAID

    return score.gate if score.refusal in (None, ALREADY_SAID) else 0.0


def _refuse_too_few(file: str, texts: list[_Labelled], bad: list[BadLine]) -> None:
    useful = sum(text.useful for text in texts)
    others = len(texts) - useful
    if min(useful, others) >= FEWEST_OF_EACH:
        return
    spoilt = f"; bad lines: {len(bad):,}, the first is {_bad_line(bad[0])}" if bad else ""
    raise InvalidInput(
        f"{file}: at least {FEWEST_OF_EACH} useful texts and {FEWEST_OF_EACH} others are needed; "
        f"there are {useful:,} and {others:,}{spoilt}"
    )


def _answer(file: str, examples: Examples, bad: list[BadLine], assessment: Assessment) -> dict[str, Any]:
    proposed = assessment.proposed
    return {
        "file": file,
        "texts": len(examples.useful),
        "useful": int(examples.useful.sum()),
        "bad": sorted(bad, key=lambda item: item.line),
        "now": assessment.now,
        "proposed": proposed,
        "probabilityAtProposed": None if proposed is None else assessment.curve.probability(proposed.threshold),
        "separation": assessment.separation,
        "brierRaw": assessment.brier_raw,
        "brierCalibrated": assessment.brier_calibrated,
        "curve": assessment.curve.steps,
    }


def _print_calibration(answer: dict[str, Any], assessment: Assessment, data_dir: Path) -> None:
    bad = answer["bad"]
    for line in bad[:LISTED_BAD_LINES]:
        print_note(f"left out {_bad_line(line)}")
    if len(bad) > LISTED_BAD_LINES:
        print_note(f"left out {len(bad) - LISTED_BAD_LINES:,} more lines")
    for note in answer["notes"]:
        print_note(note)
    print_heading(f"{answer['texts']:,} texts, {answer['useful']:,} of them useful")
    outcomes = {"now": assessment.now, "proposed": assessment.proposed}
    print_table(
        ("threshold", "precision", "recall", "kept", "which"),
        [
            (found.threshold, found.precision, found.recall, found.kept, name)
            for name, found in outcomes.items()
            if found
        ],
    )
    click.echo()
    print_fields(
        {
            "separation": f"{assessment.separation:.3f}  (1 orders all rightly, 0.5 is chance)",
            "Brier score, raw": f"{assessment.brier_raw:.3f}  (0 is best)",
            "Brier score, calibrated": f"{assessment.brier_calibrated:.3f}  (by a curve that has not seen the text)",
            "probability at proposed": answer["probabilityAtProposed"],
        }
    )
    click.echo()
    click.echo(_advice(assessment, data_dir))
    if answer["plot"]:
        click.echo(f"drawn to {answer['plot']}")


def _advice(assessment: Assessment, data_dir: Path) -> str:
    if assessment.proposed is None:
        return "The score does not tell these useful texts from the others: no threshold is proposed."
    return f"To use it, write `gate_threshold = {assessment.proposed.threshold!r}` in {data_dir / CONFIG_FILE}."


def _bad_line(bad: BadLine) -> str:
    return f"line {bad.line}: {bad.reason}"


def _print_score(score: GateScore) -> None:
    verdict = "kept as a memory" if score.keep else "not kept"
    if score.refusal is not None:
        verdict = f"never kept ({score.refusal})"
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
