"""Finds the days that a text names: written dates, and words like "yesterday" as of the day they were said.

A day or a month has a key: `2023-05-07` or `2023-05`, and without its year `05-07` or `05`. Search finds a stored text
by all keys of its own day and of the days it names; a question asks for the narrowest keys of what it names. A plan, a
fact and an observation take one day of those a text names. Knows English, and the plainest words of Chinese, Japanese
and Korean.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from clew.text.letters import one_form

LOOKED_AT_CHARS = 16_384
"""How much of a longer text is read: dates in a log of megabytes say little about its subject."""

MOST_KEYS = 64
"""Of the days a text names; a calendar is about none of them."""

_DAY_MS = 86_400_000
_DAYS = 2_932_896
"""Days from 1970 to the end of the year 9999."""

_MONTHS = "january february march april may june july august september october november december".split()
_MONTH_NUMBER = {name[:3]: number for number, name in enumerate(_MONTHS, 1)}
_WEEKDAYS = {name: number for number, name in enumerate("mon tue wed thu fri sat sun".split())}
_NUMBERS = {name: number for number, name in enumerate("one two three four five six seven eight nine ten".split(), 1)}
_NUMBERS |= {"a": 1, "an": 1, "couple": 2, "few": 3}

_MONTH = (
    r"(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
_WEEKDAY = r"(?P<weekday>mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)"
_DAY = r"(?P<day>[0-3]?\d)(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>(?:19|20)\d\d)"
_COUNT = r"(?P<count>\d{1,3}|a couple of|a few|an?|one|two|three|four|five|six|seven|eight|nine|ten)"


def keys_of(text: str, ts_ms: int) -> set[str]:
    """The keys by which search finds a stored text: of the day it was said, and of the days it names."""
    said = day_of(ts_ms)
    if said is None:
        return set()
    named = {wider for key in _named(text, said) for wider in _widened(key)}
    return {*_widened(said.isoformat()), *sorted(named)[:MOST_KEYS]}


def keys_asked_for(text: str, now_ms: int) -> set[str]:
    """The keys of the past days that a question names, as of the moment it is asked.

    "What shall I cook tonight?" does not ask for what was said today.
    """
    now = day_of(now_ms)
    if now is None:
        return set()
    today = now.isoformat()
    past = (key for key in _named(text, now) if len(key) < len("2023-05") or key < today[: len(key)])
    named = set(sorted(past)[:MOST_KEYS])
    return named - {wider for key in named for wider in _widened(key) if wider != key}


def _named(text: str, said: date) -> Iterator[str]:
    head = one_form(text[:LOOKED_AT_CHARS])[:LOOKED_AT_CHARS]
    if _HINT.search(head) is None:
        return
    for pattern, resolve in _EXPRESSIONS:
        for found in pattern.finditer(head):
            yield from resolve(
                {name: value.lower() for name, value in found.groupdict().items() if value is not None}, said
            )


def _widened(key: str) -> Iterator[str]:
    """The key itself, its month, and both without the year."""
    year, _, rest = key.partition("-") if len(key) > len("05-07") else ("", "", key)
    month = rest[:2]
    yield from (key, rest, month)
    if year:
        yield f"{year}-{month}"


# --- what words mean, as of a day ------------------------------------------------------------------


def _date(parts: dict[str, str], _: date) -> Iterator[str]:
    """A date with or without its day and its year; nothing where there is no such day."""
    name = parts["month"]
    month = int(name) if name.isdigit() else _MONTH_NUMBER[name[:3]]
    year = int(parts["year"]) if "year" in parts else None
    day = int(parts.get("day", "1"))
    try:
        date(year or 2000, month, day)  # a leap year, for a date without one
    except ValueError:
        return
    yield "-".join([*([f"{year}"] if year else []), f"{month:02}", *([f"{day:02}"] if "day" in parts else [])])


def _near_day(parts: dict[str, str], said: date) -> Iterator[str]:
    yield from _days(said, [_NEAR_DAYS[" ".join(parts["word"].split())]])


def _weekday(parts: dict[str, str], said: date) -> Iterator[str]:
    """The last one before the day, or the next one after it."""
    wanted = _WEEKDAYS[parts["weekday"][:3]]
    back = (said.weekday() - wanted - 1) % 7 + 1
    yield from _days(said, [7 - back or 7] if parts["which"] == "next" else [-back])


def _week(parts: dict[str, str], said: date) -> Iterator[str]:
    """Monday to Sunday, or the two days of the weekend."""
    monday = 7 * _WHICH[parts["which"]] - said.weekday()
    yield from _days(said, range(monday + 5 if "end" in parts else monday, monday + 7))


def _month(parts: dict[str, str], said: date) -> Iterator[str]:
    yield from _months(said, _WHICH[parts["which"]])


def _ago(parts: dict[str, str], said: date) -> Iterator[str]:
    """So many days, weeks or months before or after; weeks are meant roughly."""
    words = parts["count"].split()
    count = int(words[0]) if words[0].isdigit() else _NUMBERS[words[1] if len(words) > 1 else words[0]]
    count = count if "ahead" in parts else -count
    match parts["unit"]:
        case "day":
            yield from _days(said, [count])
        case "week":
            yield from _days(said, range(7 * count - 3, 7 * count + 4))
        case _:
            yield from _months(said, count)


_WHICH = {"last": -1, "past": -1, "previous": -1, "this": 0, "next": 1, "coming": 1}
_NEAR_DAYS = {
    "day before yesterday": -2,
    "yesterday": -1,
    "last night": -1,
    "today": 0,
    "tonight": 0,
    "this morning": 0,
    "tomorrow": 1,
    **dict.fromkeys(("前天", "一昨日", "그저께"), -2),
    **dict.fromkeys(("昨天", "昨日", "어제"), -1),
    **dict.fromkeys(("今天", "今日", "오늘"), 0),
    **dict.fromkeys(("明天", "明日", "내일"), 1),
}
_NEAR_WORDS = "|".join(
    sorted((word.replace(" ", r"\s") for word in _NEAR_DAYS if word.isascii()), key=len, reverse=True)
)
_NEAR_SIGNS = "|".join(sorted((word for word in _NEAR_DAYS if not word.isascii()), key=len, reverse=True))

_HINT = re.compile(
    r"\d|[今明昨]|前天|어제|오늘|내일|그저께|\b(?:last|next|this|past|previous|coming|yesterday|today|tonight|tomorrow"
    rf"|days?|weeks?|months?|{_MONTH})\b",
    re.IGNORECASE | re.ASCII,
)
"""What no text that names a day can do without."""

_EXPRESSIONS: tuple[tuple[re.Pattern[str], Callable[[dict[str, str], date], Iterator[str]]], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE | re.ASCII), resolve)  # so that no letter passes for another: `ſ` for `s`
    for pattern, resolve in (
        (rf"\b{_YEAR}[-/.](?P<month>[01]?\d)[-/.](?P<day>[0-3]?\d)(?!\d)", _date),
        (rf"{_YEAR}\s?[年년]\s?(?P<month>[01]?\d)\s?[月월](?:\s?(?P<day>[0-3]?\d)\s?[日号號일])?", _date),
        (r"(?<![\d年년])(?<![年년]\s)(?P<month>[01]?\d)\s?[月월]\s?(?P<day>[0-3]?\d)\s?[日号號일]", _date),
        (rf"\b{_DAY}(?:\sof)?\s{_MONTH}\b(?:,?\s{_YEAR}\b)?", _date),
        (rf"\b{_MONTH}\.?\s{_DAY}\b(?:,?\s{_YEAR}\b)?", _date),
        (rf"\b{_MONTH}\.?,?(?:\sof)?\s{_YEAR}\b", _date),
        (rf"\b(?:in|since|during|by|until|of|early|late|mid|last|this(?!\smay))[\s-]{_MONTH}\b(?!\s?\d|,?\s\d)", _date),
        (rf"\b(?P<word>{_NEAR_WORDS})\b", _near_day),
        (rf"(?P<word>{_NEAR_SIGNS})", _near_day),
        (rf"\b(?P<which>last|past|next)\s{_WEEKDAY}(?:day)?\b", _weekday),
        (r"\b(?P<which>last|past|previous|this|next|coming)\sweek(?P<end>end)?\b", _week),
        (r"\b(?P<which>last|past|previous|this|next|coming)\smonth\b", _month),
        (rf"\b{_COUNT}\s(?P<unit>day|week|month)s?\sago\b", _ago),
        (rf"\bin\s{_COUNT}\s(?P<unit>day|week|month)s?(?P<ahead>)\b", _ago),
    )
)


# --- one day of those a text names -----------------------------------------------------------------

_BARE_WEEKDAY = re.compile(
    r"\b(?:on|by|this|this coming|come|until|till)\s(?=(?:mon|tues|wednes|thurs|fri|satur|sun)day\b)", re.IGNORECASE
)
_TODAY = re.compile(r"\b(?:today|tonight|this (?:morning|afternoon|evening))\b", re.IGNORECASE)
_DATE, _DAY_OF_MONTH, _MONTH_OF_YEAR, _BARE_MONTH = map(len, ("2023-05-07", "05-07", "2023-05", "05"))
"""The lengths of keys, the narrowest first."""

_LONGEST_IN_DAYS, _LONGEST_IN_WEEKS, _LONGEST_IN_MONTHS = 13, 59, 700
"""Distances in days, and the unit that tells them."""


@dataclass(frozen=True, slots=True)
class Referenced:
    """A day (`2023-05-20`) or a month (`2023-05`), and its distance from the day on which somebody spoke of it.

    The distance never counts from now, so that a line reads the same whenever it is shown.
    """

    when: str
    relative: str


def day_ahead(text: str, ts_ms: int) -> int | None:
    """The beginning of the next day that a text names, today included; None where it names none to come."""
    return _nearest(_BARE_WEEKDAY.sub("next ", text), ts_ms, towards=1)


def day_before(text: str, ts_ms: int) -> int | None:
    """The beginning of the past day or month that a text names, today included; None where it names none."""
    return _nearest(text, ts_ms, towards=-1)


def referenced(text: str, ts_ms: int) -> Referenced | None:
    """The time that a text names other than the day it was said: the next to come, else the last that was.

    Of a span of days its first counts. A date without its year is the nearest one.
    """
    said = day_of(ts_ms)
    if said is None:
        return None
    keys = _keys_named(text, ts_ms)
    dated = {key for key in keys if len(key) == _DATE}
    bare = {key for key in keys if len(key) == _DAY_OF_MONTH} - {key[-_DAY_OF_MONTH:] for key in dated}
    day = _next_or_last(_all_nearest(dated | bare, said) - {said}, said)
    if day is not None:
        return Referenced(day.isoformat(), _distance((day - said).days))
    months = {key for key in keys if len(key) == _MONTH_OF_YEAR} or {key for key in keys if len(key) == _BARE_MONTH}
    month = _next_or_last(_all_nearest(months, said) - {said.replace(day=1)}, said)
    if month is None:
        return None
    count = (month.year - said.year) * 12 + month.month - said.month
    return Referenced(month.isoformat()[:_MONTH_OF_YEAR], _phrase(count, "month"))


def _nearest(text: str, ts_ms: int, *, towards: int) -> int | None:
    """The narrowest keys count. Of a week or a month, the first day does."""
    said = day_of(ts_ms)
    if said is None or _TODAY.search(text):
        return None if said is None else start_of(said)
    keys = _keys_named(text, ts_ms)
    for length in (_DATE, _DAY_OF_MONTH, _MONTH_OF_YEAR, _BARE_MONTH):
        found = [_first_towards(key, said, towards) for key in keys if len(key) == length]
        if found:
            return min((start_of(day) for day in found if day is not None), default=None)
    return None


def _keys_named(text: str, ts_ms: int) -> set[str]:
    return keys_of(text, ts_ms) - keys_of("", ts_ms)


def _first_towards(key: str, said: date, towards: int) -> date | None:
    days = _days_meant(key, (said.year, said.year + towards))
    return next((day for day in days if (day - said).days * towards >= 0), None)


def _all_nearest(keys: Collection[str], said: date) -> set[date]:
    years = (said.year - 1, said.year, said.year + 1)
    found = (min(_days_meant(key, years), key=lambda day: (abs(day - said), day), default=None) for key in keys)
    return {day for day in found if day is not None}


def _days_meant(key: str, years: Iterable[int]) -> Iterator[date]:
    """The first day of what a key names; of one without a year, in each of the given years that has that day."""
    day = key if len(key) in (_DATE, _DAY_OF_MONTH) else f"{key}-01"
    for name in [day] if len(day) == _DATE else [f"{year:04}-{day}" for year in years]:
        with suppress(ValueError):  # a 29th of February in a year without one, or a year beyond the calendar
            yield date.fromisoformat(name)


def _next_or_last(days: Collection[date], said: date) -> date | None:
    return min((day for day in days if day > said), default=None) or max(days, default=None)


def _distance(days: int) -> str:
    for longest, length, unit in (
        (_LONGEST_IN_DAYS, 1, "day"),
        (_LONGEST_IN_WEEKS, 7, "week"),
        (_LONGEST_IN_MONTHS, 30.4, "month"),
    ):
        if abs(days) <= longest:
            return _phrase(round(days / length), unit)
    return _phrase(round(days / 365.25), "year")


def _phrase(count: int, unit: str) -> str:
    """`in 12 days`, `3 weeks before`."""
    amount = f"{abs(count)} {unit}{'' if abs(count) == 1 else 's'}"
    return f"in {amount}" if count > 0 else f"{amount} before"


# --- the calendar ------------------------------------------------------------------------------------


def day_of(ts_ms: int) -> date | None:
    """The day of a moment, in UTC; None outside the years from 1970 to 9999."""
    day = ts_ms // _DAY_MS
    return datetime.fromtimestamp(day * 86_400, UTC).date() if 0 <= day < _DAYS else None


def start_of(day: date) -> int:
    """The first moment of a day, in UTC."""
    return (day - date(1970, 1, 1)).days * _DAY_MS


def clamped_day(ts_ms: int) -> str:
    """The day of a moment, in UTC; outside the calendar, the nearest day of it."""
    return datetime.fromtimestamp(min(max(ts_ms // _DAY_MS, 0), _DAYS) * 86_400, UTC).date().isoformat()


def _days(said: date, offsets: Iterable[int]) -> Iterator[str]:
    for offset in offsets:
        try:
            yield (said + timedelta(days=offset)).isoformat()
        except OverflowError:
            return


def _months(said: date, offset: int) -> Iterator[str]:
    year, month = divmod(said.year * 12 + said.month - 1 + offset, 12)
    if 1 <= year <= 9999:
        yield f"{year:04}-{month + 1:02}"
