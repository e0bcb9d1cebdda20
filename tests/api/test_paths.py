"""How many modules a request passes through: those are what a newcomer has to read."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType

import pytest

from clew.engine import Memory
from tests.conftest import OpenMemory

BOXES = ("core", "index", "models", "storage", "text")
"""The folders below the kernel. Their names say what is in them, and nobody has to read them all to follow a
request, so each counts once."""
GENERATED = "clew.api.methods."
"""`make docs` writes these modules, each of which builds a request and hands it on."""

MOST = 30
MOST_IN_ALL = {"ingest": 34, "search": 30, "assemble": 55, "pack": 67, "compact": 48}
"""With every module inside the boxes. Raise a number only where an operation gains a feature."""


def modules_entered_by(operation: Callable[[], object]) -> set[str]:
    """The modules of the package whose functions run in this thread."""
    seen: set[str] = set()

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            seen.add(frame.f_globals.get("__name__", ""))

    sys.setprofile(note)
    try:
        operation()
    finally:
        sys.setprofile(None)
    return {name for name in seen if name.startswith("clew.") and not name.startswith(GENERATED)}


def box_of(module: str) -> str:
    """The name of a module, or of the box that contains it."""
    folder = module.split(".")[1]
    return folder if folder in BOXES else module


@pytest.fixture
def memory(open_memory: OpenMemory) -> Memory:
    memory = open_memory(tokenizer="estimate")
    for number in range(60):
        role = "assistant" if number % 2 else "user"
        memory.ingest("s", role, f"The port of service {number} is {8000 + number}; we ship on Tuesdays.", user_id="u")
    assert memory.flush().ok
    return memory


@pytest.mark.requirement("API-1")
@pytest.mark.parametrize("name", MOST_IN_ALL)
def test_an_operation_passes_through_few_modules(memory: Memory, name: str) -> None:
    operations: dict[str, Callable[[], object]] = {
        "ingest": lambda: memory.ingest("s", "user", "The staging server listens on 9090.", user_id="u"),
        "search": lambda: memory.search("which port is staging", user_id="u", session_id="s"),
        "assemble": lambda: memory.assemble("s", query="which port", user_id="u", budget_tokens=2000),
        "pack": lambda: memory.pack("which port", user_id="u", session_id="s"),
        "compact": lambda: memory.compact("s", force=True),
    }
    passed = modules_entered_by(operations[name])
    opened = {box_of(module) for module in passed}
    assert len(opened) <= MOST, sorted(opened)
    assert len(passed) <= MOST_IN_ALL[name], sorted(passed)
