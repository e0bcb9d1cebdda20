"""Histories broken on purpose, row by row: one check names each break, and repair fixes the repairable ones."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import apsw
import pytest

from clew.api import Compact, Message, VerifyReport
from clew.engine import Memory
from clew.features.upkeep import verify_history
from clew.storage.sqlite.rows import many, row_hash, run
from clew.storage.sqlite.seals import add_functions
from tests.conftest import OpenMemory
from tests.testing.drafts import record

pytestmark = pytest.mark.requirement("COMP-8", "SAFE-1")

TOLD = "The run {0} of the export ended with ERR_{0:03d} after {0} minutes; the log is /srv/export/{0}.log as ever."
NEWEST = "t19"
CHECKS = {"tiers", "tail", "budget", "acyclic", "expansion", "coverage", "progress", "lineage", "shards"}

MEMBER = (
    "(SELECT m.key FROM members AS m JOIN collections AS c ON c.key = m.key >> 32 WHERE c.name = :name AND m.id = :id)"
)
RECORD = f"(SELECT record FROM members WHERE key = {MEMBER})"  # noqa: S608 — both parts are written above


@pytest.fixture
def memory(open_memory: OpenMemory) -> Memory:
    """A session with summaries of two or more levels over all turns but the last four, one of them a rule.

    The store is reopened, so that no loaded index notices the changed rows too.
    """
    opened = open_memory(tokenizer="estimate", compact_siblings=2)
    given = [Message(role="user", text="You must never skip the tests.", id="rule")]
    given += [Message(role="assistant", text=TOLD.format(n), id=f"t{n}", ts=1_700_000_000_000 + n) for n in range(20)]
    opened.ingest_batch("s", given, user_id="ana")
    assert opened.call(Compact(session_id="s", force=True, cluster_turns=3)).did_compact
    assert opened.flush().ok
    assert opened.verify().ok
    opened.close()
    return open_memory(tokenizer="estimate", compact_siblings=2)


@contextmanager
def rows(memory: Memory) -> Iterator[apsw.Connection]:
    """The file behind the store's back, without the triggers that guard it."""
    connection = apsw.Connection(str(Path(memory.status().data_dir) / "clew.db"))
    connection.set_busy_timeout(10_000)
    add_functions(connection)
    for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'trigger'").fetchall():
        connection.execute(f"DROP TRIGGER {name}")
    with connection:
        yield connection
    connection.close()


def remove_member(memory: Memory, collection: str, id_: str) -> None:
    with rows(memory) as connection:
        connection.execute(f"DELETE FROM members WHERE key = {MEMBER}", {"name": collection, "id": id_})  # noqa: S608
        assert connection.changes() == 1


def set_column(memory: Memory, id_: str, column: str, value: object) -> None:
    with rows(memory) as connection:
        statement = f"UPDATE records SET {column} = :value WHERE key = {RECORD}"  # noqa: S608
        connection.execute(statement, {"name": "session_summary:s", "id": id_, "value": value})
        assert connection.changes() == 1
        for (key,) in many(connection, "record_keys"):
            run(connection, "seal_record", (key,))


def edit_lineage(memory: Memory, id_: str, edit: Callable[[dict[str, Any]], None]) -> None:
    """Write it as the store does, with its hash: only its content is wrong."""
    (found,) = memory.get("session_summary:s", id_).records
    metadata = dict(found.metadata)
    edit(metadata)
    encoded = json.dumps(metadata, sort_keys=True, separators=(",", ":"))
    set_column(memory, id_, "metadata", encoded)
    set_column(memory, id_, "row_hash", row_hash(found.ts, found.role, found.provenance, found.text, encoded))


def show_instead(memory: Memory, collection: str, id_: str, other: str) -> None:
    """Let a member show the record of another node of the session."""
    with rows(memory) as connection:
        ((key,),) = connection.execute(f"SELECT {RECORD}", {"name": "session_raw:s", "id": other}).fetchall()
        statement = f"UPDATE members SET record = :record, seal = seal(key, id, :record, version) WHERE key = {MEMBER}"  # noqa: S608
        connection.execute(statement, {"name": collection, "id": id_, "record": key})
        assert connection.changes() == 1


def first_summary(memory: Memory, level: int = 1) -> str:
    return next(node.id for node in memory.show_session("s").summaries if node.level == level)


def top(memory: Memory) -> str:
    return next(node.id for node in memory.show_session("s").view if node.kind == "summary")


def broken_checks(report: VerifyReport) -> set[str]:
    assert {check.name for check in report.checks} >= CHECKS
    assert report.ok == all(check.ok for check in report.checks)
    return {check.name for check in report.checks if not check.ok}


def problems(memory: Memory, name: str) -> str:
    return "\n".join(next(check for check in memory.verify().checks if check.name == name).problems)


# --- repairable breaks -----------------------------------------------------------------------------


def test_a_turn_missing_from_the_view_is_reported_and_restored(memory: Memory) -> None:
    before = memory.show_session("s")
    remove_member(memory, "session:s", "t17")
    assert broken_checks(memory.verify()) == {"coverage"}
    assert "session s: turn t17 is out of reach" in problems(memory, "coverage")
    assert memory.verify(repair=True).ok
    assert memory.verify().ok
    assert memory.show_session("s") == before


def test_a_summary_missing_from_the_view_is_reported_and_restored(memory: Memory) -> None:
    before = memory.show_session("s")
    lost = top(memory)
    remove_member(memory, "session:s", lost)
    assert broken_checks(memory.verify()) == {"coverage"}
    assert f"summary {lost} is out of reach" in problems(memory, "coverage")
    assert memory.verify(repair=True).ok
    assert memory.show_session("s") == before


def test_the_tail_check_also_reports_a_missing_newest_turn(memory: Memory) -> None:
    remove_member(memory, "session:s", NEWEST)
    assert broken_checks(memory.verify()) == {"tail", "coverage"}
    assert memory.verify(repair=True).ok


def test_repair_restores_a_whole_view(memory: Memory) -> None:
    before = memory.show_session("s")
    for node in before.view:
        remove_member(memory, "session:s", node.id)
    assert memory.verify(repair=True).ok
    assert {node.id for node in memory.show_session("s").view} == {node.id for node in before.view}


def test_a_turn_dismissed_by_hand_is_neither_a_problem_nor_restored(memory: Memory) -> None:
    memory.delete("session:s", "t17", NEWEST)
    assert memory.verify(repair=True).ok
    assert memory.get("session:s", "t17", NEWEST).records == ()


def test_repair_of_a_sound_store_changes_nothing(memory: Memory) -> None:
    before = memory.show_session("s")
    assert memory.verify(repair=True).ok
    assert memory.show_session("s") == before


# --- breaks that verify only reports ---------------------------------------------------------------


def test_a_view_with_changed_words_is_reported(memory: Memory) -> None:
    show_instead(memory, "session:s", "t17", "t18")
    assert broken_checks(memory.verify(repair=True)) == {"tail"}
    assert "turn t17 is not shown as it was said" in problems(memory, "tail")


def test_a_turn_of_another_session_in_the_view_is_reported_and_blocks_nothing(memory: Memory) -> None:
    memory.ingest("other", "user", "Said elsewhere.", id="foreign")
    with rows(memory) as connection:
        ((key,),) = connection.execute(f"SELECT {RECORD}", {"name": "session_raw:other", "id": "foreign"}).fetchall()
        ((view, seq),) = connection.execute("SELECT key, next_seq FROM collections WHERE name = 'session:s'").fetchall()
        connection.execute("UPDATE collections SET next_seq = next_seq + 1 WHERE key = ?", (view,))
        connection.execute(
            "INSERT INTO members VALUES (?1, 'foreign', ?2, 1, seal(?1, 'foreign', ?2, 1))", (view << 32 | seq, key)
        )
    assert broken_checks(memory.verify(repair=True)) == {"tail"}
    assert "turn foreign of the view is not in the raw history" in problems(memory, "tail")
    assert "foreign" not in [node.id for node in memory.show_session("s").view]
    assert not memory.compact("s").degraded


def test_an_edge_to_nothing_is_reported(memory: Memory) -> None:
    id_ = first_summary(memory)
    edit_lineage(memory, id_, lambda lineage: lineage["source_ids"].append("nowhere"))
    assert broken_checks(memory.verify(repair=True)) == {"acyclic"}
    assert f"summary {id_} of level 1 stands for nowhere" in problems(memory, "acyclic")


def test_a_circle_of_summaries_is_reported_and_expansion_still_ends(memory: Memory) -> None:
    id_ = top(memory)
    edit_lineage(memory, id_, lambda lineage: lineage["source_ids"].append(id_))
    assert "acyclic" in broken_checks(memory.verify(repair=True))
    assert "in a circle" in problems(memory, "acyclic")
    assert memory.expand("s", id_, max_depth=64).turns


def test_a_missing_raw_turn_is_reported_with_the_summary_that_led_to_it(memory: Memory) -> None:
    remove_member(memory, "session_raw:s", "t2")
    report = memory.verify(repair=True)
    assert broken_checks(report) >= {"raw history", "acyclic"}
    assert "stands for t2, which is not there" in problems(memory, "acyclic")


def test_a_wrong_number_of_turns_is_reported(memory: Memory) -> None:
    id_ = top(memory)
    edit_lineage(memory, id_, lambda lineage: lineage.update(turn_count=99))
    assert broken_checks(memory.verify(repair=True)) == {"expansion"}
    assert f"summary {id_} covers" in problems(memory, "expansion")


def test_a_summary_that_is_not_smaller_is_reported(memory: Memory) -> None:
    id_ = top(memory)
    set_column(memory, id_, "tokens", 9999)
    assert broken_checks(memory.verify(repair=True)) == {"progress"}
    assert f"summary {id_} has 9999 tokens" in problems(memory, "progress")


@pytest.mark.requirement("COMP-7")
@pytest.mark.parametrize(
    ("part", "value", "reason"),
    [
        ("trivial", True, "wrong about being trivial"),
        ("first_ts", 1, "times that are not those of its turns"),
        ("last_ts", 1_900_000_000_000, "times that are not those of its turns"),
    ],
)
def test_a_wrong_lineage_is_reported(memory: Memory, part: str, value: object, reason: str) -> None:
    edit_lineage(memory, top(memory), lambda lineage: lineage.update({part: value}))
    assert broken_checks(memory.verify(repair=True)) == {"lineage"}
    assert reason in problems(memory, "lineage")


@pytest.mark.requirement("COMP-7", "SAFE-2")
def test_a_summary_with_more_trust_than_its_sources_is_reported(memory: Memory) -> None:
    id_ = top(memory)
    set_column(memory, id_, "trust", "trusted")
    assert broken_checks(memory.verify(repair=True)) == {"lineage"}
    assert f"summary {id_} is trusted" in problems(memory, "lineage")


@pytest.mark.requirement("COMP-7")
def test_the_turns_of_a_summary_without_lineage_return_to_the_view_and_can_be_compacted(memory: Memory) -> None:
    id_ = top(memory)
    edit_lineage(memory, id_, lambda lineage: lineage.pop("source_ids"))
    assert {"coverage", "lineage"} <= broken_checks(memory.verify())
    assert broken_checks(memory.verify(repair=True)) == {"lineage"}
    assert f"summary {id_} has none" in problems(memory, "lineage")
    while (done := memory.compact("s", force=True)).did_compact:
        assert done.degraded == ()
    assert broken_checks(memory.verify()) == {"lineage"}


@pytest.mark.requirement("GUIDE-2")
def test_guidance_that_is_not_a_users_own_turn_is_reported(memory: Memory) -> None:
    show_instead(memory, "elevated:user:ana", "s/rule", "t3")
    assert broken_checks(memory.verify(repair=True)) == {"shards"}
    assert "elevated:user:ana/s/rule is not a turn of a user" in problems(memory, "shards")


@pytest.mark.requirement("AUTH-1")
def test_an_authored_node_in_two_tiers_is_reported(memory: Memory) -> None:
    store = memory._parts.store
    store.put([record("Never.", id="n", collection=f"authored:{tier}") for tier in ("hard", "soft")])
    assert broken_checks(memory.verify(repair=True)) == {"tiers"}


@pytest.mark.requirement("CONT-3")
def test_a_context_that_silently_exceeds_its_budget_is_reported(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = verify_history.planned
    monkeypatch.setattr(verify_history, "planned", lambda *given: replace(real(*given), total=1, degraded=None))
    assert broken_checks(memory.verify(repair=True)) == {"budget"}


def test_every_check_describes_its_comparison_in_one_line(memory: Memory) -> None:
    proofs = {check.name: check.proof for check in memory.verify().checks}
    assert proofs.keys() >= CHECKS
    assert all(proof and "\n" not in proof for proof in proofs.values())
    assert "21 raw turns" in proofs["coverage"]
    assert "1 pieces of guidance" in proofs["shards"]
