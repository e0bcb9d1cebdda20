"""Where tests find real public data: a folder beside the project, never a copy inside it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

_FOLDER = Path(os.environ.get("CLEW_DATA", Path(__file__).parents[3] / "shared" / "data"))


def shared(name: str) -> Path:
    """The path of a data set; skips where it is missing, and fails where nothing may be skipped."""
    path = _FOLDER / name
    if path.exists():
        return path
    if nothing_may_be_skipped():
        pytest.fail(f"{name} is missing from the data folder, and nothing may be skipped here")
    pytest.skip(f"needs the data set {name}; set CLEW_DATA to the folder that holds it")


def nothing_may_be_skipped() -> bool:
    return os.environ.get("CI") == "true" or os.environ.get("CLEW_REQUIRE_ALL") == "1"
