"""Which one day a clause means: the next one it names that is still to come, or the one from which something holds.

Builds on the keys of `clew.text.dates`, of which a text may have many; here the narrowest counts, and of a week or a
month the first day. A date without its year is the nearest in the direction asked for.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, date, datetime

from clew.text import dates

_DAY_MS = 86_400_000
_LAST_DAY = 2_932_896
"""Of the year 9999, in days since 1970."""

_BARE_WEEKDAY = re.compile(
    r"\b(?:on|by|this|this coming|come|until|till)\s(?=(?:mon|tues|wednes|thurs|fri|satur|sun)day\b)", re.IGNORECASE
)
_TODAY = re.compile(r"\b(?:today|tonight|this (?:morning|afternoon|evening))\b", re.IGNORECASE)
_DATE = "2023-05-07"
_MONTH = "2023-05"
_DAY_OF_MONTH = "05-07"
_BARE_MONTH = "05"


def day_ahead(text: str, ts_ms: int) -> int | None:
    """The beginning of the next day that a text names, today included; None where it names none to come."""
    said = day_of(ts_ms)
    if said is None:
        return None
    if _TODAY.search(text):
        return start_of(said)
    keys = _keys(_BARE_WEEKDAY.sub("next ", text), ts_ms)
    ahead = [day for day in _days(keys, said, towards=1) if day >= said]
    return start_of(min(ahead)) if ahead else None


def day_before(text: str, ts_ms: int) -> int | None:
    """The beginning of the last past day, or of the month, that a text names; None where it names none."""
    said = day_of(ts_ms)
    if said is None:
        return None
    if _TODAY.search(text):
        return start_of(said)
    past = [day for day in _days(_keys(text, ts_ms), said, towards=-1) if day <= said]
    return start_of(min(past)) if past else None


def day_of(ts_ms: int) -> date | None:
    """The day of a moment, in UTC; None outside the years that can be named."""
    day = ts_ms // _DAY_MS
    return datetime.fromtimestamp(day * 86_400, UTC).date() if 0 <= day < _LAST_DAY else None


def start_of(day: date) -> int:
    """The first moment of a day, in UTC."""
    return (day - date(1970, 1, 1)).days * _DAY_MS


def _keys(text: str, ts_ms: int) -> set[str]:
    """The keys of the days it names, without those of the day it was said."""
    return dates.keys_of(text, ts_ms) - dates.keys_of("", ts_ms)


def _days(keys: set[str], said: date, *, towards: int) -> Iterator[date]:
    """The first days of what the narrowest keys name: whole dates, or else days of a month, or else months."""
    for length in map(len, (_DATE, _DAY_OF_MONTH, _MONTH, _BARE_MONTH)):
        found = [day for key in sorted(keys) if len(key) == length for day in _read(key, said, towards)]
        if found:
            yield from found
            return


def _read(key: str, said: date, towards: int) -> Iterator[date]:
    if len(key) in (len(_DATE), len(_MONTH)):
        yield date.fromisoformat(key if len(key) == len(_DATE) else f"{key}-01")
        return
    month, day = (key + "-01")[:5].split("-")
    for year in (said.year, said.year + towards):
        try:
            read = date(year, int(month), int(day))
        except ValueError:  # a 29th of February in a year without one
            continue
        if (read - said).days * towards >= 0:
            yield read
            return
