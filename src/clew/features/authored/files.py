"""Finds, names and reads the Markdown files that the settings name."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from stat import S_ISFIFO

from clew.config import Config
from clew.errors import InvalidInput

MAX_FILE_BYTES = 1024 * 1024
MAX_FILES = 20_000
SUFFIXES = (".md", ".markdown", ".mdx")


@dataclass(frozen=True, slots=True)
class File:
    """A file and its name: short, stable, and without the private part of its path."""

    path: Path
    name: str
    core: bool
    """Whether it is one of the agent's own documents, and no ordinary note."""


@dataclass(frozen=True, slots=True)
class Content:
    text: str
    digest: str


Stamp = tuple[int, ...]
"""The state of a file, its modification time first; see `stamp`."""


def core_files(config: Config) -> list[File]:
    """The agent's own documents. One that is named twice, or also through a link, counts once."""
    given = (_resolve(config, path) for path in config.authored_files)
    distinct: dict[str, Path] = {}
    for path in given:
        distinct.setdefault(os.path.realpath(path), path)
    paths = list(distinct.values())
    return [File(path, name, core=True) for path, name in zip(paths, _short_names(paths), strict=True)]


def note_files(config: Config) -> list[File]:
    """Every note; one in a folder is named by its path below that folder. Hidden files and folders are skipped."""
    core = core_files(config)
    known = {path for file in core for path in (file.path, Path(os.path.realpath(file.path)))}
    taken = {file.name for file in core}
    found: list[File] = []
    for given in config.authored_notes:
        root = _resolve(config, given)
        for path in _walk(root) if os.path.isdir(root) else (root,):
            if path in known:
                continue
            if len(found) == MAX_FILES:
                raise InvalidInput(f"authored_notes holds more than {MAX_FILES} files; point at fewer")
            name = _free_name(path, len(path.relative_to(root.parent).parts), taken)
            known.add(path)
            taken.add(name)
            found.append(File(path, name, core=False))
    return found


def stamp(path: Path) -> Stamp | None:
    """A value that changes whenever the file may have changed; None where there is no file.

    Copying and unpacking preserve modification times, so those alone would not do.
    """
    try:
        status = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:  # it may exist; reading it will tell what is wrong
        return 0, error.errno or 0
    return status.st_mtime_ns, status.st_size, status.st_ctime_ns, status.st_ino


def read_file(path: Path) -> Content:
    """Raises InvalidInput, which names the file, where it cannot be used."""
    try:
        if S_ISFIFO(path.stat().st_mode):  # reading it would block
            raise InvalidInput(f"{path.name} cannot be read: it is a pipe")
        with path.open("rb") as file:
            data = file.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        raise InvalidInput(f"{path.name} cannot be read: {error.strerror}") from error
    if len(data) > MAX_FILE_BYTES:
        raise InvalidInput(f"{path.name} has over {MAX_FILE_BYTES} bytes, which is too much for an authored file")
    try:
        return Content(data.decode("utf-8"), hashlib.sha256(data).hexdigest())
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{path.name} is not UTF-8 text: byte {error.start}") from error


class Names:
    """Finds documents by the names that links use for them."""

    def __init__(self, names: Iterable[str]) -> None:
        self._known = frozenset(names)
        self._by_bare_name: dict[str, str] = {}
        for name in sorted(self._known):
            self._by_bare_name.setdefault(_bare(name), name)

    def follow(self, source: str, link: str) -> str | None:
        """The document that a link leads to: by its path relative to the source, else by its bare name."""
        target = os.path.normpath(PurePosixPath(source).parent / link)
        for candidate in (target, *(target + suffix for suffix in SUFFIXES)):
            if candidate in self._known:
                return candidate
        return self._by_bare_name.get(_bare(link))


def _bare(name: str) -> str:
    """The last part of a path, without its suffix, as wiki links write it."""
    last = PurePosixPath(name).name.lower()
    suffix = next((suffix for suffix in SUFFIXES if last.endswith(suffix)), "")
    return last.removesuffix(suffix)


def _resolve(config: Config, given: str) -> Path:
    """A relative path starts at the data folder, which holds the settings."""
    path = Path(os.path.expanduser(given))
    return path if path.is_absolute() else Path(os.path.realpath(config.data_dir / path))


def _walk(root: Path) -> Iterator[Path]:
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            if name.lower().endswith(SUFFIXES) and not name.startswith("."):
                yield Path(folder, name)


def _short_names(paths: list[Path]) -> list[str]:
    """The file names, each with as many parent folders as make it unique."""
    names = []
    for path in paths:
        others = {_last_parts(other, size) for other in paths if other != path for size in range(len(other.parts) + 1)}
        names.append(_free_name(path, 1, others))
    return names


def _free_name(path: Path, size: int, taken: Container[str]) -> str:
    """The last `size` parts of a path, or as many more as make the name unique."""
    while _last_parts(path, size) in taken and size < len(path.parts):
        size += 1
    return _last_parts(path, size)


def _last_parts(path: Path, size: int) -> str:
    """The last parts of a path. A file name may be any bytes; those that are no text are replaced."""
    name = "/".join(path.parts[-size:]).lstrip("/")
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
