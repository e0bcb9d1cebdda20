"""A bit of the database file that flipped is noticed where it is read: no answer is wrong without a word."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw
import pytest

from clew.api import REQUESTS, Artifact, Done, Event, Flushed, GateScore, Node, VerifyReport
from clew.engine import Memory
from clew.errors import ClewError, RecordDamaged, StoreError
from clew.kernel.operations import Message
from clew.models.embedding.hashing import HashingEmbedder
from tests.conftest import OpenMemory

pytestmark = pytest.mark.requirement("SAFE-1", "STORE-4")

WORDS = "harbour ferry lantern anchor pier rope winch tide chart gull crane buoy keel mast".split()


def fill(memory: Memory) -> None:
    told = [
        Message(
            role="user" if n % 2 else "assistant",
            text=f"The {WORDS[n % 14]} needs {WORDS[n * 5 % 14]} {n}.",
            id=f"t{n}",
        )
        for n in range(24)
    ]
    memory.ingest_batch("s", told, user_id="ana")
    for n in range(12):
        memory.put("user:ana", f"m{n}", f"Keep the {WORDS[n]} by the {WORDS[n + 2]}.", metadata={"n": n})
    for n in range(6):
        memory.plans_add(f"Paint the {WORDS[n]}", user_id="ana", date=f"2027-01-0{n + 1}")
        memory.facts_assert(WORDS[n % 3], "status", WORDS[n], user_id="ana", sources=[f"user:ana/m{n}"], valid_from=n)
        memory.capture(Event(id=f"e{n}", text=f"The {WORDS[n]} is out.", user_id="ana", ts=n))
    memory.harvest()
    assert memory.flush().ok


QUESTIONS: dict[str, Callable[[Memory], Any]] = {
    "records": lambda memory: memory.get("user:ana", *(f"m{n}" for n in range(12))),
    "turns": lambda memory: memory.get("session_raw:s", *(f"t{n}" for n in range(24))),
    "search": lambda memory: memory.search("where is the lantern and the rope", user_id="ana", session_id="s", k=40),
    "listing": lambda memory: memory.list("user:ana", limit=100),
    "page": lambda memory: memory.list("session_raw:s", cursor=5, limit=7),
    "plans": lambda memory: memory.plans_list(user_id="ana"),
    "facts": lambda memory: memory.facts_current(user_id="ana"),
    "past facts": lambda memory: memory.facts_timeline(WORDS[0], user_id="ana"),
    "around": lambda memory: memory.timeline("ledger:user:ana/e3", before=3, after=3),
    "session": lambda memory: memory.show_session("s"),
    "grep": lambda memory: memory.grep("s", "needs"),
    "export": lambda memory: memory.export(),
    "assemble": lambda memory: memory.assemble("s", user_id="ana", query="where is the winch"),
    "pack": lambda memory: memory.pack("where is the lantern", user_id="ana"),
}
"""Those that count uses come last: a count may be lost, and it stands in every later answer."""


def ask(memory: Memory) -> dict[str, Any]:
    """The answer to each question, or the error."""
    answers: dict[str, Any] = {}
    for name, question in QUESTIONS.items():
        try:
            answers[name] = question(memory)
        except ClewError as error:
            answers[name] = error
    return answers


def flip(path: Path, whole: bytes, bit: int) -> None:
    damaged = bytearray(whole)
    damaged[bit // 8] ^= 1 << bit % 8
    for ending in ("-wal", "-shm"):
        path.with_name(path.name + ending).unlink(missing_ok=True)
    path.write_bytes(damaged)


@pytest.fixture
def store(open_memory: OpenMemory, tmp_path: Path) -> tuple[Path, bytes, dict[str, Any], Callable[[], Memory]]:
    """The file of a small store, its bytes, the answers that it gives, and a way to open it."""

    def reopen() -> Memory:
        return open_memory(HashingEmbedder(), tokenizer="estimate")

    memory = reopen()
    fill(memory)
    memory.close()
    path = tmp_path / "data" / "clew.db"
    whole = path.read_bytes()
    memory = reopen()
    answers = ask(memory)
    memory.close()
    return path, whole, answers, reopen


def silent_changes(answers: dict[str, Any], sound: dict[str, Any]) -> list[str]:
    """Questions with another answer than that of the sound store, and no word about it."""
    return [
        name
        for name, answer in answers.items()
        if not isinstance(answer, StoreError) and not getattr(answer, "degraded", ()) and answer != sound[name]
    ]


def changes(answers: dict[str, Any], sound: dict[str, Any]) -> list[str]:
    """Questions that are not answered as by the sound store, whatever is said about it."""
    return [name for name, answer in answers.items() if answer != sound[name]]


def try_bits(
    store: tuple[Path, bytes, dict[str, Any], Callable[[], Memory]], count: int, seed: int = 7
) -> list[tuple[int, list[str]]]:
    """The bits that changed an answer without a word, and those that changed one and that `verify` does not notice."""
    path, whole, sound, reopen = store
    wrong = []
    for bit in sorted(random.Random(seed).sample(range(len(whole) * 8), count)):
        flip(path, whole, bit)
        try:
            memory = reopen()
        except ClewError:
            continue
        try:
            answers = ask(memory)
            found = silent_changes(answers, sound)
            if changes(answers, sound) and not notices(memory):
                found.append("verify")
        finally:
            memory.close()
        if found:
            wrong.append((bit, found))
    return wrong


def notices(memory: Memory) -> bool:
    try:
        return not memory.verify().ok
    except StoreError:
        return True


def test_no_flipped_bit_changes_an_answer_without_a_word(store: Any) -> None:
    assert try_bits(store, 60) == []


@pytest.mark.long
@pytest.mark.parametrize("seed", range(4))
def test_of_a_thousand_flipped_bits_none_changes_an_answer_without_a_word(store: Any, seed: int) -> None:
    """And `clew verify` finds each that changes one."""
    assert try_bits(store, 250, seed) == []


def test_a_wrong_seal_over_sound_terms_is_made_again(store: Any) -> None:
    path, _, _, reopen = store
    connection = apsw.Connection(str(path))
    connection.execute("UPDATE records SET terms_seal = terms_seal + 1 WHERE text GLOB 'Keep the lantern*'")
    assert connection.changes() == 1
    connection.close()
    memory = reopen()
    assert not memory.verify().ok
    report = memory.verify(repair=True)
    assert report.ok
    assert any("search terms" in line for line in report.repaired)
    assert memory.verify().ok
    found = memory.search("lantern by the pier", collections=["user:ana"])
    assert found.degraded == ()
    assert "m2" in {hit.record.id for hit in found.hits}


def test_every_answer_that_is_made_from_many_records_can_say_that_one_is_left_out() -> None:
    reads = {kind.answer for kind in REQUESTS.values() if not kind.writes}
    silent = {answer for answer in reads if "degraded" not in answer.__struct_fields__}
    of_one = {Node, Artifact}  # an error comes in the place of a damaged one
    of_none = {Done, GateScore, Flushed, VerifyReport}
    assert silent <= of_one | of_none


def test_a_listing_says_that_a_damaged_record_is_left_out(store: Any) -> None:
    path, whole, _, reopen = store
    flip(path, whole, find_text(whole, "Keep the lantern by the pier."))
    memory = reopen()
    listed = memory.list("user:ana")
    assert "m2" not in {record.id for record in listed.records}
    assert any("damaged" in reason for reason in listed.degraded)


def test_an_export_leaves_out_a_record_that_no_collection_shows_and_says_so(store: Any) -> None:
    path, _, _, reopen = store
    connection = apsw.Connection(str(path))
    connection.execute("DELETE FROM members WHERE id = 'm2'")
    connection.close()
    page = reopen().export()
    assert all(json.loads(line)["places"] for line in page.lines)
    assert any("left out" in reason for reason in page.degraded)


def find_text(whole: bytes, text: str) -> int:
    """A bit of a text in the file."""
    assert whole.count(text.encode()) == 1
    return 8 * whole.index(text.encode())


def test_a_damaged_text_is_refused_by_name_and_left_out_of_a_search_that_says_so(store: Any) -> None:
    path, whole, _, reopen = store
    flip(path, whole, find_text(whole, "Keep the lantern by the pier."))
    memory = reopen()
    with pytest.raises(RecordDamaged, match="user:ana/m2"):
        memory.get("user:ana", "m2")
    found = memory.search("lantern by the pier", collections=["user:ana"])
    assert "m2" not in {hit.record.id for hit in found.hits}
    assert any("damaged" in reason for reason in found.degraded)
    assert not memory.verify().ok


def test_a_repair_sets_a_damaged_text_aside_and_says_so(store: Any) -> None:
    path, whole, _, reopen = store
    flip(path, whole, find_text(whole, "Keep the lantern by the pier."))
    memory = reopen()
    report = memory.verify(repair=True)
    assert any(line.startswith("set record") and line.endswith("aside") for line in report.repaired)
    assert next(check for check in report.checks if check.name == "hashes").ok
    found = memory.search("lantern by the pier", collections=["user:ana"])
    assert found.degraded == ()
    assert "m2" not in {hit.record.id for hit in found.hits}
    with pytest.raises(RecordDamaged, match="user:ana/m2"):
        memory.get("user:ana", "m2")
    assert len(memory.export().lines) > 30


def test_what_replaces_a_text_that_was_set_aside_is_served(store: Any) -> None:
    path, whole, _, reopen = store
    flip(path, whole, find_text(whole, "Keep the lantern by the pier."))
    memory = reopen()
    memory.verify(repair=True)
    memory.delete("user:ana", "m2")
    memory.put("user:ana", "m2", "The lantern is by the door now.")
    assert memory.flush().ok
    (record,) = memory.get("user:ana", "m2").records
    assert record.text == "The lantern is by the door now."
    assert memory.verify().ok
