"""Packs from a real store: their items, their omissions, their cost and their traces."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from clew.api import Bundle, DiffTraces, Event, ListTraces, MemoryApi, Pack, ShowTrace, Trace
from clew.client import connect
from clew.core.collections import Collection
from clew.core.marks import By, Mark, made
from clew.core.model import Trust
from clew.engine import Memory
from clew.errors import InvalidInput, NotFound
from clew.faces.daemon.limits import Limits
from clew.features.lifecycle import archive
from clew.features.pack.choice import Reason
from clew.models.embedding.hashing import HashingEmbedder
from clew.storage.protocol import Marking, Place
from clew.text.framing import PACK_CLOSE, PACK_OPEN
from tests.conftest import NOW_MS, FixedClock, OpenMemory
from tests.testing.daemons import Serving, short_folder
from tests.testing.lines import read

QUERY = "which port does the staging server listen on"
HOUR_MS = 3_600_000


def mark(memory: Memory, ref: str, *, trust: Trust | None = None, **values: Any) -> None:
    """Mark a record as a service or the operator would."""
    collection, _, id_ = ref.partition("/")
    marks = {Mark(name).value: made(value, By.OPERATOR, NOW_MS) for name, value in values.items()}
    assert memory._parts.store.mark([Marking(Place(Collection(collection), id_), marks, trust)]) == 1


def reasons(trace: Trace | None) -> dict[str, str]:
    assert trace is not None
    return {candidate.ref: candidate.reason for candidate in trace.candidates}


def refs(bundle: Bundle) -> list[str]:
    return [item.record_ref for item in bundle.items]


# --- the bundle --------------------------------------------------------------------------------------


@pytest.mark.requirement("PACK-1", "RPC-1", "API-1")
def test_a_pack_is_a_framed_text_and_the_same_items_as_flat_data(api: MemoryApi) -> None:
    api.put("user:u", "port", "The staging server listens on port 8080", {"ts": NOW_MS})
    api.put("user:u", "tea", "Ann drinks green tea in the morning")
    api.flush()
    bundle = api.pack(QUERY, user_id="u")
    lines = bundle.bundle_text.split("\n")
    assert (lines[0], lines[-1]) == (PACK_OPEN, PACK_CLOSE)
    said = read(lines[1])
    assert said.pop("when").startswith("2026-09-21")
    assert said == {"n": 1, "who": "note", "text": "The staging server listens on port 8080"}
    item = bundle.items[0]
    assert (item.record_ref, item.layer, item.citation, item.dissent) == ("user:u/port", "L2", "[1]", False)
    assert 0 < bundle.used_tokens <= bundle.budget_tokens
    keys = list(msgspec.to_builtins(bundle))
    assert keys[:6] == ["bundleText", "items", "budgetTokens", "usedTokens", "abstained", "notes"]


@pytest.mark.requirement("PACK-1")
def test_an_empty_pack_is_a_valid_answer(memory: Memory) -> None:
    memory.put("user:u", "tea", "Ann drinks green tea in the morning")
    memory.flush()
    bundle = memory.pack("orbital mechanics of comets", user_id="u")
    assert (bundle.bundle_text, bundle.items, bundle.abstained, bundle.used_tokens) == ("", (), True, 0)
    assert bundle.notes == ("nothing relevant is known",)
    assert memory.pack("", user_id="u").abstained


@pytest.mark.requirement("PACK-1")
def test_a_question_is_no_answer_to_itself(memory: Memory) -> None:
    memory.ingest("s", "user", QUERY, user_id="u")
    memory.flush()
    bundle = memory.pack(f" {QUERY.upper()} ", user_id="u", session_id="s", trace=True)
    assert bundle.abstained
    assert set(reasons(bundle.trace).values()) == {"duplicate"}


@pytest.mark.requirement("PACK-1", "PACK-2")
@pytest.mark.parametrize("budget", [1, 20, 64])
def test_a_tiny_budget_gives_an_empty_bundle_that_says_why(memory: Memory, budget: int) -> None:
    memory.put("user:u", "port", "The staging server listens on port 8080. " * 20)
    memory.flush()
    bundle = memory.pack(QUERY, user_id="u", budget_tokens=budget)
    assert (bundle.bundle_text, bundle.used_tokens, bundle.abstained) == ("", 0, False)
    assert bundle.notes == ("what is relevant does not fit the budget", "1 left out for lack of room")


@pytest.mark.requirement("PACK-1")
def test_bad_requests_are_refused(memory: Memory) -> None:
    for request in (
        Pack(query=QUERY, budget_tokens=0),
        Pack(query=QUERY, limit=0),
        Pack(query=QUERY, limit=101),
        Pack(query=QUERY, kinds=("opinion",)),
    ):
        with pytest.raises(InvalidInput):
            memory.call(request)


@pytest.mark.requirement("PACK-1", "CAPTURE-4")
def test_private_paths_and_payloads_are_not_shown(memory: Memory) -> None:
    folder = memory._parts.config.data_dir
    memory.put("user:u", "a", f"The staging server logs to /home/ann/logs and {folder}/x", {"speaker": "/home/ann/me"})
    memory.put("user:u", "b", "The staging server dump", {"artifact": "0a1b" * 10, "payloadBytes": 90_000})
    memory.flush()
    text = memory.pack("staging server logs dump", user_id="u").bundle_text
    assert "~/logs and ~/x" in text
    assert '"~/me"' in text
    assert "/home/ann" not in text
    assert str(folder) not in text
    assert f'"payload":"{"0a1b" * 10}, 90000 bytes"' in text


@pytest.mark.requirement("PACK-1", "CONT-6")
def test_a_line_gives_the_day_and_for_recent_or_future_items_the_minute(memory: Memory) -> None:
    two_days_ms = 48 * HOUR_MS
    ages_ms = {"old": two_days_ms, "recent": two_days_ms - 1, "to come": -HOUR_MS}
    for id_, age_ms in ages_ms.items():
        memory.put("user:u", id_, f"The staging server listens, {id_}", {"ts": NOW_MS - age_ms})
    memory.flush()
    packed = memory.pack(QUERY, user_id="u").bundle_text
    recalled = memory.assemble("s", query=QUERY, user_id="u").recalled_text
    for text in (packed, recalled):
        said = {line["text"].partition(", ")[2]: line["when"] for line in map(read, text.split("\n")[1:-1])}
        assert said == {"old": "2026-09-19", "recent": "2026-09-19 14:13", "to come": "2026-09-21 15:13"}


@pytest.mark.requirement("STORE-1", "PACK-3")
def test_a_pack_sees_nothing_of_another_user_or_session(memory: Memory) -> None:
    memory.put("user:v", "x", "The staging server listens on port 1")
    memory.ingest("other", "user", "The staging server listens on port 2", user_id="v")
    memory.flush()
    bundle = memory.pack(QUERY, user_id="u", session_id="mine", cold=True, trace=True)
    assert bundle.abstained
    assert reasons(bundle.trace) == {}


# --- the reasons -------------------------------------------------------------------------------------


@pytest.mark.requirement("PACK-3", "PACK-4", "PACK-5", "LIFE-4")
@pytest.mark.requirement("HOST-2", "PACK-3")
def test_text_in_the_current_prompt_is_left_out_and_the_trace_says_so(memory: Memory) -> None:
    said = "The harbour pilot Odile prefers the northern channel at low tide."
    memory.ingest("now", "user", said, user_id="ann", id="t1")
    memory.ingest("then", "user", "Odile the harbour pilot never takes the southern channel.", user_id="ann", id="t2")
    memory.capture(Event(text="tide table: northern channel, Odile", session_id="now", user_id="ann", kind="note"))
    memory.harvest()
    memory.flush()
    bundle = memory.pack("Which channel does the pilot Odile take?", user_id="ann", exclude_session="now", trace=True)
    assert [ref.rpartition("/")[2] for ref in refs(bundle)] == ["t2"]
    assert bundle.trace is not None
    present = {item.ref for item in bundle.trace.candidates if item.reason == "present"}
    assert any(ref.startswith("turns:ann/now/") for ref in present)
    assert not any("/then/" in ref for ref in present)


def test_every_reason_is_reached_and_every_candidate_has_one(memory: Memory) -> None:
    said = "The staging server listens on port"
    texts = {
        "lead": f"{said} 8080",
        "against": f"{said} 9090",
        "copy": f"{said.upper()}  8080",
        "old": f"{said} 7070 as ever",
        "bad": f"{said} 6666, so they wrote",
        "dull": "Which of the many teas does Ann drink on a grey morning in the mountains",
        "far": "The radio authority asks for a server",
        "one more": "A staging server listens, whichever it is, on a port",
    }
    for hours, (id_, text) in enumerate(texts.items()):
        memory.put("user:u", id_, text, {"ts": NOW_MS - hours * HOUR_MS})
    memory.flush()
    for id_ in texts:
        mark(memory, f"user:u/{id_}", kind="fact", grade={"label": "ignore" if id_ == "dull" else "must_remember"})
    mark(memory, "user:u/lead", contradicts=["user:u/against", "user:v/secret"])
    mark(memory, "user:u/old", superseded_by="user:u/lead")
    mark(memory, "user:u/bad", trust=Trust.QUARANTINED)

    def packed(**given: Any) -> dict[str, str]:
        trace = memory.call(Pack(query=QUERY, user_id="u", trace=True, **given)).trace
        return {ref.partition("/")[2]: reason for ref, reason in reasons(trace).items()}

    capped = packed(limit=2)
    assert capped == {
        "lead": Reason.RELEVANT,
        "against": Reason.DISSENT,
        "copy": Reason.DUPLICATE,
        "old": Reason.SUPERSEDED,
        "bad": Reason.TRUST,
        "dull": Reason.IMPORTANCE,
        "far": Reason.SCORE,
        "one more": Reason.CAP,
        "secret": Reason.SCOPE,
    }
    tight = packed(budget_tokens=90)
    assert (tight["lead"], tight["one more"]) == (Reason.RELEVANT, Reason.BUDGET)
    assert packed(kinds=("decision",))["lead"] == Reason.KIND
    elsewhere = {Reason.KIND, Reason.PRESENT, Reason.PROJECT, Reason.DUE, Reason.STALE, Reason.ENDED, Reason.UNRELATED}
    said_nothing = {Reason.QUESTION, Reason.PAYLOAD}
    assert {*capped.values(), *tight.values(), *elsewhere, *said_nothing} == set(Reason)


# --- the trace ---------------------------------------------------------------------------------------


def fill(memory: MemoryApi) -> None:
    """Memories, a session with tool output, and a text in several collections."""
    memory.put("user:u", "port", "The staging server listens on port 8080", {"ts": NOW_MS - HOUR_MS})
    memory.put("user:u", "older", "The staging server listens on port 9090", {"ts": NOW_MS - 9 * HOUR_MS})
    memory.put("user:u", "tea", "Ann drinks green tea in the morning", {"ts": NOW_MS})
    memory.ingest("s", "user", "I moved the staging server to the new rack", user_id="u", id="t1", ts=NOW_MS - 5)
    memory.ingest("s", "tool_result", "staging server: port 8080 open", user_id="u", id="t2", ts=NOW_MS - 4)
    memory.flush()


def as_bytes(bundle: Bundle) -> bytes:
    return msgspec.json.encode(bundle)


@pytest.mark.requirement("PACK-6", "PACK-3")
def test_store_query_and_clock_determine_the_bytes_across_restarts_and_faces(
    open_memory: OpenMemory, clock: FixedClock
) -> None:
    memory = open_memory(HashingEmbedder())
    fill(memory)
    request = Pack(query=QUERY, user_id="u", session_id="s", untrusted=True, trace=True)
    first = memory.call(request)
    kept = memory.call(ShowTrace(id=first.trace_id))
    memory.close()
    again = open_memory(HashingEmbedder())
    again.flush()
    assert as_bytes(again.call(request)) == as_bytes(first)
    repeated = again.call(ShowTrace(id=first.trace_id))
    assert msgspec.structs.replace(repeated, timings_ms={}) == msgspec.structs.replace(kept, timings_ms={})
    limits = Limits(frame_bytes=1 << 20, inflight=8, connections=8, deadline_s=30.0)
    with short_folder() as folder, Serving(again, folder, limits) as serving, connect(serving.endpoint) as client:
        assert as_bytes(client.call(request)) == as_bytes(first)
    other = open_memory(HashingEmbedder(), data_dir=again._parts.config.data_dir.parent / "other")
    fill(other)
    assert as_bytes(other.call(request)) == as_bytes(first)
    clock.ms += 1
    assert again.call(request).trace_id != first.trace_id


@pytest.mark.requirement("PACK-3")
def test_traces_hold_no_content_and_can_be_listed_shown_and_compared(api: MemoryApi) -> None:
    fill(api)
    api.put("global", "said", "The staging server was moved to a new rack")
    api.flush()
    one = api.pack(QUERY, user_id="u", session_id="s")
    two = api.pack(QUERY, user_id="u", session_id="s", untrusted=True, budget_tokens=400)
    listed = api.call(ListTraces())
    assert [head.id for head in listed.traces] == [two.trace_id, one.trace_id]
    assert listed.traces[1].included == len(one.items)
    trace = api.call(ShowTrace(id=one.trace_id))
    assert [lane.name for lane in trace.lanes] == ["hot", "warm", "cold", "facts", "plans", "graph"]
    assert [lane.name for lane in trace.lanes if not lane.searched] == ["cold"]
    written = msgspec.json.encode(trace).decode()
    assert not any(word in written for word in ("staging", "listens", "rack", "green tea", "8080"))
    assert all(candidate.reason in set(Reason) for candidate in trace.candidates)
    assert trace.policy["untrusted"] == "not asked for"
    diff = api.call(DiffTraces(before=one.trace_id, after=two.trace_id))
    assert not diff.same
    assert diff.policy["untrusted"] == ("not asked for", "framed and capped")
    changed = {change.ref: (change.before, change.after) for change in diff.changes}
    assert changed["session:s/t2"] == ("out: trust", "in: relevant, L2")
    assert api.call(DiffTraces(before=one.trace_id, after=one.trace_id)).same
    with pytest.raises(NotFound):
        api.call(ShowTrace(id="p_00"))


# --- use ---------------------------------------------------------------------------------------------


@pytest.mark.requirement("LIFE-2", "RANK-4")
def test_only_records_in_the_pack_count_as_used(memory: Memory) -> None:
    fill(memory)
    bundle = memory.pack(QUERY, user_id="u", session_id="s", trace=True)
    assert "user:u/port" in refs(bundle)
    used, unused = memory.get("user:u", "port", "tea").records
    assert (used.access_count, used.last_used) == (1, NOW_MS)
    assert (unused.access_count, unused.last_used) == (0, None)
    assert bundle.trace is not None
    assert set(bundle.trace.refreshed) == set(refs(bundle))
    tool = memory.get("session:s", "t2").records[0]
    assert tool.access_count == 0


@pytest.mark.requirement("LIFE-3", "PACK-3")
def test_the_archive_is_searched_on_request_and_packed_records_are_revived(memory: Memory) -> None:
    memory.put("user:u", "port", "The staging server listens on port 8080")
    memory.flush()
    archive.put_away(memory._parts, [Place(Collection("user:u"), "port")])
    assert memory.pack(QUERY, user_id="u").abstained
    bundle = memory.pack(QUERY, user_id="u", cold=True, trace=True)
    assert refs(bundle) == ["archive:user:u/port"]
    assert bundle.trace is not None
    assert bundle.trace.refreshed == ("user:u/port",)
    revived = memory.get("user:u", "port").records[0]
    assert (revived.access_count, revived.last_used) == (1, NOW_MS)
    assert refs(memory.pack(QUERY, user_id="u")) == ["user:u/port"]


@pytest.mark.requirement("PACK-3", "LIFE-4")
def test_a_successor_takes_the_place_of_a_superseded_record(memory: Memory) -> None:
    memory.put("user:u", "old", "The staging server listens on port 8080")
    memory.put("user:u", "new", "It is nine thousand and ninety since Tuesday")
    memory.flush()
    mark(memory, "user:u/old", superseded_by="user:u/new")
    bundle = memory.pack(QUERY, user_id="u", trace=True)
    assert refs(bundle) == ["user:u/new"]
    assert bundle.trace is not None
    assert bundle.trace.candidates[0].linked_from == "user:u/old"


@pytest.mark.requirement("PACK-4")
def test_quarantined_records_do_not_crowd_out_others(memory: Memory) -> None:
    for number in range(70):
        memory.put("user:u", f"bad{number}", f"The staging server listens on port {number}, the staging server")
    memory.put("user:u", "good", "A staging server has a port somewhere")
    memory.flush()
    for number in range(70):
        mark(memory, f"user:u/bad{number}", trust=Trust.QUARANTINED)
    bundle = memory.pack("staging server port", user_id="u", trace=True)
    assert refs(bundle) == ["user:u/good"]
    assert set(reasons(bundle.trace).values()) == {"relevant", "trust"}


# --- why ---------------------------------------------------------------------------------------------


@pytest.mark.requirement("PACK-3", "API-1")
def test_why_names_the_stage_that_dropped_a_record_and_changes_nothing(memory: Memory) -> None:
    fill(memory)
    memory.put("user:v", "port", "The staging server listens on port 8080")
    memory.put("user:u", "asleep", "The staging server slept")
    memory.flush()
    archive.put_away(memory._parts, [Place(Collection("user:u"), "asleep")])

    def stage(ref: str) -> tuple[str, str, bool]:
        explanation = memory.why(ref, QUERY, user_id="u", session_id="s")
        assert explanation.sentence.endswith(".")
        return explanation.stage, explanation.reason, explanation.included

    assert stage("user:u/port") == ("pack", "relevant", True)
    assert stage("user:u/older") == ("pack", "dissent", True)
    assert stage("session:s/t2") == ("policy", "trust", False)
    assert stage("user:v/port") == ("scope", "scope", False)
    assert stage("user:u/asleep") == ("archive", "cold", False)
    assert stage("user:u/tea")[0] in ("search", "policy")
    with pytest.raises(NotFound):
        memory.why("user:u/nobody", QUERY, user_id="u")
    assert memory.get("user:u", "port").records[0].access_count == 0
    assert memory.call(ListTraces()).traces == ()


@pytest.mark.requirement("PACK-3")
def test_why_gives_the_rank_of_a_record_too_far_to_be_a_candidate(open_memory: OpenMemory) -> None:
    memory = open_memory(HashingEmbedder())
    for number in range(80):
        memory.put("user:u", f"near{number}", f"The staging server listens on port {number}")
    memory.put("user:u", "far", "A server for tennis players")
    memory.flush()
    explanation = memory.why("user:u/far", QUERY, user_id="u")
    assert (explanation.stage, explanation.candidate) == ("search", None)
    assert "number 81 of the 81 records" in explanation.sentence


@pytest.mark.requirement("PACK-3")
def test_why_explains_a_pack_with_the_same_options(api: MemoryApi) -> None:
    api.put("user:u", "port", "The staging server listens on port 8080", kind="fact")
    api.put("user:u", "plan", "The staging server will listen on port 9090", kind="task")
    api.flush()
    bundle = api.pack(QUERY, user_id="u", kinds=["task"])
    assert refs(bundle) == ["user:u/plan"]
    explained = api.why("user:u/port", QUERY, user_id="u", kinds=["task"])
    assert (explained.included, explained.reason) == (False, Reason.KIND)
    assert api.why("user:u/port", QUERY, user_id="u").included
    best = refs(api.pack(QUERY, user_id="u", limit=1))
    assert [ref for ref in ("user:u/port", "user:u/plan") if api.why(ref, QUERY, user_id="u", limit=1).included] == best


@pytest.mark.requirement("PACK-3", "PACK-6")
def test_a_stored_trace_gives_the_duration_of_each_step(memory: Memory) -> None:
    memory.put("user:u", "port", "The staging server listens on port 8080")
    memory.flush()
    bundle = memory.pack(QUERY, user_id="u", trace=True)
    kept = memory.call(ShowTrace(id=bundle.trace_id))
    assert list(kept.timings_ms) == ["question", "search", "graph", "facts and plans", "selection", "layout"]
    assert sum(kept.timings_ms.values()) > 0
    assert msgspec.structs.replace(kept, timings_ms={}) == bundle.trace
