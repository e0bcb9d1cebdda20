"""Cuts a text that is too long to take in, visibly, and so that no secret is cut in half.

Secrets are recognised by their whole shape. Half of a token or of a private key would pass, so a cut leaves out
the word it falls into, and a key of which only one end would be left. Loaded by hooks at every event: it may
import nothing that takes time.
"""

from __future__ import annotations

import json

_WORD_ENDS = " \t\r\n\"',;"
_KEY_BEGINS = "-----BEGIN"
_KEY_ENDS = "-----END"


def cut_middle(text: str, max_chars: int) -> str:
    """The text, or its first words and last lines with a mark between them."""
    if len(text) <= max_chars:
        return text
    half = max_chars // 2
    head, tail = beginning(text, half), _end(text[-half:])
    return f"{head}\n[… {len(text) - len(head) - len(tail):,} characters cut]\n{tail}".rstrip("\n")


def cut_end(text: str, limit_bytes: int) -> str:
    """The text, or as much of its beginning as fits when it is written as JSON, with its whole size."""
    if _json_size(text) <= limit_bytes:
        return text
    note = f"\n[cut: {len(text.encode('utf-8')):,} bytes in all]"
    low, high = 0, min(len(text), limit_bytes)
    while low < high:
        middle = (low + high + 1) // 2
        if _json_size(text[:middle]) + len(note) + 2 <= limit_bytes:
            low = middle
        else:
            high = middle - 1
    return beginning(text, low) + note


def beginning(text: str, chars: int) -> str:
    """The whole words within the first characters."""
    piece = text[:chars]
    key = piece.rfind(_KEY_BEGINS)
    if key > piece.rfind(_KEY_ENDS):
        piece = piece[:key]
    return piece[: max(piece.rfind(char) for char in _WORD_ENDS) + 1].rstrip()


def _end(piece: str) -> str:
    """Keeps whole lines alone: within a line, the name of a secret may be before the cut."""
    key = piece.find(_KEY_ENDS)
    if key >= 0 and _KEY_BEGINS not in piece[:key]:
        piece = piece[key:]
    return piece.partition("\n")[2]


def _json_size(text: str) -> int:
    return len(json.dumps(text, ensure_ascii=False).encode("utf-8"))
