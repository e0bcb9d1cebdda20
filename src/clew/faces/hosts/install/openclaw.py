"""OpenClaw: links the plugin of this package into a host by the host's own command line, and undoes it.

OpenClaw edits its settings itself: it knows where they are, checks them, and tells a running gateway. Clew only gives
the commands. It knows every command before the first one runs, so that a dry run shows all of them.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clew.errors import ClewError, NotAvailable, NotFound
from clew.faces.hosts.install import packaged_folder

PLUGIN = "clew"
SLOTS = ("memory", "contextEngine")
TESTED = (2026, 9, 6)
"""The version of OpenClaw that the plugin is tested with. Older versions store turns twice or cannot link it."""
TIMEOUT_S = 300.0
_QUOTED_CHARS = 600
"""How much of the output of a failed command an error quotes, from its end."""

Command = tuple[str, ...]

_VERSION = re.compile(r"\b(\d{4})\.(\d{1,2})\.(\d{1,3})\b")


def plugin_folder() -> Path:
    """The plugin as files that a host can read."""
    return packaged_folder("openclaw", "openclaw.plugin.json")


def install_commands(folder: Path, socket: str, user_id: str | None, earlier_user_id: str | None) -> list[Command]:
    """Link the plugin, which takes both slots, and tell it where its daemon is and whose memory it keeps.

    OpenClaw remembers that a plugin was removed and links it again switched off, so Clew also switches it on. OpenClaw
    fails to remove a setting that is not there, so Clew removes a user only where an earlier install named one.
    """
    settings = {"socket": socket} if user_id is None else {"socket": socket, "user": user_id}
    is_left_over = user_id is None and earlier_user_id is not None
    return [
        ("plugins", "install", "--link", str(folder), "--force", "--accept-capabilities"),
        ("plugins", "enable", PLUGIN, "--accept-capabilities"),
        *(
            ("config", "set", f"plugins.entries.{PLUGIN}.config.{name}", json.dumps(value), "--strict-json")
            for name, value in settings.items()
        ),
        *([("config", "unset", f"plugins.entries.{PLUGIN}.config.user")] if is_left_over else []),
    ]


FORGET: Command = ("config", "unset", f"plugins.entries.{PLUGIN}")
"""OpenClaw keeps the entry of a removed plugin, switched off. It fails to remove an entry that is not there."""


def uninstall_commands() -> list[Command]:
    """Remove the plugin; OpenClaw restores both slots. The files belong to this package and stay."""
    return [("plugins", "uninstall", PLUGIN, "--force", "--keep-files"), FORGET]


@dataclass(frozen=True, slots=True)
class Wiring:
    """The settings of a host that concern the plugin."""

    slots: dict[str, str | None]
    known: bool
    """Whether the settings name the plugin at all."""
    enabled: bool
    socket: str | None
    user: str | None

    @property
    def missing(self) -> list[str]:
        """Settings that must change before OpenClaw uses the plugin."""
        wrong = [f"plugins.slots.{name}" for name in SLOTS if self.slots[name] != PLUGIN]
        return wrong if self.enabled else [*wrong, f"plugins.entries.{PLUGIN}.enabled"]


@dataclass(frozen=True, slots=True)
class OpenClaw:
    """The command line of an installed OpenClaw."""

    program: str

    @classmethod
    def find(cls, given: Path | None = None) -> OpenClaw:
        """The given program, or the one on the path. Raises NotFound."""
        found = shutil.which("openclaw" if given is None else str(given))
        if found is None:
            where = "on the PATH" if given is None else f"at {given}"
            raise NotFound(f"there is no program openclaw {where}; install it, or name it with --openclaw")
        return cls(os.path.abspath(found))

    def line(self, command: Command) -> str:
        """The command as it can be typed."""
        return shlex.join((self.program, *command))

    def run(self, command: Command) -> str:
        """The output of the command. Raises a ClewError that quotes its end where it fails."""
        done = self._execute(command)
        if done.returncode != 0:
            said = " ".join(f"{done.stdout}\n{done.stderr}".split())[-_QUOTED_CHARS:]
            raise ClewError(f"`{self.line(command)}` failed with status {done.returncode}: {said}")
        return done.stdout

    def check_version(self) -> str | None:
        """A note about a version that the plugin is not tested with. Raises NotAvailable for an older one."""
        said = self.run(("--version",))
        found = _VERSION.search(said)
        version = tuple(int(part) for part in found.groups()) if found else None
        if version is not None and version < TESTED:
            raise NotAvailable(
                f"OpenClaw {_dotted(version)} is older than {_dotted(TESTED)}, the version Clew is tested with; "
                "update OpenClaw, then install again"
            )
        if version == TESTED:
            return None
        name = "this OpenClaw" if version is None else f"OpenClaw {_dotted(version)}"
        return f"Clew is tested with OpenClaw {_dotted(TESTED)}, and not with {name}"

    def wiring(self) -> Wiring:
        """The settings as OpenClaw reads them."""
        plugins = self._setting("plugins")
        slots, entries = (_object(plugins, name) for name in ("slots", "entries"))
        entry = _object(entries, PLUGIN)
        config = _object(entry, "config")
        return Wiring(
            slots={name: _text(slots, name) for name in SLOTS},
            known=PLUGIN in entries,
            enabled=entry.get("enabled") is True,
            socket=_text(config, "socket"),
            user=_text(config, "user"),
        )

    def _setting(self, path: str) -> dict[str, Any]:
        """A part of the settings; empty where it is not set, because OpenClaw then fails."""
        done = self._execute(("config", "get", path, "--json"))
        try:
            value = json.loads(done.stdout)
        except ValueError:
            return {}
        return value if isinstance(value, dict) and done.returncode == 0 else {}

    def _execute(self, command: Command) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "NO_COLOR": "1"}
        try:
            return subprocess.run(
                (self.program, *command),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                encoding="utf-8",
                errors="replace",
                env=environment,
                timeout=TIMEOUT_S,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise ClewError(f"`{self.line(command)}` did not end within {TIMEOUT_S:.0f} s") from error
        except OSError as error:
            raise ClewError(f"{self.program} cannot be run: {error.strerror}") from error


def _object(value: dict[str, Any], name: str) -> dict[str, Any]:
    found = value.get(name)
    return found if isinstance(found, dict) else {}


def _text(value: dict[str, Any], name: str) -> str | None:
    found = value.get(name)
    return found if isinstance(found, str) else None


def _dotted(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version))
