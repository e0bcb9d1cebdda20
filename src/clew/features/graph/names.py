"""Where a text names something: paths, repositories, packages, identifiers, tools, people, links, proper names.

Packages are tools, and so are the pages of package registries. Identifiers, error classes and ticket numbers are
concepts. The address of a repository on a code host is a repo, an address that ends in a file is that file, and any
other is the concept of its host. A name in a wiki link is a concept unless it is known as something else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from clew.features.graph import patterns
from clew.features.graph.words import (
    AMBIGUOUS_ALIASES,
    CODE_HOSTS,
    FRAMEWORK_WORDS,
    GENERIC,
    GIVEN_NAMES,
    ONLY_CAPITALISED,
    OPENERS,
    PACKAGE_STEPS,
    PROJECT_QUALIFIERS,
    TOOLS,
    is_ordinary,
)
from clew.text.entities import EntityKind, canonical, tidy

MAX_CHARS = 12_000
"""Of a text. What names more than a record may name in so many characters is a list, and its rest adds nothing."""

MAX_SPANS = 200
_MAX_WORDS = 4
_LEAST_CHARS = 3

_FENCE_LINE = re.compile(r"^[ \t]{0,12}(?:```|~~~)[^\n]{0,80}$", re.MULTILINE)
_IDENTIFIER = re.compile(r"(?=[A-Za-z_][\w.-]{2,60}(?:\(\))?\Z)(?=.{0,60}(?:[_.()]|[a-z][A-Z]|[a-z]-[a-z]))")
_SHOUTED = re.compile(r"[A-Z]{6,}\Z")
_NO_FILES = frozenset({"process.env", "import.meta.env"})
_STANDARD_MODULES = frozenset("os sys re io json time math typing pathlib logging collections dataclasses abc".split())


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A part of a text that names something."""

    start: int
    end: int
    kind: EntityKind
    title: str


def names_in(text: str, *, written: bool = False) -> list[Span]:
    """What a text names, in its order, each part of it once. `written` is for notes, where markup means something."""
    prose = _without_fences(text) if "```" in text or "~~~" in text else text
    taken = _Taken(len(text))
    for find, where in ((_addresses, text), (_files, text), (_packages, text), (_code_spans, prose)):
        taken.add(find(where))
    if written:
        taken.add(_marked_up(prose))
    for find in (_projects, _handles, _people, _identifiers, _tools, _proper_names):
        taken.add(find(prose))
    return sorted(taken.spans)


def traces_in(text: str) -> list[Span]:
    """What the output of a tool names that can be relied on: files and classes of errors."""
    taken = _Taken(len(text))
    taken.add(_files(text))
    taken.add(Span(*found.span(), EntityKind.CONCEPT, found[0]) for found in patterns.ERROR.finditer(text))
    return sorted(taken.spans)


def kind_of_name(title: str) -> tuple[EntityKind, str]:
    """What something of this name most likely is, and how it is written."""
    tool = TOOLS.get(canonical(title))
    if tool is not None:
        return EntityKind.TOOL, tool
    for find in (_addresses, _files):
        found = next((span for span in find(title.strip()) if span.end - span.start == len(title.strip())), None)
        if found is not None:
            return found.kind, found.title
    return EntityKind.CONCEPT, title


def is_generic(title: str) -> bool:
    """Whether a name says nothing by itself: nothing but common words, digits or marks."""
    words = canonical(title).split()
    return not words or all(word in GENERIC or not any(char.isalpha() for char in word) for word in words)


def project_named(title: str) -> str | None:
    """The project of this name, without the words that only say which one is meant; None where no name is left."""
    words = title.split()
    while words and words[0].casefold() in PROJECT_QUALIFIERS:
        del words[0]
    name = " ".join(words)
    return None if is_generic(name) or name.casefold() in TOOLS else name


def called_a_project(text: str) -> Iterator[Span]:
    """What a text says to be a project."""
    for found in patterns.CALLED_A_PROJECT.finditer(text) if " project" in text else ():
        name = project_named(found[1])
        if name is not None:
            yield Span(found.end(1) - len(name), found.end(1), EntityKind.PROJECT, name)


class _Taken:
    """The spans so far; a later one gives way where it would overlap."""

    def __init__(self, length: int) -> None:
        self.spans: list[Span] = []
        self._mask = bytearray(length)

    def add(self, spans: Iterator[Span]) -> None:
        for span in spans:
            if len(self.spans) == MAX_SPANS:
                return
            if not any(self._mask[span.start : span.end]):
                self._mask[span.start : span.end] = b"\x01" * (span.end - span.start)
                self.spans.append(span)


def _without_fences(text: str) -> str:
    """The text with blocks of code blanked: what they hold is code, and names its parts by the dozen."""
    marks = [found.span() for found in _FENCE_LINE.finditer(text)]
    for (start, _), (_, end) in zip(marks[::2], marks[1::2], strict=False):
        text = f"{text[:start]}{' ' * (end - start)}{text[end:]}"
    return text


def _addresses(text: str) -> Iterator[Span]:
    if "://" not in text and "git@" not in text:  # as in most texts; what follows takes far longer than this
        return
    for found in patterns.URL.finditer(text):
        host, path = found[1].lower().removeprefix("www."), found[2].rstrip(".,;:!?").strip("/")
        yield Span(*found.span(), *_addressed(host, path.partition("?")[0].partition("#")[0]))
    for found in patterns.GIT_REMOTE.finditer(text):
        yield Span(*found.span(), EntityKind.REPO, found[2].removesuffix(".git"))


def _addressed(host: str, path: str) -> tuple[EntityKind, str]:
    steps = path.split("/")
    if host in CODE_HOSTS and len(steps) > 1:
        return EntityKind.REPO, "/".join(steps[:2]).removesuffix(".git")
    if steps[0] in PACKAGE_STEPS and len(steps) > 1:
        return EntityKind.TOOL, TOOLS.get(steps[1].casefold(), steps[1])
    is_file = patterns.FILE.fullmatch(steps[-1]) is not None
    return (EntityKind.FILE, f"{host}/{path}") if is_file else (EntityKind.CONCEPT, host)


def _files(text: str) -> Iterator[Span]:
    if not patterns.FILE_ENDING.search(text):
        return
    for found in patterns.FILE.finditer(text):
        tool = TOOLS.get(found[0].casefold())
        if tool is not None:
            yield Span(*found.span(), EntityKind.TOOL, tool)
        elif found[0] not in _NO_FILES:
            yield Span(*found.span(), EntityKind.FILE, plain_path(found[0]))


def plain_path(path: str) -> str:
    """A path without the steps that only say where it starts."""
    while path.startswith(("./", "../")):
        path = path.partition("/")[2]
    return path


def _packages(text: str) -> Iterator[Span]:
    if not any(sign in text for sign in ("install ", "add ", "import ")):
        return
    for found in (*patterns.INSTALLED.finditer(text), *patterns.IMPORTED.finditer(text)):
        place = found.lastindex or 1
        name = found[place].rstrip(".")
        if name not in _STANDARD_MODULES:
            yield Span(*found.span(place), EntityKind.TOOL, TOOLS.get(name.casefold(), name))


def _code_spans(text: str) -> Iterator[Span]:
    for found in patterns.CODE_SPAN.finditer(text) if "`" in text else ():
        kind, title = kind_of_name(found[1])
        if kind is not EntityKind.CONCEPT or (_IDENTIFIER.match(found[1]) and not is_generic(found[1])):
            yield Span(*found.span(), kind, title.removesuffix("()"))


def _marked_up(text: str) -> Iterator[Span]:
    for pattern in (patterns.WIKI_LINK, patterns.BOLD, patterns.HASHTAG):
        for found in pattern.finditer(text):
            title = tidy(found[1])
            says_nothing = is_generic(title) or (pattern is patterns.BOLD and is_ordinary(title))
            if not says_nothing and len(title.split()) <= _MAX_WORDS:
                yield Span(*found.span(), *kind_of_name(title))


def _projects(text: str) -> Iterator[Span]:
    yield from called_a_project(text)
    for found in patterns.PROJECT.finditer(text) if "roject" in text else ():
        name = project_named(found[1] or found[2])
        if name is not None:
            yield Span(*found.span(), EntityKind.PROJECT, name)


def _handles(text: str) -> Iterator[Span]:
    for found in patterns.HANDLE.finditer(text) if "@" in text else ():
        if found[1] not in FRAMEWORK_WORDS:
            yield Span(*found.span(), EntityKind.PERSON, found[1])


def _people(text: str) -> Iterator[Span]:
    if patterns.PERSON_CUES.isdisjoint(text.lower().split()):
        return
    for found in patterns.PERSON.finditer(text):
        title = found[1] or found[2]
        place = 1 if found[1] else 2
        if not _has_generic(title) and title.casefold() not in TOOLS:
            yield Span(*found.span(place), EntityKind.PERSON, title)


def _identifiers(text: str) -> Iterator[Span]:
    for found in patterns.IDENTIFIER.finditer(text) if patterns.CODE_SIGN.search(text) else ():
        tool = TOOLS.get(found[0].casefold())
        if tool is not None or not is_generic(found[0]):
            yield Span(*found.span(), EntityKind.CONCEPT if tool is None else EntityKind.TOOL, tool or found[0])


def _tools(text: str) -> Iterator[Span]:
    words = {word.rstrip(".-") for word in patterns.WORD.findall(text.lower())}
    for found in patterns.WORD.finditer(text) if not words.isdisjoint(TOOLS) else ():
        word = found[0].rstrip(".-")
        name = word.casefold()
        if (
            name in TOOLS
            and name not in AMBIGUOUS_ALIASES
            and (name not in ONLY_CAPITALISED or _is_a_name(text, found))
        ):
            yield Span(found.start(), found.start() + len(word), EntityKind.TOOL, TOOLS[name])


def _is_a_name(text: str, found: re.Match[str]) -> bool:
    """Whether a word is written as a name: with a capital that no sentence's beginning explains, or before a verb."""
    if not found[0][0].isupper():
        return False
    before = text[max(found.start() - 2, 0) : found.start()]
    is_inside = bool(before.strip()) and before[0] not in ".!?\n"
    return is_inside or _precedes_verb(text, found.end())


def _proper_names(text: str) -> Iterator[Span]:
    for pattern in (patterns.PROPER, patterns.OPENING):
        for found in pattern.finditer(text):
            title = _without_openers(found[0])
            if len(title) < _LEAST_CHARS or is_generic(title) or _SHOUTED.match(title):
                continue
            if pattern is patterns.PROPER or _opens_with_a_name(text, title, found.end()):
                is_person = title.split()[0].casefold() in GIVEN_NAMES
                kind, name = (EntityKind.PERSON, title) if is_person else kind_of_name(title)
                if kind is EntityKind.CONCEPT and is_ordinary(title):
                    continue
                yield Span(found.end() - len(title), found.end(), kind, name)


def _without_openers(title: str) -> str:
    """Without the common words that a name may follow: `The Atlas` is about Atlas."""
    words = title.split()
    while words and words[0].casefold() in OPENERS:
        del words[0]
    return "" if words and words[-1].casefold() in GENERIC else " ".join(words)


def _precedes_verb(text: str, end: int) -> bool:
    return patterns.VERB.match(text, end + 1) is not None


def _opens_with_a_name(text: str, title: str, end: int) -> bool:
    """What opens a sentence has a capital in any case; two names in a row, an acronym, or a verb behind tell."""
    return (
        " " in title
        or title.casefold() in GIVEN_NAMES
        or (title.isupper() and title.isalpha())
        or _precedes_verb(text, end)
    )


def _has_generic(title: str) -> bool:
    return any(word.casefold() in GENERIC for word in title.split())
