"""Front matter of a Markdown file: where it ends, and which tiers it chooses for its file.

A file may say for itself which kinds of node are hard, soft or lore:

    ---
    clew-hard: front_matter, rule_item
    clew-lore: [block_quote]
    ---

Values are names of kinds parted by commas, in brackets or not, or one `- name` a line. In TOML front
matter (between `+++` lines) the same keys are written with `=`. All other keys are left alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from clew.errors import InvalidInput

KEY_PREFIX = "clew-"
_CLOSINGS = {"---": ("---", "..."), "+++": ("+++",)}
_ENTRY = re.compile(r"""["']?[\w][\w .-]{0,100}["']?[ \t]{0,20}[:=]|[\[{]|-[ \t]""")
_CHOICE = re.compile(rf"""["']?{KEY_PREFIX}([\w-]{{1,40}})["']?[ \t]{{0,20}}[:=](.*)""", re.DOTALL)
_ITEM = re.compile(r"[ \t]{0,20}-[ \t]{1,20}(.*)", re.DOTALL)


def count_lines(lines: Sequence[str]) -> int:
    """How many lines from the first on are front matter, its marks included; 0 where there is none.

    A rule (`---`) may open a text as well, so what follows the mark has to look like an entry.
    """
    closings = _CLOSINGS.get(lines[0].removeprefix("\ufeff").rstrip()) if lines else None
    if closings is None:
        return 0
    looks_right = False
    for number, line in enumerate(lines[1:], 2):
        content = line.rstrip()
        if content in closings:
            return number
        if not looks_right and content and not content.lstrip().startswith("#"):
            if not _ENTRY.match(content):
                return 0
            looks_right = True
    return 0


def choices(lines: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """What the `clew-` keys say: names of kinds by the rest of the key. Raises InvalidInput on a key given twice."""
    found: dict[str, tuple[str, ...]] = {}
    for place, line in enumerate(lines):
        entry = _CHOICE.match(line)
        if entry is None:
            continue
        name, value = entry[1], entry[2].strip()
        if name in found:
            raise InvalidInput(f"front matter gives {KEY_PREFIX}{name} twice")
        given = value.split("#", 1)[0].strip().strip("[]").split(",") if value else _items(lines, place + 1)
        found[name] = tuple(kind for item in given if (kind := item.strip().strip("\"'").strip()))
    return found


def _items(lines: Sequence[str], place: int) -> Iterator[str]:
    while place < len(lines) and (item := _ITEM.match(lines[place])):
        yield item[1]
        place += 1
