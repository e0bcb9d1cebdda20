"""Near-duplicates: Clew proposes them with evidence; only the operator merges them, and may undo it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from clew.api import Duplicate, FindDuplicates, Label, MemoryApi, Merge, Pack, RecordView
from clew.core.collections import Collection
from clew.core.marks import By, Mark, set_by, value_of
from clew.core.model import Trust
from clew.engine import Memory
from clew.errors import InvalidInput, NotFound
from clew.features.lifecycle import archive, duplicates
from clew.models.embedding.hashing import HashingEmbedder
from clew.storage.protocol import Marking, Place
from tests.conftest import NOW_MS, FixedClock, OpenMemory

pytestmark = pytest.mark.requirement("LIFE-5")

KEY = "The deploy key of the billing service is in the vault."
SAME = "the Deploy key of the billing service is in the vault!"
OTHER = "Ana walks along the river on Sundays."


def find_duplicates(memory: MemoryApi, collection: str = "user:ana", **asked: Any) -> tuple[Duplicate, ...]:
    return memory.call(FindDuplicates(collection=collection, **asked)).proposals


def put(memory: MemoryApi, **texts: str) -> None:
    for id_, text in texts.items():
        memory.put("user:ana", id_, text)
    assert memory.flush().ok


def everything(memory: MemoryApi) -> list[RecordView]:
    return [item for name in memory.collections().collections for item in memory.list(name.name).records]


def at(memory: MemoryApi, ref: str) -> RecordView:
    collection, _, id_ = ref.partition("/")
    (record,) = memory.get(collection, id_).records
    return record


def packed_refs(memory: MemoryApi, text: str) -> set[str]:
    return {item.record_ref for item in memory.call(Pack(query=text, user_id="ana", cold=True)).items}


# --- proposals ---------------------------------------------------------------------------------------


def test_two_records_that_say_the_same_are_proposed_without_any_write(api: MemoryApi) -> None:
    put(api, old=KEY, other=OTHER, new=SAME)
    before = everything(api)
    (proposal,) = find_duplicates(api)
    assert (proposal.keep, proposal.drop, proposal.contradiction) == ("user:ana/new", "user:ana/old", False)
    assert proposal.similarity > 0.99
    assert everything(api) == before


@pytest.mark.parametrize("embedder", [None, HashingEmbedder()])
def test_evidence_consists_of_figures_and_quotes_nothing(
    open_memory: OpenMemory, embedder: HashingEmbedder | None
) -> None:
    memory = open_memory(embedder)
    put(memory, old=KEY, new=SAME)
    (proposal,) = find_duplicates(memory)
    shown = json.dumps([proposal.keep, proposal.drop, *proposal.evidence]).casefold()
    assert "5 of 5 words are shared" in shown
    assert "numbers and names agree" in shown
    assert not [word for word in ("deploy", "key", "billing", "vault") if word in shown]


def test_records_that_differ_in_a_number_are_no_duplicates(memory: Memory) -> None:
    put(memory, one="Ticket 5 is about the harbour gate.", two="Ticket 6 is about the harbour gate.")
    assert find_duplicates(memory, min_similarity=0.5) == ()


def test_a_contradiction_is_proposed_as_a_contradiction(open_memory: OpenMemory) -> None:
    memory = open_memory()
    put(memory, before="The budget is 500 euros.", after="The budget is 700 euros.")
    (proposal,) = find_duplicates(memory)
    assert (proposal.keep, proposal.contradiction) == ("user:ana/after", True)
    assert "2 numbers or names differ" in proposal.evidence
    assert "500" not in str(proposal.evidence)


def test_the_more_trusted_of_two_is_kept_even_if_older(memory: Memory, clock: FixedClock) -> None:
    put(memory, old=KEY)
    clock.ms += 5 * 86_400_000
    put(memory, new=SAME)
    memory._store.mark([Marking(Place(Collection("user:ana"), "new"), trust=Trust.UNTRUSTED)])
    (proposal,) = find_duplicates(memory)
    assert (proposal.keep, proposal.drop) == ("user:ana/old", "user:ana/new")
    assert "written 5 days apart" in proposal.evidence
    assert "the one to keep is unknown, the other untrusted" in proposal.evidence


def test_the_record_with_the_later_time_is_the_newer_one(memory: Memory) -> None:
    memory.put("user:ana", "first", KEY, {"ts": NOW_MS})
    memory.put("user:ana", "second", SAME, {"ts": NOW_MS - 1000})
    memory.flush()
    assert find_duplicates(memory)[0].keep == "user:ana/first"


def test_a_shared_source_is_evidence(memory: Memory) -> None:
    for id_, text in (("one", KEY), ("two", SAME)):
        memory.put("user:ana", id_, text, {"source": {"id": "s/t1"}})
    memory.flush()
    assert "both come from one source" in find_duplicates(memory)[0].evidence


def test_of_many_copies_each_is_dropped_once(memory: Memory) -> None:
    put(memory, **{f"copy{number}": f"{KEY}{'!' * number}" for number in range(6)})
    proposals = find_duplicates(memory)
    assert {proposal.keep for proposal in proposals} == {"user:ana/copy5"}
    assert sorted(proposal.drop for proposal in proposals) == [f"user:ana/copy{number}" for number in range(5)]
    assert find_duplicates(memory) == proposals
    assert find_duplicates(memory, limit=2) == proposals[:2]


def test_quarantined_and_superseded_records_are_not_compared(memory: Memory) -> None:
    put(memory, one=KEY, two=SAME, three=KEY + "!!")
    memory._store.mark([Marking(Place(Collection("user:ana"), "one"), trust=Trust.QUARANTINED)])
    memory.call(Label(ref="user:ana/two", superseded_by="user:ana/three"))
    assert find_duplicates(memory) == ()


def test_a_record_without_a_vector_is_compared_by_its_words(open_memory: OpenMemory) -> None:
    memory = open_memory(HashingEmbedder())
    put(memory, old=KEY, other=OTHER)
    memory.close()
    memory = open_memory()
    memory.put("user:ana", "new", SAME)
    memory.close()
    memory = open_memory()
    assert [(item.keep, item.drop) for item in find_duplicates(memory)] == [("user:ana/new", "user:ana/old")]


def test_in_a_large_collection_only_the_newest_records_are_compared_with_all(memory: Memory) -> None:
    put(memory, a=KEY, b=OTHER, c=OTHER + "!", d="snow", e=SAME)
    parts = memory._parts
    nearness = duplicates.near(parts, "user:ana", 0.9, comparisons=5)
    assert (nearness.looked_at, nearness.with_all, len(nearness.pairs)) == (5, 1, 1)
    assert len(duplicates.near(parts, "user:ana", 0.9).pairs) == 2
    whole = memory.call(FindDuplicates(collection="user:ana"))
    assert (whole.looked_at, whole.compared_with_all) == (5, 5)


def test_an_invalid_request_is_refused(api: MemoryApi) -> None:
    refused: list[dict[str, Any]] = [
        {"collection": "turns:ana"},
        {"collection": "session:s"},
        {"collection": "archive:user:ana"},
        {"collection": ""},
        {"collection": "user:ana", "min_similarity": 0.1},
        {"collection": "user:ana", "min_similarity": 1.1},
        {"collection": "user:ana", "limit": 0},
    ]
    for asked in refused:
        with pytest.raises(InvalidInput):
            api.call(FindDuplicates(**asked))


def test_an_empty_collection_has_no_duplicates(api: MemoryApi) -> None:
    assert api.call(FindDuplicates(collection="user:nobody")).looked_at == 0


# --- merging -----------------------------------------------------------------------------------------


def test_a_merge_keeps_one_record_and_links_the_others_to_it(api: MemoryApi) -> None:
    put(api, keep=KEY, drop=SAME, other=OTHER)
    assert api.call(Merge(keep="user:ana/keep", drop=("user:ana/drop",))).count == 1
    kept, dropped = at(api, "user:ana/keep"), at(api, "archive:user:ana/drop")
    assert value_of(kept.marks, Mark.MERGED) == ["user:ana/drop"]
    assert value_of(dropped.marks, Mark.SUPERSEDED_BY) == "user:ana/keep"
    assert set_by(dropped.marks, Mark.SUPERSEDED_BY) == By.OPERATOR
    assert dropped.text == SAME
    assert [
        hit.record.id for hit in api.search("deploy key vault", user_id="ana").hits if hit.record.id != "other"
    ] == ["keep"]
    assert find_duplicates(api) == ()
    assert api.verify().ok


@pytest.mark.requirement("LIFE-4", "PACK-4")
def test_a_merged_record_has_the_trust_of_the_least_trusted_one(memory: Memory) -> None:
    put(memory, keep=KEY, drop=SAME, last=OTHER)
    memory._store.mark([Marking(Place(Collection("user:ana"), "drop"), trust=Trust.UNTRUSTED)])
    memory.call(Merge(keep="user:ana/keep", drop=("user:ana/drop",)))
    kept = at(memory, "user:ana/keep")
    assert kept.trust == "untrusted"
    assert value_of(kept.marks, Mark.TRUST) == {
        "trust": "untrusted",
        "reason": "merged with a record that is trusted less",
        "from": "user:ana/drop",
    }
    memory.call(Merge(keep="user:ana/keep", drop=("user:ana/last",)))
    kept = at(memory, "user:ana/keep")
    assert kept.trust == "untrusted"
    assert value_of(kept.marks, Mark.MERGED) == ["user:ana/drop", "user:ana/last"]


def test_merging_again_finishes_an_interrupted_merge(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    put(memory, keep=KEY, one=SAME, two=KEY + "!")
    order = Merge(keep="user:ana/keep", drop=("user:ana/one", "user:ana/two"))
    with monkeypatch.context() as broken:
        broken.setattr(memory._store, "move", _crash)
        with pytest.raises(_CrashError):
            memory.call(order)
    assert find_duplicates(memory) == ()
    assert memory.call(order).count == 2
    assert memory.call(order).count == 2
    assert [record.id for record in memory.list("user:ana").records] == ["keep"]
    assert value_of(at(memory, "user:ana/keep").marks, Mark.MERGED) == ["user:ana/one", "user:ana/two"]
    assert value_of(at(memory, "archive:user:ana/two").marks, Mark.ARCHIVED) == "user:ana"


def test_the_operator_can_undo_a_merge_and_use_cannot(memory: Memory) -> None:
    put(memory, keep=KEY, drop=SAME)
    memory.call(Merge(keep="user:ana/keep", drop=("user:ana/drop",)))
    archive.wake(memory._parts, {"user:ana": ["drop"]})
    assert [record.id for record in memory.list("user:ana").records] == ["keep"]
    assert memory.revive("user:ana/drop").count == 1
    memory.call(Merge(keep="user:ana/drop", drop=("user:ana/keep",)))
    assert value_of(at(memory, "user:ana/drop").marks, Mark.SUPERSEDED_BY) is None, "it holds again"


@pytest.mark.requirement("LIFE-5", "PACK-3")
def test_a_new_record_under_a_dropped_id_is_not_superseded(memory: Memory) -> None:
    put(memory, keep=KEY, drop=SAME)
    memory.call(Merge(keep="user:ana/keep", drop=("user:ana/drop",)))
    put(memory, drop="The deploy key of the mail service is in a drawer.")
    assert packed_refs(memory, "deploy key of the mail service") == {"user:ana/keep", "user:ana/drop"}
    memory.call(Label(ref="user:ana/drop", superseded_by="user:ana/keep", kind="fact"))
    put(memory, drop="The deploy key of the mail service is in a cupboard.")
    marks = at(memory, "user:ana/drop").marks
    assert (value_of(marks, Mark.SUPERSEDED_BY), value_of(marks, Mark.KIND)) == (None, "fact")
    assert packed_refs(memory, "deploy key of the mail service") == {"user:ana/keep", "user:ana/drop"}


@pytest.mark.requirement("LIFE-5", "PACK-3")
def test_a_revived_record_without_its_label_is_packed_beside_the_kept_one(memory: Memory) -> None:
    put(memory, keep=KEY, drop="The deploy key of the mail service is in a drawer.")
    memory.call(Merge(keep="user:ana/keep", drop=("user:ana/drop",)))
    memory.revive("user:ana/drop")
    memory.call(Label(ref="user:ana/drop", superseded_by=""))
    assert packed_refs(memory, "deploy key of the mail service") == {"user:ana/keep", "user:ana/drop"}


@pytest.mark.requirement("LIFE-5", "PACK-3")
def test_after_merges_in_both_directions_the_last_kept_record_counts(memory: Memory) -> None:
    put(memory, a=KEY, b="The deploy key of the billing service is in the old vault.")
    memory.call(Merge(keep="user:ana/b", drop=("user:ana/a",)))
    memory.revive("user:ana/a")
    memory.call(Merge(keep="user:ana/a", drop=("user:ana/b",)))
    assert packed_refs(memory, "deploy key of the billing service") == {"user:ana/a"}


def test_a_superseded_or_quarantined_record_cannot_be_kept_in_a_merge(memory: Memory) -> None:
    put(memory, a=KEY, b=SAME, c=KEY + "!", d=OTHER)
    memory.call(Merge(keep="user:ana/b", drop=("user:ana/a",)))
    memory.call(Merge(keep="user:ana/c", drop=("user:ana/b",)))
    memory.revive("user:ana/a")
    with pytest.raises(InvalidInput, match="is superseded by user:ana/b"):
        memory.call(Merge(keep="user:ana/a", drop=("user:ana/c",)))
    memory._store.mark([Marking(Place(Collection("user:ana"), "d"), trust=Trust.QUARANTINED)])
    with pytest.raises(InvalidInput, match="quarantined"):
        memory.call(Merge(keep="user:ana/d", drop=("user:ana/c",)))
    assert "merged" not in at(memory, "user:ana/d").marks


@pytest.mark.requirement("LIFE-4")
def test_a_merge_resolves_a_contradiction(memory: Memory) -> None:
    put(memory, a="The budget is 500 euros.", b="The budget is 700 euros.", c="The budget is 900 euros.")
    assert memory.age(dry_run=False).contradictions == 3
    memory.call(Merge(keep="user:ana/c", drop=("user:ana/a",)))
    assert value_of(at(memory, "user:ana/c").marks, Mark.CONTRADICTS) == ["user:ana/b"]
    memory.call(Merge(keep="user:ana/c", drop=("user:ana/b",)))
    assert "contradicts" not in at(memory, "user:ana/c").marks


def test_only_records_of_one_collection_can_be_merged(api: MemoryApi) -> None:
    put(api, keep=KEY, drop=SAME)
    api.put("user:bo", "theirs", SAME)
    api.ingest("s", "user", KEY, user_id="ana", id="t1")
    for keep, drop in [
        ("user:ana/keep", ()),
        ("user:ana/keep", ("user:ana/keep",)),
        ("user:ana/keep", ("user:bo/theirs",)),
        ("session_raw:s/t1", ("user:ana/keep",)),
        ("user:ana/keep", ("turns:ana/s/t1",)),
    ]:
        with pytest.raises(InvalidInput):
            api.call(Merge(keep=keep, drop=drop))
    with pytest.raises(NotFound):
        api.call(Merge(keep="user:ana/keep", drop=("user:ana/drop", "user:ana/nothing")))
    api.call(Merge(keep="user:ana/keep", drop=("user:ana/drop",)))
    with pytest.raises(InvalidInput, match="rests in the archive"):
        api.call(Merge(keep="user:ana/drop", drop=("user:ana/keep",)))
    assert len(api.list("session_raw:s").records) == 1


class _CrashError(Exception):
    pass


def _crash(*_: object) -> int:
    raise _CrashError
