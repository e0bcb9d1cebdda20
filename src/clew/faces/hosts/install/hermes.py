"""Hermes: the folder of its memory provider and the one setting that names it.

People write the settings of Hermes by hand, as YAML. A YAML reader says where `memory.provider` is. Clew writes that
line alone, so that every other byte stays, and reads the result again to see that nothing else has changed.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from clew.errors import InvalidInput, NotFound
from clew.faces.hosts.hermes import NAME, SETTINGS, read_settings
from clew.faces.hosts.install import packaged_folder
from clew.faces.hosts.install.edits import Installation, decode, name_file, read_content, user_home
from clew.faces.hosts.install.formats import Document, line_end, read_yaml

PLUGIN_FILES = ("__init__.py", "turns.py", "wire.py", "plugin.yaml")
_ADDED = "# added by clew"
_REPLACED = "# clew replaced: "
_MEMORY = ("memory",)
_PROVIDER = ("memory", "provider")
_BY_HAND = "has memory.provider in a form that Clew cannot change alone (change it by hand)"


@dataclass(frozen=True, slots=True)
class Hermes:
    """An installed Hermes, by its home folder."""

    home: Path

    @classmethod
    def find(cls, home: Path | None) -> Hermes:
        """The given home, else that of HERMES_HOME, else the usual one. Raises NotFound where it does not exist."""
        named = os.environ.get("HERMES_HOME")
        folder = home or (Path(named) if named else user_home() / ".hermes")
        if not folder.is_dir():
            raise NotFound(f"there is no Hermes at {folder}; run Hermes once, or name its home folder with --home")
        return cls(folder)

    @property
    def folder(self) -> Path:
        return self.home / "plugins" / NAME

    @property
    def config(self) -> Path:
        return self.home / "config.yaml"

    def provider(self) -> str:
        """The memory provider in the settings; empty where none is set. Raises InvalidInput."""
        with name_file(self.config):
            return provider_of(decode(read_content(self.config) or b""))

    def settings(self) -> dict[str, object]:
        """The settings of the provider: its endpoint, and whose memory it keeps."""
        return read_settings(self.folder / SETTINGS)

    def entries(self) -> Installation:
        """The setting that names the provider."""
        return Installation(self.config, with_provider, without_provider)

    def is_up_to_date(self, settings: dict[str, str]) -> bool:
        source = plugin_folder()
        same = (read_content(self.folder / name) == read_content(source / name) for name in PLUGIN_FILES)
        return all(same) and self.settings() == settings

    def write_folder(self, settings: dict[str, str]) -> None:
        source = plugin_folder()
        self.folder.mkdir(parents=True, exist_ok=True)
        for name in PLUGIN_FILES:
            shutil.copyfile(source / name, self.folder / name)
        (self.folder / SETTINGS).write_text(f"{json.dumps(settings, indent=2)}\n", "utf-8")

    def remove_folder(self) -> None:
        """Removes the files that Clew wrote, and the folder where it is then empty."""
        for name in (*PLUGIN_FILES, SETTINGS):
            (self.folder / name).unlink(missing_ok=True)
        shutil.rmtree(self.folder / "__pycache__", ignore_errors=True)
        if self.folder.is_dir() and not any(self.folder.iterdir()):
            self.folder.rmdir()


def plugin_folder() -> Path:
    """The provider as files that can be copied."""
    return packaged_folder("hermes", "plugin.yaml")


def provider_of(text: str) -> str:
    """The value of `memory.provider`; empty where it is not set. Raises InvalidInput."""
    return _provider_in(read_yaml(text)[0])


def with_provider(text: str) -> str:
    """The settings with Clew as the memory provider. Raises InvalidInput where Clew cannot write them line by line."""
    document, places = read_yaml(text)
    if _provider_in(document) == NAME:
        return text
    rest = _drop_provider(document)
    memory = rest.get("memory", {})
    if isinstance(memory, dict) and isinstance(document.get("memory"), dict | None):
        wanted = {**rest, "memory": {**memory, "provider": NAME}}
        for candidate in _candidates(text, places):
            if _is_settings(candidate, wanted):
                return candidate
    raise InvalidInput(_BY_HAND)


def without_provider(text: str) -> str:
    """The settings as they were before Clew; an empty provider where Clew left no mark. Raises InvalidInput."""
    document, places = read_yaml(text)
    if _provider_in(document) != NAME:
        return text
    if _PROVIDER not in places:
        raise InvalidInput(_BY_HAND)
    lines = text.splitlines(keepends=True)
    memory, provider = places[_MEMORY][0], places[_PROVIDER][0]
    marks = [(memory, mark) for mark in (_ADDED, _REPLACED) if len(document["memory"]) == 1]
    marks += [(provider, _ADDED), (provider, _REPLACED)]
    place, mark = next(((place, mark) for place, mark in marks if mark in lines[place]), (provider, ""))
    if not mark:
        lines[provider] = lines[provider].replace(NAME, "''", 1)
    else:
        restored = lines[place].partition(_REPLACED)[2] if mark == _REPLACED else ""
        lines[provider] = ""
        lines[place] = restored
    after = "".join(lines)
    if after == text or not _is_settings(after, _drop_provider(document), _drop_provider):
        raise InvalidInput(_BY_HAND)
    return after


def _candidates(text: str, places: dict[tuple[str, ...], tuple[int, int]]) -> Iterator[str]:
    """The ways to name the provider in a line of its own. A comment keeps the line that it replaces."""
    lines = text.splitlines(keepends=True)
    end = line_end(text)
    setting = f"provider: {NAME}"
    if _MEMORY not in places:
        gap = "" if not text or text.endswith("\n") else end
        yield f"{text}{gap}memory:  {_ADDED}{end}  {setting}{end}"
        return
    place = places.get(_PROVIDER, places[_MEMORY])[0]
    above, old, below = "".join(lines[:place]), lines[place].rstrip("\r\n"), "".join(lines[place + 1 :])
    if _PROVIDER in places:
        indent = old[: len(old) - len(old.lstrip())]
        yield f"{above}{indent}{setting}  {_REPLACED}{old}{end}{below}"
        return
    column = next((column for path, (_, column) in places.items() if path[:-1] == _MEMORY), 2)
    yield f"{above}{old}{end}{' ' * column}{setting}  {_ADDED}{end}{below}"
    yield f"{above}memory:  {_REPLACED}{old}{end}  {setting}{end}{below}"


def _is_settings(text: str, wanted: Document, part: Callable[[Document], Document] = dict) -> bool:
    """Whether a YAML reader finds these settings in the text, or in a part of it."""
    try:
        return part(read_yaml(text)[0]) == wanted
    except InvalidInput:
        return False


def _provider_in(document: Document) -> str:
    memory = document.get("memory")
    return str(memory.get("provider") or "") if isinstance(memory, dict) else ""


def _drop_provider(document: Document) -> Document:
    """The document without the provider, and without `memory` where that holds nothing else."""
    memory = document.get("memory")
    rest = {key: value for key, value in memory.items() if key != "provider"} if isinstance(memory, dict) else memory
    return {key: value for key, value in {**document, "memory": rest}.items() if key != "memory" or rest}
