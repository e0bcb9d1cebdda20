"""Nothing relevant means nothing: only a question about the conversation recalls lines of it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from bench.off_topic import USER, sessions_of

from clew import Memory, Message
from clew.api import Context, Pack, Why
from clew.features.context.assemble import UNRELATED
from clew.features.pack.choice import Reason
from clew.models.packs.pack import DEFAULT_PACK, list_packs, packs_dir
from tests.testing.data import nothing_may_be_skipped, shared

pytestmark = pytest.mark.requirement("USE-4", "PACK-3")

OFF_TOPIC = (
    "Hello.",
    "thanks!",
    "explain photosynthesis",
    "what is the capital of Mongolia",
    "How do bees find their way back to the hive?",
    "Wie lange muss ein Hefeteig gehen?",
    "为什么天空是蓝色的？",
)
ABOUT_IT = (
    ("What kind of dance piece did Gina's team perform to win first place?", "Finding Freedom"),
    ("What job did Jon lose?", "as a banker"),
)


@pytest.fixture(scope="module", params=["none", "auto"])
def memory(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    """A user who has had one real conversation, by words alone and with the default model."""
    if request.param == "auto" and DEFAULT_PACK not in [pack.name for pack in list_packs(packs_dir())]:
        if nothing_may_be_skipped():
            pytest.fail("the default model is not installed, and nothing may be skipped here")
        pytest.skip("needs the default model: `clew model install`")
    data = shared("locomo/locomo5_dev.json.gz").parents[1]
    folder = tmp_path_factory.mktemp("memory")
    with Memory.open(data_dir=folder, embedder=request.param, synchronous="normal") as opened:
        for session_id, messages in sessions_of(data, "conv-30")[:6]:
            opened.ingest_batch(session_id, messages, user_id=USER)
        assert opened.flush(timeout_ms=600_000).ok
        yield opened


@pytest.mark.parametrize("question", OFF_TOPIC)
def test_a_question_about_something_else_gets_an_empty_pack_that_says_so(memory: Memory, question: str) -> None:
    bundle = memory.pack(question, user_id=USER)
    assert (bundle.bundle_text, bundle.items, bundle.abstained) == ("", (), True)
    assert "nothing relevant is known" in bundle.notes


@pytest.mark.parametrize("question", OFF_TOPIC)
def test_a_question_about_something_else_recalls_no_line_in_a_new_session(memory: Memory, question: str) -> None:
    context = _new_session(memory, question)
    assert (context.recalled_text, context.recalled) == ("", ())
    assert [message.text for message in context.messages] == [question]


@pytest.mark.parametrize(("question", "evidence"), ABOUT_IT)
def test_a_question_about_what_was_said_still_gets_its_evidence(memory: Memory, question: str, evidence: str) -> None:
    assert evidence in memory.pack(question, user_id=USER).bundle_text
    assert evidence in _new_session(memory, question).recalled_text


def test_a_near_but_unrelated_record_is_reported_with_the_reason(memory: Memory) -> None:
    """A greeting is similar to the greetings of any conversation."""
    trace = memory.call(Pack(query="Hey, good to see you!", user_id=USER, trace=True)).trace
    assert trace is not None
    reasons = {candidate.ref: candidate.reason for candidate in trace.candidates}
    ref = next(ref for ref, reason in reasons.items() if reason == Reason.UNRELATED)
    told = memory.call(Why(query="Hey, good to see you!", ref=ref, user_id=USER))
    assert (told.included, told.stage, told.reason) == (False, "policy", Reason.UNRELATED)
    assert "too little to bear on the query" in told.sentence
    receipt = next(part for part in _new_session(memory, "Hey, good to see you!").sections if part.name == "recalled")
    assert {left_out.reason for left_out in receipt.left_out} == {UNRELATED}


def test_the_stored_question_leads_to_nothing_else(memory: Memory) -> None:
    """A host may store a prompt before it asks what bears on it."""
    question = "how do volcanoes form under the sea?"
    memory.ingest("asked before", "user", question, user_id=USER)
    assert memory.flush(timeout_ms=600_000).ok
    assert memory.pack(question, user_id=USER).items == ()
    assert _new_session(memory, question).recalled == ()


def _new_session(memory: Memory, question: str) -> Context:
    return memory.assemble("a new session", user_id=USER, messages=[Message(role="user", text=question)])
