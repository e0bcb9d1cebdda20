"""Tool calls inside the text of a turn: how they are written down, found again, and told in a few words.

A turn of the assistant holds its words first and its calls behind them. A call is a line that names the tool, then one
argument a line. Readers take the words as speech, and the calls as what was done: "edited theme.ts; ran npm test".
Arguments are never prose: they hold files, patches and scripts.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import msgspec

from clew.text import sentences
from clew.text.cutting import beginning

CALL_CHARS = 2000
"""How much of a call a turn keeps: enough for search."""

_MARK = re.compile(r"^\[calls ([^\]\n]{1,80})\]$", re.MULTILINE)
_INLINE = re.compile(r"^([A-Za-z_][\w.:-]{0,79})\((\{.{0,20000})$", re.MULTILINE)
"""How the plugin for OpenClaw writes a call: the name and its arguments as JSON, on one line."""

_ARGUMENT = re.compile(r"^(\w{1,40}): ?(.*)$")
_JSON_ARGUMENT = re.compile(r'"(\w{1,40})"\s{0,4}:\s{0,4}"((?:[^"\\]|\\.){0,400}+)')
_VALUE_CHARS = 400


@dataclass(frozen=True, slots=True)
class Call:
    tool: str
    arguments: Mapping[str, str]
    """The first line of each argument, by its name."""


def render_call(name: str, arguments: Any) -> str:
    """A call as text: the tool, then one argument a line."""
    given = arguments.items() if isinstance(arguments, dict) else [("arguments", arguments)] if arguments else []
    text = "\n".join([f"[calls {name}]", *(f"{key}: {_value(value)}" for key, value in given)])
    if len(text) <= CALL_CHARS:
        return text
    return f"{beginning(text, CALL_CHARS)}\n[cut: {len(text):,} characters in all]"


def _value(value: Any) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode("utf-8")


def speech(text: str) -> str:
    """The words of an assistant's turn, without its calls."""
    first = min((found.start() for found in (_MARK.search(text), _INLINE.search(text)) if found), default=None)
    return text if first is None else text[:first].rstrip()


def calls(text: str) -> list[Call]:
    """The calls behind the words of an assistant's turn, in order."""
    marks = list(_MARK.finditer(text))
    if not marks:
        return [Call(found[1], dict(_json_arguments(found[2]))) for found in _INLINE.finditer(text)]
    ends = [mark.start() for mark in marks[1:]] + [len(text)]
    return [Call(mark[1], _arguments(text[mark.end() : end])) for mark, end in zip(marks, ends, strict=True)]


def call_of_turn(name: str, text: str) -> Call:
    """A turn that is nothing but a call: its text holds the arguments, in whatever form the host sends them."""
    found = calls(text)
    return found[0] if found else Call(name, _arguments(text))


def _arguments(text: str) -> dict[str, str]:
    """Arguments that are written one a line, or as JSON. The first of a name counts: later lines may be content."""
    text = text.strip("\n")
    if text.lstrip().startswith("{"):
        return dict(_json_arguments(text))
    found: dict[str, str] = {}
    for line in text.split("\n"):
        argument = _ARGUMENT.match(line)
        if argument is not None:
            found.setdefault(argument[1], argument[2][:_VALUE_CHARS].strip())
    return found or ({"command": text.split("\n", 1)[0][:_VALUE_CHARS]} if text else {})


def _json_arguments(text: str) -> Iterator[tuple[str, str]]:
    """Reads as far as the text goes: it may have been cut."""
    for found in _JSON_ARGUMENT.finditer(text):
        try:
            yield found[1], str(json.loads(f'"{found[2]}"', strict=False)).split("\n", 1)[0].strip()
        except ValueError:
            yield found[1], found[2]


# --- in words ------------------------------------------------------------------------------------------

_DOING = (
    ("read", re.compile(r"(?i)^(?:read|view|cat|open|get_?file|notebookread|readfile|read_file)(?:_?file)?$")),
    ("edited", re.compile(r"(?i)edit|replace|patch|update_file|insert")),
    ("wrote", re.compile(r"(?i)^(?:write|create|save)(?:_?file)?$|write_file|create_file")),
    ("ran", re.compile(r"(?i)bash|shell|exec|terminal|command|^run|powershell|process")),
    ("searched for", re.compile(r"(?i)grep|search|glob|find|^ls$|list")),
    ("fetched", re.compile(r"(?i)fetch|browse|url|http|navigate")),
)
"""What the name of a tool says was done, first match first."""

_OBJECTS = {
    "read": ("file_path", "path", "filePath", "file", "filename", "uri"),
    "edited": ("file_path", "path", "filePath", "file", "filename", "notebook_path"),
    "wrote": ("file_path", "path", "filePath", "file", "filename"),
    "ran": ("command", "cmd", "script", "code", "action"),
    "searched for": ("pattern", "query", "q", "regex", "glob", "path"),
    "fetched": ("url", "uri", "query"),
}
_ANY_OBJECT = (
    "file_path",
    "path",
    "command",
    "query",
    "url",
    "name",
    "id",
    "title",
    "subject",
    "prompt",
    "description",
)
_PATHS = frozenset({"read", "edited", "wrote"})
_OBJECT_CHARS = 60
_LEAST_STEPS = 3
"""Of a path. The name of a file with two folders above it tells which one is meant."""

_WRITTEN = re.compile(
    r"(?:\s{0,4}cd\s{1,4}\S{1,200}\s{0,4}(?:&&|;))?\s{0,4}(?:cat\s{0,4}>{1,2}\s{0,4}([^\s'\"<>|&;]{1,200})\s{0,4}<<"
    r"|(?:sed -i|perl -p?i)\b.{1,360}\s([\w./~-]{1,200}\.\w{1,8})\s{0,4}$)"
)
"""A command that writes a file: from what follows it, or by a rule for its text."""
_CHANGE_FOLDER = re.compile(r"^\s*cd\s+\S+\s*(?:&&|;)\s*")
_PLUMBING = re.compile(r"\s*(?:2>&1|2>\s?/dev/null|\|\s*(?:head|tail|grep|wc|less|cat|sort|tee)\b.*$)")


def describe(call: Call) -> tuple[str, str]:
    """What was done, and to what: `edited`, `src/theme.ts`."""
    doing = next((verb for verb, names in _DOING if names.search(call.tool)), "")
    if not doing and any(call.arguments.get(name) for name in ("command", "cmd")):
        doing = "ran"
    names = (*_OBJECTS.get(doing, ()), *_ANY_OBJECT)
    told = next((call.arguments[name] for name in names if call.arguments.get(name)), "")
    if doing in _PATHS:
        return doing, short_path(told)
    if doing == "ran":
        written = _WRITTEN.match(told)
        if written is not None:
            return ("wrote" if written[1] else "edited"), short_path(written[1] or written[2])
        return doing, short_command(told)
    return (doing, _clip(told)) if doing else (f"called {call.tool}", _clip(told))


def short_path(path: str) -> str:
    """The end of a path that tells which file it is; folders of a person or a machine say nothing."""
    steps = [step for step in path.replace("\\", "/").split("/") if step]
    return path if len(steps) <= _LEAST_STEPS and not path.startswith("/") else "/".join(steps[-_LEAST_STEPS:])


def short_command(command: str) -> str:
    """A command without the change of folder before it and the plumbing behind it."""
    plain = _CHANGE_FOLDER.sub("", command)
    return _clip(_PLUMBING.sub("", plain).strip() or plain)


def _clip(text: str) -> str:
    plain = " ".join(text.split())
    return plain if len(plain) <= _OBJECT_CHARS else f"{plain[: _OBJECT_CHARS - 1].rstrip()}…"


# --- how calls ended -----------------------------------------------------------------------------------

_EXIT = re.compile(
    r"(?i)\b(?:exit(?:ed)?(?: with)?(?: (?:code|status))?|return(?:ed)? code|status code)\s?[:=]?\s?-?\d{1,5}\b"
)
_ERROR = re.compile(
    r"(?:^|[\s(\[])(?:(?i:error|fatal|panic|exception|failed|failure)|(?:[a-z_.]{1,60}\.)?[A-Z]\w{0,60}(?:Error|Exception))"
    r"(?: ?\[?[A-Z]{0,8}\d{1,6}\]?)?: "
    r"|^[\[(✗✖❌]?\s?(?:FAILED|FATAL|ERROR|Failed|Traceback)\b"
    r"|(?i:no such file|command not found|permission denied|connection refused|timed out|segmentation fault)"
    r"|错误|失败|エラー|失敗|오류|실패"
)
_COUNTS = re.compile(
    r"\b\d[\d,]{0,12} (?:passed|failed|skipped|errors?|warnings?|tests?|matches|rows?|vulnerabilities|files? changed)\b"
    r"|\b[Ff]ound \d[\d,]{0,12} \w"
)
_OUTCOME = re.compile(
    r"(?:[✓✔✅] ?)?(?:success|successfully|done|ok|created|updated|wrote|saved|merged|pushed|built|compiled)\b",
    re.IGNORECASE,
)
_FIRST_LINES, _LAST_LINES = 3, 20
_SHORT_CHARS = 200
_WORD = re.compile(r"\w")
_CODE_COMMENT = ("//", "#", "*", "/*", "--", ";")
_READ_CHARS = 16_000


def ending(text: str) -> tuple[str, bool]:
    """How a tool ended, and whether it went wrong: the error, the status, the counts, or a short answer whole."""
    lines = [" ".join(line.split()) for line in _head_and_end(text).split("\n")]
    lines = [line for line in lines if _WORD.search(line)]
    telling = [
        line
        for line in (*lines[:_FIRST_LINES], *lines[_FIRST_LINES:][-_LAST_LINES:])
        if len(line) <= sentences.LONGEST_CHARS and not line.startswith(_CODE_COMMENT)
    ]
    failed = [line for line in telling if _ERROR.search(line)]
    if len(lines) <= 2 and sum(map(len, lines)) <= _SHORT_CHARS:
        return " / ".join(lines), bool(failed)
    ended = [line for line in telling if _EXIT.search(line) or _OUTCOME.match(line)]
    counted = [line for line in telling if _COUNTS.search(line)]
    kept = dict.fromkeys([*failed[-1:], *ended[-1:], *counted[-1:]])
    return " / ".join(sentences.shorten(line, _SHORT_CHARS) for line in kept), bool(failed)


def _head_and_end(text: str) -> str:
    """Commands say how they ended first or last; between is bulk."""
    half = _READ_CHARS // 2
    return text if len(text) <= _READ_CHARS else text[:half] + "\n" + text[-half:]


@dataclass(frozen=True, slots=True)
class Step:
    """One call, or the result of a call that is not known, and how it ended as far as that is known."""

    call: Call | None
    ended: str
    failed: bool
    places: tuple[int, ...]
    """The places of its turns: the call first, then its results."""


class Turn(Protocol):
    """A turn as far as its calls and results matter."""

    @property
    def text(self) -> str: ...
    @property
    def made(self) -> Sequence[Call]:
        """The calls that it makes."""

    @property
    def call_ids(self) -> Sequence[str]:
        """Their ids, in the same order where there are as many."""

    @property
    def is_result(self) -> bool: ...
    @property
    def answers(self) -> str | None:
        """The id of the call that it is the result of."""

    @property
    def has_failed(self) -> bool:
        """Whether the host says that the tool failed."""


def steps(turns: Sequence[Turn]) -> list[Step]:
    """The calls of turns, each with its results. A result belongs to the call that it names, or else to the only call
    that waits; where that is in doubt, it stays by itself."""
    made: list[tuple[Call | None, list[int]]] = []
    by_id: dict[str, int] = {}
    waiting: list[int] = []
    for place, turn in enumerate(turns):
        if turn.made:
            if place and turns[place - 1].is_result:
                waiting = []
            named = len(turn.call_ids) == len(turn.made)
            for number, call in enumerate(turn.made):
                if named:
                    by_id[turn.call_ids[number]] = len(made)
                waiting.append(len(made))
                made.append((call, [place]))
        elif turn.is_result:
            step = by_id.get(turn.answers or "")
            if step is None and turn.answers is None and len(waiting) == 1:
                step = waiting.pop()
            if step is None:
                made.append((None, [place]))
            else:
                made[step][1].append(place)
    return [_step(turns, call, places) for call, places in made]


def _step(turns: Sequence[Turn], call: Call | None, places: Sequence[int]) -> Step:
    results = places if call is None else places[1:]
    ends = [ending(turns[place].text) for place in results]
    failed = any(wrong for _, wrong in ends) or any(turns[place].has_failed for place in results)
    ended = next((text for text, wrong in reversed(ends) if text and (wrong or not failed)), "")
    return Step(call, ended, failed, tuple(places))


# --- work in one line ----------------------------------------------------------------------------------

_LOOKED = ("read", "searched for")
_LOOKING = re.compile(r"(?:grep|rg|ls|cat|head|tail|sed -n|find|wc|pwd|tree|which|echo|git (?:status|diff|log|show))\b")
"""Commands that change nothing."""
_LOOKED_PHRASES = ("read ", "searched ")
_NOTHING = re.compile(r"\W{0,4}(?:no output|done|ok|success|successfully\b.{0,80})\W{0,4}", re.IGNORECASE)
"""Endings that tell no more than that it worked."""
_MOST_NAMED = 4
_MOST_CHANGED = 8
_MOST_RUN = 5
_ENDING_CHARS = 72
_SHORT_ENDING = 40
_TRIED_AGAIN = 2


def tell(made: Sequence[Step]) -> str:
    """What was done in a row of steps, in one line: what was changed first, then what ran and how it ended.

    The same command counts once, with its last ending. Looking around is told in numbers: it changed nothing.
    """
    objects: dict[str, dict[str, list[Step]]] = {}
    for step in made:
        doing, object_ = ("", "") if step.call is None else describe(step.call)
        objects.setdefault(doing, {}).setdefault(object_, []).append(step)
    looked = [_looked(doing, list(objects.pop(doing))) for doing in _LOOKED if doing in objects]
    told = [_changed(doing, objects.pop(doing)) for doing in ("wrote", "edited") if doing in objects]
    ran = [(doing, object_, steps_) for doing, tried in objects.items() for object_, steps_ in tried.items()]
    telling = [one for one in ran if not _LOOKING.match(one[1])] or ([] if told or looked else ran[-1:])
    phrases = list(filter(None, (_ran(*one) for one in telling)))
    more = [f"{len(phrases) - _MOST_RUN} more commands"] if len(phrases) > _MOST_RUN else []
    return "; ".join(filter(None, [*told, *more, *phrases[-_MOST_RUN:], *looked]))


def is_looking(told: str) -> bool:
    """Whether a line about work tells of nothing but looking around."""
    phrases = told.split("; ")
    return all(phrase.startswith(_LOOKED_PHRASES) or _LOOKING.match(phrase.removeprefix("ran ")) for phrase in phrases)


def _changed(doing: str, tried: Mapping[str, Sequence[Step]]) -> str:
    """Files, those that could not be changed marked as such."""
    named = [f"{object_} (failed)" if made[-1].failed else object_ for object_, made in tried.items() if object_]
    more = [f"{len(named) - _MOST_CHANGED} more"] if len(named) > _MOST_CHANGED else []
    return f"{doing} {', '.join([*named[:_MOST_CHANGED], *more])}"


def _ran(doing: str, object_: str, made: Sequence[Step]) -> str:
    known = [step for step in made if step.call is not None or step.failed]
    if not known:  # the result of an unknown call that went well tells nothing
        return ""
    last = known[-1]
    times = f" {len(made)} times" if len(made) > _TRIED_AGAIN else ""
    counted = last.failed or len(last.ended) <= _SHORT_ENDING or _COUNTS.search(last.ended)
    ended = sentences.shorten(last.ended, _ENDING_CHARS) if counted and not _NOTHING.fullmatch(last.ended) else ""
    how = f"failed: {ended}" if last.failed and ended else "failed" if last.failed else ended
    asked = f"{doing} {object_}{times}".strip()
    return f"{asked}: {how}" if asked and how else asked or how


def _looked(doing: str, objects: Sequence[str]) -> str:
    named = [object_.rpartition("/")[2] if doing == "read" else object_ for object_ in objects if object_]
    unique = list(dict.fromkeys(named))
    if not unique:
        return doing
    if doing == "read" and len(unique) <= _MOST_NAMED:
        return f"read {', '.join(unique)}"
    return f"read {len(unique)} files" if doing == "read" else f"searched {len(unique)} times"
