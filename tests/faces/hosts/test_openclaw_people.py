"""Several people and an agent in the real OpenClaw gateway, on its Telegram channel: each sees what is theirs.

The host isolates direct chats (`dmScope`). What is asserted is what the model was shown, and what its tools gave it.
"""

from __future__ import annotations

import json

import pytest

from tests.hosts.fake_model import Asked, FakeModel, Say, Use
from tests.hosts.gateway import AGENT, SMALL_AGENT, eventually, settles
from tests.hosts.stage import Stage, staged
from tests.hosts.telegram import TOKEN, FakeTelegram, Person

ADA = Person(111, "Ada")
EVE = Person(222, "Eve")
GROUP = -100_500
COMBINATION = "11-22-33"
SECRET = f"My safe combination is {COMBINATION}, and the safe stands in the cellar."
BIRTHDAY = "My birthday is the ninth of May, and I like lemon cake."


@pytest.mark.long
@pytest.mark.requirement("HOST-1", "STORE-1", "SAFE-2")
def test_the_words_of_a_person_are_shown_to_that_person_alone() -> None:
    with FakeTelegram() as telegram, staged(FakeModel(), **settings(telegram)) as stage:
        chat = Chat(stage, telegram)
        chat.say(ADA, SECRET)
        chat.say(EVE, BIRTHDAY)
        strangers_and_groups_see_nothing_of_the_owner(chat)
        the_owners_words_are_recalled_in_every_private_chat_of_the_owner(chat)
        nothing_of_a_guest_reaches_the_owner(chat)
        another_agent_knows_neither(chat)
        the_store_assigns_only_the_owners_words_to_the_owner(stage)


class Chat:
    """Says something over Telegram, waits for the answer, and returns the request to the model."""

    def __init__(self, stage: Stage, telegram: FakeTelegram) -> None:
        self.stage = stage
        self._telegram = telegram
        self._replies = 0

    def say(self, person: Person, text: str, group: int | None = None, *first: Use) -> Asked:
        self._replies += 1
        reply = f"That is answer {self._replies}."
        self.stage.model.script(text, *first, Say(reply))
        self._telegram.write(person, text, group)
        eventually(lambda: any(reply in sent.text for sent in self._telegram.sent))
        return self.stage.model.asked(text)[-1]

    def search(self, person: Person, text: str, query: str, group: int | None = None) -> str:
        """The result of the search tool in a turn of this person."""
        return self.say(person, text, group, Use("memory_search", {"query": query})).said_by("tool")[-1]


def strangers_and_groups_see_nothing_of_the_owner(chat: Chat) -> None:
    assert COMBINATION not in chat.say(EVE, "What is the combination of the safe in the cellar?").prompt
    assert COMBINATION not in chat.search(EVE, "Look up the safe, please.", "safe combination cellar")
    assert COMBINATION not in chat.say(EVE, "Group, what is the safe combination?", GROUP).prompt
    assert COMBINATION not in chat.say(ADA, "Everybody, which safe combination do we use?", GROUP).prompt
    assert COMBINATION not in chat.search(ADA, "Please look up our safe.", "safe combination cellar", GROUP)


def the_owners_words_are_recalled_in_every_private_chat_of_the_owner(chat: Chat) -> None:
    key = f"agent:{AGENT}:desk"
    question = "Which safe combination did I give you?"
    chat.stage.gateway.turn(key, question)
    assert COMBINATION in chat.stage.model.asked(question)[-1].prompt
    assert COMBINATION in chat.search(ADA, "Look my safe up for me.", "safe combination cellar")


def nothing_of_a_guest_reaches_the_owner(chat: Chat) -> None:
    assert "ninth" not in chat.say(ADA, "Whose birthday is in May, and who likes cake?").prompt
    assert "ninth" not in chat.search(ADA, "Look up birthdays.", "birthday in May, cake")
    assert "ninth" in chat.say(EVE, "Which cake do I like on my birthday?").prompt


def another_agent_knows_neither(chat: Chat) -> None:
    question = "What is the safe combination, and whose birthday is in May?"
    chat.stage.gateway.turn(f"agent:{SMALL_AGENT}:desk", question)
    asked = chat.stage.model.asked(question)[-1]
    assert COMBINATION not in asked.prompt
    assert "ninth" not in asked.prompt


def the_store_assigns_only_the_owners_words_to_the_owner(stage: Stage) -> None:
    with stage.daemon.client() as client:
        client.flush()
    said = [record.text for record in stage.records(f"turns:{AGENT}")]
    assert SECRET in said
    assert [text for text in said if "Group," in text or "Everybody," in text or text == BIRTHDAY] == []
    settles(lambda: json.dumps([record.text for record in stage.records(f"user:{AGENT}")]).count("lemon cake"), 0)


def settings(telegram: FakeTelegram) -> dict[str, object]:
    channel = {
        "enabled": True,
        "botToken": TOKEN,
        "apiRoot": telegram.address,
        "dmPolicy": "open",
        "allowFrom": ["*"],
        "groupPolicy": "open",
        "groups": {"*": {"requireMention": False}},
    }
    return {
        "channels": {"telegram": channel},
        "session": {"dmScope": "per-channel-peer"},
        "commands": {"ownerAllowFrom": [f"telegram:{ADA.id}"]},
    }
