"""Names, scopes and ids."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.core import identity
from clew.core.identity import Scope
from clew.core.model import Role
from clew.errors import InvalidInput

texts = st.text(max_size=20)


@pytest.mark.requirement("STORE-1")
def test_scopes_follow_from_names() -> None:
    assert identity.scope_of(identity.session("a")) is Scope.SESSION
    assert identity.scope_of(identity.memories_of("u")) is Scope.USER
    assert identity.scope_of(identity.turns_of("u")) is Scope.USER
    assert identity.scope_of("global") is Scope.GLOBAL
    assert identity.is_raw("session_raw:a")
    assert not identity.is_raw("session_raw_not:a")
    assert identity.is_internal("_meta")


@pytest.mark.requirement("STORE-1")
@given(st.text(min_size=1, max_size=40), st.text(min_size=1, max_size=40))
def test_two_ids_never_share_a_collection(one: str, other: str) -> None:
    try:
        names = identity.session(one), identity.session(other)
    except InvalidInput:
        return
    assert (names[0] == names[1]) == (one == other)


@pytest.mark.parametrize("bad", ["", "x" * 513, "a\nb", "a\x00b", "\ud800"])
def test_what_cannot_be_an_id_is_refused(bad: str) -> None:
    with pytest.raises(InvalidInput):
        identity.checked_id(bad, "id")


@pytest.mark.requirement("STORE-3")
@given(texts, texts, st.integers(0, 10**13), texts, texts)
def test_ids_made_from_content_tell_contents_apart(one: str, other: str, ts: int, text: str, more: str) -> None:
    first = identity.turn_id(one, Role.USER, ts, text)
    assert first == identity.turn_id(one, Role.USER, ts, text)
    assert (identity.turn_id(other, Role.USER, ts, more) == first) == ((other, more) == (one, text))
    assert identity.turn_id(one, Role.ASSISTANT, ts, text) != first
    assert identity.turn_id(one, Role.USER, ts, text, 1) != first


@pytest.mark.requirement("STORE-1", "MCP-1")
@given(*[st.text(st.sampled_from("a/%2F"), min_size=1, max_size=6) for _ in range(4)])
def test_no_two_turns_of_a_user_share_a_name_and_a_name_tells_its_session(
    session: str, id_: str, other_session: str, other_id: str
) -> None:
    name = identity.turn_name(session, id_)
    assert identity.session_of(name) == session
    assert (name == identity.turn_name(other_session, other_id)) == ((session, id_) == (other_session, other_id))
