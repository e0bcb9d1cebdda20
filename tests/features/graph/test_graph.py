"""The graph through the whole engine: its answers, its owners, and how it follows the records."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from clew.api import GraphPath, MemoryApi
from clew.engine import Memory
from clew.errors import InvalidInput, NotFound
from clew.features.graph import linking, merging
from clew.features.graph.walk import lead_to
from clew.storage.protocol import StoredRecord, Task
from clew.text.entities import Extract, owner_of_user
from tests.conftest import OpenMemory

pytestmark = pytest.mark.requirement("GRAPH-2")

KAFKA = "The Atlas project uses Kafka for its events."
REDIS = "Kafka is blocked by Redis while the Atlas project waits."
CHOIR = "The Choirbook project keeps sheet music in LilyPond."


def tell(memory: MemoryApi, *texts: str, user: str | None = "ada", session: str = "s", role: str = "user") -> None:
    for text in texts:
        memory.ingest(session, role, text, user_id=user)
    assert memory.flush().ok


def names(memory: MemoryApi, user: str | None = "ada", **asked: object) -> list[str]:
    return sorted(item.name for item in memory.graph_entities(user_id=user, **asked).entities)  # type: ignore[arg-type]


def words(paths: tuple[GraphPath, ...]) -> list[str]:
    return [path.text for path in paths]


# --- queries -----------------------------------------------------------------------------------------


@pytest.mark.requirement("GRAPH-1")
def test_the_names_of_a_turn_have_its_relations_as_neighbours(api: MemoryApi) -> None:
    tell(api, KAFKA)
    found = api.graph_neighbours("kafka", user_id="ada")
    assert (found.entity.kind, found.entity.name) == ("tool", "Kafka")
    (atlas,) = found.neighbours
    assert (atlas.entity.kind, atlas.entity.name, atlas.distance) == ("project", "Atlas", 1)
    assert atlas.path.text == "Kafka <-uses- Atlas"
    (source,) = {source.text for step in atlas.path.steps for source in step.sources}
    assert source == KAFKA


def test_upstream_and_downstream_follow_dependencies(api: MemoryApi) -> None:
    tell(api, KAFKA, REDIS)
    up = {item.entity.name: item.path.text for item in api.graph_upstream("Atlas", user_id="ada").neighbours}
    assert up["Redis"] == "Atlas -uses-> Kafka -blocked_by-> Redis"
    down = {item.entity.name for item in api.graph_downstream("Redis", user_id="ada").neighbours}
    assert {"Kafka", "Atlas"} <= down
    assert api.graph_upstream("Redis", user_id="ada").neighbours == ()


def test_neighbours_respect_the_requested_kinds_directions_and_limit(api: MemoryApi) -> None:
    tell(api, KAFKA, REDIS)
    out = api.graph_neighbours("Kafka", user_id="ada", kinds=["blocked_by"], direction="out").neighbours
    assert [item.entity.name for item in out] == ["Redis"]
    assert api.graph_neighbours("Redis", user_id="ada", kinds=["uses"]).neighbours == ()
    few = api.graph_neighbours("Kafka", user_id="ada", limit=1)
    assert (len(few.neighbours), few.truncated) == (1, True)


def test_paths_between_two_entities_come_strongest_first(api: MemoryApi) -> None:
    tell(api, KAFKA, "We decided to use Kafka in the Choirbook project.")
    found = api.graph_paths("Choirbook", "Atlas", user_id="ada").paths
    assert "Kafka" in found[0].text
    assert [path.score for path in found] == sorted((path.score for path in found), reverse=True)
    assert api.graph_paths("Choirbook", "Atlas", user_id="ada", max_hops=1).paths == ()


def test_an_unknown_name_gets_suggestions(api: MemoryApi) -> None:
    tell(api, KAFKA)
    with pytest.raises(NotFound, match="tool:kafka"):
        api.graph_neighbours("Kafak", user_id="ada")
    with pytest.raises(NotFound, match="knows no"):
        api.graph_neighbours("Kafka")
    for wrong in ({"direction": "up"}, {"kinds": ["loves"]}, {"depth": 9}, {"limit": 0}):
        with pytest.raises(InvalidInput):
            api.graph_neighbours("Kafka", user_id="ada", **wrong)


def test_a_cited_path_leads_from_an_idea_to_its_project(api: MemoryApi) -> None:
    tell(api, KAFKA, REDIS, CHOIR)
    (best, *_) = api.graph_match("keep the sheet music of singers", user_id="ada").matches
    assert best.project.name == "Choirbook"
    assert best.path.text == "idea -resembles-> Choirbook"
    assert [source.text for source in best.path.steps[0].sources] == [CHOIR]
    (named, *_) = api.graph_match("a better way to run Redis", user_id="ada").matches
    assert named.project.name == "Atlas"


def test_an_empty_graph_answers_every_query(api: MemoryApi) -> None:
    assert api.graph_match("anything at all").matches == ()
    assert api.graph_entities().entities == ()
    assert api.graph_merges().proposals == ()
    assert api.graph_export("mermaid").text == "graph LR\n"
    assert api.graph_status().entities == 0
    with pytest.raises(InvalidInput):
        api.graph_match(" ")


def test_entities_are_listed_by_kind_and_found_by_partial_or_misspelt_names(api: MemoryApi) -> None:
    tell(api, KAFKA, CHOIR)
    assert names(api, kinds=["project"]) == ["Atlas", "Choirbook"]
    assert names(api, text="choir") == ["Choirbook"]
    assert names(api, text="kafak") == ["Kafka"]
    first = api.graph_entities(user_id="ada", limit=1)
    assert first.cursor is not None
    rest = api.graph_entities(user_id="ada", cursor=first.cursor, limit=10)
    assert sorted(item.name for item in (*first.entities, *rest.entities)) == names(api)


@pytest.mark.parametrize(
    ("format_", "part"), [("markdown", "uses Kafka"), ("mermaid", "-->|uses|"), ("json", '"uses"')]
)
def test_the_graph_is_written_as_text(api: MemoryApi, format_: str, part: str) -> None:
    tell(api, KAFKA)
    written = api.graph_export(format_, user_id="ada")
    assert part in written.text
    assert written == api.graph_export(format_, user_id="ada")
    around = api.graph_export(format_, name="Kafka", user_id="ada", depth=1)
    assert (around.entities, around.edges) == (2, 1)
    with pytest.raises(InvalidInput):
        api.graph_export("dot", user_id="ada")


# --- whose it is -------------------------------------------------------------------------------------


@pytest.mark.requirement("STORE-1")
def test_a_user_sees_only_own_and_shared_entities(api: MemoryApi) -> None:
    tell(api, KAFKA)
    tell(api, "The Secretive project uses Qdrant.", user="bob", session="b")
    tell(api, "The Lonely project uses Milvus.", user=None, session="alone")
    api.put("global", "g", "Kafka is written in Scala.")
    assert api.flush().ok
    assert names(api) == ["Atlas", "Kafka", "Scala"]
    assert names(api, None) == ["Kafka", "Scala"]
    assert names(api, None, session_id="alone") == ["Kafka", "Lonely", "Milvus", "Scala"]
    around = {item.entity.name for item in api.graph_neighbours("Kafka", user_id="ada").neighbours}
    assert around == {"Atlas", "Scala"}


@pytest.mark.requirement("PACK-4")
def test_tool_output_is_left_out_unless_requested(api: MemoryApi) -> None:
    tell(api, "Traceback in src/app/main.py: ValueError in src/app/db.py", role="tool")
    assert names(api) == []
    assert "src/app/main.py" in names(api, untrusted=True)
    with pytest.raises(NotFound):
        api.graph_paths("src/app/main.py", "src/app/db.py", user_id="ada")
    assert api.graph_neighbours("src/app/main.py", user_id="ada", untrusted=True).neighbours


@pytest.mark.requirement("PACK-4")
def test_quarantine_hides_entities_and_release_shows_them_again(api: MemoryApi) -> None:
    tell(api, KAFKA)
    ref = f"session_raw:s/{api.list('session_raw:s').records[0].id}"
    api.review(ref, "quarantine")
    assert names(api, untrusted=True) == []
    api.review(ref, "release")
    assert names(api) == ["Atlas", "Kafka"]


# --- how it follows the records ----------------------------------------------------------------------


@pytest.mark.requirement("STORE-6")
def test_a_purge_removes_entities_that_only_its_records_name(open_memory: OpenMemory, tmp_path: Path) -> None:
    memory = open_memory()
    tell(memory, "The Zanzibar project uses Kafka.")
    tell(memory, KAFKA, session="t")
    memory.graph_merge("project:atlas", "project:zanzibar", user_id="ada")
    memory.purge(session_id="s")
    assert names(memory) == ["Atlas", "Kafka"]
    assert memory.graph_merges(user_id="ada").merged == ()
    assert memory.verify().ok
    memory.close()
    left = b"".join(path.read_bytes() for path in (tmp_path / "data").iterdir() if path.is_file())
    assert b"anzibar" not in left


@pytest.mark.requirement("STORE-6")
def test_purging_a_user_removes_the_users_merges(memory: Memory) -> None:
    tell(memory, KAFKA, CHOIR)
    memory.graph_merge("Atlas", "Choirbook", user_id="ada")
    memory.purge(user_id="ada")
    assert memory.graph_status().entities == 0
    assert not [item for item in memory.collections().collections if item.name.startswith("_aliases")]


@pytest.mark.requirement("STORE-4")
def test_a_rebuild_gives_the_same_graph_and_keeps_merges(memory: Memory) -> None:
    tell(memory, KAFKA, REDIS, CHOIR)
    memory.graph_merge("Atlas", "Choirbook", user_id="ada")
    before = memory.graph_export("json", user_id="ada")
    assert memory.graph_rebuild().count > 0
    assert memory.flush().ok
    assert memory.graph_export("json", user_id="ada") == before
    assert memory.verify().ok


@pytest.mark.requirement("STORE-4")
def test_a_merge_survives_a_queue_run_during_a_rebuild(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    tell(memory, KAFKA, CHOIR)
    memory.graph_merge("Atlas", "Choirbook", user_id="ada")
    before = memory.graph_export("json", user_id="ada")
    store = memory._parts.store
    forget_graph = store.forget_graph

    def forget_and_be_looked_into() -> None:
        forget_graph()
        merging.forget_unnamed(memory._parts)

    monkeypatch.setattr(store, "forget_graph", forget_and_be_looked_into)
    memory.graph_rebuild()
    assert memory.flush().ok
    assert memory.graph_export("json", user_id="ada") == before


@pytest.mark.requirement("STORE-4")
def test_a_merge_survives_rules_that_find_fewer_names(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    tell(memory, KAFKA, CHOIR)
    memory.graph_merge("Atlas", "Choirbook", user_id="ada")
    before = memory.graph_merges(user_id="ada").merged
    with monkeypatch.context() as other_rules:
        other_rules.setattr(linking, "extract", lambda *_: Extract())
        memory.graph_rebuild()
        assert memory.flush().ok
        assert names(memory) == []
    assert memory.graph_merges(user_id="ada").merged == before


def test_clew_proposes_merges_and_only_the_operator_confirms_them(api: MemoryApi) -> None:
    tell(api, KAFKA, "See https://github.com/ada/atlas for it.")
    (proposal,) = api.graph_merges(user_id="ada").proposals
    assert {proposal.keep, proposal.drop} == {"project:atlas", "repo:ada/atlas"}
    assert "ada/atlas" in names(api)
    api.graph_merge("project:atlas", "repo:ada/atlas", user_id="ada")
    assert names(api) == ["Atlas", "Kafka"]
    assert [item.entity.name for item in api.graph_neighbours("ada/atlas", user_id="ada").neighbours] == ["Kafka"]
    assert [item.drop for item in api.graph_merges(user_id="ada").merged] == ["repo:ada/atlas"]
    api.graph_unmerge("repo:ada/atlas", user_id="ada")
    assert "ada/atlas" in names(api)
    with pytest.raises(NotFound):
        api.graph_unmerge("repo:ada/atlas", user_id="ada")
    with pytest.raises(InvalidInput):
        api.graph_merge("Atlas", "project:atlas", user_id="ada")


def test_a_merged_entity_keeps_the_stronger_kind_and_never_loses_a_project(api: MemoryApi) -> None:
    tell(api, KAFKA, "We went to Blue Harbor with Kafka.")
    api.graph_merge("concept:blue harbor", "project:atlas", user_id="ada")
    assert names(api, kinds=["project"]) == ["Blue Harbor"]
    assert [item.drop for item in api.graph_merges(user_id="ada").merged] == ["project:atlas"]
    for name in ("Blue Harbor", "concept:blue harbor", "project:blue harbor", "Atlas", "project:atlas"):
        found = api.graph_neighbours(name, user_id="ada")
        assert (found.entity.kind, found.entity.name) == ("project", "Blue Harbor")
    api.graph_unmerge("Atlas", user_id="ada")
    assert names(api, kinds=["project"]) == ["Atlas"]
    assert api.graph_neighbours("Blue Harbor", user_id="ada").entity.kind == "concept"


def test_merging_again_says_so_and_tells_how_to_undo_it(api: MemoryApi) -> None:
    tell(api, KAFKA, CHOIR)
    api.graph_merge("Atlas", "Choirbook", user_id="ada")
    for keep, drop in (("Atlas", "Choirbook"), ("Choirbook", "project:atlas")):
        with pytest.raises(InvalidInput, match="clew graph unmerge project:choirbook --user ada"):
            api.graph_merge(keep, drop, user_id="ada")


def test_notes_define_projects_and_their_other_pages_lead_there(open_memory: OpenMemory, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    (notes / "hive").mkdir(parents=True)
    (notes / "hive" / "README.md").write_text("# Hive\n\nScales under bee hives.\n")
    (notes / "hive" / "power.md").write_text("# Power\n\nA Raspberry Pi and a panel.\n")
    (notes / "moth.md").write_text("---\ntype: project\ntitle: Moth Garden\nuses: [OpenCV]\n---\n\nCounts insects.\n")
    memory = open_memory(authored_notes=(str(notes),))
    assert memory.flush().ok
    assert names(memory, None, kinds=["project"]) == ["Moth Garden", "hive"]
    assert memory.graph_upstream("Moth Garden").neighbours[0].entity.name == "OpenCV"
    assert memory.graph_match("insects").matches[0].path.text.endswith("moth.md -relates_to-> Moth Garden")
    assert memory.graph_paths("Raspberry Pi", "hive").paths
    (notes / "moth.md").write_text("Nothing any more.\n")
    assert memory.flush().ok
    assert names(memory, None, kinds=["project"]) == ["hive"]


@pytest.mark.requirement("STORE-8")
def test_the_queue_of_the_graph_is_worked_off_without_an_embedder(open_memory: OpenMemory) -> None:
    memory = open_memory()
    tell(memory, KAFKA)
    assert memory.graph_status().pending == 0
    assert names(memory) == ["Atlas", "Kafka"]


@pytest.mark.requirement("SAFE-1")
def test_verify_notices_a_graph_that_differs_from_the_records_and_repair_fixes_it(memory: Memory) -> None:
    tell(memory, KAFKA)
    store = memory._parts.store
    (key, *_) = [stored.key for stored in store.export(0, 10)]
    store.link([], {key: (owner_of_user("eve"), store.said([key])[key][1])})
    report = memory.verify()
    assert [check.name for check in report.checks if not check.ok] == ["graph sources"]
    assert memory.verify(repair=True).ok
    assert names(memory) == ["Atlas", "Kafka"]
    assert store.pending(Task.LINK) == 0


@pytest.mark.requirement("SAFE-1")
def test_a_record_that_arrives_during_verify_raises_no_alarm(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    store = memory._parts.store
    monkeypatch.setattr(memory._indexer, "_work_without_meaning", lambda: False)
    arrivals = iter([KAFKA, REDIS, CHOIR])
    export = store.export

    def export_after_an_arrival(after: int, limit: int) -> list[StoredRecord]:
        if (text := next(arrivals, None)) is not None:
            with ThreadPoolExecutor(1) as pool:
                pool.submit(memory.ingest, "s", "user", text, user_id="ada").result()
        return export(after, limit)

    monkeypatch.setattr(store, "export", export_after_an_arrival)
    assert linking.finding(memory._parts).problems == ()
    assert store.pending(Task.LINK) > 0


@pytest.mark.requirement("STORE-8")
def test_a_graph_made_by_older_rules_is_rebuilt_once(open_memory: OpenMemory, monkeypatch: pytest.MonkeyPatch) -> None:
    memory = open_memory()
    tell(memory, KAFKA)
    (key, *_) = [stored.key for stored in memory._parts.store.export(0, 10)]
    memory._parts.store.link([], {key: (owner_of_user("ada"), Extract())})
    memory.close()
    monkeypatch.setattr(linking, "RULES_VERSION", linking.RULES_VERSION + 1)
    memory = open_memory()
    memory.flush()
    assert names(memory) == ["Atlas", "Kafka"]
    assert memory.verify().ok
    memory.close()
    assert open_memory().graph_status().pending == 0


@pytest.mark.requirement("PACK-7")
def test_the_graph_leads_a_query_to_records_without_its_words(memory: Memory) -> None:
    tell(memory, KAFKA, "The Atlas project depends on Redis.")
    led = lead_to(memory._parts, "why is Redis slow?", "ada", None, 5)
    assert [len(item.through) for item in led][:2] == [1, 2]
    assert led[1].through[-1] == f"{led[1].place.collection}/{led[1].place.id}"
    assert all(0 < item.strength <= 1 for item in led)
    (kafka,) = {memory.get(item.place.collection, item.place.id).records[0].text for item in led[1:2]}
    assert kafka == KAFKA
    assert lead_to(memory._parts, "why is Redis slow?", "bob", None, 5) == []
