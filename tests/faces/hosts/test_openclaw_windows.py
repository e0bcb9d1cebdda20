"""Long conversations in the real OpenClaw gateway: the window fills again and again, and no turn fails."""

from __future__ import annotations

import pytest

from tests.hosts.fake_model import Asked, FakeModel
from tests.hosts.gateway import AGENT, SMALL_AGENT, SMALL_WINDOW_TOKENS, WINDOW_TOKENS
from tests.hosts.stage import Stage, staged

TURNS = 120
NEWEST = 4
WORDS = (
    "harbour ferry crane pilot rope barrel lamp tide quay signal captain cargo manifest customs anchor weather keel "
    "engine fuel deck chart compass bridge mast sail hull radio engineer watch berth"
).split()


@pytest.mark.long
@pytest.mark.requirement("HOST-1", "CONT-3", "COMP-10")
@pytest.mark.parametrize(("agent", "window"), [(AGENT, WINDOW_TOKENS), (SMALL_AGENT, SMALL_WINDOW_TOKENS)])
def test_a_long_session_fills_its_window_again_and_again_and_no_turn_fails(agent: str, window: int) -> None:
    with staged(FakeModel(answer)) as stage:
        key = f"agent:{agent}:long"
        said = [exchange(number) for number in range(TURNS)]
        replies = [stage.gateway.turn(key, text) for text in said]
        assert [number for number, reply in enumerate(replies) if not reply.startswith(f"On {number},")] == []
        asked = [stage.model.asked(text)[-1] for text in said]
        assert [request.tokens for request in stage.model.asked() if request.tokens > window] == []
        for number, request in enumerate(asked):
            newest = said[max(number - NEWEST // 2, 0) : number]
            assert [text for text in newest if text not in request.prompt] == []
        a_new_session_that_recalls_much_goes_on(stage, agent)
        nothing_was_copied(stage, len(said))


def a_new_session_that_recalls_much_goes_on(stage: Stage, agent: str) -> None:
    """Recalled text fills a new session. It must give way like any other text."""
    key = f"agent:{agent}:new"
    for number in range(3):
        assert stage.gateway.turn(key, exchange(number)).startswith(f"On {number},")


def nothing_was_copied(stage: Stage, turns: int) -> None:
    """Each turn has one question and one answer, in two sessions, and the model gets no extra call."""
    with stage.daemon.client() as client:
        client.flush()
        sizes = {view.name: view.count for view in client.collections().collections}
    raw = {name: size for name, size in sizes.items() if name.startswith("session_raw:")}
    assert sorted(raw.values()) == [6, 2 * turns]
    assert len(stage.model.asked()) == turns + 3


def exchange(number: int) -> str:
    """About 340 words in an order that no other turn has."""
    words = [WORDS[(number * 7 + place * (1 + number % 5)) % len(WORDS)] for place in range(330)]
    return f"Entry {number} of the log says: " + " ".join(words) + f". That was entry {number}."


def answer(asked: Asked) -> str:
    number = asked.question.rpartition("That was entry ")[2].partition(".")[0]
    words = [WORDS[(int(number) * 11 + place * 3) % len(WORDS)] for place in range(330)] if number.isdigit() else []
    return f"On {number}, " + " ".join(words)
