"""A turn says that something no longer holds: Clew proposes to end the known fact."""

from __future__ import annotations

import pytest

from clew.api import FactProposal, MemoryApi
from clew.core.model import Role
from clew.engine import Memory
from clew.errors import NotFound
from clew.features.claims.proposals import proposals
from tests.conftest import NOW_MS, OpenMemory

pytestmark = pytest.mark.requirement("FACT-4")

DAY_MS = 86_400_000


@pytest.fixture
def memory(open_memory: OpenMemory) -> Memory:
    return open_memory(tokenizer="estimate")


def tell(memory: MemoryApi, id_: str, text: str, *, role: str = "user", before_ms: int = 0, user: str = "ann") -> None:
    memory.ingest("s1", role, text, user_id=user, id=id_, ts=NOW_MS - before_ms)


def queue(memory: MemoryApi, user: str = "ann") -> list[FactProposal]:
    return list(memory.facts_review(user).proposals)


def accept_all(memory: MemoryApi) -> None:
    for proposal in queue(memory):
        memory.facts_accept("ann", proposal.source, proposal.id)


def current_texts(memory: MemoryApi) -> list[str]:
    return [fact.text for fact in memory.facts_current(user_id="ann").facts]


@pytest.mark.parametrize(
    ("text", "subject", "predicate", "object_"),
    [
        ("Kestrel no longer uses PostgreSQL.", "Kestrel", "uses", "PostgreSQL"),
        ("Kestrel doesn't use PostgreSQL any more.", "Kestrel", "uses", "PostgreSQL"),
        ("We moved off Kafka last week.", "user", "uses", "Kafka"),
        ("We've finally stopped using Kafka.", "user", "uses", "Kafka"),
        ("We don't use Kafka anymore.", "user", "uses", "Kafka"),
        ("I no longer live in Berlin.", "user's home", "status", "Berlin"),
        ("I used to work at Acme.", "user's job", "status", "Acme"),
    ],
)
def test_a_text_that_ends_a_fact_names_that_fact(text: str, subject: str, predicate: str, object_: str) -> None:
    (found,) = proposals(text, "", NOW_MS, Role.USER)
    assert (found.subject, found.predicate, found.object, found.ends) == (subject, predicate, object_, True)


@pytest.mark.parametrize(
    "text",
    [
        "Do we no longer use Kafka?",
        "If we no longer use Kafka, tell me.",
        "Bea said we no longer use Kafka.",
        "We might have stopped using Kafka.",
        "I'm not used to Kafka.",
        "> We moved off Kafka.",
    ],
)
def test_questions_suppositions_quotes_and_hearsay_end_no_fact(text: str) -> None:
    assert not any(found.ends for found in proposals(text, "", NOW_MS, Role.USER))


def test_accepting_an_end_closes_the_fact_on_that_day(memory: Memory) -> None:
    tell(memory, "t1", "Kestrel uses PostgreSQL.", before_ms=30 * DAY_MS)
    accept_all(memory)
    tell(memory, "t2", "Kestrel no longer uses PostgreSQL.", before_ms=2 * DAY_MS)
    (proposal,) = queue(memory)
    (ended,) = proposal.ends
    assert "PostgreSQL" in ended.text
    assert current_texts(memory)
    memory.facts_accept("ann", proposal.source, proposal.id)
    assert current_texts(memory) == []
    assert queue(memory) == []
    (then,) = memory.facts_as_of(NOW_MS - 3 * DAY_MS, user_id="ann").facts
    assert then.id == ended.id
    with pytest.raises(NotFound):
        memory.facts_accept("ann", proposal.source, proposal.id)


def test_the_end_of_an_unknown_fact_is_not_proposed(memory: Memory) -> None:
    tell(memory, "t1", "We moved off Kafka.")
    assert queue(memory) == []
    assert memory.facts_propose("We moved off Kafka.", user_id="ann").proposals == ()


def test_a_declined_end_is_not_proposed_again(memory: Memory) -> None:
    tell(memory, "t1", "We use Kafka.", before_ms=DAY_MS)
    accept_all(memory)
    tell(memory, "t2", "We moved off Kafka.")
    (proposal,) = queue(memory)
    memory.facts_decline("ann", proposal.source, proposal.id)
    assert queue(memory) == []
    assert current_texts(memory)


def test_one_user_cannot_end_the_facts_of_another(memory: Memory) -> None:
    tell(memory, "t1", "We use Kafka.", before_ms=DAY_MS)
    accept_all(memory)
    memory.ingest("s2", "user", "We moved off Kafka.", user_id="bo", ts=NOW_MS)
    assert queue(memory, "bo") == []
    assert current_texts(memory)


def test_a_short_name_means_the_known_subject_with_the_longer_name(memory: Memory) -> None:
    tell(memory, "t1", "The Harbor project uses Redis.", before_ms=DAY_MS)
    accept_all(memory)
    tell(memory, "t2", "Harbor no longer uses Redis.")
    tell(memory, "t3", "Harbor uses Valkey.")
    ended, new = queue(memory)
    assert ended.ends
    assert new.subject == ended.ends[0].subject
    memory.facts_accept("ann", new.source, new.id)
    assert {fact.subject for fact in memory.facts_current(user_id="ann").facts} == {new.subject}


def test_an_ambiguous_short_name_stays_as_it_is(memory: Memory) -> None:
    tell(memory, "t1", "The Harbor project uses Redis. The Harbor team uses Slack.", before_ms=DAY_MS)
    accept_all(memory)
    tell(memory, "t2", "Harbor uses Valkey.")
    (new,) = queue(memory)
    assert new.subject == "Harbor"
