"""Finds the parts of a turn that somebody else wrote: forwarded, announced, asked about, marked off, put in quotes.

The content of a paste does not tell it from speech, so only the signs around it count: marks that open and close, marks
before each line, and the sentence that announces a text or asks about one. Marks show where a text ends. Words alone do
not, so nothing behind an announcement counts as said, and nothing before a request about "the above".

The steps for marks run first and blot out the text they find, so places stay the same. The steps for words then read
the same text independently: no text can end, by its own content, a text that was announced before it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import islice, takewhile
from typing import TypeAlias

from clew.text.speech import handing_words as words
from clew.text.speech.printed import is_output

Span: TypeAlias = tuple[int, int]

_GONE = "\0"
"""Replaces each character that an earlier step found; line ends stay."""
_VISIBLE = re.compile(r"[^\n]")
_LOOKED_AHEAD = 5


def handed_over(text: str) -> list[Span]:
    """The spans that others wrote, in order and without overlap."""
    seen = text.replace(_GONE, " ")
    found: list[Span] = []
    for step in _BY_MARKS:
        new = list(step(seen))
        found += new
        seen = _blot_out(seen, new)
    return _merge([*found, *(span for step in _BY_WORDS for span in step(seen))])


def _blot_out(text: str, spans: Iterable[Span]) -> str:
    parts: list[str] = []
    done = 0
    for start, end in _merge(spans):
        parts += text[done:start], _VISIBLE.sub(_GONE, text[start:end])
        done = end
    return "".join([*parts, text[done:]])


def _merge(spans: Iterable[Span]) -> list[Span]:
    merged: list[Span] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        elif start < end:
            merged.append((start, end))
    return merged


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Each line with its place."""
    place = 0
    for line in text.split("\n"):
        yield place, line
        place += len(line) + 1


# --- marks on lines --------------------------------------------------------------------------------------

_FENCE = re.compile(r"^\s{0,12}(```|~~~|\"\"\"|''')")
_QUOTE = re.compile(r"^\s{0,8}(?:[-*•+]\s{1,4})?(?:>(?!\s{0,2}\d)|[＞|｜┃▏▎▍])")
_STILL_QUOTED = re.compile(r"^\s{0,8}>")
_TABLE = re.compile(r"^\s{0,8}\|.{0,400}\|\s{0,4}$")
_ASIDE = re.compile(r"^(?: {4}|\s{0,3}\t)|^\s{0,8}[—―]\s{0,8}\S")
"""An indented line, or one behind a long dash: a quote, unless it is in a list or the writer introduces it."""
_ITEM = re.compile(r"^\s{0,40}(?:[-*+•‣–]|\d{1,3}[.)]|\[[ xX]\])\s")
_LEADS_UP = re.compile(r"[:：]\s{0,4}$")


def _find_fences(text: str) -> Iterator[Span]:
    """From a fence to the next one of its kind, or to the end."""
    fence, begun = "", 0
    for place, line in _lines(text):
        opening = _FENCE.match(line)
        if fence:
            if opening is not None and opening[1] == fence:
                yield begun, place + len(line)
                fence = ""
        elif opening is not None and line.count(opening[1]) == 1:
            fence, begun = opening[1], place
        elif opening is not None:
            yield place, place + len(line)
    if fence:
        yield begun, len(text)


def _find_quoted_lines(text: str) -> Iterator[Span]:
    """Lines behind a quote mark, and lines set apart by an indent or a long dash. An indent in program output is no
    quote: `speech` judges it with the lines around it."""
    is_own = quoted = printed = False
    for place, line in _lines(text):
        if not line.strip():
            continue
        is_aside = _ASIDE.match(line) is not None and not _ITEM.match(line)
        printed = is_output(line) or (printed and is_aside)
        mark = (_STILL_QUOTED if quoted else _QUOTE).match(line) or _QUOTE.match(line)
        quoted = mark is not None and not _TABLE.match(line)
        if quoted or (is_aside and not (is_own or printed)):
            yield place, place + len(line)
        if not is_aside:
            is_own = _ITEM.match(line) is not None or (
                _LEADS_UP.search(line) is not None and not words.points_at_text(line)
            )


# --- marks around a text ---------------------------------------------------------------------------------

_TAG = re.compile(r"<(/?)([A-Za-z][\w:.-]{0,40})(?:\s[^<>\n]{0,200})?(?<!/)>|\[(/?)([A-Za-z]{2,20})\]")
_LEAST_SAID = 5.0
"""Quoted words count as somebody's speech from this length; fewer are a name, a term or a command."""
_LEAST_IN_A_SENTENCE = 3.0
_ENDS = re.compile(r"[.!?。！？]\s*$")
_WIDE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")
_HANGUL = re.compile(r"[\uac00-\ud7a3]")
_LATIN_WORD = re.compile(r"[^\W\d_\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]+(?:['’-]\w+)*|\d+")
_MARKS = tuple(
    (re.compile(opening), re.compile(closing))
    for opening, closing in (
        (
            r"(?<![\w\"＂])[\"＂]{1,3}(?=[^\s\"＂])|(?<!\S)[\"＂]{1,3}(?!\S)",
            r"(?<![\s\"＂])[\"＂]{1,3}(?![\w\"＂])|(?<!\S)[\"＂]{1,3}(?!\S)",
        ),
        (r"(?<![\w'])'{1,3}(?=[^\s'])", r"(?<=[^\s'])'{1,3}(?![\w'])"),
        (r"(?<![\w`])`(?=[^\s`])", r"(?<=[^\s`])`(?![\w`])"),
        (r"“", r"”"),
        (r"[„‚]", r"[“”‘’\"](?!\w)"),
        (r"‘", r"’(?!\w)"),
        (r"«", r"»"),
        (r"(?<!\S)»(?=\S)", r"(?<=\S)«(?!\w)"),
        (r"‹", r"›"),
        (r"「", r"」"),
        (r"『", r"』"),
    )
)
_AROUND_CHARS = 200
_SENTENCE_END = re.compile(r"[.!?…]+[\"'”’»)\]]*\s|[。！？\n\0]")


def _find_tagged(text: str) -> Iterator[Span]:
    """From an opening tag to its closing one, whatever its name: on lines of its own, or around a whole sentence."""
    tags: dict[str, tuple[list[Span], list[Span]]] = {}
    for tag in _TAG.finditer(text):
        name = (tag[2] or f"[{tag[4]}").casefold()
        tags.setdefault(name, ([], []))[bool(tag[1] or tag[3])].append(tag.span())
    for opened, closed in tags.values():
        for first, last in _pairs(opened, closed):
            if text[text.rfind("\n", 0, first[0]) + 1 : first[0]].strip() == "" or _is_speech(text[first[1] : last[0]]):
                yield first[0], last[1]


def _pairs(opened: list[Span], closed: list[Span]) -> Iterator[tuple[Span, Span]]:
    """The outermost pairs of marks. Marks inside a text may be out of balance, and its author may try to end it early.
    So a surplus closing mark extends the pair before it, and an unclosed one ends at the last closing mark. A mark that
    can both open and close closes an open pair."""
    opens, closes = set(opened), set(closed)
    depth, done = 0, -1
    first: Span | None = None
    last: Span | None = None
    for span in sorted(opens | closes):
        if span[0] < done:
            continue
        done = span[1]
        is_opening = span in opens and not (depth and span in closes)
        if is_opening and depth == 0:
            if first is not None and last is not None:
                yield first, last
            first, last = span, None
        if not is_opening and first is not None:
            last = span
        depth = max(depth + (1 if is_opening else -1), 0)
    if first is not None and last is not None:
        yield first, last


def _is_speech(text: str) -> bool:
    """Whether quoted words are as long as a sentence, or are a short one. A Chinese character counts as half a word."""
    some = text[:_AROUND_CHARS]
    least = _LEAST_IN_A_SENTENCE if _ENDS.search(text[-_LOOKED_AHEAD:]) else _LEAST_SAID
    weight = len(_LATIN_WORD.findall(some)) + len(_WIDE.findall(some)) / 2 + len(_HANGUL.findall(some)) / 2.5
    return weight >= least


def _find_quotations(text: str) -> Iterator[Span]:
    """Quotations as long as a sentence, if the words around them ask about them or report them, or there are none."""
    for opening, closing in _MARKS:
        opened = [mark.span() for mark in opening.finditer(text)]
        closed = [mark.span() for mark in closing.finditer(text)] if opened else []
        for (first, start), (end, last) in _pairs(opened, closed):
            if _is_speech(text[start:end]) and _is_of_others(*_around(text, first, last)):
                yield start, end


def _around(text: str, start: int, end: int) -> tuple[str, str]:
    """The words of the same sentence before and behind a quotation."""
    before = text[max(start - _AROUND_CHARS, 0) : start]
    behind = text[end : end + _AROUND_CHARS]
    ends = [found.end() for found in _SENTENCE_END.finditer(before)]
    stop = _SENTENCE_END.search(behind)
    return before[ends[-1] if ends else 0 :], behind[: stop.end() if stop else len(behind)]


def _is_of_others(before: str, behind: str) -> bool:
    is_alone = not re.search(r"\w", before + behind)
    return is_alone or words.asks_about_quote(before, behind) or words.tells_of_speech(before, behind)


# --- mails and chats -------------------------------------------------------------------------------------

_HEADER = re.compile(
    r"^\s{0,4}\*{0,2}(from|to|cc|bcc|subject|date|sent|reply-to|von|an|betreff|gesendet|datum|de|para|à|objet|envoyé|asunto"
    r"|enviado|fecha|发件人|收件人|主题|日期|差出人|宛先|件名|日時"
    r"|보낸 ?사람|받는 ?사람|제목|날짜)\*{0,2} ?[:：]\*{0,2} ?\S",
    re.IGNORECASE,
)
"""A line of a mail's head."""
_PLACES = frozenset({"from", "to", "von", "an", "de", "à", "para"})
"""Names of such lines that a route has as well."""
_MAIL = re.compile(
    r"^\s{0,4}(?:begin forwarded message:|[-_=]{3,40} ?(?:forwarded|original|weitergeleitet|ursprüngliche"
    r"|message (?:transféré|d'origine)|mensaje (?:reenviado|original)).{0,40}"
    r"|(?:on|am|le|el) .{4,160}(?:wrote|schrieb.{0,80}|a écrit|escribió) ?:)\s{0,4}$",
    re.IGNORECASE,
)
"""A line that mail programs put before a mail that is forwarded or answered."""
_CLOCK = (
    r"(?:\d{1,4}[./-]\d{1,2}[./-]\d{1,4},? )?(?:上午|下午|午前|午後|오전 ?|오후 ?)?"
    r"\d{1,2}[:.]\d\d(?::\d\d)?(?: ?[AaPp]\.?[Mm]\.?)?"
)
_NAME = r"@?[^\W\d_][^:：\n\[\]<>()]{0,38}"
_NAME_ALONE = r"(?-i:(?:[^\W\d_a-z][^\s\d:：]{0,24} ?){1,3})"
_DAY = r"(?:(?:today|yesterday|heute|hier|hoy|今天|今日|오늘) ?(?:at|um|à|a las)? ?)?"
_CHAT = re.compile(
    rf"^\s{{0,8}}(?:[\[(<]{_CLOCK}[\])>] ?[-–]? ?<?{_NAME}(?:[:：>]|$)|{_CLOCK} ?[-–] ?{_NAME}[:：]"
    rf"|<{_NAME}> \S|{_NAME}[,:]? ?[\[(]{_CLOCK}[\])]\s{{0,4}}[:：]?"
    rf"|{_NAME_ALONE}[,·•—–-]? ?{_DAY}{_CLOCK}\s{{0,4}}$)",
    re.IGNORECASE,
)
"""A line of a chat's log: who wrote, and when."""
_PLACEHOLDER = re.compile(
    r"^\s{0,8}\[(?:pasted|copied|clipboard|quoted|forwarded|eingefügt|kopiert|collé|texte collé|pegado|texto pegado"
    r"|粘贴|转发|貼り付け|転送|붙여)[^\]\n]{0,80}\]:?\s{0,4}$",
    re.IGNORECASE,
)
"""A line that a program puts before what was pasted or forwarded."""


def _find_mails_and_chats(text: str) -> Iterator[Span]:
    """All from the head of a mail, the first line of a chat's log or the mark of a paste on."""
    lines = list(_lines(text))
    for at, (place, line) in enumerate(lines):
        following = [line for _, line in lines[at + 1 : at + 1 + _LOOKED_AHEAD]]
        is_mark = _MAIL.match(line) or _PLACEHOLDER.match(line)
        if is_mark or _begins_mail([line, *following]) or _begins_chat(line, following):
            yield place, len(text)
            return


def _begins_mail(lines: list[str]) -> bool:
    """Whether lines begin with a mail's head: at least two of them, with an address or more than a start and a goal."""
    head = list(takewhile(bool, map(_HEADER.match, lines)))
    names = {header[1].casefold() for header in head if header is not None}
    has_address = any("@" in line for line in lines[: len(head)])
    return len(names) > 1 and (has_address or not names <= _PLACES)


def _begins_chat(line: str, following: list[str]) -> bool:
    """Whether somebody's message follows the name and the time, on the same line or on the next ones. Lines that all
    have a time are an agenda."""
    found = _CHAT.match(line)
    if found is None:
        return False
    return line[found.end() :].strip() != "" or any(said.strip() and not _CHAT.match(said) for said in following[:2])


# --- announcements and requests --------------------------------------------------------------------------

_COLON = re.compile(r"[:：](?![/\d\\])")
_COLONS_A_LINE = 4
_CLAUSE_CHARS = 200
_PARAGRAPH_END = re.compile(r"\n\s{0,40}\n")


def _find_announced(text: str) -> Iterator[Span]:
    """Reported text, and everything behind a clause that announces a text, unless marks follow: those show where it
    ends."""
    lines = list(_lines(text))
    for at, (place, line) in enumerate(lines):
        if (told := words.told_from(line)) is not None:
            yield place + told, _end_of_report(text, place + told)
        following = [line for _, line in lines[at + 1 : at + 1 + _LOOKED_AHEAD]]
        for end in _announcements(line):
            if line[end:].strip() != "" or not _is_blotted_out(following):
                yield place + end, len(text)
                return


def _announcements(line: str) -> Iterator[int]:
    """The ends of clauses that announce a text: at a colon, or at the end of the line."""
    colons = [found.end() for found in islice(_COLON.finditer(line), _COLONS_A_LINE)]
    for end in colons:
        clause = _last_clause(line[: end - 1])
        if words.announces(clause) or (line[end:].strip() == "" and words.is_label(clause)):
            yield end
    if not colons and words.announces_without_colon(_last_clause(line)):
        yield len(line)


def _last_clause(text: str) -> str:
    some = text[-_CLAUSE_CHARS:].rstrip().rstrip(".!。！ ")
    ends = [found.end() for found in _SENTENCE_END.finditer(some)]
    return some[ends[-1] if ends else 0 :].strip()


def _is_blotted_out(lines: list[str]) -> bool:
    """Whether an earlier step found the next text by its marks."""
    first = next((line for line in lines if line.strip()), "")
    return first.lstrip().startswith(_GONE)


def _end_of_report(text: str, place: int) -> int:
    """Where a report without quotation marks ends. A report in lower case is a clause of the writer's own sentence; one
    with a capital is the text itself. In scripts without capitals it ends with the paragraph."""
    first = next((char for char in text[place : place + _AROUND_CHARS] if char.isalpha()), "")
    if first.isupper() or not first:
        return len(text)
    end = _SENTENCE_END.search(text, place) if first.islower() else _PARAGRAPH_END.search(text, place)
    return len(text) if end is None else end.end()


def _find_asked_about(text: str) -> Iterator[Span]:
    """The text that a request is about: everything before it, or everything behind it."""
    lines = list(_lines(text))
    in_all, before = _letters(text), 0
    for at, (place, line) in enumerate(lines):
        here = _letters(line)
        if 0 < here <= 2 * _CLAUSE_CHARS:
            for start, end, way in words.requests(line):
                starts_line, ends_line = line[:start].strip() == "", line[end:].strip() == ""
                is_last = before > in_all - before - here
                if way == "back" or (way == "near" and starts_line and is_last):
                    yield 0, place + start
                elif ends_line and not _is_blotted_out([line for _, line in lines[at + 1 : at + 1 + _LOOKED_AHEAD]]):
                    yield place + len(line), len(text)
        before += here


def _letters(text: str) -> int:
    return len(text) - text.count(_GONE) - text.count(" ") - text.count("\n")


_Step: TypeAlias = Callable[[str], Iterator[Span]]
_BY_MARKS: tuple[_Step, ...] = (_find_tagged, _find_quotations, _find_fences, _find_quoted_lines)
_BY_WORDS: tuple[_Step, ...] = (_find_mails_and_chats, _find_announced, _find_asked_about)
