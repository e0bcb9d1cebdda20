"""Paths that name a person: shown without the part that does."""

from __future__ import annotations

import re
from collections.abc import Iterable

_NAME = r"[^\s/\\\"'`<>|:*?]{1,64}"

# A home folder by its usual place, also where another system mounts it. What stands before it must not
# make it part of a longer path, such as that of a web address.
_HOME = re.compile(
    rf"(?<![\w.~-])(?:/mnt/[a-z])?/(?:home|Users)/{_NAME}"
    r"|(?<![\w.~-])/root(?=[/\s\"'`<>|:*?,;.)\]]|$)"
    rf"|(?<![\w])[A-Za-z]:[\\/]{{1,2}}(?:Users|Documents and Settings)[\\/]{{1,2}}{_NAME}"
)


def without_private_paths(text: str, folders: Iterable[str] = ()) -> str:
    """The text with home folders, and the given folders, shown as `~`."""
    for folder in folders:
        if folder in text:
            text = text.replace(folder, "~")
    return _HOME.sub("~", text) if "/" in text or "\\" in text else text
