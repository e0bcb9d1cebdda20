"""A folder under construction: finished files are kept between runs, partial ones are built again."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import msgspec

from clew.models.packs.pack import sha256_of

_RECORD_FILE = "finished.json"


class _Record(msgspec.Struct):
    recipe: str
    files: dict[str, str]


class Workshop:
    """Makes files by name. It keeps those that an earlier run of the same recipe finished, byte for byte."""

    def __init__(self, folder: Path, recipe: str) -> None:
        self.folder = folder
        self._record = self._read_record(recipe)
        folder.mkdir(parents=True, exist_ok=True)

    def make(self, name: str, build: Callable[[Path], None]) -> Path:
        """The named file. `build` writes to the path it is given; once it is done, that becomes the file."""
        path = self.folder / name
        if path.is_file() and self._record.files.get(name) == sha256_of(path):
            return path
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_name(path.name + ".part")
        build(unfinished)
        self._record.files[name] = sha256_of(unfinished)
        os.replace(unfinished, path)
        self._write_record()
        return path

    def remove(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)

    def _read_record(self, recipe: str) -> _Record:
        try:
            record = msgspec.json.decode((self.folder / _RECORD_FILE).read_bytes(), type=_Record)
        except (FileNotFoundError, msgspec.MsgspecError):
            return _Record(recipe=recipe, files={})
        return record if record.recipe == recipe else _Record(recipe=recipe, files={})

    def _write_record(self) -> None:
        path = self.folder / _RECORD_FILE
        unfinished = path.with_name(path.name + ".part")
        unfinished.write_bytes(msgspec.json.encode(self._record))
        os.replace(unfinished, path)
