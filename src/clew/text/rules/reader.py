"""Reads the signs of one sentence in a language that parts its words by spaces."""

from __future__ import annotations

from collections.abc import Iterator

from clew.text.deontic.scan import Sentence
from clew.text.rules.signs import STOPS, Language, Sign

_MAX_WORDS = 80
_LONGEST_KIND = 4
_LONGEST_TOPIC = 6

_VERBS = frozenset({Sign.ORDER, Sign.TASK, Sign.BAN, Sign.TOLD})
_OF_THINGS = frozenset({Sign.BAN, Sign.ORDER, Sign.WISH})
"""Signs that are a mere task where they are about one thing."""

_LASTING = frozenset({Sign.LASTING, Sign.OCCASION, Sign.ALWAYS})
"""With these, a task is more than that: `on Mondays, send the list`."""

_AT_ALL_TIMES = frozenset({Sign.LASTING, Sign.ALWAYS})
"""With these, nothing holds only once: `always use this format`."""

_WISHES = frozenset({Sign.BAN, Sign.TOLD, Sign.WISH, Sign.TASK})
"""What the speaker wants is more than talk of the speaker."""

_REQUESTED = frozenset({Sign.BAN, Sign.TOLD, Sign.LASTING})
_OF_MAIN_CLAUSE = frozenset({Sign.PAST, Sign.ONCE})
"""Signs that speak against a rule in its first clause only; behind it, people give reasons."""

_OF_SUBJECT = frozenset({Sign.SELF, Sign.KIND, Sign.TALK, Sign.TASK})
"""Signs that count where they open the sentence."""


def signs_of(sentence: Sentence, language: Language) -> set[Sign]:
    return _Reader(sentence, language).signs()


class _Reader:
    def __init__(self, sentence: Sentence, language: Language) -> None:
        self._asks = sentence.asks
        self._language = language
        self._words = list(_split(sentence))[:_MAX_WORDS]

    def signs(self) -> set[Sign]:
        starts = self._clause_starts()
        has_topic = self._names_topic(starts[0])
        main = starts[1] if has_topic and len(starts) > 1 else starts[0]
        found = self._anywhere(self._end_of_clause(main)) | self._opening(starts[0])
        for start in starts[1:]:
            found |= self._opening(start) - _OF_SUBJECT
        if self._is("answers", 0) and self._word(1) == ",":
            found.add(Sign.TALK)
        if has_topic:
            found.add(Sign.OCCASION)
        if not found.isdisjoint(_LASTING):
            found |= {sign for start in starts for sign in self._tasks(start)}
            found.discard(Sign.TASK)
        if not found.isdisjoint(_AT_ALL_TIMES):
            found.discard(Sign.ONCE)
        if self._asks and (found.isdisjoint(_REQUESTED) or not self._is_request(starts[0])):
            found.add(Sign.ASKS)
        return found

    def _anywhere(self, main_end: int) -> set[Sign]:
        """Inside a longer phrase a word means nothing of its own: `this` in `in this house`, `must` in `must have`."""
        language, found, done = self._language, set[Sign](), 0
        for place in range(len(self._words)):
            ends = dict(language.signs_at(language.anywhere, self._words, place))
            longest = max(ends.values(), default=0)
            if longest > done:
                signs = {sign for sign, end in ends.items() if end == longest}
                found |= signs if place < main_end else signs - _OF_MAIN_CLAUSE
                done = longest
        return found

    def _word(self, place: int) -> str:
        return self._words[place] if place < len(self._words) else ""

    def _is(self, name: str, place: int) -> bool:
        """Whether the word at a place is of a class."""
        return self._language.has(name, self._word(place))

    # --- clauses ---------------------------------------------------------------------------------------

    def _clause_starts(self) -> list[int]:
        """Where clauses begin, behind what people say before they come to the point.

        Behind `and`, an order only follows an order: `how to start and use it` holds none. Behind an occasion, there is
        often no comma: `in tests I want`.
        """
        starts: list[int] = []
        place = 0
        while place < len(self._words):
            is_linked = self._is("links", place - 1)
            place = self._skip_lead_ins(place)
            if not (starts and is_linked) or not self._opening(starts[0]).isdisjoint(_VERBS | {Sign.OCCASION}):
                starts.append(place)
            if occasion := self._end_of_occasion(place):
                place = occasion
                continue
            while place < len(self._words) and self._word(place) not in STOPS and not self._is("joints", place):
                place += 1
            place += 1
        return starts

    def _skip_lead_ins(self, place: int) -> int:
        said, language = self._words, self._language
        while place < len(said) - 1:
            known = (language.end_of(language.classes[name], said, place) for name in ("lead-ins", "requests"))
            end = place + 1 if said[place] in STOPS else max(known)
            if not end or end >= len(said):
                return place
            place = end
        return place

    def _end_of_clause(self, start: int) -> int:
        said = self._words
        return next((place for place in range(start, len(said)) if said[place] in STOPS), len(said))

    # --- what opens a clause ---------------------------------------------------------------------------

    def _opening(self, start: int) -> set[Sign]:
        said, language, found = self._words, self._language, set[Sign]()
        for sign, end in language.signs_at(language.opening, said, start):
            found.add(Sign.TASK if sign in _OF_THINGS and self._is("one thing", end) else sign)
            if sign is Sign.WISH and self._end_of_kind(end):
                found.add(Sign.KIND)
        if not found.isdisjoint(_WISHES):
            found.discard(Sign.SELF)
        if Sign.TOLD in found:
            found.discard(Sign.WISH)
        if Sign.BAN in found:
            found.discard(Sign.TASK)
        if Sign.ORDER in found and any(self._is("negations", at) for at in range(start, self._end_of_clause(start))):
            found.add(Sign.BAN)
        if found.isdisjoint(_VERBS) and (kind := self._end_of_kind(start)):
            found |= {Sign.KIND, Sign.GOES} if self._is("occasions", kind) else {Sign.KIND}
        if self._end_of_occasion(start):
            found.add(Sign.OCCASION)
        return found

    def _tasks(self, start: int) -> Iterator[Sign]:
        """What orders, forbids or wishes for something, where it is for one thing only."""
        for sign, end in self._language.signs_at(self._language.opening, self._words, start):
            if sign is Sign.TASK:
                yield Sign.ORDER
            elif sign in _OF_THINGS and self._is("one thing", end):
                yield sign

    def _is_request(self, start: int) -> bool:
        """Whether a question asks for a deed: `could you stop`."""
        language = self._language
        return any(language.end_of(language.classes["requests"], self._words, place) for place in range(start))

    def _end_of_occasion(self, start: int) -> int:
        """Where an occasion like `in letters` ends; 0 where there is none."""
        return self._end_of_kind(start + 1) if self._is("occasions", start) else 0

    def _end_of_kind(self, start: int) -> int:
        """Where a plural without an article ends that opens the clause; 0 where there is none."""
        start += self._is("kind articles", start)
        for place in range(start, min(start + _LONGEST_KIND, len(self._words))):
            if not self._language.means(self._words[place]):
                return 0
            if self._language.is_plural(self._words[place]):
                return place + 1
        return 0

    def _names_topic(self, start: int) -> bool:
        """`Flights: aisle seat`: a few words without a verb of their own, and a colon."""
        end = self._end_of_clause(start)
        if not 0 < end - start < _LONGEST_TOPIC or self._word(end) != ":" or end + 1 == len(self._words):
            return False
        return self._language.means(self._words[start]) and self._opening(start).isdisjoint(_VERBS)


_ELIDED = frozenset({"n", "d", "l", "j", "qu", "s", "m", "t", "c", "jusqu", "lorsqu"})


def _split(sentence: Sentence) -> Iterator[str]:
    """The words, with French elisions parted: `n'utilise` is two."""
    for word in sentence.words:
        head, mark, tail = word.text.partition("'")
        if mark and head in _ELIDED and tail:
            yield from (head + mark, tail)
        else:
            yield word.text
