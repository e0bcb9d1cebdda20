"""Captured events become ledger records: redacted, each once, no matter what else is in the file."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from clew.api import Event, Harvest, HarvestReceipt, MemoryApi
from clew.core.collections import Collection
from clew.core.marks import By, Mark, made
from clew.errors import ClewError, InvalidInput, NotFound
from clew.features.ledger.harvest import harvest, some
from clew.storage.protocol import Marking, Place
from tests.conftest import opened_api
from tests.features.ledger.test_capture_log import SMALL, event, everything, folder, harvest_all, keep, make_parts
from tests.testing.command_line import write_lines

pytestmark = pytest.mark.requirement("CAPTURE-2")

SECRET = "ghp_a8F3kD9sLq2ZxW7vB1nM5tR0yU4iO6pE3cQe"
PASSWORD = "correct-horse-9-battery"


@pytest.fixture(scope="module", params=["memory", "client"])
def api(request: pytest.FixtureRequest) -> Iterator[MemoryApi]:
    with opened_api(request.param, capture_inline_bytes=256) as opened:
        yield opened


@pytest.fixture
def sid(request: pytest.FixtureRequest) -> str:
    """A session of its own for each test, since the engine is shared."""
    return f"s-{request.node.name}"[:100]


def settle(api: MemoryApi, path: Path | None = None) -> HarvestReceipt:
    """Harvests until all is read; the last receipt."""
    while not (receipt := api.harvest(None if path is None else str(path))).done:
        pass
    return receipt


def line(id_: str, **fields: Any) -> dict[str, Any]:
    return {"clew": 1, "id": id_, "ts": 5, "kind": "note", "text": f"note {id_}", "sessionId": "s"} | fields


def texts(api: MemoryApi, collection: str) -> list[str]:
    return [record.text for record in api.list(collection).records]


@pytest.mark.requirement("CAPTURE-1")
def test_an_event_is_found_in_the_ledgers_of_its_session_and_its_user(api: MemoryApi, sid: str) -> None:
    receipt = api.capture(Event(text="ran make", tool="bash", session_id=sid, user_id=f"u-{sid}", ts=5, payload=[1]))
    settle(api)
    (of_session,) = api.list(f"ledger:session:{sid}").records
    (of_user,) = api.list(f"ledger:user:u-{sid}").records
    assert of_session.id == receipt.captured[0].id
    assert of_user.id == f"{sid}/{of_session.id}", "ids of many sessions stand together there"
    assert (of_user.text, of_user.ts) == ("ran make", 5)
    assert of_user.metadata == {"toolName": "bash", "payload": [1]}


@pytest.mark.requirement("CAPTURE-5", "PACK-4")
@pytest.mark.parametrize(
    ("fields", "provenance", "trust"),
    [
        ({"kind": "observation", "tool": "bash"}, "tool_output", "untrusted"),
        ({"kind": "event"}, "tool_output", "untrusted"),
        ({"kind": "decision", "tool": "bash"}, "tool_output", "untrusted"),
        ({"kind": "decision"}, "assistant_turn", "unknown"),
        ({"kind": "plan"}, "assistant_turn", "unknown"),
        ({"kind": "fact", "source": "https://example.org/a"}, "web", "untrusted"),
    ],
)
def test_the_trust_of_an_event_follows_from_its_origin(
    api: MemoryApi, sid: str, fields: dict[str, Any], provenance: str, trust: str
) -> None:
    api.capture(Event(text="the build uses nine cores", session_id=sid, **fields))
    settle(api)
    (record,) = api.list(f"ledger:session:{sid}").records
    assert (record.provenance, record.trust) == (provenance, trust)
    assert record.marks["kind"]["value"] == fields["kind"]
    assert record.metadata.get("sourceUrl") == fields.get("source")


def test_capturing_an_event_again_makes_no_second_record(api: MemoryApi, sid: str) -> None:
    for _ in range(3):
        api.capture(Event(text="ran make", session_id=sid, id="e1"), Event(text="done", session_id=sid, ts=7))
        settle(api)
    assert sorted(texts(api, f"ledger:session:{sid}")) == ["done", "ran make"]
    api.capture(Event(text="ran make again", session_id=sid, id="e1"))
    settle(api)
    assert sorted(texts(api, f"ledger:session:{sid}")) == ["done", "ran make again"]


@pytest.mark.requirement("CAPTURE-1", "CAPTURE-3")
def test_no_file_holds_a_secret_from_any_part_of_an_event(api: MemoryApi, sid: str, tmp_path: Path) -> None:
    receipt = api.capture(
        Event(text=f"export TOKEN={SECRET}", session_id=sid, tool=f"curl {SECRET}"),
        Event(text="called", session_id=sid, payload={"auth": SECRET, "password": PASSWORD}),
        Event(text="called", session_id=sid, payload={"auth": f"{SECRET} " * 50, "password": PASSWORD}),
        Event(text="called", session_id=sid, metadata={"note": f"use {SECRET}", "password": PASSWORD}),
        Event(text="read", session_id=sid, source=f"https://example.org/?access_token={SECRET}"),
    )
    assert all(item.redacted for item in receipt.captured)
    other = write_lines(
        tmp_path / "other.jsonl",
        [
            line("a", sessionId=sid, text=SECRET, payload={"x": f"{SECRET} " * 50}, metadata={"password": PASSWORD}),
            line("b", sessionId=sid, kind="rumour", text=SECRET, metadata={"password": PASSWORD}),
            f'{{"clew":1,"text":"{SECRET}',
            json.dumps([SECRET]),
        ],
    )
    assert api.harvest(str(other)).set_aside == 3
    settle(api)
    api.flush()
    data_dir = Path(api.status().data_dir)
    written = b"".join(path.read_bytes() for path in data_dir.rglob("*") if path.is_file())
    assert b"[redacted:" in written
    assert SECRET.encode() not in written
    assert PASSWORD.encode() not in written
    assert SECRET not in str(api.list(f"ledger:session:{sid}"))


def test_a_bad_line_is_set_aside_with_its_reason_and_the_run_goes_on(api: MemoryApi, sid: str, tmp_path: Path) -> None:
    bad: list[tuple[object, str]] = [
        ("no json", "not JSON"),
        ([1], "not an event"),
        (line("x", text=5), "not an event"),
        (line("x", surprise=1), "not an event"),
        (line("x", ts=-5), "not an event"),
        (line("x", id=""), "not an event"),
        (line("x", clew=2), "unknown version"),
        ({"clew": 7, "new": True}, "unknown version"),
        (line("x", kind="rumour"), "unknown kind"),
        (line("x", sessionId=None), "no owner"),
        (line("x", text="y" * 2_000_000), "too large"),
        (line("x", text="y" * 9_000_000), "too large"),
    ]
    mixed = [item for number, (content, _) in enumerate(bad) for item in (line(f"g{number}", sessionId=sid), content)]
    path = write_lines(tmp_path / "other.jsonl", mixed)
    counts: dict[str, int] = {}
    steps: list[HarvestReceipt] = []
    while not steps or not steps[-1].done:
        steps.append(api.harvest(str(path), max_lines=5))
    for step in steps:
        counts = {name: counts.get(name, 0) + step.reasons.get(name, 0) for name in {*counts, *step.reasons}}
    reasons = [reason for _, reason in bad]
    assert counts == {reason: reasons.count(reason) for reason in reasons}
    assert sum(step.stored for step in steps) == len(bad)
    assert sum(step.lines for step in steps) == 2 * len(bad)
    assert len(steps) > 3
    assert (steps[-1].read_bytes, steps[-1].total_bytes) == (path.stat().st_size, path.stat().st_size)
    aside = (Path(api.status().data_dir) / "captures" / "set-aside.jsonl").read_bytes().splitlines()
    kept = [found for found in map(json.loads, aside) if found["file"] == str(path)]
    assert [(found["line"], found["reason"]) for found in kept] == [
        (2 * number + 2, reason) for number, reason in enumerate(reasons)
    ]
    assert all(len(found["text"]) <= 64 * 1024 for found in kept)
    assert api.harvest(str(path)).lines == 0


def test_a_grown_file_is_read_from_its_old_end_and_a_replaced_one_from_the_start(
    api: MemoryApi, sid: str, tmp_path: Path
) -> None:
    path = write_lines(tmp_path / "other.jsonl", [line("a", sessionId=sid)])
    assert api.harvest(str(path)).stored == 1
    with path.open("a") as stream:
        stream.write(json.dumps(line("b", sessionId=sid)) + "\n" + json.dumps(line("c", sessionId=sid))[:30])
    receipt = api.harvest(str(path))
    assert (receipt.lines, receipt.stored, receipt.set_aside, receipt.done) == (1, 1, 0, True)
    assert receipt.read_bytes < receipt.total_bytes
    write_lines(path, [line("d", sessionId=sid), line("b", sessionId=sid)])
    receipt = api.harvest(str(path))
    assert (receipt.stored, receipt.unchanged) == (1, 1)
    assert sorted(texts(api, f"ledger:session:{sid}")) == ["note a", "note b", "note d"]


def test_a_complete_last_line_counts_without_its_line_end(api: MemoryApi, sid: str, tmp_path: Path) -> None:
    path = tmp_path / "other.jsonl"
    path.write_text(json.dumps(line("a", sessionId=sid)))
    assert api.harvest(str(path)).stored == 1
    with path.open("a") as stream:
        stream.write("\nbad\n")
    assert api.harvest(str(path)).reasons == {"not JSON": 1}
    aside = (Path(api.status().data_dir) / "captures" / "set-aside.jsonl").read_bytes().splitlines()
    assert json.loads(aside[-1])["line"] == 2


@pytest.mark.parametrize(
    ("path", "error"), [("relative.jsonl", InvalidInput), ("/no/such/file", NotFound), ("/tmp", InvalidInput)]
)
def test_an_unusable_path_is_refused_with_a_reason(api: MemoryApi, path: str, error: type[ClewError]) -> None:
    with pytest.raises(error, match=r"path|file"):
        api.harvest(path)


def test_the_number_of_lines_is_bounded(api: MemoryApi) -> None:
    for wrong in (0, 10_001):
        with pytest.raises(InvalidInput):
            api.harvest(max_lines=wrong)


# --- without background work -------------------------------------------------------------------------------


def test_a_torn_last_line_waits_and_is_set_aside_once_the_file_is_closed(tmp_path: Path) -> None:
    parts = make_parts(tmp_path / "data")
    keep(parts, event("one", id="1"))
    log = folder(parts) / "log-00000001.jsonl"
    with log.open("ab") as stream:
        stream.write(b'{"clew":1,"id":"2"')
    first = harvest(parts, Harvest())
    assert (first.lines, first.stored, first.set_aside, first.done) == (1, 1, 0, True)
    assert harvest(parts, Harvest()).lines == 0
    (folder(parts) / "log-00000002.jsonl").write_bytes(b"")
    closed = harvest(parts, Harvest())
    assert (closed.set_aside, closed.reasons, closed.done) == (1, {"cut short": 1}, True)
    assert harvest(parts, Harvest()).set_aside == 0


def test_a_harvest_in_steps_stores_the_same_as_a_single_one(tmp_path: Path) -> None:
    parts = make_parts(tmp_path / "data", **SMALL)
    for number in range(50):
        keep(parts, event(f"event {number} " + "x" * 150, id=str(number)))
    steps = [harvest(parts, Harvest(max_lines=7)) for _ in range(8)]
    assert [step.lines for step in steps] == [7] * 7 + [1]
    assert [step.done for step in steps] == [False] * 7 + [True]
    assert [step.read_bytes for step in steps] == sorted({step.read_bytes for step in steps})
    assert steps[-1].read_bytes == steps[-1].total_bytes
    assert [record.id for record in parts.store.page("ledger:session:s", 0, 99)] == [str(n) for n in range(50)]


def test_the_background_harvest_reads_in_small_steps_to_the_end(tmp_path: Path) -> None:
    parts = make_parts(tmp_path / "data")
    assert not some(parts)
    keep(parts, *(event(f"event {number}", id=str(number)) for number in range(50)))
    assert [some(parts) for _ in range(4)] == [True, True, False, False]
    assert parts.store.size("ledger:session:s") == 50


def test_a_harvest_does_not_overwrite_the_operators_record(tmp_path: Path) -> None:
    parts = make_parts(tmp_path / "data")
    keep(parts, event("ran make", id="1", kind="observation", user_id="u"))
    harvest_all(parts)
    place = Place(Collection("ledger:user:u"), "s/1")
    parts.store.mark([Marking(place, {Mark.KIND: made("decision", By.OPERATOR, 1)})])
    keep(parts, event("ran make", id="1", kind="observation", user_id="u"))
    keep(parts, event("ran make twice", id="1", kind="observation", user_id="u"))
    harvest_all(parts)
    for collection, id_ in (("ledger:user:u", "s/1"), ("ledger:session:s", "1")):
        (record,) = parts.store.get(collection, [id_])
        assert (record.text, record.marks["kind"]["value"]) == ("ran make twice", "decision")


@pytest.mark.requirement("LIFE-3")
def test_harvesting_an_archived_event_again_does_not_revive_it(tmp_path: Path) -> None:
    parts = make_parts(tmp_path / "data")
    other = write_lines(tmp_path / "other.jsonl", [line("1", userId="u"), line("2", userId="u")])
    harvest(parts, Harvest(path=str(other)))
    parts.store.move([Place(Collection("ledger:user:u"), "s/1")], "archive:ledger:user:u")
    write_lines(other, [line("2", userId="u"), line("1", userId="u")])
    receipt = harvest(parts, Harvest(path=str(other)))
    assert (receipt.stored, receipt.unchanged) == (0, 2)
    assert parts.store.get("ledger:user:u", ["s/1"]) == []


@pytest.mark.requirement("CAPTURE-1")
def test_a_long_payload_in_another_file_goes_to_an_artifact(tmp_path: Path) -> None:
    parts = make_parts(tmp_path / "data", **SMALL)
    other = write_lines(
        tmp_path / "other.jsonl", [line("1", payload="x" * 5000), line("2", metadata={"artifact": "a"})]
    )
    assert harvest(parts, Harvest(path=str(other))).stored == 2
    with_payload, without = parts.store.get("ledger:session:s", ["1", "2"])
    assert b'"' + b"x" * 5000 + b'"' in everything(parts)
    assert with_payload.metadata["payloadBytes"] == 5002
    assert "payload" not in with_payload.metadata
    assert "artifact" not in without.metadata, "an artifact is named by whoever wrote it, and nobody else"


def test_a_restarted_log_is_read_from_its_start(tmp_path: Path) -> None:
    parts = make_parts(tmp_path / "data")
    keep(parts, event("one", id="1"), event("two", id="2"))
    harvest_all(parts)
    (folder(parts) / "log-00000001.jsonl").unlink()
    keep(parts, event("three", id="3"))
    assert harvest_all(parts) == 1


@pytest.mark.requirement("CAPTURE-3")
def test_an_owners_redaction_policy_applies_to_captured_and_set_aside_lines(tmp_path: Path) -> None:
    parts = make_parts(tmp_path / "data", redaction_scopes=("user:ann=pii",))
    other = write_lines(
        tmp_path / "other.jsonl",
        [line(who, userId=who, kind="rumour", text=f"write to {who}@example.org") for who in ("ann", "bob")],
    )
    keep(parts, *(event(f"write to {who}@example.com", user_id=who) for who in ("ann", "bob")))
    harvest(parts, Harvest(path=str(other)))
    written = everything(parts)
    assert [f"{who}@example.{end}".encode() in written for who in ("ann", "bob") for end in ("com", "org")] == [
        False, False, True, True,
    ]  # fmt: skip
