"""Names, scopes and ids."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.core.collections import GLOBAL, Collection, CollectionKind, Scope
from clew.core.ids import checked_id, session_of, turn_id, turn_name
from clew.core.model import Role
from clew.errors import InvalidInput

texts = st.text(max_size=20)
ids = st.text(st.characters(exclude_categories=("Cc", "Cs")), min_size=1, max_size=20)


@pytest.mark.requirement("STORE-1")
def test_scopes_follow_from_names() -> None:
    assert Collection.session("a").scope is Scope.SESSION
    assert Collection.memories("u").scope is Scope.USER
    assert Collection.turns("u").scope is Scope.USER
    assert GLOBAL.scope is Scope.GLOBAL
    assert Collection("session_raw:a").is_raw
    assert not Collection("session_raw_not:a").is_raw
    assert Collection("_meta").is_internal


@pytest.mark.requirement("STORE-1")
@given(st.text(min_size=1, max_size=40), st.text(min_size=1, max_size=40))
def test_two_ids_never_share_a_collection(one: str, other: str) -> None:
    try:
        names = Collection.session(one), Collection.session(other)
    except InvalidInput:
        return
    assert (names[0] == names[1]) == (one == other)


@pytest.mark.parametrize("bad", ["", "x" * 513, "a\nb", "a\x00b", "\ud800"])
def test_an_invalid_id_is_refused(bad: str) -> None:
    with pytest.raises(InvalidInput):
        checked_id(bad, "id")


@pytest.mark.requirement("STORE-3")
@given(texts, texts, st.integers(0, 10**13), texts, texts)
def test_different_contents_give_different_ids(one: str, other: str, ts: int, text: str, more: str) -> None:
    first = turn_id(one, Role.USER, ts, text)
    assert first == turn_id(one, Role.USER, ts, text)
    assert (turn_id(other, Role.USER, ts, more) == first) == ((other, more) == (one, text))
    assert turn_id(one, Role.ASSISTANT, ts, text) != first
    assert turn_id(one, Role.USER, ts, text, 1) != first


@pytest.mark.requirement("STORE-1", "MCP-1")
@given(*[st.text(st.sampled_from("a/%2F"), min_size=1, max_size=6) for _ in range(4)])
def test_no_two_turns_of_a_user_share_a_name_and_a_name_tells_its_session(
    session: str, id_: str, other_session: str, other_id: str
) -> None:
    name = turn_name(session, id_)
    assert session_of(name) == session
    assert (name == turn_name(other_session, other_id)) == ((session, id_) == (other_session, other_id))


OWNED_BY_USERS = (
    Collection.memories,
    Collection.turns,
    Collection.replies,
    Collection.owned,
    Collection.guidance,
    Collection.ledger,
    Collection.facts,
    Collection.plans,
    Collection.aliases,
)
OWNED_BY_SESSIONS = (
    Collection.session,
    Collection.raw,
    Collection.summaries,
    Collection.dismissed,
    Collection.observations,
    lambda session_id: Collection.guidance(None, session_id),
    lambda session_id: Collection.ledger(None, session_id),
)


@pytest.mark.requirement("STORE-1")
@given(ids)
def test_a_collection_knows_its_kind_and_its_owner_whatever_the_owner_is_called(owner: str) -> None:
    of_user = [make(owner) for make in OWNED_BY_USERS]
    of_session = [make(owner) for make in OWNED_BY_SESSIONS]
    assert len({*of_user, *of_session}) == len(of_user) + len(of_session)
    for collection in of_user:
        assert (collection.user_id, collection.session_id, collection.owner) == (owner, None, owner)
    for collection in of_session:
        assert (collection.user_id, collection.session_id, collection.owner) == (None, owner, owner)
    for collection in (*of_user, *of_session):
        assert Collection(str(collection)).kind is collection.kind is not CollectionKind.OTHER
        assert collection.archive.home == collection
        assert collection.archive.kind is CollectionKind.ARCHIVE
        assert (collection.archive.user_id, collection.archive.session_id) == (
            collection.user_id,
            collection.session_id,
        )


@pytest.mark.requirement("STORE-1")
@given(st.text(max_size=40))
def test_any_text_is_read_as_some_collection(name: str) -> None:
    collection = Collection(name)
    assert collection.kind in CollectionKind
    assert not (collection.is_shared and collection.owner)


@pytest.mark.requirement("STORE-1")
def test_names_that_only_look_like_those_of_clew_have_no_owner() -> None:
    for name in ("global:x", "turns", "userx:ann", "ledger:team:x", "ledger:global", "facts:", "archive", ""):
        collection = Collection(name)
        assert (collection.owner, collection.is_shared) == ("", False), name
    assert Collection("facts:global").is_shared
    assert Collection("global:x").kind is CollectionKind.GLOBAL


@pytest.mark.requirement("STORE-1")
def test_a_name_of_a_million_archives_is_read_without_recursion() -> None:
    assert Collection("archive:" * 1_000_000 + "user:ann").user_id == "ann"
