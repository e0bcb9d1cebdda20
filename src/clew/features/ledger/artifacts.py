"""Payloads that are too long for a line: kept once each, under a name made from what they hold."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from clew.core.ids import digest
from clew.errors import NotFound, StoreError
from clew.features.ledger.lines import APPENDING, HARVESTING, folder_of, hold, named_artifacts
from clew.features.ledger.operations import Artifact, ReadArtifact
from clew.kernel.parts import Parts
from clew.kernel.records import MAX_CHARS, checked_limit
from clew.kernel.services import serves
from clew.storage.paging import every_record
from clew.text.framing import clip

FOLDER = "artifacts"
UNFINISHED = ".new"
"""Ends the name of a file that is being written. Without its writer it is nothing but a leftover."""

_NAME_BYTES = 20
_NAME = re.compile(f"[0-9a-f]{{{_NAME_BYTES * 2}}}")


def name_of(content: bytes) -> str:
    """The name of what holds this, which is a redacted payload as JSON."""
    return digest(content.decode("utf-8"), size_bytes=_NAME_BYTES).hex()


def keep(parts: Parts, content: bytes) -> list[Path]:
    """Write an artifact, unless it is there; the marks to remove once something durable names it.

    A mark is a second name of the artifact. Where a process dies before the first line or record refers to it,
    `settle` knows by the mark that nobody may.
    """
    path = _path(parts, name_of(content))
    if path.exists():
        return []
    folder = parts.config.data_dir / FOLDER
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor, mark = tempfile.mkstemp(prefix=f"{path.stem}.", suffix=UNFINISHED, dir=folder)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(descriptor)
        for touched in (folder, folder.parent):
            sync_folder(touched)
        with suppress(FileExistsError):  # another process was faster
            os.link(mark, path)
    except BaseException:
        remove_marks([Path(mark)])
        raise
    sync_folder(path.parent)
    return [Path(mark)]


def remove_marks(marks: Iterable[Path]) -> None:
    """What they mark is referred to by now. One that stays is found at the next start, and does no harm."""
    for mark in marks:
        with suppress(OSError):
            mark.unlink(missing_ok=True)


def settle(parts: Parts) -> None:
    """Undo what captures and harvests that died have left: artifacts to which nothing refers."""
    if not _marks(parts):
        return
    folder = folder_of(parts.config)
    try:
        with hold(folder, HARVESTING), hold(folder, APPENDING):  # whoever lives is done
            sweep(parts, named_artifacts(folder))
    except OSError as error:
        raise StoreError(f"artifacts that nothing refers to cannot be removed: {error.strerror or error}") from error


def read(parts: Parts, name: str, max_chars: int) -> str:
    """An artifact, or its beginning with a mark at the cut."""
    if not _NAME.fullmatch(name):
        raise NotFound(f"{name[:80]!r} is no artifact")
    try:
        with _path(parts, name).open(encoding="utf-8") as stream:
            return clip(stream.read(max_chars + 1), max_chars)
    except FileNotFoundError:
        raise NotFound(f"there is no artifact {name}") from None


def remove(parts: Parts, names: Iterable[str]) -> int:
    """Remove artifacts, but for those that a line of the capture log refers to; how many were there."""
    wanted = {name for name in names if _NAME.fullmatch(name) and _path(parts, name).exists()}
    folder = folder_of(parts.config)
    if not wanted:
        return 0
    try:
        with hold(folder, APPENDING):
            return sum(_remove(_path(parts, name)) for name in sorted(wanted - named_artifacts(folder)))
    except OSError as error:
        raise StoreError(f"an artifact cannot be removed: {error.strerror or error}") from error


def sweep(parts: Parts, named: set[str]) -> int:
    """Remove every artifact that is neither among the named ones nor known to a record, and every leftover.

    For whoever holds the locks of the capture log: otherwise something may be about to be named.
    """
    folder = parts.config.data_dir / FOLDER
    leftovers = [*_marks(parts), *folder.glob(f"*/*{UNFINISHED}")]
    loose = {path.stem: path for path in folder.glob("*/*.json") if path.stem not in named}
    if loose:
        for name in _known_to_records(parts):
            loose.pop(name, None)
    return sum(_remove(path) for path in [*loose.values(), *leftovers])


def write_whole(path: Path, content: bytes) -> None:
    """Let a file hold this, in one step and for good; readable by its owner only. Several may write it at once."""
    descriptor, unfinished = tempfile.mkstemp(prefix=f"{path.name}.", suffix=UNFINISHED, dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(descriptor)
        os.replace(unfinished, path)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(unfinished)
        raise
    sync_folder(path.parent)


def append_whole(path: Path, data: bytes, title: str) -> None:
    """Appends lines to a file for good, all or none. A line that a crash cut short before becomes one of its own."""
    descriptor = os.open(path, os.O_CREAT | os.O_RDWR | os.O_APPEND | os.O_CLOEXEC, 0o600)
    try:
        size = os.fstat(descriptor).st_size
        if size and os.pread(descriptor, 1, size - 1) != b"\n":
            data = b"\n" + data
        try:
            if os.write(descriptor, data) != len(data):
                raise StoreError(f"{title} cannot be written: the disk is full")
            os.fsync(descriptor)
        except BaseException:
            os.ftruncate(descriptor, size)
            raise
    finally:
        os.close(descriptor)
    if size == 0:
        sync_folder(path.parent)
        sync_folder(path.parent.parent)


def sync_folder(folder: Path) -> None:
    """Let the names in a folder be as lasting as what they name."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _marks(parts: Parts) -> list[Path]:
    return list((parts.config.data_dir / FOLDER).glob(f"*{UNFINISHED}"))


def _path(parts: Parts, name: str) -> Path:
    return parts.config.data_dir / FOLDER / name[:2] / f"{name}.json"


def _remove(path: Path) -> bool:
    try:
        path.unlink()
    except FileNotFoundError:
        return False
    return True


def _known_to_records(parts: Parts) -> Iterable[str]:
    names = (stored.draft.metadata.get("artifact") for stored in every_record(parts.store))
    return (name for name in names if isinstance(name, str))


@serves(ReadArtifact)
def read_artifact(parts: Parts, request: ReadArtifact) -> Artifact:
    max_chars = checked_limit(request.max_chars, MAX_CHARS, "maxChars")
    return Artifact(name=request.name, text=read(parts, request.name, max_chars))
