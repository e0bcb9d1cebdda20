"""The open plans of an owner by their days, in memory, so that nobody reads all plans to find those that are due.

Clew reads the plans of an owner once and then follows the feed of their collection: what is new, what is gone, and what
somebody closed, opened again or quarantined, in this process or in another.
"""

from __future__ import annotations

import threading
from bisect import bisect_left, bisect_right, insort
from collections import OrderedDict
from collections.abc import Sequence
from datetime import date

from clew.core.collections import Collection
from clew.core.model import Trust
from clew.features.plans.operations import PlanState
from clew.features.plans.rules import Plan, plan_in
from clew.kernel.parts import Parts
from clew.storage.protocol import Feed

MAX_CALENDARS = 64
"""Owners whose plans stay in memory; to make a calendar, Clew reads all plans of its owner."""

_RECORDS_A_READ = 500
_FEW = 8
"""Up to so many new days find their places one by one; with more, Clew sorts all of them."""

_Day = tuple[date, str, int]
"""The day of a plan, its reference and its place in the collection."""


def plans_between(parts: Parts, user_id: str | None, after: date, until: date) -> list[Plan]:
    """The open plans for the days behind one and up to another, earliest first, without quarantined ones."""
    return parts.state(Calendars).of(user_id).between(after, until)


class Calendars:
    """A calendar of each owner whose plans a request used lately. Safe to use from several threads."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._lock = threading.Lock()
        self._calendars: OrderedDict[str, _Calendar] = OrderedDict()

    def of(self, user_id: str | None) -> _Calendar:
        """As it is now."""
        collection = Collection.plans(user_id)
        with self._lock:
            calendar = self._calendars.setdefault(collection, _Calendar(collection))
            self._calendars.move_to_end(collection)
            if len(self._calendars) > MAX_CALENDARS:
                self._calendars.popitem(last=False)
        calendar.follow(self._parts)
        return calendar


class _Calendar:
    def __init__(self, collection: str) -> None:
        self._collection = collection
        self._lock = threading.Lock()
        self._until = 0
        self._plans: dict[int, Plan] = {}
        self._days: list[_Day] = []

    def between(self, after: date, until: date) -> list[Plan]:
        with self._lock:
            low = bisect_right(self._days, after, key=lambda entry: entry[0])
            high = bisect_right(self._days, until, key=lambda entry: entry[0])
            return [self._plans[seq] for _, _, seq in self._days[low:high]]

    def follow(self, parts: Parts) -> None:
        with self._lock:
            feed = parts.store.feed(self._collection, self._until)
            if feed.until != self._until or feed.reset:
                self._take_in(parts, feed)
            self._until = feed.until

    def _take_in(self, parts: Parts, feed: Feed) -> None:
        if feed.reset:
            self._plans, self._days = {}, []
        for seq in (*feed.removed, *feed.marked):
            self._drop(seq)
        seqs = [*(row.seq for row in feed.added), *dict.fromkeys(feed.marked)]
        for start in range(0, len(seqs), _RECORDS_A_READ):
            self._read(parts, seqs[start : start + _RECORDS_A_READ])

    def _read(self, parts: Parts, seqs: Sequence[int]) -> None:
        fresh: list[_Day] = []
        for record in parts.store.at(self._collection, seqs):
            plan = plan_in(record)
            is_open = plan is not None and plan.state is PlanState.OPEN and record.trust is not Trust.QUARANTINED
            if plan is not None and plan.day is not None and is_open:
                self._drop(record.seq)
                self._plans[record.seq] = plan
                fresh.append((plan.day, plan.ref, record.seq))
        if len(fresh) <= _FEW:
            for entry in fresh:
                insort(self._days, entry)
        else:
            self._days = sorted([*self._days, *fresh])

    def _drop(self, seq: int) -> None:
        plan = self._plans.pop(seq, None)
        if plan is not None and plan.day is not None:
            del self._days[bisect_left(self._days, (plan.day, plan.ref, seq))]
