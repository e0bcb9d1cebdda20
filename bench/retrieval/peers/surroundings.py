"""Keeps a peer to its folder: another home, no telemetry, and no way to the network."""

from __future__ import annotations

import os
from pathlib import Path

_NOBODY_LISTENS = "http://127.0.0.1:9"

_QUIET = {
    "ANONYMIZED_TELEMETRY": "False",
    "DO_NOT_TRACK": "1",
    "HF_HUB_OFFLINE": "1",
    "HTTP_PROXY": _NOBODY_LISTENS,
    "HTTPS_PROXY": _NOBODY_LISTENS,
    "ALL_PROXY": _NOBODY_LISTENS,
    "NO_PROXY": "127.0.0.1,localhost",
}


class Surroundings:
    """The environment variables of this process while a peer runs; `close` puts back what was there."""

    def __init__(self, folder: Path, **variables: str) -> None:
        self._before = dict(os.environ)
        places = {"HOME": "home", "XDG_CONFIG_HOME": "config", "XDG_DATA_HOME": "data", "XDG_CACHE_HOME": "cache"}
        for variable, place in places.items():
            (folder / place).mkdir(exist_ok=True)
            os.environ[variable] = str(folder / place)
        for name in _QUIET:
            os.environ.pop(name.lower(), None)  # the small spelling of a proxy would win
        os.environ.update(_QUIET | variables)

    def close(self) -> None:
        os.environ.clear()
        os.environ.update(self._before)
