"""Hermes: the folder of its memory provider and the one setting that names it, put there and taken away again.

Hermes keeps its settings as YAML that people write by hand. Only the line `memory.provider` is changed, as text, so
that every comment and every other line stays; what is not written in the plain way, a key of the first level at the
beginning of a line and what belongs to it indented below, cannot be changed safely like this and is left alone.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from clew.errors import InvalidInput, NotAvailable, NotFound
from clew.faces.hosts.hermes import NAME, SETTINGS, read_settings
from clew.faces.hosts.settings import Edit, user_home, was_empty

PLUGIN_FILES = ("__init__.py", "turns.py", "wire.py", "plugin.yaml")
_ADDED = "# added by clew"
_REPLACED = "# clew replaced: "
_MEMORY = re.compile(r"^(?:memory|'memory'|\"memory\")[ \t]*:(?P<rest>[^\r\n]*)$")
_PROVIDER = re.compile(r"^(?P<indent>[ \t]+)(?:provider|'provider'|\"provider\")[ \t]*:(?P<rest>[^\r\n]*)$")
_NOTHING = frozenset({"", "{}", "null", "~"})
_QUOTED = r"'(?:[^']|'')*'|\"(?:[^\"\\]|\\.)*\""
_KEY = re.compile(rf"(?:\w[\w./ -]{{0,200}}|{_QUOTED}):(?P<value>$|[ \t].*)")
_ITEM = re.compile(r"-(?P<value>$|[ \t].*)")
_IN_ONE_LINE = re.compile(
    rf"[ \t]*(?:$|[^\s\[{{'\"].*|(?:{_QUOTED}|[\[{{](?:[^\[\]{{}}'\"#]|{_QUOTED})*[\]}}])[ \t]*(?:[ \t]#.*)?$)"
)
"""A value that cannot go on at the beginning of the next line: bare, or with its quotes and brackets closed."""
_NOT_PLAIN = ("|", ">", "&", "*", "!", "{", "[")
"""How a value begins that does not stand for itself."""


@dataclass(frozen=True, slots=True)
class Hermes:
    """A Hermes by its home folder."""

    home: Path

    @classmethod
    def find(cls, home: Path | None) -> Hermes:
        """The home that is given, or named by HERMES_HOME, or the usual one. Raises NotFound where there is none."""
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
        """The memory provider that is set; empty where none is."""
        return provider_of(self._text())

    def settings(self) -> dict[str, object]:
        """What the provider was told: its endpoint, and whose memory."""
        return read_settings(self.folder / SETTINGS)

    def edit(self, *, install: bool) -> Edit:
        """The change to the settings. Raises InvalidInput."""
        path = Path(os.path.realpath(self.config))
        before = path.read_bytes() if path.exists() else None
        text = self._text()
        after = with_provider(text) if install else without_provider(text)
        if install and provider_of(after) != NAME:
            raise InvalidInput(f"{path} cannot be changed safely; set memory.provider to {NAME} by hand")
        if after == text:
            return Edit(path, before, before)
        return Edit(path, before, after.encode("utf-8") if after or was_empty(path) else None)

    def is_up_to_date(self, settings: dict[str, str]) -> bool:
        source = plugin_folder()
        same = (_content(self.folder / name) == _content(source / name) for name in PLUGIN_FILES)
        return all(same) and self.settings() == settings

    def write_folder(self, settings: dict[str, str]) -> None:
        source = plugin_folder()
        self.folder.mkdir(parents=True, exist_ok=True)
        for name in PLUGIN_FILES:
            shutil.copyfile(source / name, self.folder / name)
        (self.folder / SETTINGS).write_text(f"{json.dumps(settings, indent=2)}\n", "utf-8")

    def remove_folder(self) -> None:
        """Only what Clew wrote, and the folder where nothing else is in it."""
        for name in (*PLUGIN_FILES, SETTINGS):
            (self.folder / name).unlink(missing_ok=True)
        shutil.rmtree(self.folder / "__pycache__", ignore_errors=True)
        if self.folder.is_dir() and not any(self.folder.iterdir()):
            self.folder.rmdir()

    def _text(self) -> str:
        try:
            return (_content(self.config) or b"").decode("utf-8")
        except UnicodeDecodeError as error:
            raise InvalidInput(f"{self.config} is not UTF-8, so it was left alone") from error


def plugin_folder() -> Path:
    """The provider as files that can be copied."""
    folder = files("clew.faces.hosts").joinpath("hermes")
    if not isinstance(folder, Path) or not (folder / "plugin.yaml").is_file():
        raise NotAvailable("the provider is not there as files; install Clew unpacked, for instance with pip")
    return folder


def provider_of(text: str) -> str:
    """The value of `memory.provider`; empty where it is not set, or not in a way that is read here."""
    lines = text.splitlines()
    place = _provider_line(lines)
    found = None if place is None else _PROVIDER.match(lines[place])
    return "" if found is None else _value(found["rest"])


def with_provider(text: str) -> str:
    """The settings with Clew as the memory provider. Raises InvalidInput where they are written in an unusual way."""
    if provider_of(text) == NAME:
        return text
    _refuse_unusual(text.splitlines())
    lines = text.splitlines(keepends=True)
    end = "\r\n" if "\r\n" in text else "\n"
    bare = text.splitlines()
    memory = _memory_line(bare)
    if memory is None:
        gap = "" if not text or text.endswith("\n") else end
        return f"{text}{gap}memory:  {_ADDED}{end}  provider: {NAME}{end}"
    place = _provider_line(bare)
    if place is not None:
        return _replaced(lines, place, bare[place], end)
    heading = _MEMORY.match(bare[memory])
    if heading is None or _value(heading["rest"]) not in _NOTHING:
        raise _by_hand("memory is written in one line")
    if _value(heading["rest"]):
        return _replaced(lines, memory, bare[memory], end, f"memory:{{}}{end}  provider: {NAME}")
    children = _children(bare, memory)
    indent = _indent(bare[children[0]]) if children else "  "
    lines[memory] = lines[memory] if lines[memory].endswith("\n") else f"{lines[memory]}{end}"
    lines.insert(memory + 1, f"{indent}provider: {NAME}  {_ADDED}{end}")
    return "".join(lines)


def without_provider(text: str) -> str:
    """The settings as they were before Clew; where that is no longer known, with no provider."""
    if provider_of(text) != NAME:
        return text
    _refuse_unusual(text.splitlines())
    lines = text.splitlines(keepends=True)
    bare = text.splitlines()
    memory, place = _memory_line(bare), _provider_line(bare)
    assert memory is not None  # a provider was found below it
    assert place is not None
    is_alone = _children(bare, memory) == [place]
    if is_alone and _ADDED in bare[memory]:
        del lines[memory : place + 1]
    elif is_alone and _REPLACED in bare[memory]:
        lines[memory] = lines[memory].replace(bare[memory], bare[memory].partition(_REPLACED)[2])
        del lines[place]
    elif _ADDED in bare[place]:
        del lines[place]
    elif _REPLACED in bare[place]:
        lines[place] = lines[place].replace(bare[place], bare[place].partition(_REPLACED)[2])
    else:
        lines[place] = lines[place].replace(NAME, "''", 1)
    return "".join(lines)


def _refuse_unusual(lines: list[str]) -> None:
    """Raises InvalidInput where a line that is put in could mean something else than it says."""
    above = ""
    for number, line in ((number, line) for number, line in enumerate(lines, 1) if _is_content(line)):
        if not _indent(line):
            found = _KEY.fullmatch(line) or (_ITEM.fullmatch(line) if above else None)
            if found is None or not _IN_ONE_LINE.fullmatch(found["value"]):
                raise _by_hand(f"line {number} is written in an unusual way")
            if line.startswith("-") and _MEMORY.match(above):
                raise _by_hand("memory does not hold keys")
            above = above if line.startswith("-") else line
        elif not above:
            raise _by_hand("the first level is indented")
    _refuse_unusual_memory(lines)
    _refuse_long_provider(lines)


def _refuse_unusual_memory(lines: list[str]) -> None:
    """Only keys one below the other can be joined by another."""
    memory = _memory_line(lines)
    heading = None if memory is None else _MEMORY.match(lines[memory])
    children = [] if memory is None else _children(lines, memory)
    if heading is None or not children:
        return
    if _value(heading["rest"]) or not _KEY.fullmatch(lines[children[0]].lstrip()):
        raise _by_hand("memory does not hold keys")


def _refuse_long_provider(lines: list[str]) -> None:
    """Only a provider that stands in its line for itself can be replaced with that line."""
    place = _provider_line(lines)
    found = None if place is None else _PROVIDER.match(lines[place])
    if place is None or found is None:
        return
    below = next((line for line in lines[place + 1 :] if _is_content(line)), "")
    is_long = len(_indent(below)) > len(found["indent"]) or not _IN_ONE_LINE.fullmatch(found["rest"])
    if is_long or _value(found["rest"]).startswith(_NOT_PLAIN):
        raise _by_hand("memory.provider is written in an unusual way")


def _by_hand(reason: str) -> InvalidInput:
    return InvalidInput(f"the settings of Hermes were left alone, since {reason}; change memory.provider by hand")


def _replaced(lines: list[str], place: int, old: str, end: str, new: str | None = None) -> str:
    """The line with another in its place, which keeps the old one in a comment."""
    note = f"  {_REPLACED}{old}"
    if new is None:
        lines[place] = f"{_indent(old)}provider: {NAME}{note}{end}"
    else:
        lines[place] = f"{new.replace('{}', note, 1)}{end}"
    return "".join(lines)


def _memory_line(lines: list[str]) -> int | None:
    places = [place for place, line in enumerate(lines) if _MEMORY.match(line)]
    if len(places) > 1:
        raise _by_hand("memory is set more than once")
    return places[0] if places else None


def _provider_line(lines: list[str]) -> int | None:
    """The line of `provider` directly below `memory`."""
    memory = _memory_line(lines)
    children = [] if memory is None else _children(lines, memory)
    found = ((place, _PROVIDER.match(lines[place])) for place in children)
    places = [place for place, line in found if line and line["indent"] == _indent(lines[children[0]])]
    if len(places) > 1:
        raise _by_hand("memory.provider is set more than once")
    return places[0] if places else None


def _children(lines: list[str], heading: int) -> list[int]:
    """The lines below a key of the first level that belong to it, without comments and empty lines."""
    places: list[int] = []
    for place in range(heading + 1, len(lines)):
        if _is_content(lines[place]):
            if not _indent(lines[place]):
                break
            places.append(place)
    return places


def _is_content(line: str) -> bool:
    """Whether it is neither empty nor a comment."""
    return bool(line.strip()) and not line.lstrip().startswith("#")


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def _value(rest: str) -> str:
    """A plain value without its comment and quotes."""
    plain = re.sub(r"(?:^|[ \t])#.*$", "", rest).strip()
    return plain[1:-1] if len(plain) >= 2 and plain[0] == plain[-1] and plain[0] in "'\"" else plain


def _content(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
