"""The operator quarantines a turn between the read and the write of a derived record: the record follows the turn."""

from __future__ import annotations

from typing import Any

import pytest

from clew.api import Compact, Inspect, RecordView
from clew.engine import Memory
from tests.conftest import NOW_MS, OpenMemory

pytestmark = pytest.mark.requirement("PACK-4", "SAFE-2")

FACT = "My sister Nora was born on 4 May 1990, I live in Zanzibar, and I love window seats."
MINUTE_MS = 60_000


@pytest.fixture
def memory(open_memory: OpenMemory) -> Memory:
    return open_memory(tokenizer="estimate", compact_siblings=3)


class ReviewDuringWrite:
    """Reviews a turn once, just before the store writes a derived record."""

    def __init__(self, memory: Memory, monkeypatch: pytest.MonkeyPatch, ref: str, verdict: str = "quarantine") -> None:
        self._memory = memory
        self._patch = monkeypatch
        self._ref = ref
        self._verdict = verdict
        self.affected: list[tuple[str, ...]] = []
        """The derived records that each review found."""

    def before(self, method: str, *, where: int) -> None:
        """Review before `method` writes: its argument number `where` is then not empty."""
        store = self._memory._parts.store
        write = getattr(store, method)

        def judged(*args: Any, **named: Any) -> Any:
            if len(args) > where and args[where] and not self.affected:
                self.affected.append(self._memory.review(self._ref, self._verdict).affected)
            return write(*args, **named)

        self._patch.setattr(store, method, judged)


def talk(memory: Memory, count: int) -> None:
    for number in range(count):
        text = (
            f"The export job {number} of the billing service failed with ERR_{number:04d} after the nightly run; "
            f"the retry took {number + 3} minutes and wrote /srv/billing/{number}.log for the team."
        )
        memory.ingest("s", "assistant", text, id=f"t{number}", ts=NOW_MS + number * MINUTE_MS)


def squeeze(memory: Memory, size: int = 5) -> list[RecordView]:
    made = memory.call(Compact(session_id="s", force=True, cluster_turns=size)).summaries
    return list(memory.get("session_summary:s", *made).records)


@pytest.mark.requirement("GATE-4")
def test_a_memory_follows_a_turn_quarantined_before_the_write(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    meanwhile = ReviewDuringWrite(memory, monkeypatch, "turns:ana/s/fact")
    meanwhile.before("finish", where=2)
    memory.ingest("s", "user", FACT, user_id="ana", id="fact", ts=NOW_MS)
    assert memory.flush().ok
    assert meanwhile.affected == [()]
    (kept,) = memory.list("user:ana").records
    assert (kept.text, kept.trust) == (FACT, "quarantined")
    assert memory.call(Inspect(ref=f"user:ana/{kept.id}")).reason == "made from session_raw:s/fact"
    assert memory.search("Nora Zanzibar", user_id="ana", session_id="new").hits == ()
    assert memory.pack("Where was Nora born?", user_id="ana").items == ()
    assert memory.review("session_raw:s/fact", "release").affected == (f"user:ana/{kept.id}",)
    assert memory.get("user:ana", kept.id).records[0].trust == "unknown"


@pytest.mark.requirement("COMP-3", "COMP-8")
def test_a_summary_follows_a_turn_quarantined_before_the_write(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    talk(memory, 12)
    meanwhile = ReviewDuringWrite(memory, monkeypatch, "session_raw:s/t0")
    meanwhile.before("condense", where=1)
    first, *others = squeeze(memory)
    assert meanwhile.affected == [()]
    assert "t0" in first.metadata["source_ids"]
    assert first.trust == "quarantined"
    made = f"session_summary:s/{first.id}"
    assert memory.call(Inspect(ref=made)).reason == "made from session_raw:s/t0"
    follows = {other.id: first.id in other.metadata["prior_ids"] for other in others}
    assert {other.id: other.trust == "quarantined" for other in others} == follows
    assert first.id not in [hit.record.id for hit in memory.search("ERR_0001", session_id="s").hits]
    assert made in memory.review("session_raw:s/t0", "release").affected
    assert memory.get("session_summary:s", first.id).records[0].trust == "unknown"


@pytest.mark.requirement("COMP-3", "COMP-8")
def test_a_higher_summary_in_the_same_write_follows_it_too(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    talk(memory, 20)
    meanwhile = ReviewDuringWrite(memory, monkeypatch, "session_raw:s/t0")
    meanwhile.before("condense", where=1)
    made = squeeze(memory)
    higher = [record for record in made if record.metadata["level"] == 2]
    assert meanwhile.affected == [()]
    assert [record.trust for record in higher] == ["quarantined"]
    memory.review("session_raw:s/t0", "release")
    assert {record.trust for record in memory.get("session_summary:s", *[item.id for item in made]).records} == {
        "unknown"
    }
