"""What Clew extracts from one record: names, the edges between them, and what it ignores."""

from __future__ import annotations

from typing import Any, cast

import pytest

from clew.core.model import Provenance, Role
from clew.features.graph.extraction import MAX_EDGES, MAX_ENTITIES, extract, extract_fact
from clew.features.graph.view import GraphView
from clew.features.graph.walk import named_in
from clew.text.entities import EdgeKind, Extract, canonical, owner_of_record

pytestmark = pytest.mark.requirement("GRAPH-1")


def extract_turn(text: str, **metadata: Any) -> Extract:
    return extract(text, metadata, Provenance.USER_TURN, Role.USER)


def extract_note(text: str, document: str, *, heading: str = "", kind: str = "paragraph", **metadata: Any) -> Extract:
    speaker = f"{document} › {heading}" if heading else document
    about = {"source_doc": document, "speaker": speaker, "kind": kind, **metadata}
    return extract(text, about, Provenance.NOTE, None)


def named(found: Extract) -> set[str]:
    return {f"{item.kind}:{item.title}" for item in found.entities}


def edges_of(found: Extract) -> set[str]:
    titles = [item.title for item in found.entities]
    return {f"{titles[edge.source]} {edge.kind} {titles[edge.target]}" for edge in found.edges}


@pytest.mark.parametrize(
    ("text", "entity"),
    [
        ("please open src/atlas/worker.py:42 again", "file:src/atlas/worker.py"),
        ("look at ../config/app.toml first", "file:config/app.toml"),
        ("the Dockerfile is broken", "file:Dockerfile"),
        ("see https://github.com/ada/atlas/issues/3 for more", "repo:ada/atlas"),
        ("clone git@gitlab.com:ada/atlas.git now", "repo:ada/atlas"),
        ("read https://docs.example.org/guide/ today", "concept:docs.example.org"),
        ("run pip install -U httpx first", "tool:httpx"),
        ("we read it with polars", "tool:Polars"),
        ("we moved to postgres last year", "tool:Postgres"),
        ("it runs in Node.js only", "tool:Node.js"),
        ("a Raspberry Pi does it", "tool:Raspberry Pi"),
        ("I like that Rust has enums", "concept:Rust"),
        ("call `parse_config()` twice", "concept:parse_config"),
        ("the CollectionIndex is slow", "concept:CollectionIndex"),
        ("set MAX_RETRIES to 3", "concept:MAX_RETRIES"),
        ("it is PROJ-123 again", "concept:PROJ-123"),
        ("thanks @maria-k for it", "person:maria-k"),
        ("I asked Tobias about it", "person:Tobias"),
        ("I met with Maria Lopez in Porto", "person:Maria Lopez"),
        ("for the Harbor project we wait", "project:Harbor"),
        ("Tidewatch is a project which warns of floods", "project:Tidewatch"),
        ("so Moth Garden is my little summer project", "project:Moth Garden"),
        ("My Harbor Project is late", "project:Harbor"),
        ("this is about Blue Harbor again", "concept:Blue Harbor"),
    ],
)
def test_a_name_is_found_with_its_kind(text: str, entity: str) -> None:
    assert entity in named(extract_turn(text))


@pytest.mark.parametrize(
    "text",
    [
        "Rust on the gate made us react, and the spark of it all went slack.",
        "On Monday I will do it. Thanks! Great work. OK.",
        "I think THIS IS REALLY IMPORTANT, please.",
        "The API returns JSON over HTTP with a URL.",
        "import os and then go on; from the start, import it all.",
        "What I like is tea in the morning.",
        "see process.env and e.g. this",
        "that is a REAL problem, NEVER do it; FUCK, the EOF again",
        "Status: Made it, Applied the patch; Fixed: Invalid input, Available soon",
        "Careful uses of it. Rewriting depends on luck.",
        "",
        "\x00\x01 \ud83d",
    ],
)
def test_ordinary_words_are_not_names(text: str) -> None:
    assert named(extract_turn(text)) == set()


@pytest.mark.parametrize(
    ("text", "edge"),
    [
        ("Atlas uses Kafka.", "Atlas uses Kafka"),
        ("Atlas depends on Kafka, Redis and Docker.", "Atlas uses Docker"),
        ("The worker in app/worker.py is blocked by PROJ-7.", "app/worker.py blocked_by PROJ-7"),
        ("Kafka is blocking PROJ-7.", "PROJ-7 blocked_by Kafka"),
        ("We compared Kafka with RabbitMQ.", "Kafka relates_to RabbitMQ"),
        ("Yesterday Atlas switched to Redis.", "Atlas decides Redis"),
        ("Kafka versus RabbitMQ", "Kafka evaluates RabbitMQ"),
    ],
)
def test_a_verb_between_two_names_gives_the_kind_of_edge(text: str, edge: str) -> None:
    assert edge in edges_of(extract_turn(text))


def test_a_verb_does_not_reach_into_another_clause() -> None:
    assert edges_of(extract_turn("Kafka is blocked by Redis while the Atlas project waits.")) == {
        "Kafka blocked_by Redis",
        "Redis relates_to Atlas",
    }


@pytest.mark.parametrize(
    "text", ["Atlas does not use Kafka.", "Atlas no longer uses Kafka.", "Atlas never uses Kafka."]
)
def test_a_denied_relation_gives_no_edge(text: str) -> None:
    assert "Atlas uses Kafka" not in edges_of(extract_turn(text, project="Atlas"))


def test_a_decision_is_named_by_its_words_without_the_rejected_options() -> None:
    found = extract_turn("We decided to use Redis instead of Memcached for the limiter.", project="gateway")
    decision = "decided to use Redis instead of Memcached for the limiter"
    assert f"decision:{decision}" in named(found)
    assert {f"{decision} decides Redis", f"gateway relates_to {decision}", "gateway decides Redis"} <= edges_of(found)
    assert f"{decision} decides Memcached" not in edges_of(found)


def test_a_turn_belongs_to_the_project_its_host_names() -> None:
    assert edges_of(extract_turn("The retry in Celery is slow.", project="orbit")) == {"orbit mentions Celery"}
    assert "project:orbit" in named(extract_turn("Celery hangs", cwd="/home/ada/orbit/"))
    assert named(extract_turn("tea", cwd="/home/ada/src")) == set()
    assert named(extract_turn("nothing has a name here", project="orbit")) == {"project:orbit"}


def test_a_speaker_mentions_what_they_name() -> None:
    assert "Melanie mentions Porto" in edges_of(extract_turn("we went to Porto", speaker="Melanie"))
    assert named(extract_turn("we went home", speaker="Melanie")) == set()


@pytest.mark.parametrize(
    ("document", "heading", "project"),
    [
        ("notes/projects/tide.md", "", "tide"),
        ("notes/projects/tide/forecast.md", "", "tide"),
        ("hive/README.md", "Hive", "hive"),
        ("plans.md", "Project: Moth Garden", "Moth Garden"),
        ("plans.md", "Moth Garden project", "Moth Garden"),
    ],
)
def test_the_path_or_heading_of_a_note_makes_a_project(document: str, heading: str, project: str) -> None:
    found = extract_note("It uses OpenCV.", document, heading=heading)
    assert f"project:{project}" in named(found)
    assert {f"{document} relates_to {project}", f"{project} uses OpenCV"} <= edges_of(found)


@pytest.mark.parametrize("document", ["README.md", "docs/README.md", "notes/tea.md"])
def test_other_notes_make_none(document: str) -> None:
    assert not any(item.startswith("project:") for item in named(extract_note("It uses OpenCV.", document)))


@pytest.mark.parametrize(
    "text",
    [
        "Side project: an accounting app",
        "This is a project about tea. The New Project and Our project wait.",
        "My Pet project is the Whole project.",
        "Kafka is a large project.",
    ],
)
def test_words_that_only_refer_to_a_project_are_not_its_name(text: str) -> None:
    assert not any(item.startswith("project:") for item in named(extract_turn(text)))
    assert not any(item.startswith("project:") for item in named(extract_note(text, "a.md", heading="My side project")))


def test_a_note_that_calls_its_heading_a_project_is_about_it() -> None:
    text = "Tidewatch is a project which uses OpenCV."
    assert "tide.md relates_to Tidewatch" in edges_of(extract_note(text, "tide.md", heading="Tidewatch"))
    assert "tide.md relates_to Tidewatch" not in edges_of(extract_note(text, "tide.md", heading="Floods"))


@pytest.mark.parametrize("field", ["tags: [project, light]", "tags:\n  - '#project'\n  - light", "type: Project"])
def test_front_matter_can_make_the_title_of_a_note_a_project(field: str) -> None:
    titled = extract_note(f"---\ntitle: Moth Garden\n{field}\n---\n", "moth.md", kind="front_matter")
    assert "moth.md relates_to Moth Garden" in edges_of(titled)
    assert "project:moth" in named(extract_note(f"---\n{field}\n---\n", "moth.md", kind="front_matter"))


def test_the_folder_of_a_note_may_name_a_project() -> None:
    assert "hive/power.md relates_to hive" in edges_of(extract_note("A panel.", "hive/power.md"))


def test_front_matter_names_the_project_and_what_it_uses() -> None:
    text = "---\ntype: project\ntitle: Moth Garden\ntags: [insects, light]\nuses:\n  - OpenCV\n  - Redis\n"
    text += "owner: Ada\n---\n"
    found = extract_note(text, "moth.md", kind="front_matter")
    assert {
        "moth.md relates_to Moth Garden",
        "Moth Garden uses OpenCV",
        "Moth Garden uses Redis",
        "Moth Garden mentions insects",
        "Moth Garden relates_to Ada",
    } <= edges_of(found)


def test_links_headings_and_marked_words_of_a_note_are_names() -> None:
    found = extract_note(
        "See [[Tide Gauge]] and **grain dryer** #harvest.", "farm.md", heading="Dryer fan", hop_targets=["../hive/a.md"]
    )
    assert {"concept:Tide Gauge", "concept:grain dryer", "concept:harvest", "concept:Dryer fan"} <= named(found)
    assert "farm.md relates_to hive/a.md" in edges_of(found)


def test_an_ordinary_word_is_a_name_in_a_link_but_not_in_bold_or_a_heading() -> None:
    found = extract_note("**Fixed** and **Running** but [[Running]].", "farm.md", heading="Testing")
    assert named(found) == {"file:farm.md", "concept:Running"}


@pytest.mark.parametrize(
    ("predicate", "object_", "edge"),
    [
        ("uses", "Kafka", "Atlas uses Kafka"),
        ("depends_on", "Kafka", "Atlas uses Kafka"),
        ("replaces", "Old Atlas", "Atlas relates_to Old Atlas"),
        ("decision", "ship in May", "Atlas decides ship in May"),
        ("blocked_by", "PROJ-1", "Atlas blocked_by PROJ-1"),
    ],
)
def test_a_fact_links_its_subject_to_its_object(predicate: str, object_: str, edge: str) -> None:
    fact = {"subject": "Atlas", "predicate": predicate, "object": object_}
    assert edges_of(extract_fact({"fact": fact})) == {edge}
    assert extract_fact({"fact": {"subject": 1}}) == Extract()


def test_tool_output_names_files_and_errors_and_little_else() -> None:
    text = 'File "src/app/main.py": ValueError. Ask Maria about the Harbor project and Kafka.'
    found = extract(text, {}, Provenance.TOOL_OUTPUT, Role.TOOL_RESULT)
    assert named(found) == {"file:src/app/main.py", "concept:ValueError"}
    assert all(edge.weight < 0.1 for edge in found.edges)


def test_summaries_and_system_texts_name_nothing() -> None:
    assert extract("Atlas uses Kafka.", {}, Provenance.SUMMARY, None) == Extract()
    assert extract("Atlas uses Kafka.", {}, Provenance.SYSTEM_TURN, Role.SYSTEM) == Extract()


def test_the_names_of_a_record_stay_within_the_bounds() -> None:
    found = extract_turn(" ".join(f"We use src/file{number}.py." for number in range(200)), project="atlas")
    assert (len(found.entities), len(found.edges)) <= (MAX_ENTITIES, MAX_EDGES)


def test_code_in_fences_names_its_packages_and_files_and_not_its_variables() -> None:
    found = extract_turn("Look:\n```python\npip install polars\nmy_variable = OtherThing()\n```\nin app/run.py")
    assert named(found) == {"tool:Polars", "file:app/run.py"}


@pytest.mark.parametrize(
    ("collections", "owner"),
    [
        (["session:s", "session_raw:s", "turns:ada"], "user:ada"),
        (["session:s", "session_raw:s", "_owned:ada"], "user:ada"),
        (["session:s", "session_raw:s"], "session:s"),
        (["user:ada"], "user:ada"),
        (["archive:user:ada"], "user:ada"),
        (["facts:user:ada"], "user:ada"),
        (["facts:global"], "shared"),
        (["ledger:user:ada", "ledger:session:s"], "user:ada"),
        (["ledger:global"], None),
        (["global:x"], None),
        (["authored:variant"], "shared"),
        (["global"], "shared"),
        (["session:s"], None),
        (["_authored"], None),
        (["mine"], None),
    ],
)
def test_the_collection_of_a_record_decides_who_owns_its_entities(collections: list[str], owner: str | None) -> None:
    assert owner_of_record(collections) == owner


def test_names_match_regardless_of_case_spacing_and_punctuation() -> None:
    assert canonical("  **Blue\n Harbor**. ") == canonical("blue harbor") == "blue harbor"
    assert canonical("***") == ""
    assert len(canonical("x" * 10_000)) <= 120
    assert set(EdgeKind) == {"uses", "blocked_by", "relates_to", "evaluates", "decides", "mentions"}


def test_a_question_names_a_repository_by_its_address() -> None:
    class View:
        def named(self, names: list[str]) -> list[str]:
            return names

    named = named_in(cast(GraphView, View()), "what about https://github.com/acme/widget and the Falcon?")
    assert "acme/widget" in named
    assert "falcon" in named


@pytest.mark.requirement("USE-1")
def test_the_arguments_of_a_call_name_only_files() -> None:
    written = "I move Redis out.\n\n[calls edit]\npath: src/cache.py\nnewText: We decided to use Kafka and PostgreSQL."
    found = named(extract(written, {}, Provenance.ASSISTANT_TURN, Role.ASSISTANT))
    assert found == {"tool:Redis", "file:src/cache.py"}
