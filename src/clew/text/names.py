"""Finds what a text names: files, repositories, packages, identifiers, tools, projects, people, links, proper names.

Every pattern takes time linear in the length of the text. A missed name leaves a gap that other records may close; a
word that is no name joins everything with everything. So a capital alone makes no name of common words, of words with
the ending of a participle or an adverb, or of a word in capitals throughout.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from clew.text.entities import EntityKind, canonical, tidy

MAX_CHARS = 12_000
"""Of a text. A record names only so many entities; a text that names more in so many characters is a list."""

MAX_SPANS = 200
_MAX_WORDS = 4
_LEAST_CHARS = 3

_TITLES = """Python, JavaScript, TypeScript, Node.js, Next.js, Django, Flask, FastAPI, Postgres, PostgreSQL, MySQL,
MariaDB, SQLite, DuckDB, MongoDB, Redis, Memcached, Elasticsearch, Kafka, RabbitMQ, MQTT, Celery, Airflow, Docker,
Kubernetes, Terraform, Ansible, Nginx, Grafana, Prometheus, GitHub, GitLab, Jenkins, NumPy, Pandas, Polars, PyTorch,
TensorFlow, OpenCV, Ollama, ChatGPT, Claude, Raspberry Pi, Home Assistant, Arduino, Zigbee, Obsidian, LaTeX,
Pandoc, pytest"""
TOOLS = {title.casefold(): title for title in _TITLES.replace("\n", " ").split(", ")}
"""Tools that many people write about: the name in lower case, and how it is written."""

_GENERIC = frozenset(
    """a about after again all also although an and another answer any app april are as ask at august background be
    because before best better big both but by call can caution change changes client code command comment
    comments conclusion config content contents context current data date dear december default description
    design detail details did do docs does done each error every example existing few file final first fix fixes
    for former friday from further future general get go goal good great group has have he hello help her here
    hey hi his history hobby home how however i i'd i'll i'm i've idea if important in info input internal
    introduction is issue it it's its january july june just keep large last later let let's like link list
    little log look main make many march may maybe message monday more most my name need new next no none not
    note november now october of ok okay old on one only open option options or original other our output
    overview own part path people personal pet plan please private problem progress project put question read
    readme reason reference references related release result review right rule run same sample saturday scope
    second section see september she should show side similar since single small so solution some something
    source start status step still summary sunday sure system task team test text thank that that's the their
    them then there these they thing this those though thursday time title to today todo tomorrow tool topic
    tuesday two type update us usage use user using version very wait warning we wednesday week weekend well what
    what's when where which while who whole why will with without work would wow yeah year yes
    yesterday you your""".split()
)
"""Words that open sentences, head sections or say which one is meant, and name nothing by themselves."""

_ORDINARY_ENDING = re.compile(r"[a-z]{2,}(?:ed|ing|ly|[ai]ble|tions?|ness|ments?|ful|less|ive|ize)")
_CODE_HOSTS = frozenset({"github.com", "gitlab.com", "codeberg.org", "bitbucket.org", "git.sr.ht"})
_ENDINGS = (
    r"(?:py|pyi|ipynb|jsx?|tsx?|mjs|cjs|go|rs|c|h|cc|cpp|hpp|cs|java|kt|swift|rb|php|pl|lua|sh|bash|zsh|ps1|sql|html"
    r"|s?css|vue|jsonl?|ya?ml|toml|ini|cfg|conf|xml|csv|md|mdx|rst|txt|log|lock|tf|proto|gradle|db|sqlite|pdf|png"
    r"|svg|onnx|parquet|service|plist)"
)
_FENCE_LINE = re.compile(r"^[ \t]{0,12}(?:```|~~~)[^\n]{0,80}$", re.MULTILINE)
_URL = re.compile(r"\bhttps?://([^\s/<>\"'`)\]]{1,100})/?([^\s<>\"'`)\]?#]{0,300})[^\s<>\"'`)\]]{0,300}")
_GIT_REMOTE = re.compile(r"\bgit@[\w.-]{3,60}:([\w.-]{1,60}/[\w.-]{1,80})")
_FILE = re.compile(
    r"(?<![\w./:\\~@+-])(?:~/|\.{1,2}/|/)?"
    rf"(?:[\w.@+-]{{1,64}}/){{0,12}}[\w.@+-]{{1,64}}\.{_ENDINGS}(?![\w(/-])"
    r"|(?<![\w./-])(?:Dockerfile|Makefile)\b"
)
_FILE_ENDING = re.compile(rf"\.{_ENDINGS}\b|(?:Docker|Make)file\b")
_INSTALLED = re.compile(
    r"\b(?:pip3?|pipx|uv|npm|pnpm|yarn|cargo|brew|gem|poetry|conda|apt|apt-get) (?:install|add) "
    r"(?:-{1,2}[\w-]{1,20} ){0,3}([@A-Za-z][\w.@/-]{1,60})"
)
_IDENTIFIER = re.compile(
    r"(?<![\w.$/-])(?:"
    r"[A-Z][a-z0-9]{1,30}(?:[A-Z][a-z0-9]{1,30}){1,6}"
    r"|[a-z][a-z0-9]{1,30}(?:_[a-z0-9]{1,30}){1,6}"
    r"|[A-Z][A-Z0-9]{1,30}(?:_[A-Z0-9]{1,30}){1,6}"
    r"|[a-z]\w{1,40}(?:\.\w{1,40}){0,4}(?=\(\))"
    r"|[A-Z]{2,8}-\d{1,6})(?![\w/-])"
)
_ERROR = re.compile(r"(?<![\w.])[A-Z]\w{2,60}(?:Error|Exception)(?!\w)")
_WORD = re.compile(r"[A-Za-z][\w.+#-]{1,30}")
_HANDLE = re.compile(r"(?<![\w@./`])@(?!property|staticmethod|classmethod|dataclass)([A-Za-z][\w-]{2,38})(?![\w/.(-])")
_PERSON_NAME = r"([A-Z][a-zà-ÿ]{1,20}(?:[ -][A-Z][a-zà-ÿ]{1,20})?)"
_PERSON = re.compile(
    r"\b(?:(?:[Cc]olleague|[Bb]oss|[Ff]riend|[Ww]ife|[Hh]usband|[Ss]ister|[Bb]rother|[Dd]r\.|[Mm]rs?\.|[Mm]s\."
    r"|[Aa]sk(?:ed)?|[Tt]old|(?:[Mm]et|[Mm]eeting|[Ss]poke|[Cc]all) with|[Tt]alked to|[Aa]ccording to"
    rf"|(?:[Rr]eviewed|[Oo]wned) by|[Aa]ssigned to) {_PERSON_NAME}"
    rf"|{_PERSON_NAME} (?:said|says|told|asked|suggested|thinks|wants|prefers|wrote|mentioned|agreed|reviewed))\b"
)
_PROPER = re.compile(r"(?<=[a-z0-9,)] )[A-Z][A-Za-z0-9+-]{1,30}(?: [A-Z][A-Za-z0-9+-]{1,30}){0,3}(?![\w(])")
_OPENING = re.compile(
    r"(?:^|(?<=[.!?] )|(?<=[-*] ))[A-Z][A-Za-z0-9+-]{0,30}(?: [A-Z][A-Za-z0-9+-]{1,30}){0,3}(?![\w(])", re.MULTILINE
)
_MARKED_UP = re.compile(
    r"\*\*(?P<bold>[^*\n]{2,60})\*\*|\[\[(?P<link>[^\]|\n]{1,80})(?:\|[^\]\n]{0,80})?\]\]"
    r"|(?<![\w&/#])#(?P<tag>[A-Za-z][\w-]{2,30})\b"
)
_PROJECT = re.compile(r"\b[Pp]roject ([A-Z][\w-]{1,30})\b|\b([A-Z][\w-]{1,30}) (?:project|Project)\b")
_CALLED_A_PROJECT = re.compile(
    r"\b([A-Z][\w-]{1,30}(?: [A-Z][\w-]{1,30}){0,2}) is (?:an?|my|our|the) (?:[\w'-]{1,20} ){0,3}project\b"
)

VERB = re.compile(
    r"\b(?:"
    r"(?P<uses>uses?|using|built (?:on|with)|runs? on|running on|powered by|written in|based on|depends? on"
    r"|depending on|rel(?:y|ies) on|requires?|needs|imports|deployed (?:on|to|with)"
    r"|stor(?:es?|ed|ing) (?:\w{1,20} ){0,3}in|integrates? with|backed by)"
    r"|(?P<blocked_by>(?:blocked|stuck|held up|waiting) (?:by|on|for|until))"
    r"|(?P<blocks>blocks|is blocking)"
    r"|(?P<evaluates>compar(?:es?|ed|ing)(?: (?:with|to|against))?|evaluat(?:es?|ed|ing)|benchmark(?:s|ed|ing)?"
    r"|versus|vs\.?|considering|prototyp(?:ed|ing) with|tr(?:ied|ying) out)"
    r"|(?P<decides>decided (?:to (?:use|adopt|keep|try|go with|move to|switch to|drop)|on|for|against)|chose|picked"
    r"|settled on|went with|going with|switched to|switching to|migrat(?:ed|ing) to|moved to|adopted)"
    r")\b"
)
"""Words that say how the name before them is joined with the name behind them, in lower case."""


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
    for find in (_addresses, _files, _packages):
        taken.add(find(text))
    if written:
        taken.add(_marked_up(prose))
    for find in (_projects, _people, _identifiers, _tools, _proper_names):
        taken.add(find(prose))
    return sorted(taken.spans)


def traces_in(text: str) -> list[Span]:
    """What the output of a tool names reliably: files and classes of errors."""
    taken = _Taken(len(text))
    taken.add(_files(text))
    taken.add(Span(*found.span(), EntityKind.CONCEPT, found[0]) for found in _ERROR.finditer(text))
    return sorted(taken.spans)


def kind_of_name(title: str) -> tuple[EntityKind, str]:
    """What something of this name most likely is, and how it is written."""
    tool = TOOLS.get(canonical(title))
    if tool is not None:
        return EntityKind.TOOL, tool
    title = title.strip()
    spans = (span for find in (_addresses, _files) for span in find(title) if span.end - span.start == len(title))
    found = next(spans, None)
    return (EntityKind.CONCEPT, title) if found is None else (found.kind, found.title)


def is_generic(title: str) -> bool:
    """Whether a name says nothing by itself: nothing but common words, digits or marks."""
    words = canonical(title).split()
    return all(_is_common(word) or not any(char.isalpha() for char in word) for word in words)


def _is_common(word: str) -> bool:
    return word in _GENERIC or word.removesuffix("s") in _GENERIC


def is_ordinary(title: str) -> bool:
    """Whether only its capital could make a title a name: each of its words is common or has an ordinary ending."""
    return all(_is_common(word) or _ORDINARY_ENDING.fullmatch(word) for word in canonical(title).split())


def project_named(title: str) -> str | None:
    """The project of this name, without the words that only say which one is meant; None where no name is left."""
    name = _without_common_start(title)
    return None if is_generic(name) or name.casefold() in TOOLS else name


def called_a_project(text: str) -> Iterator[Span]:
    """What a text says to be a project."""
    for found in _CALLED_A_PROJECT.finditer(text) if " project" in text else ():
        name = project_named(found[1])
        if name is not None:
            yield Span(found.end(1) - len(name), found.end(1), EntityKind.PROJECT, name)


def plain_path(path: str) -> str:
    """A path without the steps that only say where it starts."""
    while path.startswith(("./", "../")):
        path = path.partition("/")[2]
    return path


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
    """The text with blocks of code blanked: code names its parts by the dozen."""
    marks = [found.span() for found in _FENCE_LINE.finditer(text)]
    for (start, _), (_, end) in zip(marks[::2], marks[1::2], strict=False):
        text = f"{text[:start]}{' ' * (end - start)}{text[end:]}"
    return text


def _addresses(text: str) -> Iterator[Span]:
    for found in _URL.finditer(text) if "://" in text else ():
        host, steps = found[1].lower().removeprefix("www."), found[2].rstrip(".,;:!?").strip("/").split("/")
        is_repo = host in _CODE_HOSTS and len(steps) > 1
        title = "/".join(steps[:2]).removesuffix(".git") if is_repo else host
        yield Span(*found.span(), EntityKind.REPO if is_repo else EntityKind.CONCEPT, title)
    for found in _GIT_REMOTE.finditer(text) if "git@" in text else ():
        yield Span(*found.span(), EntityKind.REPO, found[1].removesuffix(".git"))


def _files(text: str) -> Iterator[Span]:
    for found in _FILE.finditer(text) if _FILE_ENDING.search(text) else ():
        tool = TOOLS.get(found[0].casefold())
        if tool is None:
            yield Span(*found.span(), EntityKind.FILE, plain_path(found[0]))
        else:
            yield Span(*found.span(), EntityKind.TOOL, tool)


def _packages(text: str) -> Iterator[Span]:
    for found in _INSTALLED.finditer(text):
        name = found[1].rstrip(".")
        yield Span(*found.span(1), EntityKind.TOOL, TOOLS.get(name.casefold(), name))


def _marked_up(text: str) -> Iterator[Span]:
    for found in _MARKED_UP.finditer(text):
        title = tidy(found[str(found.lastgroup)])
        says_nothing = is_generic(title) or (found["bold"] and is_ordinary(title))
        if not says_nothing and len(title.split()) <= _MAX_WORDS:
            yield Span(*found.span(), *kind_of_name(title))


def _projects(text: str) -> Iterator[Span]:
    yield from called_a_project(text)
    for found in _PROJECT.finditer(text) if "roject" in text else ():
        name = project_named(found[1] or found[2])
        if name is not None:
            yield Span(*found.span(), EntityKind.PROJECT, name)


def _people(text: str) -> Iterator[Span]:
    for found in _HANDLE.finditer(text) if "@" in text else ():
        yield Span(*found.span(), EntityKind.PERSON, found[1])
    for found in _PERSON.finditer(text):
        place = found.lastindex or 1
        if found[place].casefold() not in TOOLS and not any(map(_is_common, found[place].casefold().split())):
            yield Span(*found.span(place), EntityKind.PERSON, found[place])


def _identifiers(text: str) -> Iterator[Span]:
    for found in _IDENTIFIER.finditer(text):
        if not is_generic(found[0]):
            yield Span(*found.span(), *kind_of_name(found[0]))


def _tools(text: str) -> Iterator[Span]:
    for found in _WORD.finditer(text):
        word = found[0].rstrip(".-")
        if word.casefold() in TOOLS:
            yield Span(found.start(), found.start() + len(word), EntityKind.TOOL, TOOLS[word.casefold()])


def _proper_names(text: str) -> Iterator[Span]:
    for pattern in (_PROPER, _OPENING):
        for found in pattern.finditer(text):
            title = _without_common_start(found[0])
            words = title.split()
            if len(title) < _LEAST_CHARS or title.removesuffix("s").isupper() or _is_common(words[-1].casefold()):
                continue
            kind, name = kind_of_name(title)
            if kind is EntityKind.CONCEPT and is_ordinary(title):
                continue
            # Every first word has a capital: two names in a row or a verb behind it tell that it is one.
            if pattern is _PROPER or len(words) > 1 or VERB.match(text, found.end() + 1):
                yield Span(found.end() - len(title), found.end(), kind, name)


def _without_common_start(title: str) -> str:
    """Without the common words before a name: `The Atlas` is about Atlas."""
    words = title.split()
    while words and _is_common(words[0].casefold()):
        del words[0]
    return " ".join(words)
