"""Which candidates for facts and plans Clew reads from a text."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from clew.core.model import Role
from clew.features.claims.proposals import MOST, PLAN, SECOND_HAND, Proposal, key_of, proposals
from clew.text.dates import day_ahead, day_before

pytestmark = pytest.mark.requirement("FACT-4")

SAID_MS = int(datetime(2026, 3, 4, 15, 0, tzinfo=UTC).timestamp() * 1000)  # a Wednesday


def read(text: str, speaker: str = "", role: Role | None = Role.USER) -> list[tuple[str, str, str]]:
    """What a text says that holds."""
    found = (item for item in proposals(text, speaker, SAID_MS, role) if not item.ends)
    return [(item.subject, item.predicate, item.object) for item in found]


def day(year: int, month: int, number: int) -> int:
    return int(datetime(year, month, number, tzinfo=UTC).timestamp() * 1000)


def the_one(text: str) -> Proposal:
    (found,) = proposals(text, "", SAID_MS, Role.USER)
    return found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("My personal best for the 5K is 25:50.", ("user's personal best for the 5K", "status", "25:50")),
        ("By the way, I have 12 tomato plants now.", ("user's tomato plants", "status", "12")),
        ("I've already bought three tops from H&M.", ("user's tops from H&M", "status", "three")),
        ("I'm up to 500 followers!", ("user's followers", "status", "500")),
        ("I'm currently on page 220.", ("user's page", "status", "220")),
        ("I just finished my fifth issue.", ("user's issue", "status", "fifth")),
        ("I recently moved to Chicago.", ("user's home", "status", "Chicago")),
        ("We live in Porto.", ("user's home", "status", "Porto")),
        ("I work at Acme Corp.", ("user's job", "status", "Acme Corp")),
        ("I just got promoted to team lead.", ("user's job", "status", "team lead")),
        ("I got a temp job to cover expenses.", ("user's job", "status", "a temp job")),
        ("I'm allergic to peanuts.", ("user's allergy to peanuts", "status", "allergic")),
        ("Well, I'm lactose intolerant.", ("user's diet", "status", "lactose intolerant")),
        ("Rachel moved to Berlin.", ("Rachel's home", "status", "Berlin")),
        ("My daughter's name is Ines.", ("user's daughter's name", "status", "Ines")),
        ("My manager is Sarah Chen.", ("user's manager", "status", "Sarah Chen")),
        ("My extension is 7702 now.", ("user's extension", "status", "7702")),
        ("ingest-v1 is retired.", ("ingest-v1", "status", "retired")),
        ("The billing migration is on hold.", ("billing migration", "status", "on hold")),
        ("I spend two hours a week on piano.", ("user's time on piano", "status", "two hours a week")),
    ],
)  # fmt: skip
def test_a_present_state_is_read_with_its_attribute(text: str, expected: tuple[str, str, str]) -> None:
    assert read(text) == [expected]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I love dark roast.", ("user", "prefers", "dark roast")),
        ("I really don't like olives.", ("user", "prefers", "not olives")),
        ("I'm not into hiking.", ("user", "prefers", "not hiking")),
        ("My favourite editor is Helix.", ("user", "prefers", "Helix (favourite editor)")),
        ("Blue's my fave!", ("user", "prefers", "Blue (favourite)")),
        ("Dance is my passion.", ("user", "prefers", "Dance")),
        ("My sister loves opera.", ("user's sister", "prefers", "opera")),
        ("Daisy hates thunder.", ("Daisy", "prefers", "not thunder")),
        ("We use Postgres for the queue.", ("user", "uses", "Postgres for the queue")),
        ("I've been using Trello lately.", ("user", "uses", "Trello")),
        ("The api.gateway service now uses Redis.", ("api.gateway service", "uses", "Redis")),
        ("We migrated from MySQL to Postgres.", ("Postgres", "replaces", "MySQL")),
        ("I replaced `chalk` with `theme`.", ("theme", "replaces", "chalk")),
        ("The importer depends on libpq.", ("importer", "depends_on", "libpq")),
        ("I set `max_connections` to 200.", ("max_connections", "configured_as", "200")),
        ("The cache timeout is set to 30 s.", ("cache timeout", "configured_as", "30 s")),
        ("The batch size is 500.", ("batch size", "configured_as", "500")),
        ("We upgraded Postgres from 14 to 16.", ("Postgres", "configured_as", "16")),
        ("md link is actually 666666", ("md link", "configured_as", "666666")),
        ("LOG_LEVEL defaults to info.", ("LOG_LEVEL", "configured_as", "info")),
        ("- `accent`: `#8abeb7` (teal)", ("accent", "configured_as", "#8abeb7")),
        ("We decided to drop Python 3.10.", ("user", "decision", "to drop Python 3.10")),
        ("I've decided against a second database.", ("user", "decision", "against a second database")),
        ("We adopted a puppy named Max.", ("user", "owns", "a puppy named Max")),
        ("I bought a metal detector last week.", ("user", "owns", "a metal detector")),
        ("Ines owns the deploy scripts.", ("Ines", "owns", "the deploy scripts")),
        ("schema.sql is the source of truth for the tables.", ("tables", "source_of_truth", "schema.sql")),
        ("The old importer was superseded by ingest-v2.", ("old importer", "retired_by", "ingest-v2")),
    ],
)  # fmt: skip
def test_each_predicate_is_read_from_its_plain_phrases(text: str, expected: tuple[str, str, str]) -> None:
    assert read(text) == [expected]


@pytest.mark.parametrize(
    "text",
    [
        "Do you think I live in Porto?",
        "Should we use Postgres",
        "If we used Redis, we would depend on it.",
        "I would love to work at Acme.",
        "I might have moved to Chicago.",
        "I don't use Trello.",
        "We never use Postgres.",
        "I no longer work at Acme.",
        "I used to live in Porto.",
        "I wish I had 12 plants.",
        "Imagine I live in Rome.",
        "He said I love opera.",
        "I heard Rachel moved to Berlin.",
        "I love it.",
        "I love how you did that.",
        "It depends on it.",
        "She loves opera.",
        'They wrote "I moved to Chicago and I love it" on the card.',
        "> I live in Porto.",
        "```\nI live in Porto.\n```",
        "        I live in Porto.",
        "I think the billing migration is done.",
        "should be 8abeb7",
        "All three use the same colour.",
        "I quit my job yesterday.",
        "My manager is Great at this.",
        "I decided to spend time with my pets.",
        "I won three games yesterday.",
        "I got a necklace for my sister.",
        "",
        "\x00\ud800",
    ],
)
def test_questions_conditions_denials_guesses_hearsay_quotations_and_code_give_nothing(text: str) -> None:
    assert read(text) == []


@pytest.mark.parametrize(
    ("text", "what", "date_ms", "condition"),
    [
        ("I'm going to renew the passport next month.", "renew the passport", day(2026, 4, 1), ""),
        ("Starting tomorrow, I will go to the gym.", "go to the gym", day(2026, 3, 5), ""),
        ("I plan to return on July 20.", "return", day(2026, 7, 20), ""),
        ("We're hosting a dinner on Friday.", "hosting a dinner", day(2026, 3, 6), ""),
        ("I've got a tournament next month.", "a tournament", day(2026, 4, 1), ""),
        ("Remind me to call the bank tomorrow.", "call the bank", day(2026, 3, 5), ""),
        ("I'll call the landlord next Tuesday about it.", "call the landlord about it", day(2026, 3, 10), ""),
        ("Once the tests pass, I'll tag the release.", "tag the release", None, "Once the tests pass"),
        ("I'll ship it when the tests pass.", "ship it when the tests pass", None, "when the tests pass"),
    ],
)  # fmt: skip
def test_an_intention_with_a_day_or_a_condition_is_a_plan(
    text: str, what: str, date_ms: int | None, condition: str
) -> None:
    found = the_one(text)
    assert (found.subject, found.predicate, found.object) == ("user", PLAN, what)
    assert found.trigger is not None
    assert (found.trigger.date_ms, found.trigger.condition) == (date_ms, condition)


@pytest.mark.parametrize(
    "text",
    [
        "I'll do it.",
        "I'm going to keep chasing my dreams.",
        "I'll let you know when I'm back.",
        "Will I renew the passport next month?",
        "I'm not going to renew the passport next month.",
        "I renewed the passport last month.",
        "I'm working on the report this week.",
        "I'll ask Alex.",
    ],
)
def test_an_intention_without_either_is_no_plan(text: str) -> None:
    assert read(text) == []


def test_the_lines_of_a_pasted_list_give_only_settings() -> None:
    notes = "- Tool boxes now use separate colours\n- The importer is fixed\n- `accent`: `#8abeb7`"
    assert read(notes) == [("accent", "configured_as", "#8abeb7")]
    assert read("- The importer is fixed\n- I live in Porto") == [
        ("importer", "status", "fixed"),
        ("user's home", "status", "Porto"),
    ]


def test_the_first_person_becomes_the_name_of_the_speaker() -> None:
    assert read("I love opera. My personal best is 25:50.", "Ada") == [
        ("Ada", "prefers", "opera"),
        ("Ada's personal best", "status", "25:50"),
    ]


def test_tool_output_gives_nothing() -> None:
    for role in (Role.TOOL_CALL, Role.TOOL_RESULT):
        assert read("I live in Porto. The build is failing.", role=role) == []


def test_an_assistant_counts_for_less_and_not_about_itself() -> None:
    text = "I love opera. I live in Porto. I'll do this tomorrow. The build is failing."
    (found,) = proposals(text, "", SAID_MS, Role.ASSISTANT)
    assert (found.subject, found.predicate, found.object) == ("build", "status", "failing")
    (by_user,) = (item for item in proposals(text, "", SAID_MS, Role.USER) if item.subject == "build")
    assert found.confidence == pytest.approx(by_user.confidence * SECOND_HAND, abs=0.01)


def test_a_note_counts_as_a_users_word() -> None:
    assert read("I live in Porto.", role=None) == read("I live in Porto.", role=Role.USER)


def test_a_day_in_the_clause_is_the_beginning_of_the_fact() -> None:
    assert the_one("I moved to Chicago yesterday.").valid_from_ms == day(2026, 3, 3)
    assert the_one("I moved to Chicago last month.").valid_from_ms == day(2026, 2, 1)
    assert the_one("I moved to Chicago.").valid_from_ms is None


def test_the_place_of_a_candidate_is_its_clause_in_the_original_text() -> None:
    text = "Hi!\n\n-  **Well**,   I  moved to  Chicago, finally."
    found = the_one(text)
    assert text[found.start : found.end] == "I  moved to  Chicago"


def test_a_repeated_statement_gives_one_candidate_and_their_number_is_bounded() -> None:
    assert len(proposals("I love opera. I love opera!", "", SAID_MS, Role.USER)) == 1
    many = " ".join(f"I love opera{number}." for number in range(3 * MOST))
    assert len(proposals(many, "", SAID_MS, Role.USER)) == MOST


def test_the_id_of_a_candidate_follows_from_its_content_and_place() -> None:
    found = the_one("I love opera.")
    assert key_of("session_raw:s/t", found) == key_of("session_raw:s/t", the_one("Well, I love opera!"))
    assert key_of("session_raw:s/t", found) != key_of("session_raw:s/u", found)
    assert key_of("session_raw:s/t", found) != key_of("session_raw:s/t", the_one("I love jazz."))


def test_days_resolve_to_the_nearest_one_in_the_requested_direction() -> None:
    assert day_ahead("on 2 March", SAID_MS) == day(2027, 3, 2)
    assert day_before("on 2 March", SAID_MS) == day(2026, 3, 2)
    assert day_ahead("on 29 February", day(2027, 12, 1)) == day(2028, 2, 29)
    assert day_ahead("tonight", SAID_MS) == day(2026, 3, 4)
    assert day_ahead("yesterday", SAID_MS) is None
    assert day_before("tomorrow", SAID_MS) is None
    assert day_ahead("tomorrow", -1) is None
