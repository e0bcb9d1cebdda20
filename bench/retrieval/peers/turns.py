"""How a turn is told to a peer: the same words for all of them."""

from __future__ import annotations

from datetime import UTC, datetime

from bench.retrieval.corpus import Turn


def line(turn: Turn) -> str:
    return f"{turn.speaker or turn.role}: {turn.text}"


def iso_time(turn: Turn) -> str | None:
    return None if turn.ts_ms is None else datetime.fromtimestamp(turn.ts_ms / 1000, UTC).isoformat()
