"""What one record says about entities and how they are joined, read off its text and its metadata.

Deterministic, linear in the length of the text, and bounded. A record may have an *anchor*: the project it belongs to,
or the note it stands in. A sentence that says that something uses, is blocked by, is compared with or was decided for
something else gives an edge of that kind; where it names no subject, the anchor is the subject. What a record names is
mentioned by its anchor, and names that stand in one sentence belong together a little.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from clew.core.model import Metadata, Provenance, Role
from clew.features.graph import patterns
from clew.features.graph.names import (
    MAX_CHARS,
    Span,
    called_a_project,
    is_generic,
    kind_of_name,
    names_in,
    plain_path,
    project_named,
    traces_in,
)
from clew.features.graph.words import is_ordinary
from clew.text.entities import EdgeKind, EntityKind, Extract, Joined, Named, canonical, in_order, named
from clew.text.own_text import without_own

RULES_VERSION = 1
"""Goes up whenever some record would be read in another way: then every record is read again, once."""

MAX_ENTITIES = 16
MAX_EDGES = 32

_SAID, _BELONGS, _LINKED, _DECIDED, _MENTIONED, _BESIDE, _NEAR = 0.9, 1.0, 0.7, 0.6, 0.5, 0.3, 0.1
"""Weights: an explicit verb, a note of its project, a link, a decision of its anchor, a mention, names in one sentence,
names that follow each other in one text."""

_SPEAKER_MENTIONS = 0.2
_RELIANCE = {Provenance.ASSISTANT_TURN: 0.7, Provenance.TOOL_OUTPUT: 0.3, Provenance.WEB: 0.5}
"""What is left of a weight where the text is not of the user or the operator."""

_UNNAMED_FOLDERS = frozenset("app code dev docs home main notes project projects repo root src tmp work".split())
_PROJECT_FOLDERS = frozenset({"projects", "project"})
_ENTRY_PAGES = frozenset({"readme.md", "index.md", "readme"})
_MAX_HEADING_WORDS = 3
_MAX_OBJECT_WORDS = 6
_DECISION_CHARS = 80
_LONGEST_JOINT = 40


def extract_fact(metadata: Metadata) -> Extract:
    """What an entry of a log of facts says; nothing where it takes one back."""
    fact = metadata.get("fact")
    return _of_fact(fact) if isinstance(fact, Mapping) else Extract()


def extract(text: str, metadata: Metadata, provenance: Provenance, role: Role | None) -> Extract:
    """What a record says, in the one order that equal extracts have."""
    if provenance is Provenance.SUMMARY or role is Role.SYSTEM:
        return Extract()  # derived, or a host's own words
    gathered = _Gathered(_RELIANCE.get(provenance, 1.0))
    text = without_own(text[:MAX_CHARS])
    if provenance is Provenance.TOOL_OUTPUT or role is Role.TOOL_CALL:
        _read(gathered, text, traces_in(text), _project_of_turn(metadata))
    elif isinstance(metadata.get("source_doc"), str):
        _read_note(gathered, text, metadata)
    else:
        _read(gathered, text, names_in(text), _project_of_turn(metadata))
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
        """The place of an entity; None where its name is none, or there are enough."""
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
        """What says more of the two, in either direction, is enough."""
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
    kind = patterns.EDGE_OF_PREDICATE.get(predicate, EdgeKind.RELATES_TO)
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
    """The project a note is about, where it or its place says that it is about one."""
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
    said = patterns.PROJECT_HEADING.match(heading)
    return None if said is None else project_named(said[1] or said[2])


def _project_of_text(text: str, heading: str) -> str | None:
    """The project that a text under its name says to be one."""
    said = (span.title for span in called_a_project(text))
    return next((name for name in said if canonical(name) == canonical(heading)), None)


def _folders(document: str) -> list[str]:
    """The folders of a note that have a name of their own. One may be a project's: its entry page says so, if any."""
    steps = [step for step in document.split("/")[:-1] if step]
    return [step for step in steps if step.casefold() not in _UNNAMED_FOLDERS and not is_generic(step)]


def _fields(text: str) -> Iterator[tuple[str, list[str]]]:
    """The entries of a front matter, by name, each with its values."""
    lines = list(patterns.FRONT_MATTER_LINE.finditer(text))
    ends = [*(line.start() for line in lines[1:]), len(text)]
    for line, end in zip(lines, ends, strict=False):
        listed = [item[1] for item in patterns.LIST_LINE.finditer(text, line.end(), end)]
        values = listed if not line[2].strip() else line[2].strip().strip("[]").split(",")
        yield (
            line[1].strip().casefold().replace("-", "_"),
            [clean for value in values if (clean := value.strip(" \t'\""))],
        )


_EDGE_OF_FIELD = {
    "tags": EdgeKind.MENTIONS,
    "topics": EdgeKind.MENTIONS,
    "keywords": EdgeKind.MENTIONS,
    "uses": EdgeKind.USES,
    "tools": EdgeKind.USES,
    "stack": EdgeKind.USES,
    "depends_on": EdgeKind.USES,
    "blocked_by": EdgeKind.BLOCKED_BY,
    "related": EdgeKind.RELATES_TO,
    "repo": EdgeKind.RELATES_TO,
    "owner": EdgeKind.RELATES_TO,
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
    project, folder = metadata.get("project"), metadata.get("cwd")
    name = project if isinstance(project, str) and project.strip() else ""
    if not name and isinstance(folder, str):
        name = folder.rstrip("/").rpartition("/")[2]
    return (EntityKind.PROJECT, name) if len(name) > 2 and name.casefold() not in _UNNAMED_FOLDERS else None


def _add_speaker(gathered: _Gathered, metadata: Metadata) -> None:
    """Who said something mentions what they named; with nothing named, there is nothing to say."""
    speaker, others = metadata.get("speaker"), gathered.size
    if isinstance(speaker, str) and others and not is_generic(speaker):
        person = gathered.entity(EntityKind.PERSON, speaker)
        for place in range(others):
            gathered.join(person, place, EdgeKind.MENTIONS, _SPEAKER_MENTIONS)


def _read(gathered: _Gathered, text: str, spans: Sequence[Span], anchor: tuple[EntityKind, str] | None) -> None:
    """The names of a text, what its sentences say of them, and what holds the rest together.

    A text that names nothing belongs to its project all the same.
    """
    root = None if anchor is None else gathered.entity(*anchor)
    placed = [(span, gathered.entity(span.kind, span.title)) for span in spans]
    known = [(span, place) for span, place in placed if place is not None]
    for sentence, start, end in _sentences(text, [span for span, _ in known]):
        inside = [(span, place) for span, place in known if start <= span.start < end]
        _read_sentence(gathered, sentence, [(_moved(span, -start), place) for span, place in inside], root)
    if root is not None:
        for _, place in known:
            gathered.join_unless_joined(root, place, EdgeKind.MENTIONS, _MENTIONED)
    else:
        for (_, one), (_, other) in pairwise(known):
            gathered.join_unless_joined(one, other, EdgeKind.RELATES_TO, _NEAR)


def _sentences(text: str, spans: Sequence[Span]) -> Iterator[tuple[str, int, int]]:
    """The sentences that name something; a mark inside a name ends none."""
    ends = [found.end() for found in patterns.SENTENCE_END.finditer(text)]
    starts = sorted({0, *ends})
    wanted = sorted({starts[bisect_right(starts, span.start) - 1] for span in spans})
    for start in wanted:
        place = bisect_right(starts, start)
        end = starts[place] if place < len(starts) else len(text)
        yield text[start:end], start, end


def _moved(span: Span, by: int) -> Span:
    return Span(span.start + by, span.end + by, span.kind, span.title)


def _read_sentence(gathered: _Gathered, sentence: str, names: Sequence[tuple[Span, int]], root: int | None) -> None:
    low = _lowered(sentence)
    verbs = [found for found in patterns.VERB.finditer(low) if not _inside(found.start(), names)]
    limits = [found.start() for found in (*verbs[1:], *patterns.INSTEAD.finditer(low))] if verbs else []
    for verb in verbs:
        if patterns.NEGATION.search(low, max(verb.start() - 24, 0), verb.start()):
            continue
        limit = min((limit for limit in limits if limit >= verb.end()), default=len(sentence))
        before = [place for span, place in names if span.end <= verb.start()]
        after = _listed(sentence, [(span, place) for span, place in names if verb.end() <= span.start < limit])
        _join_by_verb(gathered, str(verb.lastgroup), before[-1] if before else root, after)
    decision = patterns.DECISION.search(low)
    if decision is not None:
        instead = patterns.INSTEAD.search(low, decision.end())
        limit = len(sentence) if instead is None else instead.start()
        objects = _listed(sentence, [(span, place) for span, place in names if decision.end() <= span.start < limit])
        _add_decision(gathered, sentence[decision.start() :], objects, root)
    for (_, one), (_, other) in pairwise(names):
        gathered.join_unless_joined(one, other, EdgeKind.RELATES_TO, _BESIDE)


def _lowered(sentence: str) -> str:
    """In lower case, letter for letter; a few letters become two, and then the sentence stays as it is."""
    low = sentence.lower()
    return low if len(low) == len(sentence) else sentence


def _listed(sentence: str, names: Sequence[tuple[Span, int]]) -> list[int]:
    """The first of the names, and those that follow it in one list with it."""
    listed = [place for _, place in names[:1]]
    for (one, _), (other, place) in pairwise(names):
        if not patterns.LISTED.match(sentence[one.end : min(other.start, one.end + _LONGEST_JOINT)]):
            break
        listed.append(place)
    return listed


def _inside(place: int, names: Iterable[tuple[Span, int]]) -> bool:
    return any(span.start <= place < span.end for span, _ in names)


def _join_by_verb(gathered: _Gathered, verb: str, subject: int | None, objects: Sequence[int]) -> None:
    for object_ in objects:
        source, target = (object_, subject) if verb == "blocks" else (subject, object_)
        gathered.join(source, target, patterns.EDGE_OF_VERB[verb], _SAID)


def _add_decision(gathered: _Gathered, clause: str, objects: Sequence[int], root: int | None) -> None:
    """A decision is named by the words it was told in; one that is about nothing that has a name is left out."""
    if not objects:
        return
    cut = clause if len(clause) <= _DECISION_CHARS else clause[:_DECISION_CHARS].rpartition(" ")[0]
    decision = gathered.entity(EntityKind.DECISION, cut)
    for object_ in objects:
        gathered.join(decision, object_, EdgeKind.DECIDES, _SAID)
    gathered.join(root, decision, EdgeKind.RELATES_TO, _DECIDED)
