"""Which days a text is about."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.text.dates import LOOKED_AT_CHARS, MOST_KEYS, keys_asked_for, keys_of

pytestmark = pytest.mark.requirement("RANK-1")

WEDNESDAY_MS = int(datetime(2023, 5, 10, 15, tzinfo=UTC).timestamp() * 1000)
OWN_KEYS = {"2023-05-10", "2023-05", "05-10", "05"}
KEY = re.compile(r"(?:\d{4}-)?\d\d(?:-\d\d)?")

times = st.integers(-(2**63), 2**63) | st.integers(0, 253_402_300_799_999)
pieces = st.sampled_from(
    "2023-05-07 2023-13-40 31 29 0 May february ſept may, last next thiſ 5 days week months ago weekend in of a few"
    " 2024 昨天 5月7日 2023年 13月 어제 3월 yesterday \u00a0 monday frı １２月３１日 \n".split(" ")
)
worded = st.lists(pieces, max_size=12).map(" ".join)


def days(first: int, last: int, month: str = "2023-05") -> set[str]:
    return {f"{month}-{day:02}" for day in range(first, last + 1)}


SAID = [
    ("on 2023-04-07 we met", {"2023-04-07"}),
    ("2023/4/7", {"2023-04-07"}),
    ("2023.04.07", {"2023-04-07"}),
    ("at 2023-04-07T10:15:00Z", {"2023-04-07"}),
    ("7 April 2023", {"2023-04-07"}),
    ("the 7th of April, 2023", {"2023-04-07"}),
    ("April 7th, 2023", {"2023-04-07"}),
    ("Apr. 7 2023", {"2023-04-07"}),
    ("In APRIL 2023", {"2023-04"}),
    ("april of 2023", {"2023-04"}),
    ("yesterday", {"2023-05-09"}),
    ("last night", {"2023-05-09"}),
    ("The day before\nyesterday", {"2023-05-08"}),
    ("last Wednesday", {"2023-05-03"}),
    ("last tues", {"2023-05-09"}),
    ("past Friday", {"2023-05-05"}),
    ("three days ago", {"2023-05-07"}),
    ("40 days ago", {"2023-03-31"}),
    ("a couple of days ago", {"2023-05-08"}),
    ("a week ago", days(1, 6) | {"2023-04-30"}),
    ("last week", days(1, 7)),
    ("last weekend", days(6, 7)),
    ("last month", {"2023-04"}),
    ("a few months ago", {"2023-02"}),
    ("14 months ago", {"2022-03"}),
    ("2023年4月7日", {"2023-04-07"}),
    ("在2023-04-07见面", {"2023-04-07"}),
    ("我们2023年4月搬家", {"2023-04"}),
    ("２０２３年４月７日", {"2023-04-07"}),
    ("昨天下雨", {"2023-05-09"}),
    ("前天我去了北京", {"2023-05-08"}),
    ("昨日、公園で", {"2023-05-09"}),
    ("一昨日会った", {"2023-05-08"}),
    ("어제 만났어", {"2023-05-09"}),
    ("그저께 비가 왔다", {"2023-05-08"}),
    ("2023년 4월 7일에", {"2023-04-07"}),
]

YEARLESS = [
    ("on 7 April", {"04-07"}),
    ("Dec 25th", {"12-25"}),
    ("29 February", {"02-29"}),
    ("since March", {"03"}),
    ("in sept", {"09"}),
    ("4月7日", {"04-07"}),
    ("4월 7일", {"04-07"}),
]

AHEAD = [
    ("tomorrow", {"2023-05-11"}),
    ("next Wednesday", {"2023-05-17"}),
    ("next mon", {"2023-05-15"}),
    ("in two days", {"2023-05-12"}),
    ("in two weeks", days(21, 27)),
    ("next month", {"2023-06"}),
    ("明天", {"2023-05-11"}),
    ("明日", {"2023-05-11"}),
    ("내일", {"2023-05-11"}),
    ("on 2023-06-01", {"2023-06-01"}),
]

NO_DATES = [
    "",
    "You may go, and they march on.",
    "this may help, so may that",
    "2023-02-30, 2023-13-01, 2023/00/10",
    "31 April, 30 February, 0 June, May 32",
    "version 1.2.3 on port 8443, 12023-05-07",
    "13月40日",
    "a day or so, weeks of work, the last of it",
    "dismay 5, marches 7, last frı",
]


@pytest.mark.parametrize(("text", "keys"), SAID + YEARLESS)
def test_a_named_day_is_found_in_a_text_and_in_a_question(text: str, keys: set[str]) -> None:
    assert keys <= keys_of(text, WEDNESDAY_MS)
    assert keys_asked_for(text, WEDNESDAY_MS) == keys


@pytest.mark.parametrize(("text", "keys"), AHEAD)
def test_a_day_ahead_is_found_but_no_question_asks_for_it(text: str, keys: set[str]) -> None:
    assert keys <= keys_of(text, WEDNESDAY_MS)
    assert keys_asked_for(text, WEDNESDAY_MS) == set()


@pytest.mark.parametrize(
    "text", ["today", "tonight", "this morning", "今天", "今日", "오늘", "2023-05-10", "this month"]
)
def test_a_question_about_today_asks_for_no_day(text: str) -> None:
    assert keys_of(text, WEDNESDAY_MS) == OWN_KEYS
    assert keys_asked_for(text, WEDNESDAY_MS) == set()


def test_a_question_about_the_current_week_asks_for_its_past_days() -> None:
    assert keys_asked_for("what did I do this week?", WEDNESDAY_MS) == days(8, 9)


@pytest.mark.parametrize("text", NO_DATES)
def test_a_text_that_names_no_day_is_about_its_own_day_alone(text: str) -> None:
    assert keys_of(text, WEDNESDAY_MS) == OWN_KEYS
    assert keys_asked_for(text, WEDNESDAY_MS) == set()


def test_a_stored_text_is_found_by_the_month_of_a_day_and_without_its_year() -> None:
    assert keys_of("on 7 April 2022", WEDNESDAY_MS) == OWN_KEYS | {"2022-04-07", "2022-04", "04-07", "04"}
    assert keys_of("on 7 April", WEDNESDAY_MS) == OWN_KEYS | {"04-07", "04"}


def test_a_question_asks_for_the_narrowest_key_only() -> None:
    assert keys_asked_for("in April 2023, on 7 April 2023", WEDNESDAY_MS) == {"2023-04-07"}
    assert keys_asked_for("in March, or on 7 April", WEDNESDAY_MS) == {"03", "04-07"}


def test_the_same_words_mean_other_days_on_other_days() -> None:
    new_year_ms = int(datetime(2024, 1, 1, tzinfo=UTC).timestamp() * 1000)
    assert keys_asked_for("yesterday", new_year_ms) == {"2023-12-31"}
    assert keys_asked_for("last month", new_year_ms) == {"2023-12"}
    assert keys_asked_for("29 Feb 2024", WEDNESDAY_MS) == set()
    assert "2024-02-29" in keys_of("29 Feb 2024", WEDNESDAY_MS)


@pytest.mark.parametrize("ts_ms", [-1, -(10**30), 253_402_300_800_000, 10**17])
def test_a_time_beyond_the_calendar_has_no_days(ts_ms: int) -> None:
    assert keys_of("yesterday, 2023-05-07", ts_ms) == set()
    assert keys_asked_for("yesterday, 2023-05-07", ts_ms) == set()


def test_days_before_and_after_all_calendars_are_left_out() -> None:
    last_ms = 253_402_300_799_999 - 86_400_000
    assert "9999-12-31" in keys_of("tomorrow", last_ms)
    assert keys_of("in 900 days, in 999 months, next week", last_ms) >= keys_of("", last_ms)


def test_a_calendar_is_about_few_days() -> None:
    calendar = " ".join(
        f"{year}-{month}-{day}" for year in (2001, 2002) for month in range(1, 13) for day in range(1, 29)
    )
    assert len(keys_of(calendar, WEDNESDAY_MS)) <= MOST_KEYS + len(OWN_KEYS)
    assert 0 < len(keys_asked_for(calendar, WEDNESDAY_MS)) <= MOST_KEYS


def test_a_day_far_down_a_long_text_is_not_looked_for() -> None:
    assert "2022-04-07" in keys_of("x " * 1000 + "2022-04-07", WEDNESDAY_MS)
    assert keys_of("x " * (LOOKED_AT_CHARS // 2) + "2022-04-07", WEDNESDAY_MS) == OWN_KEYS


@pytest.mark.requirement("RANK-2")
@given(st.text(max_size=200) | worded, times)
def test_any_text_at_any_time_gives_few_keys_of_days_that_exist(text: str, ts_ms: int) -> None:
    keys, asked = keys_of(text, ts_ms), keys_asked_for(text, ts_ms)
    assert len(keys) <= MOST_KEYS + len(OWN_KEYS)
    assert asked <= keys or len(keys) >= MOST_KEYS
    for key in keys | asked:
        assert KEY.fullmatch(key)
        year, rest = key.split("-", 1) if len(key) > 5 else ("2000", key)
        month, _, day = rest.partition("-")
        date(int(year), int(month), int(day or 1))
    assert (keys, asked) == (keys_of(text, ts_ms), keys_asked_for(text, ts_ms))


@pytest.mark.requirement("RANK-2")
@given(worded, st.integers(10**11, 10**14))
def test_no_question_asks_for_a_future_day_or_for_overlapping_ones(text: str, now_ms: int) -> None:
    asked = keys_asked_for(text, now_ms)
    today = datetime.fromtimestamp(now_ms // 1000, UTC).date().isoformat()
    assert all(key < today[: len(key)] for key in asked if len(key) > 5)
    assert not any(other != key and _lies_in(other, key) for key in asked for other in asked)


def _lies_in(other: str, key: str) -> bool:
    """Whether a day or month is one of those that a key names; `02` is a month, and the end of many days."""
    is_of_sort = "-" in key or len(other) == len("2000-02")
    return other.startswith(f"{key}-") or (is_of_sort and other.endswith(f"-{key}"))


@pytest.mark.requirement("RANK-2")
@pytest.mark.parametrize(
    "piece", ["2023-", "May ", "1 ", "a few ", "in ", "last\n", "1月", "昨", "\u0301", "\ufdfa", "0", "\x00", "7 of "]
)
def test_a_hostile_megabyte_is_read_no_further_than_any_text(piece: str) -> None:
    text = piece * (1_000_000 // len(piece))
    assert len(keys_of(text, WEDNESDAY_MS)) <= MOST_KEYS + len(OWN_KEYS)
    assert len(keys_asked_for(text, WEDNESDAY_MS)) <= MOST_KEYS
