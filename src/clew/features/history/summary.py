"""Extractive summaries: the statements and actions of a stretch in its own words, with who and when.

A summary starts with a line that names the span of time, the number of turns and who took part. Then
come the statements that tell most, in time order and verbatim. Tool calls shrink to what was run and
how it ended. Notes at the end name the earlier statements that the stretch repeats or overturns, and its
questions without an answer. Each statement is on one line that the summary itself lays out, so that no quoted
text can pass for another line.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import groupby, pairwise

from clew.core import budget
from clew.core.model import Role
from clew.text import sanitise, sentences
from clew.text.grading import salience
from clew.text.grading.salience import Statement, terms_of

_SAME_SHARE = 0.8
_SAME_LEAST = 4
_FRAME_SHARE = 0.6
_FRAME_LEAST = 2

_LEFT_BEHIND = re.compile(
    r"\b(?:instead of|rather than|in place of|replace[ds]|dropped|stopped (?:using)?|got rid of"
    r"|(?:switch|mov|migrat|chang|upgrad|renam)(?:e|ed|ing) (?:[\w-]{1,24} ){0,4}?from"
    r"|no longer (?:us(?:e|es|ing)|on|in|at|with|need(?:s|ing)?|have|has)?)\s{1,4}([^.,;:!?\n]{2,60})"
    r"|(?:不再(?:使用|用)?|取代了?|代替|而不是)([^，。；！？\n]{1,24})"
    r"|([^，。、；！？\n]{1,24})(?:の代わりに|をやめ|대신)",
    re.IGNORECASE,
)
_OBJECT_END = re.compile(r"\b(?:to|for|with|and|in|on|as|after|because|since|when)\b", re.IGNORECASE)
_VALUE_OF = re.compile(
    r"\b(?:is|are|equals|uses?|using|runs? on|set to|listens? on|lives? in|works? (?:at|for)|called|named|moved to)\b"
    r"|=|是|为|用|は|을|를",
    re.IGNORECASE,
)
_NEGATION = re.compile(
    r"\b(?:not|never|no longer|isn't|aren't|don't|doesn't|won't|can't|cannot)\b|不|没|ない|않", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Changes:
    """Places of later statements with the earlier statement that each repeats or overturns."""

    holds: dict[int, str] = field(default_factory=dict)
    superseded: dict[int, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Parsed:
    text: str
    terms: frozenset[str]
    values: frozenset[str]

    @property
    def frame(self) -> frozenset[str]:
        return self.terms - self.values


def compare(statements: Sequence[str], earlier: Sequence[str]) -> Changes:
    """Each later statement is compared with the earlier one that shares most of its terms."""
    changes = Changes()
    if not earlier:
        return changes
    before = [_parse(text) for text in earlier]
    by_term: dict[str, list[int]] = {}
    for place, parsed in enumerate(before):
        for term in parsed.terms:
            by_term.setdefault(term, []).append(place)
    for place, text in enumerate(statements):
        later = _parse(text)
        for candidate in _nearest(later, by_term):
            if _is_superseded(before[candidate], later):
                changes.superseded[place] = before[candidate].text
                break
            if _is_same(before[candidate], later):
                changes.holds[place] = before[candidate].text
                break
    return changes


_CANDIDATES = 3
_COMMON_TERM = 32


def _nearest(later: _Parsed, by_term: dict[str, list[int]]) -> list[int]:
    """Earlier statements that share at least two terms, most first; terms that occur everywhere tell nothing."""
    shared: dict[int, int] = {}
    for term in later.terms:
        for place in by_term.get(term, ())[:_COMMON_TERM]:
            shared[place] = shared.get(place, 0) + 1
    near = [place for place, count in shared.items() if count >= _FRAME_LEAST]
    return sorted(near, key=lambda place: (-shared[place], -place))[:_CANDIDATES]


def _parse(text: str) -> _Parsed:
    terms = frozenset(terms_of(text))
    return _Parsed(text, terms, frozenset(term for term in terms if term[0] == "=" or term[0].isdigit()))


def _is_same(before: _Parsed, later: _Parsed) -> bool:
    shared = later.terms & before.terms
    return (
        len(shared) >= _SAME_LEAST
        and len(shared) >= _SAME_SHARE * len(later.terms)
        and later.values <= before.values
        and bool(_NEGATION.search(later.text)) == bool(_NEGATION.search(before.text))
    )


def _is_superseded(before: _Parsed, later: _Parsed) -> bool:
    return _names_as_left_behind(before, later) or _gives_another_value(before, later)


def _names_as_left_behind(before: _Parsed, later: _Parsed) -> bool:
    found = _LEFT_BEHIND.search(later.text)
    if found is None:
        return False
    left = frozenset(terms_of(_OBJECT_END.split(next(filter(None, found.groups())), maxsplit=1)[0]))
    rest = (later.terms & before.terms) - left
    return bool(left) and left <= before.terms and bool(rest) and not _LEFT_BEHIND.search(before.text)


def _gives_another_value(before: _Parsed, later: _Parsed) -> bool:
    shared = before.frame & later.frame
    return (
        len(shared) >= _FRAME_LEAST
        and len(shared) >= _FRAME_SHARE * len(before.frame | later.frame)
        and bool(before.values)
        and bool(later.values)
        and not before.values & later.values
        and _VALUE_OF.search(before.text) is not None
        and _VALUE_OF.search(later.text) is not None
    )


_RUNGS = (("extractive", 0.28, 64, 500), ("extractive-short", 0.14, 24, 250))
"""Method, share of the sources' tokens, and the least and most tokens to aim at."""

_LEAST_FALLBACK = 20
"""Tokens that a summary needs to say when, who and anything at all."""

_BYTES_PER_TOKEN = (2.5, 5.0)
"""Bounds of the bytes a token holds. The sources, whose size is known both ways, give the actual number."""
_PROSE_CHARS = 24_000
"""How much of one turn is read; a longer one is a pasted document, whose beginning and end tell most."""

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
_CALL, _RESULT = "call", "result"
_TOOL_KINDS = (_CALL, _RESULT)
_LABELS = frozenset((_HOLDS, _SUPERSEDED, _OPEN, _NEW))


@dataclass(frozen=True, slots=True)
class Source:
    """One turn, or one lower summary with the time of its latest source."""

    who: str
    role: Role | None
    ts_ms: int
    text: str


@dataclass(frozen=True, slots=True)
class Summary:
    text: str
    tokens: int
    method: str
    """`extractive`, `extractive-short` or `fallback`: how far the text had to be cut to be smaller."""


Counting = Callable[[str], int]


def summarise(sources: Sequence[Source], *, earlier: Sequence[str], below: int, count: Counting) -> Summary | None:
    """A summary of turns with fewer than `below` tokens, or None where none can be made.

    The turns are sanitised here. `earlier` are the summaries that the reader has seen before this one.
    """
    told = [Source(source.who, source.role, source.ts_ms, sanitise.projection(source.text)) for source in sources]
    return _ladder(_of_turns(told), earlier, below, count)


def condense(children: Sequence[Source], *, earlier: Sequence[str], below: int, count: Counting) -> Summary | None:
    """The same for summaries: their best lines, without repeats."""
    return _ladder(_of_summaries(children), earlier, below, count)


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
    spoken: frozenset[int]
    """Places of statements by people and models, not by tools."""
    open_questions: list[int]
    carried: tuple[str, ...] = ()
    """Notes of lower summaries that still matter."""


def _of_turns(sources: Sequence[Source]) -> _Material:
    statements: list[Statement] = []
    spoken: set[int] = set()
    results = _results_of_calls(sources)
    answering = frozenset(results.values())
    for turn, source in enumerate(sources):
        if source.role in (Role.TOOL_CALL, Role.TOOL_RESULT):
            if turn not in answering:
                statements += _of_tool(source, turn, sources[results[turn]] if turn in results else None)
            continue
        pieces = sentences.split(_readable(source.text))
        spoken.update(range(len(statements), len(statements) + len(pieces)))
        statements += [Statement(_name(source.who), source.ts_ms, piece, turn) for piece in pieces]
    times = [source.ts_ms for source in sources]
    return _Material(
        size=_size(sources),
        first_ms=min(times, default=0),
        last_ms=max(times, default=0),
        turns=len(sources),
        summaries=0,
        took_part=Counter(_part(source) for source in sources),
        statements=statements,
        spoken=frozenset(spoken),
        open_questions=_open_questions(statements, spoken),
    )


def _size(sources: Sequence[Source]) -> int:
    return sum(len(source.text.encode("utf-8", "replace")) for source in sources)


def _readable(text: str) -> str:
    half = _PROSE_CHARS // 2
    return text if len(text) <= _PROSE_CHARS else f"{text[:half]}\n{text[-half:]}"


def _results_of_calls(sources: Sequence[Source]) -> dict[int, int]:
    """Places of calls with the place of their result, where the order leaves no doubt which is which.

    That is so for one call with one result, and for several calls whose results come in the same number
    and name the same tools in the same order.
    """
    found: dict[int, int] = {}
    runs = [(role, list(run)) for role, run in groupby(range(len(sources)), key=lambda place: sources[place].role)]
    for (role, calls), (next_role, results) in pairwise(runs):
        if (role, next_role) != (Role.TOOL_CALL, Role.TOOL_RESULT) or len(calls) != len(results):
            continue
        names = [sources[place].who for place in calls], [sources[place].who for place in results]
        if len(calls) == 1 or names[0] == names[1]:
            found.update(zip(calls, results, strict=True))
    return found


def _of_tool(source: Source, turn: int, result: Source | None) -> Iterator[Statement]:
    """The command and its outcome: a call with its result where that is known, otherwise each by itself."""
    calling = source.role is Role.TOOL_CALL
    asked = sentences.of_call(source.text) if calling else ""
    answer = result if calling else source
    ended, failed = sentences.of_result(answer.text) if answer else ("", False)
    if asked or ended:
        kind, who = _CALL if calling else _RESULT, _name(source.who)
        label = kind if who == source.role else f"{kind} {who}"
        yield Statement(label, source.ts_ms, _ENDED.join(filter(None, (asked, ended))), turn, _factor(kind, failed))


def _factor(who: str, failed: bool = False) -> float:
    """A tool's statement counts less than a person's, unless the tool failed."""
    return (0.8 if failed else 0.4) if who.startswith(_TOOL_KINDS) else 1.0


def _part(source: Source) -> str:
    if source.role is Role.TOOL_CALL:
        return "tool calls"
    return "tool results" if source.role is Role.TOOL_RESULT else _name(source.who)


def _name(who: str) -> str:
    """A speaker as a label that cannot be taken for more: one line, no separators."""
    plain = " ".join(re.sub(r"[\s:,→…]+", " ", who).split())
    return sentences.shorten(plain, _LONGEST_WHO) if plain else "someone"


_DEFERRED = re.compile(
    r"\b(?:not sure|don't know|no idea|let me (?:check|think)|get back to you|to be decided|tbd|open question"
    r"|will check|unclear)\b|不知道|不清楚|不确定|わからない|모르겠",
    re.IGNORECASE,
)


def _open_questions(statements: Sequence[Statement], spoken: set[int]) -> list[int]:
    """Questions after which no one else spoke, or after which the answer was put off."""
    found = []
    reply: Statement | None = None
    after: Statement | None = None
    for place in sorted(spoken, reverse=True):
        said = statements[place]
        if after is not None and after.who != said.who:
            reply = after
        put_off = reply is None or _DEFERRED.search(reply.text) is not None
        if put_off and salience.is_question(said.text) and len(said.text) >= _LEAST_QUESTION:
            found.append(place)
        after = said
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
        spoken=frozenset(range(len(statements))),
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
        said = [found[4]] if found[3].startswith(_TOOL_KINDS) else _pieces(found[4])
        yield from (Statement(found[3], ts_ms, piece, number, _factor(found[3])) for piece in said)


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
    told = _of_summaries([Source("", None, 0, text) for text in earlier]).statements
    notes = _notes(material, [before.text for before in told if not before.who.startswith(_TOOL_KINDS)])
    heard = [before.text for before in told]
    bytes_per_token = min(max(material.size / max(below, 1), _BYTES_PER_TOKEN[0]), _BYTES_PER_TOKEN[1])
    for method, share, least, most in _RUNGS:
        tokens = min(max(int(below * share), least), most)
        text = _compose(material, notes, heard, int(tokens * bytes_per_token))
        size = count(text)
        if size < below:
            return Summary(text, size, method)
    return _fallback(material, below, count)


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
    found = compare([said.text if n in material.spoken else "" for n, said in enumerate(statements)], before)
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


def _compose(material: _Material, notes: Sequence[_Note], heard: Sequence[str], room: int) -> str:
    header = _header(material)
    room = max(room - len(header), 0)
    fitting, used = budget.fitting([len(note.text.encode("utf-8", "replace")) for note in notes], room // 2)
    noted = [notes[place] for place in fitting]
    apart = {note.place for note in noted}
    offered = [place for place in range(len(material.statements)) if place not in apart]
    chosen = salience.choose([material.statements[place] for place in offered], room - used, heard)
    lines = list(_lines(material.statements, [offered[place] for place in chosen], material.first_ms))
    label = [f"{_NEW}:"] if lines and any(not note.text.startswith(_OPEN) for note in noted) else []
    return "\n".join([header, *label, *lines, *dict.fromkeys(note.text for note in noted)])


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
