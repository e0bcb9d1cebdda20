"""A client written from the protocol's description alone, against an ordinary daemon."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from tests.hosts.wire_client import Refused, WireClient
from tests.testing.daemons import ROOT, WAIT_S, short_folder

pytestmark = pytest.mark.requirement("RPC-1")

GATE = ("g", "t", "h", "r", "d", "inputFreq", "memSaturation", "p", "a", "dtech", "gconv", "gtech")
METADATA = {
    "type": "preference", "role": "user", "ts": 1_700_000_000_000, "userId": "somebody", "sessionId": "some-session",
    "provenance_class": "operator", "stability_weight": 0.125, "token_estimate": 77, "gating_score": 0.5,
    "gating_t": 0.25, "authored": True, "tier": 2, "ordinal": 3, "source_doc": "AGENTS.md", "hop_targets": ["b", "c"],
    "trust": "mine", "raw_history": "mine", "active_view": "mine", "version": "mine", "score": 9, "id": "mine",
    "text": "mine", "snake_case": 1, "camelCase": 2, "dotted.key": 3, "": "empty", "πλοῦς": "ναῦς", "nothing": None,
    "nested": {"list": [1, 2.5, None, {"deep": "é"}], "yes": False}, "1": "one",
}  # fmt: skip


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    """The endpoint that a ready daemon prints; its folder is short because a socket path must be."""
    with short_folder() as folder:
        command = [sys.executable, "-m", "clew.faces.cli.main", "up", "--foreground", "--data", str(folder / "data")]
        settings = {"PYTHONPATH": str(ROOT / "src"), "CLEW_EMBEDDER": "hashing", "CLEW_SYNCHRONOUS": "normal"}
        process = subprocess.Popen(
            [*command, "--listen", f"unix:{folder}/daemon.sock"],
            stdout=subprocess.PIPE, text=True, env=os.environ | settings,
        )  # fmt: skip
        assert process.stdout is not None
        try:
            yield process.stdout.readline()
        finally:
            process.terminate()
            rest, _ = process.communicate(timeout=WAIT_S)
        assert rest == "", "the daemon prints nothing on its output but its endpoint"


@pytest.fixture
def client(endpoint: str) -> Iterator[WireClient]:
    with WireClient.connect(endpoint.removesuffix("\n")) as connected:
        yield connected


@pytest.fixture
def own(request: pytest.FixtureRequest) -> str:
    """A name that no other test uses, because all share one daemon."""
    return str(request.node.name)


def insert(client: WireClient, collection: str, record_id: str, text: str, /, **metadata: Any) -> None:
    given = {"collection": collection, "id": record_id, "text": text, "metadata": metadata}
    assert client.call("insert_text", **given)["ok"] is True


def turn(client: WireClient, session: str, turn_id: str, text: str, /, **metadata: Any) -> None:
    given = {"sessionId": session, "id": turn_id, "text": text, "metadata": metadata}
    assert client.call("insert_session_turn", **given)["ok"] is True


def talk(client: WireClient, session: str, count: int) -> list[str]:
    for number in range(count):
        role = "assistant" if number % 2 else "user"
        text = f"Number {number}: the pump of basin {number} stopped with E{number:03d}, its log is /var/pump/{number}."
        turn(client, session, f"t{number}", text, role=role, ts=1_700_000_000_000 + number * 1000, mark=number)
    return [f"t{number}" for number in range(count)]


def settle(client: WireClient) -> None:
    """Flush until nothing waits."""
    while not client.call("flush")["ok"]:
        pass


def listed(client: WireClient, collection: str) -> list[Any]:
    return check_results(client.call("list_collection", collection=collection)["results"], listing=True)


def check_results(results: list[Any], *, listing: bool = False) -> list[Any]:
    """Check that each result has the one documented shape."""
    for result in results:
        assert set(result) >= {"id", "score", "text", "metadata", "version"}
        assert result["score"] == 0 if listing else 0 <= result["score"] <= 1
        assert isinstance(result["version"], int)
    return results


def ids(results: list[Any]) -> list[str]:
    return [result["id"] for result in results]


def test_the_daemon_prints_only_its_endpoint_on_one_line(endpoint: str) -> None:
    assert endpoint.startswith("unix:/")
    assert endpoint.endswith("/daemon.sock\n")


def test_health_and_status_are_reported(client: WireClient, own: str) -> None:
    health, before = client.call("health"), client.call("status")
    assert all(answer["ok"] is True and isinstance(answer["message"], str) for answer in (health, before))
    insert(client, f"user:{own}", "a", "one more memory")
    turn(client, own, "t", "one more turn", role="user", userId=own)
    turn(client, own, "reply", "of the assistant", role="assistant", userId=own)
    turn(client, own, "tool", "of a tool", role="tool", userId=own)
    turn(client, own, "nobody", "of nobody known", role="user")
    turn(client, own, "host", "<task-notification>done</task-notification>", role="user", userId=own)
    client.call("session_lifecycle_hint", hook="session_end", sessionId=own)
    settle(client)
    after = client.call("status")
    assert after["turnCount"] == before["turnCount"] + len(listed(client, f"turns:{own}")) == before["turnCount"] + 1
    assert after["memoryCount"] >= before["memoryCount"] + 1
    assert after["lifecycleHintCount"] == before["lifecycleHintCount"] + 1
    assert 0 < after["gatingThreshold"] <= 1
    assert isinstance(after["abstractiveReady"], bool)
    assert after["embeddingProfile"]


def test_an_empty_collection_can_be_ensured(client: WireClient, own: str) -> None:
    names = [f"user:{own}", f"session:{own}", f"session_raw:{own}", f"turns:{own}", "global"]
    assert client.call("ensure_collections", collections=names)["ok"] is True
    assert client.call("ensure_collections", collections=names)["ok"] is True
    assert listed(client, f"user:{own}") == []


@pytest.mark.parametrize("collection", ["user:{}", "session:{}", "turns:{}"])
def test_metadata_of_a_record_is_never_dropped_or_renamed(client: WireClient, own: str, collection: str) -> None:
    name = collection.format(own)
    if collection.startswith("session"):
        turn(client, own, "a", "the kettle is blue", **METADATA)
    else:
        insert(client, name, "a", "the kettle is blue", **METADATA)
    [record] = listed(client, name)
    assert record["text"] == "the kettle is blue"
    assert {key: record["metadata"].get(key, "dropped") for key in METADATA} == METADATA
    assert record["metadata"]["collection"] == name
    assert record["metadata"]["access_count"] == 0


def test_missing_fields_of_a_record_are_added(client: WireClient, own: str) -> None:
    insert(client, f"user:{own}", "a", "bare")
    turn(client, own, "t", "bare")
    for record in listed(client, f"user:{own}") + listed(client, f"session:{own}"):
        added = {"type", "ts", "provenance_class", "stability_weight", "token_estimate", "access_count", "collection"}
        assert added <= set(record["metadata"])
        assert record["metadata"]["ts"] > 1_600_000_000_000


def test_the_same_id_replaces_text_and_metadata(client: WireClient, own: str) -> None:
    insert(client, f"user:{own}", "a", "first words", old=1, kept=1)
    [first] = listed(client, f"user:{own}")
    insert(client, f"user:{own}", "a", "second words", kept=2)
    [second] = listed(client, f"user:{own}")
    assert second["text"] == "second words"
    assert second["metadata"]["kept"] == 2
    assert "old" not in second["metadata"]
    assert second["version"] != first["version"]
    settle(client)
    assert client.call("search_text", collection=f"user:{own}", text="first", k=5)["results"] == []


def test_a_turn_is_in_the_active_view_and_marked_in_the_raw_history(client: WireClient, own: str) -> None:
    turn(client, own, "t1", "where is the lamp", role="user", ts=5, userId=own)
    [active], [raw] = listed(client, f"session:{own}"), listed(client, f"session_raw:{own}")
    assert (active["id"], active["text"]) == (raw["id"], raw["text"]) == ("t1", "where is the lamp")
    assert raw["metadata"]["raw_history"] is True
    assert raw["metadata"]["active_view"] is False
    assert not active["metadata"].get("raw_history")
    assert active["metadata"].get("active_view") is not False
    for metadata in (active["metadata"], raw["metadata"]):
        assert {"role": "user", "ts": 5, "userId": own, "sessionId": own}.items() <= metadata.items()


def test_every_part_of_a_gate_answer_is_in_bounds(client: WireClient, own: str) -> None:
    parts = client.call("gating_scalar", userId=own, text="I prefer tea, and my sister Ada lives in Turin.")
    assert {name: 0 <= parts[name] <= 1 for name in GATE} == dict.fromkeys(GATE, True)
    assert parts["h"] == 1


def test_a_user_turn_worth_keeping_becomes_a_memory_with_the_reason(client: WireClient, own: str) -> None:
    text = "I prefer tea over coffee, and my sister Ada Lovelace has lived in Turin since 3 May 2021."
    turn(client, own, "t", text, role="user", userId=own)
    settle(client)
    [memory] = listed(client, f"user:{own}")
    assert memory["text"] == text
    parts = {key: value for key, value in memory["metadata"].items() if key.startswith("gating_")}
    assert parts["gating_score"] >= client.call("status")["gatingThreshold"]
    short = {f"gating_{name}" for name in GATE if name != "g"}
    assert short <= set(parts)
    assert len(parts) == len(GATE) + len(short)  # under the names of this version, too
    assert (memory["metadata"]["userId"], memory["metadata"]["sessionId"]) == (own, own)


def test_a_search_returns_the_best_first_and_leaves_out_excluded_ids(client: WireClient, own: str) -> None:
    insert(client, f"user:{own}", "a", "a copper kettle on the stove")
    insert(client, f"user:{own}", "b", "the copper roof of the church")
    insert(client, f"user:{own}", "c", "a letter from Lisbon")
    settle(client)
    asked = {"collection": f"user:{own}", "text": "copper kettle", "k": 2}
    results = check_results(client.call("search_text", **asked)["results"])
    assert results[0]["id"] == "a"
    assert len(results) <= 2
    assert [result["score"] for result in results] == sorted((r["score"] for r in results), reverse=True)
    assert results[0]["score"] > 0
    assert "a" not in ids(client.call("search_text", **asked, excludeIds=["a"])["results"])
    assert client.call("search_text", collection=f"user:{own}-unknown", text="copper", k=2)["results"] == []


def test_a_search_over_collections_merges_hits_and_names_their_collection(client: WireClient, own: str) -> None:
    names = [f"user:{own}", f"session:{own}", "global"]
    insert(client, names[0], "m", "copper kettle")
    insert(client, names[2], "m", f"copper kettle for everybody, {own}")
    turn(client, own, "t", "the copper kettle again", role="user", userId=own)
    insert(client, f"user:{own}-other", "z", "copper kettle of somebody else")
    settle(client)
    asked = {"collections": names, "text": "copper kettle", "k": 10}
    results = check_results(client.call("search_text_collections", **asked)["results"])
    found = {(result["metadata"]["collection"], result["id"]) for result in results}
    assert found >= {(names[0], "m"), (names[1], "t"), (names[2], "m")}
    assert {name for name, _ in found} <= set(names)
    assert [result["score"] for result in results] == sorted((r["score"] for r in results), reverse=True)
    assert len(client.call("search_text_collections", **asked | {"k": 1})["results"]) == 1
    left = client.call("search_text_collections", **asked, excludeByCollection={names[1]: ["t"]})["results"]
    assert {(r["metadata"]["collection"], r["id"]) for r in left} == found - {(names[1], "t")}


def test_records_are_listed_by_the_value_of_any_metadata_key(client: WireClient, own: str) -> None:
    insert(client, f"user:{own}", "a", "one", ordinal=1, source_doc="A.md", authored=True)
    insert(client, f"user:{own}", "b", "two", ordinal=2, source_doc="A.md", authored=False)

    def having(key: str, value: Any) -> list[str]:
        asked = {"collection": f"user:{own}", "key": key, "value": value}
        return ids(check_results(client.call("list_by_meta", **asked)["results"], listing=True))

    assert having("source_doc", "A.md") == ["a", "b"]
    assert having("ordinal", 2) == ["b"]
    assert having("authored", True) == ["a"]
    assert having("ordinal", 3) == having("unknown", 1) == []
    assert having("ordinal", 2.0) == ["b"]
    assert having("userId", own) == having("type", "memory") == ["a", "b"]
    assert having("authored", 1) == having("type", "turn") == []


def test_access_counts_rise_by_one_each(client: WireClient, own: str) -> None:
    for name in "ab":
        insert(client, f"user:{own}", name, f"record {name}")
    turn(client, own, "t", "a turn", role="user")
    updates = [{"collection": f"user:{own}", "ids": ["a", "b"]}, {"collection": f"session:{own}", "ids": ["t"]}]
    assert client.call("bump_access_counts", updates=updates)["ok"] is True
    assert client.call("bump_access_counts", updates=updates[:1])["ok"] is True
    records = listed(client, f"user:{own}") + listed(client, f"session:{own}")
    assert [(r["id"], r["metadata"]["access_count"]) for r in records] == [("a", 2), ("b", 2), ("t", 1)]


def test_an_export_holds_the_memories_of_one_user_or_of_all(client: WireClient, own: str) -> None:
    insert(client, f"user:{own}", "a", "mine", colour="red")
    insert(client, f"user:{own}2", "b", "another's")
    insert(client, f"turns:{own}", "c", "not a memory")
    [record] = client.call("export_memory", userId=own)["records"]
    assert (record["collection"], record["id"], record["text"]) == (f"user:{own}", "a", "mine")
    assert record["metadata"]["colour"] == "red"
    everyone = {(r["collection"], r["id"]) for r in client.call("export_memory")["records"]}
    assert everyone >= {(f"user:{own}", "a"), (f"user:{own}2", "b")}
    assert all(name.startswith("user:") for name, _ in everyone)


def test_a_namespace_can_be_emptied_for_one_user_but_not_for_all(client: WireClient, own: str) -> None:
    insert(client, f"user:{own}", "a", "mine")
    insert(client, f"user:{own}2", "b", "another's")
    assert client.call("flush_namespace", userId=own)["ok"] is True
    assert listed(client, f"user:{own}") == []
    assert ids(listed(client, f"user:{own}2")) == ["b"]
    with pytest.raises(Refused, match="userId"):
        client.call("flush_namespace")
    assert ids(listed(client, f"user:{own}2")) == ["b"]


def test_records_are_deleted_one_by_one_and_together(client: WireClient, own: str) -> None:
    for name in "abcd":
        insert(client, f"user:{own}", name, f"copper {name}")
    assert client.call("delete", collection=f"user:{own}", id="a")["ok"] is True
    assert client.call("delete_batch", collection=f"user:{own}", ids=["b", "c"])["ok"] is True
    assert ids(listed(client, f"user:{own}")) == ["d"]
    settle(client)
    assert ids(client.call("search_text", collection=f"user:{own}", text="copper", k=9)["results"]) == ["d"]


def test_a_compaction_puts_summaries_into_the_active_view_and_keeps_the_raw_history(
    client: WireClient, own: str
) -> None:
    said = talk(client, own, 30)
    raw = listed(client, f"session_raw:{own}")
    asked = {
        "force": True, "targetSize": 10, "continuityMinTurns": 6, "continuityTailBudgetTokens": 100,
        "continuityPriorContextTokens": 50,
    }  # fmt: skip
    done = client.call("compact_session", sessionId=own, **asked)
    assert done["didCompact"] is True
    assert done["clustersFormed"] > 0
    assert done["clustersDeclined"] >= 0
    assert done["summaryMethod"]
    assert 0 <= done["meanConfidence"] <= 1
    summaries = listed(client, f"session_summary:{own}")
    view = listed(client, f"session:{own}")
    kept = [result for result in view if result["metadata"]["type"] != "summary"]
    assert len(kept) == 30 - done["turnsRemoved"] >= 6
    assert ids(kept) == said[-len(kept) :]
    assert {r["id"] for r in view} - set(ids(kept)) == set(ids(summaries))
    by_type = client.call("list_by_meta", collection=f"session:{own}", key="type", value="summary")["results"]
    assert set(ids(by_type)) == set(ids(summaries))
    assert listed(client, f"session_raw:{own}") == raw
    for summary in summaries:
        metadata = summary["metadata"]
        assert metadata["type"] == "summary"
        assert 0 <= metadata["confidence"] <= 1
        assert metadata["decay_rate"] == pytest.approx(1 - metadata["confidence"])
        assert metadata["method"]
        times = [result["metadata"]["ts"] for result in raw if result["id"] in metadata["source_ids"]]
        assert {min(times), max(times)} <= {value for value in metadata.values() if isinstance(value, int)}
    covered = [turn_id for summary in summaries for turn_id in summary["metadata"]["source_ids"]]
    assert sorted(covered + ids(kept)) == sorted(said)


def test_a_summary_expands_to_the_turns_it_covers(client: WireClient, own: str) -> None:
    talk(client, own, 14)
    client.call("compact_session", sessionId=own, force=True)
    raw = {result["id"]: result for result in listed(client, f"session_raw:{own}")}
    for summary in listed(client, f"session_summary:{own}"):
        asked = {"sessionId": own, "summaryId": summary["id"]}
        turns = check_results(client.call("expand_summary", **asked)["results"])
        assert ids(turns) == summary["metadata"]["source_ids"]
        assert all(turn["text"] == raw[turn["id"]]["text"] for turn in turns)
        assert all(turn["metadata"]["mark"] == raw[turn["id"]]["metadata"]["mark"] for turn in turns)
        assert client.call("expand_summary", **asked, maxDepth=3)["results"] == turns


def test_the_raw_history_is_searched_even_where_a_summary_covers_it(client: WireClient, own: str) -> None:
    talk(client, own, 14)
    client.call("compact_session", sessionId=own, force=True)
    settle(client)
    asked = {"sessionId": own, "text": "Which pump stopped with E003?", "k": 3}
    results = check_results(client.call("query_raw_session", **asked)["results"])
    assert results[0]["id"] == "t3"
    assert results[0]["metadata"]["raw_history"] is True
    assert "t3" not in ids(client.call("query_raw_session", **asked, excludeIds=["t3"])["results"])


@pytest.mark.requirement("LIFE-6")
def test_lifecycle_hints_of_a_session_are_journalled_newest_first(client: WireClient, own: str) -> None:
    hint = {
        "hook": "before_reset", "reason": "reset", "sessionFile": "/nowhere.jsonl", "sessionId": own,
        "sessionKey": f"agent:main:{own}", "agentId": "main", "workspaceDir": "/nowhere", "messageCount": 3,
        "durationMs": 1500, "transcriptArchived": False, "nextSessionId": "next", "nextSessionKey": "agent:main:next",
    }  # fmt: skip
    answer = client.call("session_lifecycle_hint", **hint)
    assert answer == {"ok": True, "hook": "before_reset", "sessionId": own, "reason": "reset"}
    client.call("session_lifecycle_hint", hook="session_end", sessionId=own)
    client.call("session_lifecycle_hint", hook="session_end")
    newest, oldest = check_results(client.call("list_lifecycle_journal", sessionId=own)["results"], listing=True)
    assert newest["metadata"]["hook"] == "session_end"
    assert oldest["metadata"].items() >= hint.items()
    assert len(client.call("list_lifecycle_journal", sessionId=own, limit=1)["results"]) == 1
    assert len(client.call("list_lifecycle_journal")["results"]) >= 3


def test_after_a_flush_every_acknowledged_record_is_found(client: WireClient, own: str) -> None:
    for number in range(50):
        insert(client, f"user:{own}", str(number), f"entry {number} about serial{number}")
    settle(client)
    assert client.call("flush") == {"ok": True, "pending": 0}
    for number in (0, 25, 49):
        [best, *_] = client.call("search_text", collection=f"user:{own}", text=f"serial{number}", k=1)["results"]
        assert best["id"] == str(number)


def test_one_connection_may_have_many_open_requests_with_ids_of_both_types(client: WireClient, own: str) -> None:
    talk(client, own, 40)
    names: list[int | str] = [f"request-{n}" if n % 2 else 1_000_000 + n for n in range(40)]
    slow = client.send("compact_session", {"sessionId": own, "force": True}, "slow")
    searches = [
        client.send("query_raw_session", {"sessionId": own, "text": f"E{n:03d}", "k": 1}, name)
        for n, name in enumerate(names)
    ]
    assert [ids(search.result(WAIT_S)["results"]) for search in searches] == [[f"t{n}"] for n in range(40)]
    assert slow.result(WAIT_S)["didCompact"] is True
    assert sorted(map(str, client.arrived[-41:])) == sorted([*map(str, names), "slow"])


def test_every_refusal_has_a_reason_and_the_connection_stays_open(client: WireClient) -> None:
    for method, params in (("no_such_method", {}), ("search_text", {}), ("insert_text", {"collection": 5})):
        with pytest.raises(Refused) as refused:
            client.call(method, **params)
        assert str(refused.value)
    client.send_raw(b"this is not JSON\n[]\n{}\n\n")
    assert client.call("health")["ok"] is True


def test_a_client_skips_frames_it_cannot_read() -> None:
    ours, theirs = socket.socketpair()
    with theirs, WireClient(ours) as client:
        outcome = client.send("health", {})
        request = json.loads(theirs.recv(1 << 16))
        answer = {"jsonrpc": "2.0", "id": request["id"], "result": {"ok": True}}
        theirs.sendall(b'not JSON\n\n[1]\n"text"\n{"id": [1]}\n{"id": 99, "result": {}}\n')
        theirs.sendall(json.dumps(answer).encode() + b"\n")
        assert outcome.result(WAIT_S) == {"ok": True}
