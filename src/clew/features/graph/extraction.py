"""Reads off one record which entities it names and how it joins them.

Deterministic, linear in the length of the text, and bounded. A record may have an *anchor*: the project or the note it
belongs to. A sentence that says that something uses, is blocked by, is compared with or was decided for something else
gives an edge of that kind; where it names no subject, the anchor is the subject. The anchor mentions everything that
the record names, and names in one sentence belong together a little.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby, pairwise
from typing import Any

from clew.core.model import Metadata, Provenance, Role
from clew.core.projects import name_of, project_in
from clew.text.calls import speech
from clew.text.entities import EdgeKind, EntityKind, Extract, Joined, Named, canonical, in_order, named
from clew.text.names import (
    MAX_CHARS,
    VERB,
    Span,
    called_a_project,
    is_generic,
    is_ordinary,
    kind_of_name,
    names_in,
    plain_path,
    project_named,
    traces_in,
)
from clew.text.own_text import without_own

RULES_VERSION = 3
"""Goes up with every change to the rules; Clew then reads all records again, once."""

MAX_ENTITIES = 16
MAX_EDGES = 32

_SAID, _BELONGS, _LINKED, _DECIDED, _MENTIONED, _BESIDE, _NEAR = 0.9, 1.0, 0.7, 0.6, 0.5, 0.3, 0.1
"""Weights: an explicit verb, a note of its project, a link, a decision of its anchor, a mention, names in one sentence,
names that follow each other in one text."""

_SPEAKER_MENTIONS = 0.2
_RELIANCE = {Provenance.ASSISTANT_TURN: 0.7, Provenance.MODEL: 0.7, Provenance.TOOL_OUTPUT: 0.3, Provenance.WEB: 0.5}
"""The share of a weight that counts where neither the user nor the operator wrote the text."""

_UNNAMED_FOLDERS = frozenset("app code dev docs home main notes project projects repo root src tmp work".split())
_PROJECT_FOLDERS = frozenset({"projects", "project"})
_ENTRY_PAGES = frozenset({"readme.md", "index.md", "readme"})
_MAX_HEADING_WORDS = 3
_MAX_OBJECT_WORDS = 6
_DECISION_CHARS = 80
_LONGEST_JOINT = 40

_FRONT_MATTER_LINE = re.compile(
    r"^[\"']?([A-Za-z][\w -]{0,30})[\"']?[ \t]{0,8}[:=][ \t]{0,8}([^\n]{0,400})$", re.MULTILINE
)
_LIST_LINE = re.compile(r"^[ \t]{1,8}-[ \t]{1,4}([^\n]{1,120})$", re.MULTILINE)
_PROJECT_HEADING = re.compile(r"^(?:project|projekt)(?:[: –-]{1,4})(.{2,80})$|^(.{2,80}?) project$", re.IGNORECASE)
_SENTENCE_END = re.compile(r"[.!?;](?=\s)|\n")
_INSTEAD = re.compile(r"\b(?:instead of|rather than|in place of|over|not)\b")
"""The names behind these were not chosen."""

_LISTED = re.compile(r"[\s,/&+]{0,4}(?:(?:and|or|plus|also|both|then|the|a|an|our|its)[\s,]{1,3}){0,4}[`*\"']{0,3}\Z")
"""Joins two objects of one verb."""

_DECISION = re.compile(r"\b(?:decided (?:to|on|for|against)|we chose|settled on|went with|decision:)[ ]?")
_NEGATION = re.compile(r"\b(?:not|never|no longer|don't|doesn't|won't|without|stopped|instead of)[^.\n]{0,12}$")

_EDGE_OF_PREDICATE = {
    "uses": EdgeKind.USES,
    "depends_on": EdgeKind.USES,
    "blocked_by": EdgeKind.BLOCKED_BY,
    "evaluates": EdgeKind.EVALUATES,
    "decision": EdgeKind.DECIDES,
}
"""How a fact's predicate joins its subject and object; any other relates them."""


def extract_fact(metadata: Metadata) -> Extract:
    """What an entry in a log of facts says; nothing where it retracts a fact."""
    fact = metadata.get("fact")
    return _of_fact(fact) if isinstance(fact, Mapping) else Extract()


def extract(text: str, metadata: Metadata, provenance: Provenance, role: Role | None) -> Extract:
    """What a record says. Equal extracts have the same order."""
    if provenance is Provenance.SUMMARY or role is Role.SYSTEM:
        return Extract()  # derived, or a host's own words
    gathered = _Gathered(_RELIANCE.get(provenance, 1.0))
    text = without_own(text[:MAX_CHARS])
    if provenance is Provenance.TOOL_OUTPUT or role is Role.TOOL_CALL:
        _read(gathered, text, traces_in(text), _project_of_turn(metadata))
    elif isinstance(metadata.get("source_doc"), str):
        _read_note(gathered, text, metadata)
    else:
        said = speech(text) if role is Role.ASSISTANT else text
        _read(gathered, said, names_in(said), _project_of_turn(metadata))
        if len(said) < len(text):  # files and the like in its calls; their content names nothing
            behind = text[len(said) :]
            _read(gathered, behind, traces_in(behind), _project_of_turn(metadata))
        _add_speaker(gathered, metadata)
    return gathered.extract()


class _Gathered:
    """Entities and edges so far, within their bounds; the stronger of two equal edges counts."""

    def __init__(self, reliance: float) -> None:
        self._reliance = reliance
        self._entities: list[Named] = []
        self._places: dict[tuple[EntityKind, str], int] = {}
        self._edges: dict[tuple[int, int, EdgeKind], float] = {}
        self._pairs: set[frozenset[int]] = set()

    def entity(self, kind: EntityKind, title: str) -> int | None:
        """The place of an entity; None where its name is empty, or there are enough."""
        found = named(kind, title)
        if found is None:
            return None
        place = self._places.get((kind, found.name))
        if place is None and len(self._entities) < MAX_ENTITIES:
            place = self._places[kind, found.name] = len(self._entities)
            self._entities.append(found)
        return place

    def join(self, source: int | None, target: int | None, kind: EdgeKind, weight: float) -> None:
        if source is None or target is None or source == target:
            return
        key = (source, target, kind)
        if key in self._edges or len(self._edges) < MAX_EDGES:
            self._pairs.add(frozenset((source, target)))
            self._edges[key] = max(self._edges.get(key, 0.0), round(weight * self._reliance, 3))

    def join_unless_joined(self, one: int, other: int, kind: EdgeKind, weight: float) -> None:
        """An edge that says more, in either direction, is enough."""
        pair = frozenset((one, other))
        if pair not in self._pairs:
            self.join(one, other, kind, weight)

    @property
    def size(self) -> int:
        return len(self._entities)

    def extract(self) -> Extract:
        return in_order(self._entities, [Joined(*key, weight) for key, weight in self._edges.items()])


# --- facts -------------------------------------------------------------------------------------------


def _of_fact(fact: Mapping[str, Any]) -> Extract:
    subject, predicate, object_ = (fact.get(part) for part in ("subject", "predicate", "object"))
    if not (isinstance(subject, str) and isinstance(predicate, str) and isinstance(object_, str)):
        return Extract()
    if is_generic(subject):  # such as `user`, which everybody is
        return Extract()
    gathered = _Gathered(1.0)
    kind = _EDGE_OF_PREDICATE.get(predicate, EdgeKind.RELATES_TO)
    source = gathered.entity(*kind_of_name(subject))
    if kind is EdgeKind.DECIDES:
        decision = gathered.entity(EntityKind.DECISION, object_)
        gathered.join(source, decision, EdgeKind.DECIDES, _BELONGS)
        for span in names_in(object_[:MAX_CHARS]):
            gathered.join(decision, gathered.entity(span.kind, span.title), EdgeKind.DECIDES, _SAID)
    elif len(object_.split()) <= _MAX_OBJECT_WORDS and not is_generic(object_):
        gathered.join(source, gathered.entity(*kind_of_name(object_)), kind, _BELONGS)
    return gathered.extract()


# --- notes -------------------------------------------------------------------------------------------


def _read_note(gathered: _Gathered, text: str, metadata: Metadata) -> None:
    document = str(metadata["source_doc"])
    heading = _heading(document, metadata)
    is_front_matter = metadata.get("kind") == "front_matter"
    fields = dict(_fields(text)) if is_front_matter else {}
    project = _project_of_note(document, heading, fields) or _project_of_text(text, heading)
    if project is not None:
        gathered.entity(EntityKind.PROJECT, project)
    page = gathered.entity(EntityKind.FILE, document)
    if project is not None:
        gathered.join(page, gathered.entity(EntityKind.PROJECT, project), EdgeKind.RELATES_TO, _BELONGS)
    else:
        for folder in _folders(document)[-1:]:
            gathered.join(page, gathered.entity(*kind_of_name(folder)), EdgeKind.RELATES_TO, _SAID)
    anchor = (EntityKind.FILE, document) if project is None else (EntityKind.PROJECT, project)
    if is_front_matter:
        _read_fields(gathered, fields, gathered.entity(*anchor))
        return
    if heading and len(heading.split()) <= _MAX_HEADING_WORDS and not _says_nothing(heading):
        gathered.join(gathered.entity(*anchor), gathered.entity(*kind_of_name(heading)), EdgeKind.MENTIONS, _MENTIONED)
    _read(gathered, text, names_in(text, written=True), anchor)
    for link in _links(metadata):
        gathered.join(page, gathered.entity(EntityKind.FILE, plain_path(link)), EdgeKind.RELATES_TO, _LINKED)


def _heading(document: str, metadata: Metadata) -> str:
    speaker = metadata.get("speaker")
    return speaker.removeprefix(document).removeprefix(" › ").strip("# ") if isinstance(speaker, str) else ""


def _project_of_note(document: str, heading: str, fields: Mapping[str, Sequence[str]]) -> str | None:
    """The project of a note, where the note or its place names one."""
    steps = [step for step in document.split("/") if step]
    if not steps:
        return None
    stem = steps[-1].rpartition(".")[0] or steps[-1]
    if "project" in (value.casefold().lstrip("#") for field in ("type", "tags") for value in fields.get(field, ())):
        return next(iter(fields.get("title", ()) or fields.get("name", ())), stem)
    if fields.get("project"):
        return fields["project"][0]
    for folder, inside in pairwise(steps):
        if folder.casefold() in _PROJECT_FOLDERS:
            return inside if inside != steps[-1] else stem
    if steps[-1].casefold() in _ENTRY_PAGES and len(steps) > 1 and steps[-2].casefold() not in _UNNAMED_FOLDERS:
        return steps[-2]
    said = _PROJECT_HEADING.match(heading)
    return None if said is None else project_named(said[1] or said[2])


def _project_of_text(text: str, heading: str) -> str | None:
    """The project that a text under its name says to be one."""
    said = (span.title for span in called_a_project(text))
    return next((name for name in said if canonical(name) == canonical(heading)), None)


def _folders(document: str) -> list[str]:
    """The folders of a note that have a name of their own. One may belong to a project; its entry page says so."""
    steps = [step for step in document.split("/")[:-1] if step]
    return [step for step in steps if step.casefold() not in _UNNAMED_FOLDERS and not is_generic(step)]


def _fields(text: str) -> Iterator[tuple[str, list[str]]]:
    """The fields of a front matter, each with its values."""
    lines = list(_FRONT_MATTER_LINE.finditer(text))
    ends = [*(line.start() for line in lines[1:]), len(text)]
    for line, end in zip(lines, ends, strict=False):
        listed = [item[1] for item in _LIST_LINE.finditer(text, line.end(), end)]
        values = listed if not line[2].strip() else line[2].strip().strip("[]").split(",")
        yield (
            line[1].strip().casefold().replace("-", "_"),
            [clean for value in values if (clean := value.strip(" \t'\""))],
        )


_EDGE_OF_FIELD = {
    **dict.fromkeys(("tags", "topics", "keywords"), EdgeKind.MENTIONS),
    **dict.fromkeys(("uses", "tools", "stack", "depends_on"), EdgeKind.USES),
    **dict.fromkeys(("related", "repo", "owner"), EdgeKind.RELATES_TO),
    "blocked_by": EdgeKind.BLOCKED_BY,
}


def _read_fields(gathered: _Gathered, fields: Mapping[str, Sequence[str]], anchor: int | None) -> None:
    for name, values in fields.items():
        for value in values if name in _EDGE_OF_FIELD else ():
            kind, title = kind_of_name(value.strip("#[]"))
            if kind is EntityKind.CONCEPT:
                kind = {"owner": EntityKind.PERSON, "repo": EntityKind.REPO}.get(name, kind)
            if not is_generic(title):
                gathered.join(anchor, gathered.entity(kind, title), _EDGE_OF_FIELD[name], _SAID)


def _says_nothing(heading: str) -> bool:
    return is_ordinary(heading) or any(is_generic(word) for word in heading.split())


def _links(metadata: Metadata) -> list[str]:
    links = metadata.get("hop_targets")
    return [link for link in links if isinstance(link, str)] if isinstance(links, list) else []


# --- turns and other texts ---------------------------------------------------------------------------


def _project_of_turn(metadata: Metadata) -> tuple[EntityKind, str] | None:
    """The project a host says a turn was said in."""
    folder = metadata.get("cwd")
    name = name_of(project_in(metadata))
    if not name and isinstance(folder, str):
        name = folder.rstrip("/").rpartition("/")[2]
    return (EntityKind.PROJECT, name) if len(name) > 2 and name.casefold() not in _UNNAMED_FOLDERS else None


def _add_speaker(gathered: _Gathered, metadata: Metadata) -> None:
    """Lets the speaker mention everything that the text names."""
    speaker, others = metadata.get("speaker"), gathered.size
    if isinstance(speaker, str) and others and not is_generic(speaker):
        person = gathered.entity(EntityKind.PERSON, speaker)
        for place in range(others):
            gathered.join(person, place, EdgeKind.MENTIONS, _SPEAKER_MENTIONS)


def _read(gathered: _Gathered, text: str, spans: Sequence[Span], anchor: tuple[EntityKind, str] | None) -> None:
    """Adds the names of a text, the edges its sentences give, and weak edges between the rest.

    The project of a text counts as named, whatever the text says.
    """
    root = None if anchor is None else gathered.entity(*anchor)
    placed = [(span, gathered.entity(span.kind, span.title)) for span in spans]
    known = [(span, place) for span, place in placed if place is not None]
    ends = [found.end() for found in _SENTENCE_END.finditer(text)]
    for number, named_there in groupby(known, key=lambda item: bisect_right(ends, item[0].start)):
        start = ends[number - 1] if number else 0
        inside = [(_move(span, -start), place) for span, place in named_there]
        _read_sentence(gathered, text[start : ends[number] if number < len(ends) else None], inside, root)
    if root is not None:
        for _, place in known:
            gathered.join_unless_joined(root, place, EdgeKind.MENTIONS, _MENTIONED)
    else:
        for (_, one), (_, other) in pairwise(known):
            gathered.join_unless_joined(one, other, EdgeKind.RELATES_TO, _NEAR)


def _move(span: Span, by: int) -> Span:
    return Span(span.start + by, span.end + by, span.kind, span.title)


def _read_sentence(gathered: _Gathered, sentence: str, names: Sequence[tuple[Span, int]], root: int | None) -> None:
    low = _lower(sentence)
    verbs = [found for found in VERB.finditer(low) if not _inside(found.start(), names)]
    limits = [found.start() for found in (*verbs[1:], *_INSTEAD.finditer(low))] if verbs else []
    for verb in verbs:
        if _NEGATION.search(low, max(verb.start() - 24, 0), verb.start()):
            continue
        limit = min((limit for limit in limits if limit >= verb.end()), default=len(sentence))
        before = [place for span, place in names if span.end <= verb.start()]
        after = _take_list(sentence, [(span, place) for span, place in names if verb.end() <= span.start < limit])
        _join_by_verb(gathered, str(verb.lastgroup), before[-1] if before else root, after)
    decision = _DECISION.search(low)
    if decision is not None:
        instead = _INSTEAD.search(low, decision.end())
        limit = len(sentence) if instead is None else instead.start()
        objects = _take_list(sentence, [(span, place) for span, place in names if decision.end() <= span.start < limit])
        _add_decision(gathered, sentence[decision.start() :], objects, root)
    for (_, one), (_, other) in pairwise(names):
        gathered.join_unless_joined(one, other, EdgeKind.RELATES_TO, _BESIDE)


def _lower(sentence: str) -> str:
    """The sentence in lower case. A few letters become two; then it stays unchanged, so that places still fit."""
    low = sentence.lower()
    return low if len(low) == len(sentence) else sentence


def _take_list(sentence: str, names: Sequence[tuple[Span, int]]) -> list[int]:
    """The first of the names, and those that follow it in one list with it."""
    listed = [place for _, place in names[:1]]
    for (one, _), (other, place) in pairwise(names):
        if not _LISTED.match(sentence[one.end : min(other.start, one.end + _LONGEST_JOINT)]):
            break
        listed.append(place)
    return listed


def _inside(place: int, names: Iterable[tuple[Span, int]]) -> bool:
    return any(span.start <= place < span.end for span, _ in names)


def _join_by_verb(gathered: _Gathered, verb: str, subject: int | None, objects: Sequence[int]) -> None:
    kind = EdgeKind.BLOCKED_BY if verb == "blocks" else EdgeKind(verb)
    for object_ in objects:
        source, target = (object_, subject) if verb == "blocks" else (subject, object_)
        gathered.join(source, target, kind, _SAID)


def _add_decision(gathered: _Gathered, clause: str, objects: Sequence[int], root: int | None) -> None:
    """Names a decision by its own words; skips one about nothing that has a name."""
    if not objects:
        return
    cut = clause if len(clause) <= _DECISION_CHARS else clause[:_DECISION_CHARS].rpartition(" ")[0]
    decision = gathered.entity(EntityKind.DECISION, cut)
    for object_ in objects:
        gathered.join(decision, object_, EdgeKind.DECIDES, _SAID)
    gathered.join(root, decision, EdgeKind.RELATES_TO, _DECIDED)
