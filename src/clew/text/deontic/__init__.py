"""Finds rules in prose: what the reader must do, must not do, and may do.

The lexer reads sentence by sentence, from left to right, and needs no model. It looks for a cue that
speaks to the reader: an order that opens a clause ("Never push to main"), a modal after `you`, or a
modal after something the reader makes ("Code must be formatted"). Questions, reported speech,
quotations and code hold no rules, and neither does what is said of others ("The server must have
crashed"). All offsets are in characters.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum

from clew.text.deontic import words as known
from clew.text.deontic.scan import OPAQUE, Sentence, Word, sentences
from clew.text.deontic.words import Modality, Phrases

__all__ = ["Modality", "Norm", "Reading", "read"]


@dataclass(frozen=True, slots=True)
class Norm:
    """One rule. `start` and `end` are the character offsets of its cue."""

    modality: Modality
    start: int
    end: int
    action: str
    """The first words of what is ruled, without articles and the like."""
    explicit: bool = True
    """False for most bare imperatives, which in conversation may ask for one thing to be done once."""
    conditional: bool = False
    """Whether it has a condition, so that it may not hold always."""


@dataclass(frozen=True, slots=True)
class Reading:
    norms: tuple[Norm, ...]
    conflicts: tuple[str, ...]
    """Actions that the text both demands and forbids."""

    @property
    def binding(self) -> bool:
        return bool(self.norms) and not self.conflicts

    @property
    def standing(self) -> bool:
        """Binding by more than bare imperatives: guidance that is meant to last."""
        return self.binding and any(norm.explicit for norm in self.norms)


def read(text: str) -> Reading:
    """Every rule of a text, in order, and the actions that it both demands and forbids."""
    norms = tuple(norm for sentence in sentences(text) for norm in _norms(sentence))
    return Reading(norms, _conflicts(norms))


def _conflicts(norms: Sequence[Norm]) -> tuple[str, ...]:
    firm = [norm for norm in norms if not norm.conditional and norm.action]
    obliged = dict.fromkeys(norm.action for norm in firm if norm.modality is Modality.OBLIGATION)
    forbidden = {norm.action for norm in firm if norm.modality is Modality.PROHIBITION}
    return tuple(action for action in obliged if action in forbidden)


def _norms(sentence: Sentence) -> Iterator[Norm]:
    if not sentence.asks:
        yield from _SentenceReader(sentence.words).norms()


def _match(phrases: Phrases, words: Sequence[Word], place: int) -> tuple[int, Modality] | None:
    """How many words from `place` on are the longest known phrase, and what it means."""
    for phrase, modality in phrases.get(words[place].text, ()):
        if all(place + k < len(words) and words[place + k].text == part for k, part in enumerate(phrase)):
            return len(phrase), modality
    return None


def _may_follow(cue: str, length: int, after: str) -> bool:
    """Whether a cue that opens a clause is an order with this word after it."""
    if cue == "stop":
        return after.endswith("ing")
    if cue in known.TALKATIVE_CUES and length <= 2:
        return after not in _STOPS and _may_be_order(after)
    return after not in (",", ")")


def _may_be_order(verb: str) -> bool:
    """Whether a word can be a verb's base form that follows `never` and the like."""
    inflected = verb.endswith(("ed", "ing")) or (verb.endswith("s") and not verb.endswith("ss"))
    return verb not in known.NO_ORDER_AFTER and (not inflected or verb in known.VERBS)


def _is_flat_ban(cue: tuple[str, ...], modality: Modality, after: str) -> bool:
    """`Must never` forbids whoever it is said of; `must not be` may only suppose."""
    flat = "never" in cue or (cue[0] in ("must", "shall") and after not in _SUPPOSED)
    return modality is Modality.PROHIBITION and flat


_SUPPOSED = frozenset("be know like care mind want feel think understand".split())
_MAX_ACTION_WORDS = 12
_MAX_UNSPACED_ACTION = 24
_MAX_SUBJECT_WORDS = 10
_FILLERS = frozenset("a an the to ever always please any that you also only very".split())
_STOPS = frozenset(",:()")
_FIRST_UNSPACED = "\u3040"
_UNSPACED_CUE = re.compile("|".join((*known.UNSPACED_CUES, *known.UNSPACED_START_CUES)))
_UNSPACED_DECOY = re.compile("|".join(known.UNSPACED_DECOYS))
_FIRST_WORDS = frozenset().union(
    known.WISH_CUES, known.START_CUES, known.FOREIGN_CUES, known.MODAL_CUES, known.BAN_CUES
)

_Found = tuple[Norm, int]
"""A rule, and the place after its cue."""


class _Start(IntEnum):
    """What may begin at a place in a sentence."""

    NOTHING = 0
    STRICT = 1
    """A rule with a cue: after `and`, a comma, or an opening bracket."""
    ANY = 2
    """A bare imperative, too: where a clause starts."""


class _SentenceReader:
    """Walks once through a sentence, knowing where a clause starts and who its subject is."""

    def __init__(self, words: Sequence[Word]) -> None:
        self._words = words
        self._last_limit = max((k for k, word in enumerate(words) if word.text in known.LIMITS), default=-1)
        self._start = _Start.ANY
        self._after_opener = False
        self._conditional = False
        self._reported = False
        self._addressed = False
        self._lasting = False
        self._subject: list[str] = []
        self._verb_seen = False

    def norms(self) -> Iterator[Norm]:
        place = 0
        while place < len(self._words):
            norm, place = self._step(place)
            if norm is not None and not self._reported:
                yield norm

    def _step(self, place: int) -> tuple[Norm | None, int]:
        word = self._words[place].text
        if word in _STOPS:
            self._take_mark(word, place)
            return None, place + 1
        if self._start is _Start.ANY and (lasting := _match(known.LASTING, self._words, place)):
            self._lasting = True
            return None, place + lasting[0]
        found = self._find(word, place)
        if found is not None:
            self._begin_clause(_Start.NOTHING)
            return found
        self._take_word(word, place)
        return None, place + 1

    def _find(self, word: str, place: int) -> _Found | None:
        """The rule whose cue starts here. Most words start none, and one look at a table tells."""
        found: _Found | None = None
        if word in _FIRST_WORDS:
            found = self._wish(place) or self._start_cue(place) or self._modal(place) or self._verdict(place)
        if found is None and self._start is _Start.ANY:
            found = self._bare_order(place)
        return found or (self._unspaced(place) if word[0] >= _FIRST_UNSPACED and word != OPAQUE else None)

    # --- the forms of a rule ---

    def _wish(self, place: int) -> _Found | None:
        found = _match(known.WISH_CUES, self._words, place)
        if found is None or self._word(place + found[0]) in known.WISHES_OF_NO_WEIGHT:
            return None
        return self._norm(place, found)

    def _start_cue(self, place: int) -> _Found | None:
        found = _match(known.START_CUES, self._words, place)
        foreign = None if found else _match(known.FOREIGN_CUES, self._words, place)
        length, _ = found or foreign or (0, None)
        after = self._word(place + length)
        if not length or not after or (after, self._word(place + length + 1)) in known.IDIOMS:
            return None
        if found and self._start is _Start.NOTHING:
            return self._norm(place, found) if self._is_habit(after) else None
        if foreign:
            return self._norm(place, foreign) if self._start and after not in known.NO_ORDER_AFTER else None
        return self._norm(place, found) if found and _may_follow(self._words[place].text, length, after) else None

    def _modal(self, place: int) -> _Found | None:
        found = _match(known.MODAL_CUES, self._words, place)
        if found is None:
            return None
        cue = tuple(word.text for word in self._words[place : place + found[0]])
        after = self._word(place + found[0])
        if after == "be" and self._word(place + found[0] + 1) in known.SUPPOSED_AFTER_BE:
            return None
        if after in ("have", ",", "(", ")", "") or not self._speaks_to_reader(cue, found[1], after):
            return None
        return self._norm(place, found, about=self._product())

    def _verdict(self, place: int) -> _Found | None:
        found = _match(known.BAN_CUES, self._words, place)
        if found is None or not self._subject or self._subject[0] in known.PRONOUNS:
            return None
        return self._norm(place, found, about=" ".join(self._subject[-3:]))

    def _bare_order(self, place: int) -> _Found | None:
        word = self._words[place].text
        if word == "no" and self._is_bare_ban(place):
            return self._norm(place, (1, Modality.PROHIBITION), explicit=False)
        if word not in known.VERBS or not self._opens_order(word, place):
            return None
        lasts = self._lasting or word in known.STANDING_VERBS
        return self._norm(place, (1, Modality.OBLIGATION), explicit=lasts, action_at=place)

    def _unspaced(self, place: int) -> _Found | None:
        """The first cue inside a run of characters that are written without spaces."""
        run, offset, _, _ = self._words[place]
        for found in () if _UNSPACED_DECOY.search(run) else _UNSPACED_CUE.finditer(run):
            at, end = found.span()
            anywhere = known.UNSPACED_CUES.get(found[0])
            modality = anywhere or known.UNSPACED_START_CUES[found[0]]
            if at == 0 or (anywhere and run[at - 1] not in known.UNSPACED_VETOES):
                ruled = f"{run[end : end + _MAX_UNSPACED_ACTION]} {self._action(place + 1)}".strip() or run[:at]
                action = ruled[:_MAX_UNSPACED_ACTION]
                return Norm(modality, offset + at, offset + end, action, True, self._conditional), place + 1
        return None

    # --- what decides ---

    def _speaks_to_reader(self, cue: tuple[str, ...], modality: Modality, after: str) -> bool:
        subject = [word for word in self._subject if word not in known.ADVERBS]
        if subject and subject[-1] in ("you", "you'll"):
            before = subject[-2] if len(subject) > 1 else ""
            told = before not in known.UNTOLD_PLACES and before not in known.CONDITIONS
            return told and after not in known.DESCRIPTIVE_AFTER_YOU and (after, cue[0]) != ("be", "may")
        if subject == ["it"] and self._addressed:
            return modality is not Modality.PERMISSION
        if self._verb_seen or not subject:
            return False
        flat = _is_flat_ban(cue, modality, after)
        if flat or subject[0] in known.PRONOUNS:
            return flat and (subject == ["we"] or subject[0] not in known.PRONOUNS)
        if not known.READERS.isdisjoint(subject):
            return True
        ruled = subject[0] in known.UNIVERSALS or not known.WORK_PRODUCTS.isdisjoint(subject)
        return ruled and modality is not Modality.PERMISSION and cue not in known.READER_ONLY

    def _is_habit(self, after: str) -> bool:
        """Whether `never` and the like inside a clause make a rule of it.

        `You never guess` and `we never use mocks` do, and so does `in this folder never use mocks`.
        """
        before, subject = ["", "", *self._subject][-2:]
        if subject == "you":
            return before not in known.CONDITIONS | known.UNTOLD_PLACES and _may_be_order(after)
        if subject == "we":
            return after in known.OUR_CUSTOMS
        in_place = self._after_opener and self._subject[0] in known.PLACES
        return in_place and subject not in known.PRONOUNS and after in known.VERBS

    def _is_bare_ban(self, place: int) -> bool:
        """`No unnecessary copies`: a few words without a verb."""
        rest = [word.text for word in self._words[place + 1 : place + 9]]
        stop = next((k for k, word in enumerate(rest) if word in _STOPS), len(rest))
        named = rest[:stop]
        if not 0 < len(named) < 8 or named[0] in known.BARE_NO_EXCEPTIONS:
            return False
        return known.FINITE_VERBS.isdisjoint(named) and known.PRONOUNS.isdisjoint(named)

    def _opens_order(self, word: str, place: int) -> bool:
        after = self._word(place + 1)
        if after == ":":
            return self._conditional or word in known.PLAIN_ORDERS
        if not after or after in _STOPS or after in known.NO_OBJECTS:
            return False
        if (word, after) in known.IDIOMS:
            return False
        if word in known.COMMAND_LABELS and not self._conditional and self._words[-1].text == ":":
            return False
        return self._lasting or word not in known.ALSO_NOUNS or after in known.DETERMINERS or after == OPAQUE

    def _product(self) -> str:
        return "" if self._subject[-1:] == ["you"] else " ".join(self._subject[-3:])

    # --- where in the sentence this is ---

    def _take_mark(self, mark: str, place: int) -> None:
        if mark == "," and self._after_opener:
            self._start = _Start.ANY
            self._subject = []
            self._verb_seen = False
        elif mark in ",(":
            self._start = max(self._start, _Start.NOTHING if self._is_told_of_others() else _Start.STRICT)
        elif mark == ":":
            self._reported = self._reported or self._word(place - 1) in known.REPORTS_BEFORE_THAT
            named_by_code = self._subject[:1] == [OPAQUE]
            self._begin_clause(_Start.STRICT if named_by_code else _Start.ANY)

    def _take_word(self, word: str, place: int) -> None:
        self._notice_report(word, place)
        if self._start is _Start.ANY and word in known.OPENERS:
            self._after_opener = True
            self._conditional = self._conditional or word in known.CONDITIONS
            self._start = _Start.NOTHING
        elif word in known.RESTARTS:
            self._start = _Start.ANY
        elif word in known.CONNECTORS and not self._is_told_of_others():
            self._start = max(self._start, _Start.STRICT)
        elif not (self._start and (word in known.LEAD_INS or word.endswith("ly"))):
            self._start = _Start.NOTHING
        self._addressed = self._addressed or (self._after_opener and word.startswith("you"))
        self._verb_seen = self._verb_seen or word in known.FINITE_VERBS
        if len(self._subject) == _MAX_SUBJECT_WORDS:
            del self._subject[1]
        self._subject.append(word)

    def _notice_report(self, word: str, place: int) -> None:
        passes_on = word in known.REPORTS or (word in known.REPORTS_BEFORE_THAT and self._word(place + 1) == "that")
        if passes_on and self._word(place - 1) not in known.FIRST_PERSONS:
            self._reported = True

    def _begin_clause(self, start: _Start) -> None:
        self._start = start
        self._after_opener = False
        self._subject = []
        self._verb_seen = False

    def _is_told_of_others(self) -> bool:
        return bool(self._subject) and self._subject[0] in known.PRONOUNS

    # --- small parts ---

    def _word(self, place: int) -> str:
        return self._words[place].text if 0 <= place < len(self._words) else ""

    def _norm(
        self,
        place: int,
        found: tuple[int, Modality],
        *,
        about: str = "",
        explicit: bool = True,
        action_at: int | None = None,
    ) -> _Found:
        length, modality = found
        start, end = self._words[place].start, self._words[place + length - 1].end
        action = f"{about} {self._action(place + length if action_at is None else action_at)}".strip()
        conditional = self._conditional or place < self._last_limit
        return Norm(modality, start, end, action, explicit, conditional), place + length

    def _action(self, place: int) -> str:
        taken: list[str] = []
        for word in self._words[place : place + 2 * _MAX_ACTION_WORDS]:
            if word.text in _STOPS or len(taken) == _MAX_ACTION_WORDS:
                break
            if word.text not in _FILLERS:
                taken.append(word.written)
        return " ".join(taken)
