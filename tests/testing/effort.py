"""How hard the long tests try: everywhere enough to catch a regression, in full where nothing is skipped."""

from __future__ import annotations

import os


def effort(quick: int, full: int) -> int:
    return full if os.environ.get("CLEW_REQUIRE_ALL") == "1" else quick
