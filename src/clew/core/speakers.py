"""Names of speakers, which clients give freely: none can pass for a party that prompts and receipts speak of."""

from __future__ import annotations

import unicodedata

from clew.core.model import Metadata, Role

PARTIES = frozenset({"assistant", "clew", "operator", "system", "user"})


def shown_name(metadata: Metadata, role: Role | None) -> str | None:
    """The name that stands beside a text: the speaker's, else the tool's. None where none is given, or one that belongs
    to somebody else."""
    names = (metadata.get(key) for key in ("speaker", "toolName"))
    return next((name for name in names if isinstance(name, str) and name and not _is_taken(name, role)), None)


def _is_taken(name: str, role: Role | None) -> bool:
    plain = "".join(filter(str.isalnum, unicodedata.normalize("NFKC", name).casefold()))
    return plain in PARTIES and plain != role
