"""How a compacted session appears in a context: summaries replace the turns that they cover.

Records found for a question come first. The summaries of the view fill the rest, newest first, so that the model
knows what the conversation was about even where the next question does not ask for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from clew.core.collections import Collection
from clew.core.lineage import lineage_of
from clew.core.model import Record, Trust
from clew.features.history.operations import ContextMessage
from clew.kernel.parts import Parts
from clew.kernel.search import Found, unsought
from clew.kernel.views import summaries_over


def behind_covered(parts: Parts, session_id: str, messages: Sequence[ContextMessage]) -> int:
    """The place behind the last of the messages that a summary covers."""
    lead_to = summaries_over(parts, session_id)
    ids = [message.id for message in messages if message.id is not None]
    if not lead_to or not ids:
        return 0
    turns = parts.store.get(Collection.raw(session_id), ids)
    covered = {turn.id for turn in turns if turn.seq in lead_to}
    return max((place for place, message in enumerate(messages, start=1) if message.id in covered), default=0)


def outline(parts: Parts, session_id: str, since_ms: int, there: AbstractSet[str]) -> list[Found]:
    """Summaries of the view that reach into the time since then, newest first, without those that are there."""
    places = set(summaries_over(parts, session_id).values())
    records = parts.store.at(Collection.session(session_id), sorted(places)) if places else []
    wanted = [record for record in records if record.trust is not Trust.QUARANTINED and record.ref not in there]
    reaching = [(_last_ms(record), record) for record in wanted if _last_ms(record) >= since_ms]
    return [unsought(record) for _, record in sorted(reaching, key=lambda item: (-item[0], item[1].id))]


def _last_ms(record: Record) -> int:
    lineage = lineage_of(record)
    return record.ts_ms if lineage is None else lineage.last_ts_ms
