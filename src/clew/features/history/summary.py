"""Extractive summaries: what was asked, done and found in a stretch, in its own words, with who and when.

A summary starts with a line that names the span of time, the number of turns and who took part. Then come lines in time
order: the user's own words, which have a part of the room to themselves; what was done between them, told from the tool
calls and their results; what the assistant found. Arguments, outputs and pasted text are never quoted. Notes at the end
name earlier statements that the stretch repeats or overturns, and questions that nobody answered. Each statement is on
one line that the summary itself lays out, so that no quoted text can pass for another line.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import accumulate, groupby, pairwise

from clew.core import budget
from clew.core.model import Role
from clew.features.history.changes import compare
from clew.text import calls, sanitise, sentences
from clew.text.calls import Call, Step
from clew.text.grading import salience
from clew.text.grading.salience import Statement
from clew.text.speech import own_words

_RUNGS = (("extractive", 1.0), ("extractive", 0.7), ("extractive-short", 0.4))
"""Method, and the part of the aim that it keeps."""


@dataclass(frozen=True, slots=True)
class _Aim:
    """How much of a group of statements a summary shows: a share of its tokens, and the most of them."""

    share: float
    most: int


_IN_TALK = (_Aim(0.25, 400), _Aim(0.0, 0), _Aim(0.0, 0))
_WITH_ASSISTANT = (_Aim(1.0, 260), _Aim(1.0, 120), _Aim(0.25, 120))
_OF_SUMMARIES_IN_TALK = (_Aim(0.5, 800), _Aim(0.0, 0), _Aim(0.0, 0))
_OF_SUMMARIES = (_Aim(0.7, 550), _Aim(0.5, 150), _Aim(0.35, 150))
"""For what people said, what was done, and replies. Beside an assistant people say little, and nearly all of it
matters: their requests, corrections and decisions. In talk among people most is small talk."""

_LEAST_BYTES = 200

_LEAST_FALLBACK = 20
"""Tokens that a summary needs to say when, who and anything at all."""

_BYTES_PER_TOKEN = (2.5, 5.0)
"""Bounds of the bytes a token holds. The sources, whose size is known both ways, give the actual number."""
_PROSE_CHARS = 24_000
"""How much of one turn is read; a longer one is a pasted document, whose beginning and end tell most."""

_WHOLE_CHARS = 240
"""A request no longer than this is quoted whole: half of it would say something else."""
_WORK_CHARS = 260
_LONGEST_WHO = 40
_LEAST_QUESTION = 12
_NAMED_PARTICIPANTS = 6
_MOST_NOTES = 2
_NOTE_CHARS = 160
_GAP = " … "
_NEXT_POINT = " / "
_ENDED = " → "
_SENTENCE_ENDS = tuple(".!?:;,…。！？：")
_HOLDS, _SUPERSEDED, _OPEN, _NEW = "Still holds", "Superseded", "Open", "New"
_DID, _RESULT = "did", "result"
_WORK = (_DID, _RESULT, "call")
"""How lines about tools begin: what was done, the result of a call that is not known, and calls in older summaries."""
_LABELS = frozenset((_HOLDS, _SUPERSEDED, _OPEN, _NEW))
_OF_WORK, _OF_LOOKING, _OF_NARRATION, _OF_REPORT, _OF_DETAIL = 0.6, 0.15, 0.6, 2.0, 0.5
"""The weight of what was done, of looking around, of what the assistant says while it works, of the first words of its
report, and of the short points in it."""
_DETAIL_CHARS = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Tools:
    """The tool calls that a turn makes or answers."""

    call_ids: tuple[str, ...] = ()
    answers: str | None = None
    has_failed: bool = False


@dataclass(frozen=True, slots=True)
class Source:
    """One turn, or one lower summary with the time of its latest source."""

    who: str
    role: Role | None
    ts_ms: int
    text: str
    tools: Tools = Tools()


@dataclass(frozen=True, slots=True)
class Summary:
    text: str
    tokens: int
    method: str
    """`extractive`, `extractive-short` or `fallback`: how far the text had to be cut to be smaller."""


Counting = Callable[[str], int]


def summarise(
    sources: Sequence[Source],
    *,
    earlier: Sequence[str],
    below: int,
    count: Counting,
    later: Sequence[Source] = (),
) -> Summary | None:
    """A summary of turns with fewer than `below` tokens, or None where none can be made.

    The turns are sanitised here. `earlier` are the summaries that the reader has seen before this one, `later` the
    turns that follow: they may answer a question, and they show which names will matter.
    """
    return _ladder(_of_turns(sources, later), earlier, below, count)


def condense(children: Sequence[Source], *, earlier: Sequence[str], below: int, count: Counting) -> Summary | None:
    """The same for summaries: their best lines, without repeats."""
    return _ladder(_of_summaries(children), earlier, below, count)


def transcript(sources: Sequence[Source]) -> str:
    """The turns as a model is to read them: who said what, and what was done. Arguments and results stay out."""
    told = _of_turns(sources, ()).statements
    statements = [statement for statement in told if not statement.who.startswith(_RESULT)]
    groups = groupby(range(len(statements)), key=lambda place: _speech(statements[place]))
    return "\n".join(f"{who}: {_join(statements, list(group))}" for (_, who, _), group in groups)


# --- the material --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Material:
    size: int
    """Bytes of all sources."""
    first_ms: int
    last_ms: int
    turns: int
    summaries: int
    took_part: Counter[str]
    statements: list[Statement]
    open_questions: list[int]
    carried: tuple[str, ...] = ()
    """Notes of lower summaries that still matter."""
    used_later: frozenset[str] = frozenset()
    """Terms of the turns that follow."""


@dataclass(frozen=True, slots=True)
class _Turn:
    """A turn, its words apart from its calls. See `clew.text.calls.Turn`."""

    source: Source
    text: str
    words: str
    made: Sequence[Call]

    @property
    def call_ids(self) -> Sequence[str]:
        return self.source.tools.call_ids

    @property
    def answers(self) -> str | None:
        return self.source.tools.answers

    @property
    def has_failed(self) -> bool:
        return self.source.tools.has_failed

    @property
    def is_result(self) -> bool:
        """Some hosts send results in the user's name."""
        return self.source.role is Role.TOOL_RESULT or (self.answers is not None and not self.made)

    @property
    def is_reply(self) -> bool:
        return self.source.role is Role.ASSISTANT


def _read(source: Source) -> _Turn:
    text = _readable(sanitise.projection(source.text))
    if source.role is Role.TOOL_CALL:
        return _Turn(source, text, "", [calls.call_of_turn(source.who, source.text)])
    turn = _Turn(source, text, "", calls.calls(source.text) if source.role is Role.ASSISTANT else ())
    if turn.is_result:
        return turn
    words = calls.speech(text) if turn.is_reply else own_words(text)
    return replace(turn, words=words)


def _of_turns(sources: Sequence[Source], later: Sequence[Source]) -> _Material:
    turns = [_read(source) for source in sources]
    steps = calls.steps(turns)
    done = _work(turns, steps)
    alone = {step.places[0]: step for step in steps if step.call is None and not step.failed}
    to_assistant = any(turn.is_reply or turn.made for turn in turns)
    statements: list[Statement] = []
    for place, turn in enumerate(turns):
        who = _name(turn.source.who)
        reported = False
        for piece in _said(turn, whole=to_assistant):
            factor = _factor(turn, piece, is_first=not reported)
            reported = reported or factor > 0.0
            statements.append(Statement(who, turn.source.ts_ms, piece, place, factor, turn.is_reply))
        if place in alone:
            told = alone[place].ended or sentences.shorten(" ".join(turn.text.split()), _NOTE_CHARS)
            statements.append(Statement(f"{_RESULT} {who}", turn.source.ts_ms, told, place, _OF_LOOKING))
        if place in done:
            statements.append(Statement(_DID, turn.source.ts_ms, done[place], place, _work_factor(done[place])))
    times = [source.ts_ms for source in sources]
    following = [_read(source) for source in later]
    return _Material(
        size=_size(sources),
        first_ms=min(times, default=0),
        last_ms=max(times, default=0),
        turns=len(sources),
        summaries=0,
        took_part=Counter(map(_part, turns)),
        statements=statements,
        open_questions=_open_questions(statements, following),
        used_later=frozenset(term for turn in following for term in salience.terms_of(turn.words[:_NOTE_CHARS])),
    )


def _said(turn: _Turn, *, whole: bool) -> list[str]:
    """The statements of a turn. A short request is one."""
    if whole and not turn.is_reply and len(turn.words) <= _WHOLE_CHARS:
        lines = (" ".join(line.split()) for line in turn.words.split("\n"))
        joined = _NEXT_POINT.join(line for line in lines if line)
        return [joined] if joined else []
    return sentences.split(turn.words)


def _factor(turn: _Turn, piece: str, *, is_first: bool) -> float:
    """A report begins with what was done; its details and what is said beside the work weigh less."""
    if salience.is_idle(piece) or _COMMAND.fullmatch(piece):
        return 0.0
    if not turn.is_reply:
        return 1.0
    if salience.is_narration(piece):
        return 0.0
    if turn.made:
        return _OF_NARRATION
    return _OF_REPORT if is_first else 1.0 if len(piece) >= _DETAIL_CHARS else _OF_DETAIL


_COMMAND = re.compile(r"/\w{0,40}")
"""A command to the host, which says nothing of the work."""


def _size(sources: Sequence[Source]) -> int:
    return sum(len(source.text.encode("utf-8", "replace")) for source in sources)


def _readable(text: str) -> str:
    half = _PROSE_CHARS // 2
    return text if len(text) <= _PROSE_CHARS else f"{text[:half]}\n{text[-half:]}"


def _work(turns: Sequence[_Turn], steps: Sequence[Step]) -> dict[int, str]:
    """What was done for each request, by the place of its last step."""
    requests = list(accumulate(int(bool(turn.words) and not turn.is_reply) for turn in turns))
    found: dict[int, str] = {}
    for _, group in groupby(steps, key=lambda step: requests[step.places[0]]):
        made = list(group)
        if told := calls.tell(made):
            found[max(step.places[0] for step in made)] = sentences.shorten(told, _WORK_CHARS)
    return found


def _work_factor(told: str) -> float:
    return _OF_LOOKING if calls.is_looking(told) else _OF_WORK


def _part(turn: _Turn) -> str:
    if turn.source.role is Role.TOOL_CALL:
        return "tool calls"
    return "tool results" if turn.is_result else _name(turn.source.who)


def _name(who: str) -> str:
    """A speaker as a label that cannot be taken for more: one line, no separators."""
    plain = " ".join(re.sub(r"[\s:,→…]+", " ", who).split())
    return sentences.shorten(plain, _LONGEST_WHO) if plain else "someone"


_DEFERRED = re.compile(
    r"\b(?:not sure(?: yet)?|(?:i )?don't know(?: yet)?|no idea|get back to you|to be decided|tbd|open question"
    r"|let you know|(?:will|i'll|we'll) (?:check|look into|find out|ask)|unclear|can't (?:say|give you))\b"
    r"|不知道|不清楚|不确定|わからない|모르겠",
    re.IGNORECASE,
)
_DEFERRAL_CHARS = 200
"""A longer reply says more than that there is no answer yet."""


def _open_questions(statements: Sequence[Statement], later: Sequence[_Turn]) -> list[int]:
    """Questions after which nobody else said or did anything, here or later, or whose answer was put off."""
    found = []
    others = [(_name(turn.source.who), turn.words) for turn in later if turn.words or turn.made]
    for place in range(len(statements) - 1, -1, -1):
        said = statements[place]
        reply = next((text for who, text in others if who != said.who), None)
        if not _is_work(said) and salience.is_question(said.text) and len(said.text) >= _LEAST_QUESTION:
            put_off = reply is not None and len(reply) <= _DEFERRAL_CHARS and _DEFERRED.search(reply) is not None
            if reply is None or put_off:
                found.append(place)
        if not others or others[0][0] != said.who:
            others = [(said.who, said.text), *others[:1]]
        else:
            others[0] = said.who, said.text
    return found[::-1]


# --- lower summaries, read back ------------------------------------------------------------------------

_HEADER = re.compile(
    r"(\d{4}-\d\d-\d\d) (\d\d:\d\d)(?: to (?:\d{4}-\d\d-\d\d )?\d\d:\d\d)? UTC, "
    r"([\d,]{1,12}) turns?(?: in [\d,]{1,12} summaries)?: (.{1,600})\."
)
_PARTICIPANT = re.compile(r"([^,]{1,60}) ([\d,]{1,12})(?:, |$)")
_LINE = re.compile(r"(?:(\d{4}-\d\d-\d\d) )?(?:(\d\d:\d\d) )?([^:\n]{1,60}): (.+)")


def _of_summaries(children: Sequence[Source]) -> _Material:
    statements: list[Statement] = []
    took_part: Counter[str] = Counter()
    carried: list[str] = []
    turns, first = 0, min((child.ts_ms for child in children), default=0)
    for child in children:
        lines = sanitise.projection(child.text).split("\n")
        header = _HEADER.fullmatch(lines[0])
        if header is None:
            pieces = sentences.split(_readable(child.text))
            statements += [Statement("", child.ts_ms, piece, len(statements)) for piece in pieces]
            continue
        turns += int(header[3].replace(",", ""))
        took_part.update({who: int(times.replace(",", "")) for who, times in _PARTICIPANT.findall(header[4])})
        first = min(first, _milliseconds(header[1], header[2]) or first)
        # The next summary may answer a question of an older one.
        carried = [line for line in carried if not line.startswith(_OPEN)]
        carried += [line for line in lines[1:] if line.startswith((f"{_SUPERSEDED}: ", f"{_OPEN}: "))]
        statements += _read_lines(lines[1:], header[1], len(statements), child.ts_ms)
    return _Material(
        size=_size(children),
        first_ms=first,
        last_ms=max((child.ts_ms for child in children), default=0),
        turns=turns,
        summaries=len(children),
        took_part=took_part,
        statements=statements,
        open_questions=[],
        carried=tuple(carried),
    )


def _read_lines(lines: Sequence[str], day: str, start: int, last_ms: int) -> Iterator[Statement]:
    ts_ms = _milliseconds(day, "00:00") or last_ms
    for number, line in enumerate(lines, start):
        found = _LINE.fullmatch(line)
        if found is None or found[3] in _LABELS:
            continue
        day = found[1] or day
        if found[2]:
            ts_ms = _milliseconds(day, found[2]) or ts_ms
        work = found[3].startswith(_WORK)
        factor, is_reply = (_work_factor(found[4]) if work else 1.0), found[3] == Role.ASSISTANT
        for piece in [found[4]] if work else _pieces(found[4]):
            yield Statement(found[3], ts_ms, piece, number, factor, is_reply)


def _pieces(said: str) -> list[str]:
    parts = (part for run in said.split(_GAP) for part in run.split(_NEXT_POINT))
    return [piece for part in parts for piece in sentences.split(part)]


def _milliseconds(day: str, time: str) -> int | None:
    try:
        return int(datetime.fromisoformat(f"{day}T{time}:00+00:00").timestamp() * 1000)
    except ValueError:
        return None


# --- the ladder ----------------------------------------------------------------------------------------


def _ladder(material: _Material, earlier: Sequence[str], below: int, count: Counting) -> Summary | None:
    """Shorter and shorter until the text is strictly smaller than its sources."""
    if not material.statements:
        return None
    if not any(statement.factor for statement in material.statements):  # idle words are better than none
        material = replace(material, statements=[replace(said, factor=1.0) for said in material.statements])
    told = _of_summaries([Source("", None, 0, text) for text in earlier]).statements
    notes = _notes(material, [before.text for before in told if not _is_work(before)])
    heard = [before.text for before in told]
    bytes_per_token = min(max(material.size / max(below, 1), _BYTES_PER_TOKEN[0]), _BYTES_PER_TOKEN[1])
    aims = _aims(material, bytes_per_token)
    for method, kept in _RUNGS:
        text = _compose(material, notes, heard, [int(aim * kept) for aim in aims])
        size = count(text)
        if size < below:
            return Summary(text, size, method)
    return _fallback(material, below, count)


def _aims(material: _Material, bytes_per_token: float) -> list[float]:
    """The bytes to aim at for each group of statements."""
    groups = _groups(material.statements)
    talk = not groups[1] and not groups[2]
    if material.summaries:
        aims = _OF_SUMMARIES_IN_TALK if talk else _OF_SUMMARIES
    else:
        aims = _IN_TALK if talk else _WITH_ASSISTANT
    telling = [[said for place in group if (said := material.statements[place]).factor] for group in groups]
    sizes = [sum(map(salience.size, group)) for group in telling]
    return [
        min(max(size * aim.share, min(size, _LEAST_BYTES)), aim.most * bytes_per_token)
        for size, aim in zip(sizes, aims, strict=True)
    ]


def _groups(statements: Sequence[Statement]) -> tuple[list[int], list[int], list[int]]:
    """Places of what people said, of what was done, and of replies."""
    groups: tuple[list[int], list[int], list[int]] = [], [], []
    for place, statement in enumerate(statements):
        groups[1 if _is_work(statement) else 2 if statement.is_reply else 0].append(place)
    return groups


def _is_work(statement: Statement) -> bool:
    return statement.who.startswith(_WORK)


def _fallback(material: _Material, below: int, count: Counting) -> Summary | None:
    """The one statement that tells most, cut as short as it takes; None where too little of it would be left."""
    if below < _LEAST_FALLBACK:
        return None
    best = max(material.statements, key=lambda statement: len(statement.text) * statement.factor)
    for share in (3, 1):
        line = sentences.shorten(f"{_moment(best.ts_ms)} {best.who}: {best.text}", below * share)
        size = count(line)
        if size < below:
            return Summary(line, size, "fallback")
    return None


@dataclass(frozen=True, slots=True)
class _Note:
    """A line at the end; it is about the statement at `place`, which the summary need not show."""

    place: int | None
    text: str


def _notes(material: _Material, before: Sequence[str]) -> list[_Note]:
    """Statements that were overturned, questions left open, statements said again: in this order of weight."""
    statements = material.statements
    found = compare(["" if said.factor < 1.0 or said.is_reply else said.text for said in statements], before)
    notes = [_Note(None, line) for line in material.carried[-_MOST_NOTES:]]
    notes += [
        _Note(place, f"{_SUPERSEDED}: {_brief(old)}{_ENDED}{_attribute(statements[place])}")
        for place, old in list(found.superseded.items())[:_MOST_NOTES]
    ]
    for place in material.open_questions[-_MOST_NOTES:]:
        notes.append(_Note(place, f"{_OPEN}: {_attribute(statements[place])}"))
    notes += [_Note(place, f"{_HOLDS}: {_brief(old)}") for place, old in list(found.holds.items())[:_MOST_NOTES]]
    return notes


def _brief(text: str) -> str:
    return sentences.shorten(text, _NOTE_CHARS)


def _attribute(statement: Statement) -> str:
    return f"{_moment(statement.ts_ms)[11:]} {statement.who}{': ' if statement.who else ''}{_brief(statement.text)}"


def _compose(material: _Material, notes: Sequence[_Note], heard: Sequence[str], rooms: Sequence[int]) -> str:
    header = _header(material)
    room = sum(rooms)
    fitting, used = budget.fitting([len(note.text.encode("utf-8", "replace")) for note in notes], room // 2)
    noted = [notes[place] for place in fitting]
    apart = {note.place for note in noted}
    chosen = _choose(material, apart, rooms, room - used, heard)
    lines = list(_lines(material.statements, chosen, material.first_ms))
    label = [f"{_NEW}:"] if lines and any(not note.text.startswith(_OPEN) for note in noted) else []
    return "\n".join([header, *label, *lines, *dict.fromkeys(note.text for note in noted)])


def _choose(
    material: _Material, apart: AbstractSet[int | None], rooms: Sequence[int], room: int, heard: Sequence[str]
) -> list[int]:
    """Places of the statements to show: each group within its room, and within the room that those before it leave."""
    statements = material.statements
    chosen: set[int] = set()
    granted = used = 0
    for group, its_room in zip(_groups(statements), rooms, strict=True):
        granted += its_room
        offered = list({statements[place].text: place for place in reversed(group) if place not in apart}.values())[
            ::-1
        ]
        told = [*heard, *(statements[place].text for place in sorted(chosen))]
        left = min(granted, room) - used
        picked = salience.choose([statements[place] for place in offered], left, told, material.used_later)
        chosen.update(offered[place] for place in picked)
        used = sum(salience.size(statements[place]) for place in chosen)
    return sorted(chosen)


def _header(material: _Material) -> str:
    first, last = _moment(material.first_ms), _moment(material.last_ms)
    span = first if first == last else f"{first} to {last[11:] if first[:10] == last[:10] else last}"
    many = f"{material.turns:,} turn{'' if material.turns == 1 else 's'}"
    if material.summaries:
        many += f" in {material.summaries:,} summaries"
    named = material.took_part.most_common(_NAMED_PARTICIPANTS)
    others = material.took_part.total() - sum(times for _, times in named)
    parts = [f"{who} {times}" for who, times in named] + ([f"others {others}"] if others else [])
    return f"{span} UTC, {many}: {', '.join(parts)}."


def _lines(statements: Sequence[Statement], places: Sequence[int], first_ms: int) -> Iterator[str]:
    """One line for the statements of one turn, with the day and the time where they change."""
    shown = ""
    day = _moment(first_ms)[:10]
    for (_, who, ts_ms), group in groupby(places, key=lambda place: _speech(statements[place])):
        moment = _moment(ts_ms)
        when = "" if moment == shown else moment if moment[:10] != day else moment[11:]
        shown, day = moment, moment[:10]
        yield f"{when} {who}{': ' if who else ''}{_join(statements, list(group))}".strip()


def _speech(statement: Statement) -> tuple[int, str, int]:
    return statement.turn, statement.who, statement.ts_ms


def _join(statements: Sequence[Statement], places: Sequence[int]) -> str:
    said = statements[places[0]].text
    for before, place in pairwise(places):
        whole = statements[before].text.endswith(_SENTENCE_ENDS)
        said += (_GAP if place > before + 1 else " " if whole else _NEXT_POINT) + statements[place].text
    return said


def _moment(ts_ms: int) -> str:
    """Date and time to the minute; a clock that no calendar knows is shown as its nearest end."""
    seconds = min(max(ts_ms // 1000, 0), 253_402_300_799)
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M}"
