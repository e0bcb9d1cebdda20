"""The name of a turn among all turns of its user: unique, and it leads back to the turn."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.core.ids import id_of, session_of, turn_name
from clew.engine import Memory
from tests.conftest import NOW_MS

pytestmark = pytest.mark.requirement("STORE-1", "STORE-3")

ALIKE = ["a/b", "a%2Fb", "a%252Fb", "a%25b", "a%b"]
"""Ids that would be one another if only some of their signs were written otherwise."""

ids = st.text(st.sampled_from("a/%25F"), min_size=1, max_size=8)


def test_ids_that_look_like_an_encoding_of_each_other_give_different_names() -> None:
    names = [turn_name("s", id_) for id_ in ALIKE]
    assert len(set(names)) == len(ALIKE)
    assert [id_of(name) for name in names] == ALIKE


@given(ids, ids)
def test_a_name_leads_back_to_its_session_and_its_id(session_id: str, id_: str) -> None:
    name = turn_name(session_id, id_)
    assert (session_of(name), id_of(name)) == (session_id, id_)


def test_turns_with_similar_ids_are_kept_and_found_separately(memory: Memory) -> None:
    texts = {id_: f"The crane number {number} lifts copper." for number, id_ in enumerate(ALIKE)}
    for id_, text in texts.items():
        memory.ingest("s", "user", text, user_id="ann", id=id_, ts=NOW_MS)
    assert memory.flush().ok
    listed = memory.list("turns:ann").records
    assert {id_of(record.id): record.text for record in listed} == texts
    found = memory.search("copper crane", user_id="ann", collections=["turns:ann"]).hits
    assert {hit.record.text for hit in found} == set(texts.values())
