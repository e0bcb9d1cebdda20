"""The methods of an existing client on a live daemon, with answers in the shapes that it reads."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from clew.errors import Conflict, InvalidInput, NotFound
from clew.faces.daemon.compat import GATE_KEYS
from tests.testing.daemons import Daemon, Wire, running, short_folder

pytestmark = pytest.mark.requirement("RPC-1")


@pytest.fixture(scope="module")
def daemon() -> Iterator[Daemon]:
    with short_folder() as folder, running(folder / "data") as started:
        yield started


@pytest.fixture
def wire(daemon: Daemon) -> Iterator[Wire]:
    with daemon.wire() as opened:
        yield opened


@pytest.fixture
def own(request: pytest.FixtureRequest) -> str:
    """A name that no other test uses, because all share one daemon."""
    return request.node.name.replace("[", "-").replace("]", "")


def insert(wire: Wire, collection: str, record_id: str, text: str, **metadata: Any) -> None:
    params = {"collection": collection, "id": record_id, "text": text, "metadata": metadata}
    assert wire.result("insert_text", **params) == {"ok": True}


def turn(wire: Wire, session: str, turn_id: str, text: str, **metadata: Any) -> None:
    params = {"sessionId": session, "id": turn_id, "text": text, "metadata": metadata}
    assert wire.result("insert_session_turn", **params) == {"ok": True}


def listed(wire: Wire, collection: str) -> list[Any]:
    return list(wire.result("list_collection", collection=collection)["results"])


def test_health_and_status_have_the_keys_that_clients_read(wire: Wire) -> None:
    assert set(wire.result("health")) == {"ok", "message"}
    status = wire.result("status")
    assert {"ok", "message", "turnCount", "memoryCount", "lifecycleHintCount", "gatingThreshold",
            "abstractiveReady", "embeddingProfile"} <= set(status)  # fmt: skip


def test_these_methods_ignore_unknown_fields(wire: Wire, own: str) -> None:
    assert wire.result("health", colour="red")["ok"]
    assert wire.result("ensure_collections", collections=[f"user:{own}"], colour="red")["ok"]
    assert wire.result("flush", colour="red")["ok"]


def test_a_record_comes_back_with_the_clients_metadata_and_clews_own_fields(wire: Wire, own: str) -> None:
    given = {"ts": 1700000000000, "authored": True, "tier": 2, "nested": {"a": [1, None]}, "trust": "mine"}
    insert(wire, f"user:{own}", "a", "the kettle is blue", **given)
    [result] = listed(wire, f"user:{own}")
    assert set(result) == {"id", "score", "text", "metadata", "version"}
    assert (result["id"], result["score"], result["text"]) == ("a", 0, "the kettle is blue")
    assert result["metadata"].items() >= given.items()
    added = {"collection", "type", "provenance_class", "stability_weight", "token_estimate", "access_count"}
    assert added <= set(result["metadata"])
    assert result["metadata"]["collection"] == f"user:{own}"
    assert result["metadata"]["type"] == "memory"
    assert result["metadata"]["access_count"] == 0


def test_the_same_id_again_replaces_the_record(wire: Wire, own: str) -> None:
    insert(wire, f"user:{own}", "a", "first words")
    [first] = listed(wire, f"user:{own}")
    insert(wire, f"user:{own}", "a", "second words")
    [second] = listed(wire, f"user:{own}")
    assert second["text"] == "second words"
    assert second["version"] > first["version"]


def test_a_turn_enters_the_active_view_and_the_raw_history(wire: Wire, own: str) -> None:
    turn(wire, own, "t1", "where is the lamp", role="user", ts=1700000000000, userId=own)
    turn(wire, own, "t2", "in the attic", role="assistant", ts=1700000001000, userId=own)
    active, raw = listed(wire, f"session:{own}"), listed(wire, f"session_raw:{own}")
    assert [r["id"] for r in active] == [r["id"] for r in raw] == ["t1", "t2"]
    assert [r["metadata"]["role"] for r in active] == ["user", "assistant"]
    assert all(r["metadata"]["type"] == "turn" for r in active + raw)
    assert all(r["metadata"]["raw_history"] is True for r in raw)
    assert all(r["metadata"]["active_view"] is False for r in raw)
    assert "raw_history" not in active[0]["metadata"]
    assert raw[0]["metadata"]["ts"] == 1700000000000
    assert [r["text"] for r in listed(wire, f"turns:{own}")] == ["where is the lamp"]


def test_a_repeated_turn_is_stored_once_and_other_words_under_its_id_conflict(wire: Wire, own: str) -> None:
    turn(wire, own, "t1", "hello there", role="user", ts=1)
    turn(wire, own, "t1", "hello there", role="user", ts=1)
    assert len(listed(wire, f"session_raw:{own}")) == 1
    params = {"sessionId": own, "id": "t1", "text": "something else", "metadata": {"role": "user", "ts": 1}}
    assert wire.error("insert_session_turn", **params)["code"] == Conflict.code


@pytest.mark.parametrize("metadata", [{}, {"role": 5, "ts": "late", "userId": 7}, {"ts": -1}, {"ts": 1e300}])
def test_a_turn_with_odd_metadata_values_is_kept(wire: Wire, own: str, metadata: Any) -> None:
    turn(wire, own, "t1", "kept all the same", **metadata)
    [result] = listed(wire, f"session_raw:{own}")
    assert result["metadata"].items() >= metadata.items()


def test_a_turn_without_a_role_is_not_the_users(wire: Wire, own: str) -> None:
    turn(wire, own, "t1", "I always want tea and never coffee", userId=own)
    wire.result("flush")
    assert len(listed(wire, f"session_raw:{own}")) == 1
    assert listed(wire, f"turns:{own}") == []
    assert listed(wire, f"user:{own}") == []


def test_search_returns_the_best_hit_first_with_its_similarity(wire: Wire, own: str) -> None:
    insert(wire, f"user:{own}", "a", "copper kettle on the stove")
    insert(wire, f"user:{own}", "b", "a kettle")
    insert(wire, f"user:{own}", "c", "unrelated words entirely")
    wire.result("flush")
    results = wire.result("search_text", collection=f"user:{own}", text="copper kettle", k=2)["results"]
    assert results[0]["id"] == "a"
    assert len(results) <= 2
    scores = [result["score"] for result in results]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)


def test_search_leaves_out_excluded_ids(wire: Wire, own: str) -> None:
    insert(wire, f"user:{own}", "a", "copper kettle")
    insert(wire, f"user:{own}", "b", "copper pan")
    params = {"collection": f"user:{own}", "text": "copper", "k": 5, "excludeIds": ["a"]}
    assert [r["id"] for r in wire.result("search_text", **params)["results"]] == ["b"]


def test_search_over_collections_names_the_collection_of_each_hit(wire: Wire, own: str) -> None:
    names = [f"user:{own}", f"session:{own}"]
    insert(wire, names[0], "a", "copper kettle")
    turn(wire, own, "t", "copper wire", role="user")
    insert(wire, f"user:{own}-other", "z", "copper of somebody else")
    params = {"collections": names, "text": "copper", "k": 5, "excludeByCollection": {}}
    results = wire.result("search_text_collections", **params)["results"]
    assert {(r["metadata"]["collection"], r["id"]) for r in results} == {(names[0], "a"), (names[1], "t")}
    params["excludeByCollection"] = {names[1]: ["t"]}
    assert [r["id"] for r in wire.result("search_text_collections", **params)["results"]] == ["a"]


def test_the_raw_session_can_be_searched(wire: Wire, own: str) -> None:
    turn(wire, own, "t1", "the copper kettle", role="user")
    turn(wire, own, "t2", "the copper pan", role="assistant")
    params = {"sessionId": own, "text": "copper", "k": 5, "excludeIds": ["t2"]}
    [result] = wire.result("query_raw_session", **params)["results"]
    assert result["id"] == "t1"
    assert result["metadata"]["collection"] == f"session_raw:{own}"


def test_records_are_listed_by_a_value_of_their_metadata(wire: Wire, own: str) -> None:
    insert(wire, f"user:{own}", "a", "one", ordinal=1)
    insert(wire, f"user:{own}", "b", "two", ordinal=2)
    found = wire.result("list_by_meta", collection=f"user:{own}", key="ordinal", value=2)["results"]
    assert [r["id"] for r in found] == ["b"]


def test_a_long_listing_is_complete(wire: Wire, own: str) -> None:
    for number in range(1100):
        insert(wire, f"user:{own}", str(number), f"record {number}")
    assert [r["id"] for r in listed(wire, f"user:{own}")] == [str(number) for number in range(1100)]


def test_access_counts_are_clews_own_and_rise_by_one(wire: Wire, own: str) -> None:
    insert(wire, f"user:{own}", "a", "used", access_count=99)
    insert(wire, f"user:{own}", "b", "unused")
    update = {"collection": f"user:{own}", "ids": ["a"]}
    assert wire.result("bump_access_counts", updates=[update]) == {"ok": True}
    assert wire.result("bump_access_counts", updates=[update]) == {"ok": True}
    counts = {r["id"]: r["metadata"]["access_count"] for r in listed(wire, f"user:{own}")}
    assert counts == {"a": 2, "b": 0}


def test_export_and_flush_do_not_match_a_user_with_a_longer_name(wire: Wire, own: str) -> None:
    insert(wire, f"user:{own}", "a", "mine")
    insert(wire, f"user:{own}0", "b", "another's")
    [record] = wire.result("export_memory", userId=own)["records"]
    assert set(record) == {"collection", "id", "text", "metadata"}
    assert (record["collection"], record["id"], record["text"]) == (f"user:{own}", "a", "mine")
    everyone = wire.result("export_memory")["records"]
    assert {f"user:{own}", f"user:{own}0"} <= {r["collection"] for r in everyone}
    assert wire.result("flush_namespace", userId=own) == {"ok": True}
    assert wire.result("export_memory", userId=own)["records"] == []
    assert len(wire.result("export_memory", userId=f"{own}0")["records"]) == 1


def test_nothing_is_flushed_without_a_user(wire: Wire) -> None:
    assert "userId" in wire.error("flush_namespace")["message"]
    assert "userId" in wire.error("flush_namespace", userId="")["message"]


def test_records_are_deleted_one_by_one_and_together(wire: Wire, own: str) -> None:
    for name in "abc":
        insert(wire, f"user:{own}", name, f"record {name}")
    assert wire.result("delete", collection=f"user:{own}", id="a") == {"ok": True}
    assert wire.result("delete_batch", collection=f"user:{own}", ids=["b", "gone"])["ok"]
    assert [r["id"] for r in listed(wire, f"user:{own}")] == ["c"]


def test_the_gate_uses_the_short_keys(wire: Wire, own: str) -> None:
    score = wire.result("gating_scalar", userId=own, text="I prefer tea over coffee")
    assert set(score) == set(GATE_KEYS)
    assert all(0 <= value <= 1 for value in score.values())


@pytest.mark.requirement("GATE-4")
def test_a_memory_has_its_gate_score_under_the_older_names(wire: Wire, own: str) -> None:
    turn = {"role": "user", "userId": own}
    wire.result("insert_session_turn", sessionId=own, id="1", text="I prefer tea over coffee.", metadata=turn)
    wire.result("flush")
    (kept,) = listed(wire, f"user:{own}")
    shown = kept["metadata"]
    names = "score t h r d inputFreq memSaturation p a dtech gconv gtech".split()
    assert {f"gating_{name}" for name in names} <= set(shown)
    assert shown["gating_h"] == shown["gating_novelty"] == 1.0
    assert shown["gating_d"] == shown["gating_natural_density"] == pytest.approx(0.4)


@pytest.mark.requirement("LIFE-6")
def test_lifecycle_hints_are_journalled_newest_first(wire: Wire, own: str) -> None:
    for reason in ("new", "reset"):
        hint = {"hook": "before_reset", "sessionId": own, "reason": reason, "messageCount": 3, "odd": 1}
        expected = {"ok": True, "hook": "before_reset", "sessionId": own, "reason": reason}
        assert wire.result("session_lifecycle_hint", **hint) == expected
    results = wire.result("list_lifecycle_journal", sessionId=own, limit=5)["results"]
    assert [r["metadata"]["reason"] for r in results] == ["reset", "new"]
    assert results[0]["metadata"]["hook"] == "before_reset"
    assert results[0]["metadata"]["messageCount"] == 3
    assert len(wire.result("list_lifecycle_journal", sessionId=own, limit=1)["results"]) == 1


def long_talk(wire: Wire, session: str, count: int) -> list[str]:
    for number in range(count):
        role = "assistant" if number % 2 else "user"
        text = f"The export job {number} failed with ERR_{number:03d}; its log is /srv/export/{number}.log as always."
        turn(wire, session, f"t{number}", text, role=role, ts=1700000000000 + number, colour="red")
    return [f"t{number}" for number in range(count)]


@pytest.mark.requirement("COMP-10", "STORE-2")
def test_the_view_of_a_compacted_session_lists_summaries_and_remaining_turns(wire: Wire, own: str) -> None:
    ids = long_talk(wire, own, 30)
    raw = listed(wire, f"session_raw:{own}")
    done = wire.result("compact_session", sessionId=own, force=True, targetSize=10, continuityMinTurns=6, odd=1)
    read = {"didCompact", "clustersFormed", "clustersDeclined", "turnsRemoved", "summaryMethod", "meanConfidence"}
    assert read <= set(done)
    assert done["didCompact"] is True
    assert (done["clustersFormed"], done["clustersDeclined"], done["turnsRemoved"]) == (3, 0, 24)
    assert 0 < done["meanConfidence"] <= 1
    summaries = listed(wire, f"session_summary:{own}")
    assert len(summaries) == 3
    view = {result["id"]: result for result in listed(wire, f"session:{own}")}
    assert set(view) == {*ids[-6:], *(result["id"] for result in summaries)}
    assert all(result == view[result["id"]] | {"metadata": result["metadata"]} for result in summaries)
    assert listed(wire, f"session_raw:{own}") == raw


@pytest.mark.requirement("COMP-7")
def test_a_summary_has_the_metadata_that_clients_read(wire: Wire, own: str) -> None:
    long_talk(wire, own, 14)
    wire.result("compact_session", sessionId=own, force=True)
    [summary] = listed(wire, f"session_summary:{own}")
    metadata = summary["metadata"]
    assert metadata["type"] == "summary"
    assert metadata["source_ids"] == [f"t{number}" for number in range(10)]
    assert metadata["confidence"] + metadata["decay_rate"] == pytest.approx(1)
    assert metadata["method"] == "extractive"
    assert (metadata["first_ts"], metadata["last_ts"]) == (1700000000000, 1700000000009)
    assert metadata["compacted_ts"] > metadata["last_ts"]


def test_a_compaction_without_work_says_so_and_names_no_method(wire: Wire, own: str) -> None:
    for session in (own, f"{own}-unknown"):
        done = wire.result("compact_session", sessionId=session)
        assert (done["didCompact"], done["clustersFormed"], done["turnsRemoved"]) == (False, 0, 0)
        assert done["meanConfidence"] == 0
        assert "summaryMethod" not in done
        long_talk(wire, own, 3)


@pytest.mark.requirement("COMP-9")
def test_a_summary_expands_to_the_turns_it_covers_with_their_metadata(wire: Wire, own: str) -> None:
    long_talk(wire, own, 14)
    wire.result("compact_session", sessionId=own, force=True, targetSize=0)
    [summary] = listed(wire, f"session_summary:{own}")
    results = wire.result("expand_summary", sessionId=own, summaryId=summary["id"])["results"]
    assert results == listed(wire, f"session_raw:{own}")[:10]
    assert all(set(result) == {"id", "score", "text", "metadata", "version"} for result in results)
    assert all(result["metadata"]["colour"] == "red" for result in results)


@pytest.mark.requirement("COMP-9")
def test_a_shallow_expansion_returns_the_summaries_it_reaches(wire: Wire, own: str) -> None:
    ids = long_talk(wire, own, 44)
    wire.result("compact_session", sessionId=own, force=True, targetSize=5)
    [top] = [result for result in listed(wire, f"session:{own}") if result["metadata"].get("level") == 2]
    expand = {"sessionId": own, "summaryId": top["id"]}
    below = wire.result("expand_summary", **expand, maxDepth=1)["results"]
    assert [result["id"] for result in below] == top["metadata"]["source_ids"]
    assert all(result["metadata"]["type"] == "summary" for result in below)
    assert [result["id"] for result in wire.result("expand_summary", **expand)["results"]] == ids[:40]


@pytest.mark.parametrize(
    ("method", "params", "code"),
    [
        ("expand_summary", {"summaryId": "unknown"}, NotFound.code),
        ("expand_summary", {"summaryId": "unknown", "maxDepth": 65}, InvalidInput.code),
        ("expand_summary", {}, InvalidInput.code),
        ("expand_summary", {"summaryId": 5}, InvalidInput.code),
        ("compact_session", {"targetSize": "many"}, InvalidInput.code),
        ("compact_session", {"continuityPriorContextTokens": -1}, InvalidInput.code),
    ],
)
def test_invalid_compactions_and_expansions_are_refused(
    wire: Wire, own: str, method: str, params: Any, code: int
) -> None:
    error = wire.error(method, sessionId=own, **params)
    assert error["code"] == code
    assert error["message"]
