"""How hard tests try: every day enough to catch a regression, in full where nothing is skipped."""

from __future__ import annotations

import os

from hypothesis import settings


def effort(quick: int, full: int) -> int:
    return full if os.environ.get("CLEW_REQUIRE_ALL") == "1" else quick


def load_profile() -> None:
    """How often a property is tried that names no number. No example fails for being slow."""
    settings.register_profile("clew", max_examples=effort(40, 100), deadline=None)
    settings.load_profile("clew")
