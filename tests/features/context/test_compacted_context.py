"""A compacted session in a context: summaries replace turns, the same here and through a daemon."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from msgspec.structs import replace

from clew.api import Compact, Context, MemoryApi, Message
from clew.features.history.expand import _Opening
from tests.conftest import opened_api

pytestmark = pytest.mark.requirement("COMP-7", "CONT-1", "CONT-3")

TS = 1_700_000_000_000
MINUTE_MS = 60_000
TURNS = 60
UNRELATED = "Go on, please."


@pytest.fixture(scope="module", params=["memory", "client"])
def api(request: pytest.FixtureRequest) -> Iterator[MemoryApi]:
    with opened_api(request.param) as opened:
        yield opened
        assert opened.verify().ok


@pytest.fixture
def sid(api: MemoryApi, request: pytest.FixtureRequest) -> str:
    """A session with only its newest turns left in the active view."""
    session_id: str = request.node.name
    api.ingest_batch(session_id, conversation())
    assert api.call(Compact(session_id=session_id, force=True)).did_compact
    return session_id


def conversation() -> list[Message]:
    return [
        Message(
            role=("user", "assistant")[number % 2],
            text=f"Node {number} of the cluster moved to rack {number * 3} because fan {number * 7} was loud.",
            id=f"t{number}",
            ts=TS + number * MINUTE_MS,
        )
        for number in range(TURNS)
    ]


def view(api: MemoryApi, session_id: str) -> tuple[set[str], set[str]]:
    """The ids of the summaries and of the turns of the active view."""
    nodes = api.show_session(session_id).view
    return {node.id for node in nodes if node.kind == "summary"}, {node.id for node in nodes if node.kind == "turn"}


def recalled_ids(context: Context) -> set[str]:
    return {hit.record.id for hit in context.recalled}


def test_every_summary_of_the_view_is_in_the_context_whatever_the_question(api: MemoryApi, sid: str) -> None:
    summaries, _ = view(api, sid)
    context = api.assemble(sid, query=UNRELATED)
    assert summaries
    assert summaries <= recalled_ids(context)
    assert context.used_tokens <= context.budget_tokens


def test_answers_to_the_question_come_before_other_summaries(api: MemoryApi, sid: str) -> None:
    api.put("global", f"note-{sid}", "Fans of the cluster are ordered from the depot in Ghent.")
    context = api.assemble(sid, query="Where are fans of the cluster ordered?")
    asked = [hit.scores.score > 0 for hit in context.recalled]
    assert context.recalled[0].record.collection == "global"
    assert asked == sorted(asked, reverse=True)


def test_given_messages_that_a_summary_covers_are_left_out(api: MemoryApi, sid: str) -> None:
    summaries, turns = view(api, sid)
    context = api.assemble(sid, query=UNRELATED, messages=conversation(), since=TS, budget_tokens=32_000)
    kept = [message.id for message in context.messages]
    assert kept == [f"t{number}" for number in range(TURNS - len(kept), TURNS)]
    assert set(kept) == turns
    assert summaries <= recalled_ids(context)


def test_messages_that_were_never_stored_are_all_kept(api: MemoryApi, sid: str) -> None:
    fresh = [Message(role="user", text=f"Something new, number {number}.", id=f"new-{number}") for number in range(30)]
    context = api.assemble(sid, query=UNRELATED, messages=[*conversation(), *fresh], since=TS, budget_tokens=32_000)
    assert [message.id for message in context.messages][-30:] == [message.id for message in fresh]


def test_summaries_from_before_the_conversation_need_a_match(api: MemoryApi, sid: str) -> None:
    """A vector may still find one by its similarity; none is included without a match."""
    later = TS + TURNS * MINUTE_MS
    for context in (
        api.assemble(sid, query=UNRELATED, messages=[], since=later),
        api.assemble(sid, query=UNRELATED, messages=[]),
    ):
        assert all(hit.scores.score > 0 for hit in context.recalled)


def test_a_context_with_summaries_keeps_a_small_budget(api: MemoryApi, sid: str) -> None:
    for budget in (64, 200, 400, 900):
        context = api.assemble(sid, query=UNRELATED, messages=[], since=TS, budget_tokens=budget)
        assert context.used_tokens <= budget


def test_the_best_summaries_get_room_before_single_turns(api: MemoryApi, sid: str) -> None:
    """A user's own turns are hits too. They must not displace the summaries, which lead to all the rest."""
    mine, user = sid[-8:], "keeper of the harbour"
    api.ingest_batch(mine, herons(), user_id=user)
    assert api.call(Compact(session_id=mine, force=True)).did_compact
    context = api.assemble(mine, query="herons on the harbour wall", messages=[], user_id=user, budget_tokens=260)
    scores = [hit.scores.score for hit in context.recalled]
    ways = [hit for hit in context.recalled if hit.record.provenance == "summary"]
    assert len(ways) == 3
    assert scores == sorted(scores, reverse=True)
    assert context.used_tokens <= context.budget_tokens


def herons() -> list[Message]:
    """The user's first turns are all about herons; later ones touch them twice."""
    plain = conversation()
    birds = {number: f"Heron {number} stood on the harbour wall at dawn." for number in range(0, 20, 2)}
    birds |= {number: f"Somebody spoke of a heron on the wall at {number}." for number in (30, 50)}
    return [replace(turn, text=birds.get(number, turn.text)) for number, turn in enumerate(plain)]


def test_an_expansion_uses_the_room_it_has(api: MemoryApi, sid: str) -> None:
    """No summary that stays closed would still have fitted."""
    summaries, _ = view(api, sid)
    opened = api.expand(sid, *summaries, query="loud fan", budget_tokens=400)
    whole = api.expand(sid, *summaries)
    assert 0 < len(opened.turns) < len(whole.turns)
    a_turn = whole.tokens // len(whole.turns)
    assert 400 - 2 * a_turn < opened.tokens <= 400


def test_a_small_turn_is_shown_if_the_best_one_does_not_fit(api: MemoryApi, sid: str) -> None:
    small, large = "The heron is back.", "The heron on the harbour wall " + "watches the boats and " * 12 + "waits."
    long, session_id = [small, large, *(turn.text for turn in conversation()[:18])], sid[-8:] + "-h"
    api.ingest_batch(session_id, [Message(role="user", text=text, ts=TS) for text in long])
    assert api.call(Compact(session_id=session_id, force=True, min_turns=1)).did_compact
    summaries, _ = view(api, session_id)
    for budget in range(60, 130, 5):
        opened = api.expand(session_id, *summaries, query="heron on the harbour wall", budget_tokens=budget)
        assert {small, large} & {turn.text for turn in opened.turns}
        assert opened.tokens <= budget
    assert api.expand(session_id, *summaries, budget_tokens=10).tokens == 0


def test_unordered_times_cost_an_expansion_only_a_few_renderings(
    api: MemoryApi, sid: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    session_id, day_ms = sid[-8:] + "-t", 86_400_000
    turns = [Message(role="user", text=f"Note {number}.", ts=TS + number % 2 * day_ms) for number in range(400)]
    api.ingest_batch(session_id, turns)
    assert api.call(Compact(session_id=session_id, force=True, min_turns=1)).did_compact
    renderings: list[int] = []
    rendered = _Opening._render
    monkeypatch.setattr(_Opening, "_render", lambda self, chosen: (renderings.append(1), rendered(self, chosen))[1])
    summaries, _ = view(api, session_id)
    opened = api.expand(session_id, *summaries, max_depth=64, budget_tokens=3000)
    assert 0 < opened.tokens <= 3000
    assert len(renderings) < 20
