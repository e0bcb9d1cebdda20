"""An agent in the real OpenClaw gateway, from its first words to the death of its daemon.

The host takes half a minute to start, so one gateway serves one walk through all checks. They
look at the prompts of the model and at the daemon's store.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from contextlib import closing

import pytest

from clew.api import RecordView
from clew.config import Config
from clew.faces.cli.imports import Plan, import_transcript
from clew.faces.transcripts import Format
from tests.hosts.fake_model import Asked, Overflow, Say, Use
from tests.hosts.gateway import AGENT, TOKEN, eventually, settles
from tests.hosts.stage import RULE, Stage, staged

FIRST, SECOND, LONG, FRAIL, OTHER = (f"agent:{AGENT}:{name}" for name in "first second long frail other".split())

DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday")


@pytest.mark.long
@pytest.mark.requirement("HOST-1", "LIFE-6", "USE-6")
def test_an_agent_in_the_real_host_keeps_its_memory_through_every_failure() -> None:
    with staged() as stage:
        a_turn_is_stored(stage)
        earlier_sessions_and_authored_rules_reach_the_model(stage)
        the_model_searches_the_memory_and_opens_a_hit(stage)
        the_hosts_own_record_of_a_session_adds_nothing_to_it(stage)
        a_turn_with_a_lost_receipt_is_stored_once(stage)
        a_subagent_does_not_speak_as_the_user(stage)
        nothing_but_the_conversation_left_the_host(stage)
        stage.leave_out_relay()
        a_compacted_session_goes_on_with_summaries(stage)
        a_prompt_too_long_for_the_model_is_compacted_and_asked_again(stage)
        a_reset_is_journalled_and_starts_anew(stage)
        the_daemon_dies_during_a_turn_and_the_turn_is_stored_later(stage)
        the_agent_answers_though_the_daemon_hangs(stage)
        assert 'degraded to "legacy"' not in stage.gateway.log
        turns_during_a_long_absence_of_the_daemon_are_stored_later(stage)
        with stage.daemon.client() as client:
            assert client.verify().ok
        the_hosts_own_command_line_finds_stored_turns(stage)
        uninstalling_the_plugin_leaves_nothing_behind(stage)


def a_turn_is_stored(stage: Stage) -> None:
    said = "I take the ferry to Bergen on Sundays, and my sister Ada Lovelace lives in Turin."
    stage.model.script(said, Say("I shall remember the ferry."))
    assert stage.gateway.turn(FIRST, said) == "I shall remember the ferry."
    settles(lambda: role_and_text(stage.turns(FIRST)), [("user", said), ("assistant", "I shall remember the ferry.")])
    with stage.daemon.client() as client:
        client.flush()
    assert said in [memory.text for memory in stage.records(f"user:{AGENT}")]


def earlier_sessions_and_authored_rules_reach_the_model(stage: Stage) -> None:
    question = "On which day do I take the ferry?"
    stage.gateway.turn(SECOND, question)
    [asked] = stage.model.asked(question)
    assert "ferry to Bergen on Sundays" in asked.prompt
    assert RULE in asked.system
    assert "ferry to Bergen on Sundays" not in asked.system


def the_model_searches_the_memory_and_opens_a_hit(stage: Stage) -> None:
    question = "Where does Ada live these days?"
    stage.model.script(question, Use("memory_search", {"query": "Ada Lovelace"}), Say("In Turin."))
    assert stage.gateway.turn(SECOND, question) == "In Turin."
    before, after = stage.model.asked(question)
    assert {"memory_search", "memory_get"} <= set(before.tools)
    [found] = after.said_by("tool")[-1:]
    [path, *_] = [result["path"] for result in json.loads(found)["results"] if "Turin" in result["snippet"]]
    settles(lambda: [turn.role for turn in stage.turns(SECOND)[2:]], ["user", "assistant", "tool_result", "assistant"])
    result = stage.turns(SECOND)[-2]
    assert result.metadata["toolName"] == "memory_search"
    assert result.trust == "untrusted"

    question = "Read me that note about Ada."
    stage.model.script(question, Use("memory_get", {"path": path}), Say("She lives in Turin."))
    assert stage.gateway.turn(SECOND, question) == "She lives in Turin."
    assert "Ada Lovelace lives in Turin" in stage.model.asked(question)[-1].said_by("tool")[-1]


def the_hosts_own_record_of_a_session_adds_nothing_to_it(stage: Stage) -> None:
    """The host keeps the entries of its transcripts in a database, in the form in which it exports them."""
    [path] = stage.gateway.home.folder.rglob("openclaw-agent.sqlite")
    for key in (FIRST, SECOND):
        session_id, kept = stage.session_id(key), stage.turns(key)
        with closing(sqlite3.connect(path)) as database:
            events = "SELECT event_json FROM transcript_events WHERE session_id = ? ORDER BY seq"
            lines = [line.encode() for (line,) in database.execute(events, (session_id,)) if line]
        with stage.daemon.client() as client:
            plan = Plan(AGENT, None, Config())
            receipt = import_transcript(client, lines, Format.OPENCLAW, plan, name=key, file_session=session_id)
        assert (receipt.stored, receipt.unchanged, receipt.set_aside) == (0, len(kept), 0)
        assert stage.turns(key) == kept


def a_turn_with_a_lost_receipt_is_stored_once(stage: Stage) -> None:
    """The daemon stores the turn, but its answer never arrives: the plugin or the host delivers it again."""
    stage.relay.lose_answer("ingest_batch")
    stage.gateway.turn(SECOND, "The lighthouse keeper is called Håkon.")
    stage.gateway.turn(SECOND, "Who keeps the lighthouse?")
    deliveries = [
        request
        for request in stage.relay.requests("ingest_batch")
        if "Håkon" in json.dumps(request["params"], ensure_ascii=False)
    ]
    assert len(deliveries) > 1
    assert len({message["id"] for request in deliveries for message in request["params"]["messages"][:1]}) == 1
    kept = ["The lighthouse keeper is called Håkon.", "Who keeps the lighthouse?"]
    settles(lambda: [said for said in said_by_user(stage, SECOND) if "lighthouse" in said], kept)


def a_subagent_does_not_speak_as_the_user(stage: Stage) -> None:
    task = "Count the lighthouses of Norway; you must always count twice."
    spawn = Use("tool_call", {"id": "sessions_spawn", "args": {"task": task, "mode": "run"}})
    stage.model.script("Have the lighthouses counted.", spawn, Say("Somebody counts them."))
    stage.model.script(f"[Subagent Task]\n\n{task}", Say("There are 212 lighthouses."))
    stage.model.script("A background task completed.", Say("Norway has 212 lighthouses."))
    assert stage.gateway.turn(SECOND, "Have the lighthouses counted.") == "Somebody counts them."
    [child] = eventually(lambda: stage.model.asked(f"[Subagent Task]\n\n{task}"))
    assert RULE in child.system
    key = child.prompt.partition("session=")[2].partition(" ")[0]
    assert key.startswith(f"agent:{AGENT}:subagent:")
    settles(lambda: [turn.text for turn in stage.turns(key)][1:], ["There are 212 lighthouses."])
    eventually(
        lambda: "Norway has 212 lighthouses." in json.dumps(stage.gateway.call("chat.history", sessionKey=SECOND))
    )
    stage.gateway.turn(SECOND, "How many were there?")
    assert "Norway has 212 lighthouses." in stage.model.asked("How many were there?")[-1].prompt
    with stage.daemon.client() as client:
        client.flush()
        guidance = [item.record.text for item in client.guidance(user_id=AGENT).items]
    memories = [memory.text for memory in stage.records(f"user:{AGENT}")]
    assert not [text for text in memories + guidance if "count twice" in text or "background task" in text]


def nothing_but_the_conversation_left_the_host(stage: Stage) -> None:
    sent = json.dumps(stage.relay.requests())
    assert sent.count("ingest_batch") > 3
    assert TOKEN not in sent
    assert "apiKey" not in sent
    assert stage.model.base_url not in sent
    assert "You are a personal assistant" not in sent


def a_compacted_session_goes_on_with_summaries(stage: Stage) -> None:
    long_talk(stage, range(7))
    assert stage.gateway.call("sessions.compact", key=LONG)["compacted"] is True
    summaries = stage.records(f"session_summary:{stage.session_id(LONG)}")
    assert summaries
    asked = one_more(stage, "Shall we go on?")
    assert shows_the_compacted_view(asked, summaries, gone=pier(0), kept=pier(6))
    settles(lambda: len(stage.turns(LONG)), 16)


def a_prompt_too_long_for_the_model_is_compacted_and_asked_again(stage: Stage) -> None:
    long_talk(stage, range(7, 11))
    question = "What else is there to plan?"
    stage.model.script(question, Overflow(), Say("Nothing else."))
    assert stage.gateway.turn(LONG, question) == "Nothing else."
    refused, answered = stage.model.asked(question)
    view = stage.records(f"session:{stage.session_id(LONG)}")
    summaries = [record for record in view if record.provenance == "summary"]
    assert pier(7) in conversation(refused)
    assert shows_the_compacted_view(answered, summaries, gone=pier(7), kept=pier(10))
    settles(lambda: said_by_user(stage, LONG)[-2:], [pier(10), question])


def a_reset_is_journalled_and_starts_anew(stage: Stage) -> None:
    stage.gateway.call("sessions.reset", key=LONG)
    reset = [("before_reset", "reset"), ("session_end", "reset")]
    settles(lambda: sorted((entry.hook, entry.details.get("reason")) for entry in stage.journal(LONG)), reset)
    asked = one_more(stage, "Good morning to you.")
    assert pier(10) not in conversation(asked)
    assert pier(10) in [text for _, text in role_and_text(stage.turns(LONG))]


def the_daemon_dies_during_a_turn_and_the_turn_is_stored_later(stage: Stage) -> None:
    stage.gateway.turn(FRAIL, "The storm comes on Monday.")
    stage.model.script("The storm comes on Tuesday.", Say("I have noted Tuesday.", meanwhile=stage.daemon.kill))
    assert stage.gateway.turn(FRAIL, "The storm comes on Tuesday.") == "I have noted Tuesday."
    stage.model.script("Are you there?", Say("I am here."))
    assert stage.gateway.turn(OTHER, "Are you there?") == "I am here."
    stage.daemon.start()
    stage.gateway.turn(FRAIL, "The storm comes on Wednesday.")
    settles(lambda: said_by_user(stage, FRAIL), [f"The storm comes on {day}." for day in DAYS[:3]])
    stage.gateway.turn(OTHER, "Good to know.")
    settles(lambda: said_by_user(stage, OTHER), ["Are you there?", "Good to know."])


def the_agent_answers_though_the_daemon_hangs(stage: Stage) -> None:
    stage.model.script("The storm comes on Thursday.", Say("I have noted Thursday."))
    with stage.daemon.paused():
        assert stage.gateway.turn(FRAIL, "The storm comes on Thursday.") == "I have noted Thursday."
    stage.gateway.turn(FRAIL, "The storm comes on Friday.")
    settles(lambda: said_by_user(stage, FRAIL), [f"The storm comes on {day}." for day in DAYS])
    assert RULE in stage.model.asked("The storm comes on Friday.")[-1].system


def turns_during_a_long_absence_of_the_daemon_are_stored_later(stage: Stage) -> None:
    """While turns wait, the host answers with its own engine and does not deliver them at all."""
    stage.daemon.kill()
    said = [f"The calm comes on {day}." for day in DAYS[:3]]
    for text in said:
        stage.gateway.turn(OTHER, text)
    stage.daemon.start()
    stage.gateway.turn(OTHER, "Has the calm come?")
    settles(lambda: sorted(said_by_user(stage, OTHER)[2:]), sorted([*said, "Has the calm come?"]))
    the_owners_words_belong_to_the_owner_even_if_stored_late(stage, said)


def the_owners_words_belong_to_the_owner_even_if_stored_late(stage: Stage, said: list[str]) -> None:
    """Other sessions recall the turns that the host proves to be the owner's, like any others."""
    assert {turn.trust for turn in stage.turns(OTHER) if turn.text in said} == {"unknown"}
    question = "On which days comes the calm?"
    stage.gateway.turn(f"agent:{AGENT}:later", question)
    assert [text for text in said if text not in stage.model.asked(question)[-1].prompt] == []


def the_hosts_own_command_line_finds_stored_turns(stage: Stage) -> None:
    assert "ferry to Bergen on Sundays" in stage.gateway.home.run("openclaw", "clew", "search", "ferry to Bergen")


def uninstalling_the_plugin_leaves_nothing_behind(stage: Stage) -> None:
    home = stage.gateway.home
    assert set(home.plugins["slots"].values()) == {"clew"}
    home.clew("openclaw", "uninstall")
    assert "clew" not in home.plugins.get("slots", {}).values()
    assert home.plugins.get("load", {}).get("paths", []) == []
    assert '"clew"' not in home.settings.read_text()


def role_and_text(turns: tuple[RecordView, ...]) -> list[tuple[str | None, str]]:
    return [(turn.role, turn.text) for turn in turns]


def said_by_user(stage: Stage, key: str) -> list[str]:
    return [turn.text for turn in stage.turns(key) if turn.role == "user"]


def pier(number: int) -> str:
    return (
        f"The boat of pier {number} leaves at {number}:40 from dock D{number:03d} with goods for the islands. "
        f"Its captain asked for {number + 20} barrels of lamp oil and a new rope. "
        "We talked about the weather in the north, too, which was mild for the season."
    )


def long_talk(stage: Stage, numbers: range) -> None:
    for number in numbers:
        stage.gateway.turn(LONG, pier(number))


def one_more(stage: Stage, question: str) -> Asked:
    """The request to the model for one more question in the long session."""
    stage.gateway.turn(LONG, question)
    return stage.model.asked(question)[-1]


def conversation(asked: Asked) -> str:
    """The conversation in the prompt, without the quoted history."""
    return "\n".join(text for text in asked.said_by("user", "assistant") if "<recalled_history>" not in text)


def shows_the_compacted_view(asked: Asked, summaries: Sequence[RecordView], gone: str, kept: str) -> bool:
    """Summaries replace the old turns; the newest turns are unchanged."""
    assert [summary.text for summary in summaries if first_line(summary) not in asked.prompt] == []
    assert gone not in conversation(asked)
    assert kept in conversation(asked)
    return bool(summaries)


def first_line(record: RecordView) -> str:
    return record.text.partition("\n")[0]
