"""Projects: what names one, which of them a folder is, and which a record is of.

A project goes by the address of its repository (`github.com/ada/atlas`), else by its folder (`atlas@5d2f01ab`, with a
checksum of the path instead of the path), else by a bare name that a caller gives. A bare name stands for any project
of that name.

Every hook loads this module, so it imports nothing that takes time.
"""

from __future__ import annotations

import os
import re
import zlib
from collections.abc import Mapping

PROJECT = "project"
"""The key of a turn's metadata."""

MAX_PROJECT_CHARS = 255
_UNNAMED = frozenset({"", "app", "code", "dev", "home", "project", "repo", "root", "src", "tmp", "work"})
"""Folders whose name says nothing of a project."""

_ELSEWHERE = 0.8
_ANYWHERE = 0.95
"""What a record of another project, or of none, keeps of its score: it comes behind one of this project that is about
as near."""

_HOMES = frozenset({"home", "Users"})
_LEAST_NAME_CHARS = 3
_ADDRESS = re.compile(
    r"(?:[a-z+]{1,12}://)?(?:[^@/\s]{1,200}@)?([a-z0-9][^@:/\s]{0,200})(?::\d{1,5}(?=/))?[:/]+(\S{1,250})",
    re.IGNORECASE,
)

_MAX_STEPS = 40
_READ_BYTES = 64_000
_USUAL = "origin"


def project_of_address(url: str) -> str:
    """A repository as `host/owner/name`, however it is reached; empty where it has no host. Drops credentials."""
    found = _ADDRESS.fullmatch(url.strip())
    if found is None or "." not in found[1]:
        return ""
    path = re.split(r"[?#]", found[2])[0].strip("/").removesuffix(".git").rstrip("/")
    return f"{found[1]}/{path}".lower() if path else ""


def project_of_folder(folder: str) -> str:
    """The name of a folder and a checksum of its path; empty where that is no name of a project."""
    steps = [step for step in folder.replace("\\", "/").split("/") if step]
    *above, name = steps or [""]
    is_home = bool(above) and above[-1] in _HOMES
    if is_home or name.lower() in _UNNAMED or not _LEAST_NAME_CHARS <= len(name) <= MAX_PROJECT_CHARS - 9:
        return ""
    return f"{name}@{zlib.crc32('/'.join(steps).encode()):08x}"


def project_in(metadata: Mapping[str, object]) -> str:
    """The project that a turn, or what was made from it, is of; empty where nobody said."""
    given = metadata.get(PROJECT)
    return given.strip()[:MAX_PROJECT_CHARS] if isinstance(given, str) else ""


def is_elsewhere(metadata: Mapping[str, object], project: str) -> bool:
    """Whether something is known to be of another project."""
    own = project_in(metadata)
    return bool(own) and not same_project(own, project)


def preference(metadata: Mapping[str, object], project: str) -> float:
    """What something keeps of its score in work for a project."""
    own = project_in(metadata)
    if not own:
        return _ANYWHERE
    return 1.0 if same_project(own, project) else _ELSEWHERE


def name_of(project: str) -> str:
    """What people call it."""
    return project.rpartition("/")[2] if "/" in project else project.partition("@")[0]


def same_project(one: str, other: str) -> bool:
    """Whether both name one project."""
    if one.casefold() == other.casefold():
        return True
    is_bare = not ("/" in one or "@" in one) or not ("/" in other or "@" in other)
    return is_bare and name_of(one).casefold() == name_of(other).casefold()


# --- the project of a folder ------------------------------------------------------------------------------


def project_at(folder: str) -> str:
    """The project that work in a folder is for: the repository that it is in, else the folder itself.

    Empty where neither names one. The folder need not exist here.
    """
    if not folder or os.path.normpath(folder) == os.path.expanduser("~"):
        return ""
    root = _repository(folder) if os.path.isabs(folder) else None
    if root is None:
        return project_of_folder(folder)
    return _remote(os.path.join(root, ".git")) or project_of_folder(root)


def _repository(folder: str) -> str | None:
    """The nearest folder upwards that holds a repository."""
    at = os.path.normpath(folder)
    for _ in range(_MAX_STEPS):
        if os.path.exists(os.path.join(at, ".git")):
            return at
        above = os.path.dirname(at)
        if above == at:
            break
        at = above
    return None


def _remote(git: str) -> str:
    """The address of the remote that the project is known by."""
    if os.path.isfile(git):  # a worktree or a submodule: the file says where the repository is
        pointed = _read(git).partition("gitdir:")[2].strip()
        git = os.path.join(os.path.dirname(git), pointed)
        common = _read(os.path.join(git, "commondir")).strip()
        git = os.path.join(git, common) if common else git
    remotes = _remotes(_read(os.path.join(git, "config")))
    usual_first = sorted(remotes, key=lambda name: name != _USUAL)
    return next((project for name in usual_first if (project := project_of_address(remotes[name]))), "")


def _remotes(config: str) -> dict[str, str]:
    """The address of each remote, by name."""
    found: dict[str, str] = {}
    name = ""
    for line in config.splitlines():
        said = line.strip()
        if said.startswith("["):
            name = said[len('[remote "') : -len('"]')] if said.startswith('[remote "') and said.endswith('"]') else ""
        elif name and said.partition("=")[0].strip() == "url":
            found.setdefault(name, said.partition("=")[2].strip())
    return found


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read(_READ_BYTES)
    except OSError:
        return ""
