"""`clew import`: an export, or what agents wrote down."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from itertools import chain, groupby, islice
from pathlib import Path
from typing import IO, NamedTuple

import click
import msgspec
from msgspec import Struct

from clew.api import Import, ImportReceipt, MemoryApi
from clew.config import Config
from clew.errors import ClewError, Conflict, InvalidInput, TooLarge
from clew.faces.cli.console.command import Verb
from clew.faces.cli.console.invocation import Invocation
from clew.faces.cli.console.source import in_batches
from clew.faces.cli.console.terminal import counted, local_time, print_fields, print_note, print_table
from clew.faces.hosts.person import own_user
from clew.faces.transcripts import BadLine, Format, Tally, Turn, detect, read_turns
from clew.faces.transcripts.held import HeldTurns
from clew.faces.transcripts.lines import MAX_LINE_BYTES

ENVELOPE_BYTES = 16 * 1024
"""Room in a request beside a text: ids, times, names."""


class FileReceipt(Struct, frozen=True, kw_only=True, rename="camel"):
    """What one file came to."""

    file: str
    format: str
    stored: int = 0
    unchanged: int = 0
    turns: int = 0
    roles: dict[str, int] = {}
    sessions: dict[str, int] = {}
    tool_calls: int = 0
    coupled_results: int = 0
    unanswered_calls: int = 0
    uncoupled_results: int = 0
    thinking: int = 0
    attachments: int = 0
    cut: int = 0
    passed_over: dict[str, int] = {}
    first_ts: int | None = None
    last_ts: int | None = None
    set_aside: int = 0
    withheld: int = 0
    """Lines of an export that claim what only the operator may say, and were not believed."""
    bad: tuple[BadLine, ...] = ()


@dataclass(frozen=True, slots=True)
class Plan:
    """How transcripts are to be stored. Without a session, each goes to the one it names."""

    user_id: str
    session_id: str | None
    config: Config

    @property
    def batch_bytes(self) -> int:
        return self.config.frame_limit_bytes // 2

    @property
    def text_bytes(self) -> int:
        """Every text has to fit a request of its own."""
        return min(self.config.max_text_bytes, max(self.batch_bytes - ENVELOPE_BYTES, self.batch_bytes // 2))


def import_transcript(
    memory: MemoryApi | None, lines: Iterable[bytes], form: Format, plan: Plan, *, name: str, file_session: str
) -> FileReceipt:
    """Store the turns of a transcript, or only count them where there is no memory to store them in."""
    tally = Tally()
    turns = read_turns(
        lines, form,
        session_id=plan.session_id, file_session=file_session, limit_bytes=plan.text_bytes, tally=tally,
    )  # fmt: skip
    stored = unchanged = 0
    held: dict[str, HeldTurns] = {}
    for session_id, group in groupby(turns, key=lambda turn: turn.session_id):
        for batch in in_batches(group, _turn_size, plan.batch_bytes):
            if memory is not None:
                missing = [turn for turn in batch if not _is_held(memory, turn, held)]
                new, known = _store(memory, session_id, missing, plan.user_id, tally)
                stored, unchanged = stored + new, unchanged + known + len(batch) - len(missing)
    return _receipt(name, form, tally, stored, unchanged)


def bounded_lines(stream: IO[bytes]) -> Iterator[bytes]:
    """The lines of a stream; of one without end, no more is read than what shows that it is too long."""
    while line := stream.readline(MAX_LINE_BYTES + 2):
        yield line
        while not line.endswith(b"\n") and len(line) > MAX_LINE_BYTES + 1:
            line = stream.readline(MAX_LINE_BYTES + 2)


def _is_held(memory: MemoryApi, turn: Turn, held: dict[str, HeldTurns]) -> bool:
    """Whether the session has the turn by another way, such as hooks. Plain lines have nothing to tell that by."""
    if not turn.is_dated:
        return False
    if turn.session_id not in held:
        held[turn.session_id] = HeldTurns(memory, turn.session_id)
    return held[turn.session_id].has(turn)


def _store(memory: MemoryApi, session_id: str, batch: list[Turn], user_id: str, tally: Tally) -> tuple[int, int]:
    """How many turns are new and how many were there already.

    A batch is stored as a whole or not at all, so a refused one is halved until the turn at fault is
    alone; that one is set aside.
    """
    messages = [turn.message for turn in batch]
    if not messages:
        return 0, 0
    try:
        receipts = memory.ingest_batch(session_id, messages, user_id=user_id).receipts
    except (Conflict, InvalidInput, TooLarge) as error:
        if len(batch) == 1:
            tally.set_aside(batch[0].line, error.message)
            return 0, 0
        half = len(batch) // 2
        first = _store(memory, session_id, batch[:half], user_id, tally)
        second = _store(memory, session_id, batch[half:], user_id, tally)
        return first[0] + second[0], first[1] + second[1]
    except ClewError as error:
        place = f"stopped at line {batch[0].line}"
        raise type(error)(f"{place}: {error.message}; the same command again goes on from there") from error
    stored = sum(receipt.stored for receipt in receipts)
    return stored, len(receipts) - stored


def _turn_size(turn: Turn) -> int:
    """What cannot be written goes alone, to be refused and set aside alone."""
    try:
        return len(msgspec.json.encode(turn.message))
    except RecursionError:
        return sys.maxsize


def _receipt(name: str, form: Format, tally: Tally, stored: int, unchanged: int) -> FileReceipt:
    return FileReceipt(
        file=name,
        format=form.value,
        stored=stored,
        unchanged=unchanged,
        turns=tally.turns,
        roles=dict(sorted(tally.roles.items())),
        sessions=dict(tally.sessions),
        tool_calls=tally.calls,
        coupled_results=tally.coupled,
        unanswered_calls=tally.unanswered,
        uncoupled_results=tally.uncoupled,
        thinking=tally.thinking,
        attachments=tally.attachments,
        cut=tally.cut,
        passed_over=dict(sorted(tally.passed_over.items())),
        first_ts=tally.first_ts,
        last_ts=tally.last_ts,
        set_aside=tally.bad_count,
        bad=tuple(sorted(tally.bad, key=lambda bad: bad.line)),
    )


LOOKED_AT_LINES = 100
"""Lines at the beginning of a file by which its format is told."""
LISTED_BAD_LINES = 20
LEFT_OUT_EXPORT = "an export of Clew, whose users are believed; import it by its own name, or with --format clew"
HOW_TO_BELIEVE = "if the file is yours, --format clew --trust-marks takes them"
STDIN = "-"
AUTO = "auto"
GZIP_BYTES = b"\x1f\x8b"
"""How a packed file begins."""
HOW_TO_UNPACK = "`zcat FILE | clew import -` reads it"
NO_KNOWN_FORMAT = f"no known format; those are {', '.join(Format)}, and --format names one"


class ImportAnswer(Struct, frozen=True, kw_only=True, rename="camel"):
    stored: int
    unchanged: int
    set_aside: int
    dry_run: bool
    files: tuple[FileReceipt, ...]
    not_recognised: tuple[str, ...] = ()
    """Files that hold nothing that can be imported."""
    exports: tuple[str, ...] = ()
    """Exports of Clew in a folder, which were left out."""


@click.command(
    "import",
    cls=Verb,
    examples=[
        "clew import backup.jsonl --format clew --trust-marks",
        "clew import ~/.claude/projects --dry-run",
        "clew import session.jsonl --user ada",
        "zcat backup.gz | clew import -",
    ],
)
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=click.Path(exists=True, allow_dash=True))
@click.option(
    "--format",
    "form",
    type=click.Choice([AUTO, *(form.value for form in Format)]),
    metavar="FORMAT",
    default=AUTO,
    show_default=True,
    help="auto, clew, openclaw, claude-code or plain.",
)
@click.option("--session", metavar="ID", help="Session of the turns; else the one a transcript names, else its name.")
@click.option("--user", metavar="ID", help="User of the turns; else your name on this system.")
@click.option(
    "--trust-marks",
    is_flag=True,
    help="Believe an export of your own: its rules, its guidance and what you said of its records.",
)
@click.option("--dry-run", is_flag=True, help="Say what would be stored, and store nothing.")
@click.pass_obj
def import_command(
    invocation: Invocation,
    *,
    files: tuple[str, ...],
    form: str,
    session: str | None,
    user: str | None,
    trust_marks: bool,
    dry_run: bool,
) -> None:
    """Store an export, or the transcripts of agents; what is there already stays as it is.

    A FILE is an export of Clew, a session of OpenClaw or pi, a transcript of Claude Code, or plain JSONL with a role
    and a text a line; a folder means every .jsonl file in it. Reading a file again stores only what is new, so an
    import that was interrupted goes on when it is run again. Lines that cannot be read are listed and left out.

    A subagent's conversation becomes a session of its own, SESSION/AGENT. Thinking is left out.

    Any file may call itself an export. Its turns and records are stored; rules, guidance and the operator's word on
    trust only with --format clew --trust-marks.
    """
    if trust_marks and form != Format.CLEW.value:
        raise click.UsageError("--trust-marks needs --format clew: only an export of Clew has such marks.")
    known = None if form == AUTO else Format(form)
    run = _Run(invocation, known, _Scope(session, user), trust_marks=trust_marks, dry_run=dry_run)
    with ExitStack() as stack:
        run.memory = None if dry_run else stack.enter_context(invocation.open())
        run.report = stack.enter_context(invocation.progress("Importing", _total_bytes(files)))
        for name in files:
            run.take(name)
    answer = run.answer()
    _refuse_if_unreadable(answer)
    invocation.show(answer, _print_answer)


class _Scope(NamedTuple):
    """Whose the turns of a transcript are, where the command line says so."""

    session: str | None
    user: str | None


class _Run:
    """One import of several files."""

    def __init__(
        self, invocation: Invocation, form: Format | None, scope: _Scope, *, trust_marks: bool, dry_run: bool
    ) -> None:
        self.memory: MemoryApi | None = None
        self.report: Callable[[int], None] = lambda _: None
        self._config = invocation.config()
        self._form = form
        self._session = scope.session
        self._user = scope.user
        self._trust_marks = trust_marks
        self._dry_run = dry_run
        self._receipts: list[FileReceipt] = []
        self._not_recognised: list[str] = []
        self._exports: list[str] = []
        self._read_bytes = 0

    def take(self, name: str) -> None:
        """Import a file, or every transcript below a folder."""
        if name == STDIN or not os.path.isdir(name):
            self._take_file(name)
            return
        paths = sorted(path for path in Path(name).rglob("*.jsonl") if path.is_file())
        if not paths and any(Path(name).rglob("*.jsonl.gz")):
            raise InvalidInput(f"{name} holds only files that are packed; for each, {HOW_TO_UNPACK}")
        for path in paths:
            self._take_file(str(path), by_name=False)

    def answer(self) -> ImportAnswer:
        return ImportAnswer(
            stored=sum(receipt.stored for receipt in self._receipts),
            unchanged=sum(receipt.unchanged for receipt in self._receipts),
            set_aside=sum(receipt.set_aside for receipt in self._receipts),
            dry_run=self._dry_run,
            files=tuple(self._receipts),
            not_recognised=tuple(self._not_recognised),
            exports=tuple(self._exports),
        )

    def _take_file(self, name: str, *, by_name: bool = True) -> None:
        """An export is believed whatever it says of users, so it must be named, or asked for as one."""
        with click.open_file(name, "rb") as stream:
            lines = self._count_bytes(bounded_lines(stream))
            head, form = _detect_format(lines, self._form)
            if head and head[0].startswith(GZIP_BYTES):
                raise InvalidInput(f"{name} is packed; {HOW_TO_UNPACK}")
            if form is None:
                self._not_recognised.append(name)
                return
            if form is Format.CLEW and self._form is None and not by_name:
                self._exports.append(name)
                return
            every_line = chain(head, lines)
            take = self._import_export if form is Format.CLEW else partial(self._import_transcript, form=form)
            self._receipts.append(take(name, every_line))

    def _import_transcript(self, name: str, lines: Iterator[bytes], form: Format) -> FileReceipt:
        plan = Plan(self._user or own_user(), self._session, self._config)
        file_session = "stdin" if name == STDIN else Path(name).stem
        return import_transcript(self.memory, lines, form, plan, name=name, file_session=file_session)

    def _import_export(self, name: str, lines: Iterator[bytes]) -> FileReceipt:
        if self._session or self._user:
            raise click.UsageError(f"{name} is an export, which names its sessions and users itself.")
        if self.memory is None:
            return _read_export(name, lines)
        stored = unchanged = withheld = line = 0
        for batch in in_batches(_texts(lines), _line_size, self._config.frame_limit_bytes // 2):
            receipt = _import_batch(self.memory, batch, first_line=line + 1, trust_marks=self._trust_marks)
            stored, unchanged = stored + receipt.stored, unchanged + receipt.unchanged
            withheld += receipt.withheld
            line += len(batch)
        return FileReceipt(
            file=name, format=Format.CLEW.value, stored=stored, unchanged=unchanged, withheld=withheld, turns=line
        )

    def _count_bytes(self, lines: Iterator[bytes]) -> Iterator[bytes]:
        for line in lines:
            self._read_bytes += len(line)
            self.report(self._read_bytes)
            yield line


def _detect_format(lines: Iterator[bytes], form: Format | None) -> tuple[list[bytes], Format | None]:
    """The lines up to the first that tells the format, or the few that were looked at in vain."""
    head: list[bytes] = []
    for line in islice(lines, LOOKED_AT_LINES):
        head.append(line)
        form = form or detect([line])
        if form is not None:
            break
    return head, form


def _total_bytes(names: tuple[str, ...]) -> int | None:
    """The size of all files, for the bar; None where standard input is among them."""
    if STDIN in names:
        return None
    files = (path for name in names for path in (Path(name).rglob("*.jsonl") if os.path.isdir(name) else [Path(name)]))
    return sum(path.stat().st_size for path in files if path.is_file())


def _read_export(name: str, lines: Iterator[bytes]) -> FileReceipt:
    """How many lines of an export are records, and what is wrong with the others."""
    from clew.features.upkeep.transfer import FORMAT, RecordLine

    decoder = msgspec.json.Decoder(RecordLine)
    records, tally = 0, Tally()
    for number, line in enumerate(lines, start=1):
        try:
            form = decoder.decode(line).clew if line.strip() else None
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            tally.set_aside(number, str(error))
            continue
        if form not in (None, FORMAT):
            tally.set_aside(number, f"format {form} is not known; this Clew reads format {FORMAT}")
        records += form == FORMAT
    return FileReceipt(
        file=name, format=Format.CLEW.value, turns=records, set_aside=tally.bad_count, bad=tuple(tally.bad)
    )


def _texts(lines: Iterator[bytes]) -> Iterator[str]:
    for number, line in enumerate(lines, start=1):
        try:
            yield line.decode("utf-8").rstrip("\r\n")
        except UnicodeDecodeError as error:
            raise InvalidInput(f"line {number} is not valid UTF-8") from error


def _line_size(line: str) -> int:
    return len(msgspec.json.encode(line))


def _import_batch(memory: MemoryApi, batch: list[str], first_line: int, *, trust_marks: bool) -> ImportReceipt:
    try:
        return memory.call(Import(lines=tuple(batch), trust_marks=trust_marks))
    except ClewError as error:
        place = f"lines {first_line} to {first_line + len(batch) - 1}"
        raise type(error)(f"{place}: {error.message}; the lines before are stored") from error


def _refuse_if_unreadable(answer: ImportAnswer) -> None:
    """Bad lines are no failure; an import in which there was nothing else is."""
    if any(receipt.turns for receipt in answer.files):
        return
    for receipt in answer.files:
        if receipt.bad:
            bad = receipt.bad[0]
            raise InvalidInput(f"nothing could be read; {receipt.file}, line {bad.line}: {bad.reason}")
    if answer.not_recognised:
        raise InvalidInput(f"nothing could be read; {answer.not_recognised[0]} has {NO_KNOWN_FORMAT}")
    if answer.exports and not answer.files:
        raise InvalidInput(f"nothing was read; {answer.exports[0]} is {LEFT_OUT_EXPORT}")
    if not answer.files:
        raise InvalidInput("nothing could be read; there is no .jsonl file")


def _print_answer(answer: ImportAnswer) -> None:
    if all(receipt.format == Format.CLEW for receipt in answer.files) and not answer.dry_run:
        click.echo(f"stored {answer.stored:,} records; {answer.unchanged:,} were there already")
    else:
        _print_files(answer)
    for file in answer.files:
        if file.withheld:
            claims = counted(file.withheld, "line")
            print_note(f"rules, guidance or your word on trust in {claims} were left out; {HOW_TO_BELIEVE}")
    for name in answer.not_recognised:
        print_note(f"passed over {name}: {NO_KNOWN_FORMAT}")
    for name in answer.exports:
        print_note(f"passed over {name}: {LEFT_OUT_EXPORT}")
    if answer.dry_run:
        print_note("nothing was stored")


def _print_files(answer: ImportAnswer) -> None:
    columns = ("turns",) if answer.dry_run else ("turns", "stored", "there already")
    print_table(
        (*columns, "set aside", "sessions", "format", "file"),
        [
            (
                *((file.turns,) if answer.dry_run else (file.turns, file.stored, file.unchanged)),
                file.set_aside, len(file.sessions), file.format, file.file,
            )
            for file in answer.files
        ],
    )  # fmt: skip
    print_fields(_totals(answer.files))
    for file in answer.files:
        _print_bad_lines(file)


def _totals(files: tuple[FileReceipt, ...]) -> dict[str, str]:
    roles = _sum_counts([file.roles for file in files])
    passed_over = _sum_counts([file.passed_over for file in files])
    times = [ts for file in files for ts in (file.first_ts, file.last_ts) if ts is not None]
    calls = sum(file.tool_calls for file in files)
    coupled = sum(file.coupled_results for file in files)
    uncoupled = sum(file.uncoupled_results for file in files)
    lines = {
        "roles": _list_of(roles),
        "tool calls": f"{calls:,}, {coupled:,} with their result" if calls else "",
        "results without a call": f"{uncoupled:,}" if uncoupled else "",
        "time": f"{local_time(min(times))} to {local_time(max(times))}" if times else "",
        "thinking left out": _number(file.thinking for file in files),
        "pictures and files": _number(file.attachments for file in files),
        "texts cut": _number(file.cut for file in files),
        "passed over": _list_of(passed_over),
    }
    return {name: value for name, value in lines.items() if value}


def _sum_counts(counts: list[dict[str, int]]) -> dict[str, int]:
    names = sorted({name for count in counts for name in count})
    return {name: sum(count.get(name, 0) for count in counts) for name in names}


def _list_of(counts: dict[str, int]) -> str:
    return ", ".join(f"{count:,} {name}" for name, count in counts.items())


def _number(counts: Iterator[int]) -> str:
    total = sum(counts)
    return f"{total:,}" if total else ""


def _print_bad_lines(file: FileReceipt) -> None:
    """Of a transcript they are left out; at one of an export, an import ends."""
    done = "would stop at" if file.format == Format.CLEW else "left out"
    for bad in file.bad[:LISTED_BAD_LINES]:
        print_note(f"{done} {file.file}, line {bad.line}: {bad.reason}")
    if file.set_aside > LISTED_BAD_LINES:
        print_note(f"{done} {counted(file.set_aside - LISTED_BAD_LINES, 'more line')} of {file.file}; see --json")
