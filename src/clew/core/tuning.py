"""Numbers that no operator could judge. They are constants, not settings; tests and benchmarks vary them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Tuning:
    search_weights: tuple[float, float, float] = (0.9, 0.05, 0.05)
    """Of similarity, recency and scope in a search score. With more recency, search finds less (ADR 23)."""
    context_weights: tuple[float, float, float] = (0.15, 0.05, 0.8)
    """Of recency, use and authority in what a context recalls. Use counts least, or recall would feed on itself."""

    pack_min_similarity: float = 0.35
    """A pack takes no record less similar to the query than this. Measured by bench/persistbench.py."""
    recall_min_similarity: float = 0.25
    """A context recalls no record less similar than this: less than a pack asks for, as it has more room."""
    recall_items: int = 48
    """Records that a context recalls at most; the budget is mostly the closer bound."""

    tail_max_turns: int = 120
    """Turns of a tail at most. Without a bound, many short turns would keep a view long (ADR 14)."""
    observe_buffer_tokens: int = 32_000
    """Clew observes the turns behind the log beyond this, or beyond the tail's share of a smaller budget."""
    observe_block_tokens: int = 8_000
    """Clew prunes the observation log of a session beyond this, so that a prompt has room for turns."""

    embed_batch: int = 16
    """Tasks that the indexer takes from the queue at once: few, so that it soon gives way to a caller."""
    capture_file_bytes: int = 16 * 1024 * 1024
    """Clew closes a file of the capture log at this size and begins another, so that none grows without end."""
