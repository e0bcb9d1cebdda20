"""Records made from others cite their sources: facts, plans, observations."""

from __future__ import annotations

from clew.core.model import Metadata

SOURCES = "sources"
"""Where a derived record's metadata lists the references of the records it rests on, each as it is cited at home."""


def sources_in(metadata: Metadata) -> tuple[str, ...]:
    """The references a record rests on; none where it names none."""
    named = metadata.get(SOURCES)
    return (
        tuple(ref for ref in named if isinstance(ref, str) and "/" in ref.strip("/")) if isinstance(named, list) else ()
    )
