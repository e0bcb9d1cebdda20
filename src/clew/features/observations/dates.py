"""The time that a line of the observation log speaks of, beside the day on which it was said.

How far that is from there is said in words once and for all: counted from the day of the turn and never from now, so
that a line reads the same whenever it is shown.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime

from clew.text import dates

_LAST_SECOND = 253_402_300_799
_DATE, _MONTH, _DAY_OF_MONTH, _BARE_MONTH = map(len, ("2023-05-07", "2023-05", "05-07", "05"))
_MOST_DAYS, _MOST_WEEKS_DAYS, _MOST_MONTHS_DAYS = 13, 59, 700
_DAYS_OF_WEEK, _DAYS_OF_MONTH, _DAYS_OF_YEAR = 7, 30.4, 365.25


@dataclass(frozen=True, slots=True)
class Referenced:
    """A day (`2023-05-20`) or a month (`2023-05`), and how far it is from the day it was spoken of."""

    when: str
    relative: str


def observed_day(ts_ms: int) -> str:
    """The day of a moment, in UTC; a clock that no calendar knows is shown as its nearest end."""
    return f"{datetime.fromtimestamp(min(max(ts_ms // 1000, 0), _LAST_SECOND), UTC):%Y-%m-%d}"


def referenced(text: str, ts_ms: int) -> Referenced | None:
    """The time a text names other than the day it was said: the next that is to come, else the last that was.

    Of a span of days its first counts. A date without its year is the nearest one.
    """
    said = date.fromisoformat(observed_day(ts_ms))
    keys = dates.keys_of(text, ts_ms) - dates.keys_of("", ts_ms)
    dated = {key[-_DAY_OF_MONTH:] for key in keys if len(key) == _DATE}
    bare = {key for key in keys if len(key) == _DAY_OF_MONTH} - dated
    days = {date.fromisoformat(key) for key in keys if len(key) == _DATE}
    days |= {day for key in bare for day in _nearest(key, said)}
    chosen = _chosen(days - {said}, said)
    if chosen is not None:
        return Referenced(chosen.isoformat(), _distance_in_days((chosen - said).days))
    months = {date.fromisoformat(f"{key}-01") for key in keys if len(key) == _MONTH}
    months = months or {day for key in keys if len(key) == _BARE_MONTH for day in _nearest(f"{key}-01", said)}
    month = _chosen(months - {said.replace(day=1)}, said)
    if month is None:
        return None
    count = (month.year - said.year) * 12 + month.month - said.month
    return Referenced(month.isoformat()[:_MONTH], _phrase(count, "month"))


def _nearest(month_and_day: str, said: date) -> Iterable[date]:
    """That day in the year in which it is nearest; none where there is no such day."""
    found = []
    for year in (said.year - 1, said.year, said.year + 1):
        try:
            found.append(date.fromisoformat(f"{year:04}-{month_and_day}"))
        except ValueError:  # a 29th of February in a year without one, or a year that no calendar has
            continue
    return sorted(found, key=lambda day: (abs((day - said).days), day))[:1]


def _chosen(days: Iterable[date], said: date) -> date | None:
    ahead = [day for day in days if day > said]
    return min(ahead) if ahead else max(days, default=None)


def _distance_in_days(days: int) -> str:
    size = abs(days)
    if size <= _MOST_DAYS:
        return _phrase(days, "day")
    for most, length, unit in ((_MOST_WEEKS_DAYS, _DAYS_OF_WEEK, "week"), (_MOST_MONTHS_DAYS, _DAYS_OF_MONTH, "month")):
        if size <= most:
            return _phrase(round(days / length), unit)
    return _phrase(round(days / _DAYS_OF_YEAR), "year")


def _phrase(count: int, unit: str) -> str:
    """`in 12 days`, `3 weeks before`."""
    amount = f"{abs(count)} {unit}{'' if abs(count) == 1 else 's'}"
    return f"in {amount}" if count > 0 else f"{amount} before"
