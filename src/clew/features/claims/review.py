"""The turns of a user that may propose a fact or a plan, and their proposals.

Clew stores no queue of proposals: it reads them from the turns again. The mark of a turn remembers those that the
operator declined; the facts and plans themselves tell which were accepted.
"""

from __future__ import annotations

from collections.abc import Iterator

from clew.core.collections import Collection
from clew.core.marks import Mark, value_of
from clew.core.model import Record
from clew.features.claims.proposals import Proposal, key_of, proposals
from clew.features.claims.rules import RELIED_ON
from clew.kernel.intake import speaker_in
from clew.kernel.parts import Parts
from clew.storage.paging import every_member
from clew.text.own_text import without_own
from clew.text.speech import own_words

_RECORDS_A_READ = 200


def turns_after(parts: Parts, user_id: str, seq: int) -> Iterator[Record]:
    """The user's own turns behind a place, oldest first; neither quarantined nor untrusted ones."""
    turns = every_member(parts.store, Collection.turns(user_id), seq)
    yield from (turn for turn in turns if turn.trust in RELIED_ON)


def newest_turns(parts: Parts, user_id: str, most: int) -> Iterator[Record]:
    """The same from the newest backwards; reads at most so many."""
    before: int | None = None
    while most > 0 and (page := parts.store.newest(Collection.turns(user_id), before, min(most, _RECORDS_A_READ))):
        newest_first = sorted(page, key=lambda turn: -turn.seq)
        yield from (turn for turn in newest_first if turn.trust in RELIED_ON)
        before = newest_first[-1].seq
        most -= len(page)


def proposals_of(turn: Record) -> dict[str, Proposal]:
    """The proposals of a turn at home, by id. Nothing that its writer quotes or pastes proposes anything."""
    text = without_own(turn.text)
    said = _in_one_line(own_words(text))
    found = proposals(text, speaker_in(dict(turn.metadata)) or "", turn.ts_ms, turn.role)
    own = (proposal for proposal in found if _in_one_line(text[proposal.start : proposal.end]) in said)
    return {key_of(turn.ref, proposal): proposal for proposal in own}


def _in_one_line(text: str) -> str:
    return " ".join(text.split())


def declined_in(turn: Record) -> list[str]:
    """The ids of its proposals that the operator declined."""
    named = value_of(turn.marks, Mark.DECLINED)
    return [id_ for id_ in named if isinstance(id_, str)] if isinstance(named, list) else []
