"""How many cases tests try: enough for every day to catch a regression, all of them where nothing may be skipped."""

from __future__ import annotations

import os

from hypothesis import settings


def effort(quick: int, full: int) -> int:
    return full if os.environ.get("CLEW_REQUIRE_ALL") == "1" else quick


def load_profile() -> None:
    """Sets the number of examples for properties that name none. No example fails for being slow."""
    settings.register_profile("clew", max_examples=effort(40, 100), deadline=None)
    settings.load_profile("clew")
