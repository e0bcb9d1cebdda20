"""How many modules a request passes through: what a newcomer has to read to follow it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType

import pytest

from clew.engine import Memory
from tests.conftest import OpenMemory

MOST = {"ingest": 26, "search": 26, "assemble": 53, "pack": 62, "compact": 46}
"""Modules that an operation may enter; 30 is the aim for all of them. Raised only where an operation learnt something:
to tell speech from calls and pastes, to show the state of things, and to keep rules from the moment they are said."""


def entered(operation: Callable[[], object]) -> set[str]:
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
    return {name for name in seen if name.startswith("clew.")}


@pytest.fixture
def memory(open_memory: OpenMemory) -> Memory:
    memory = open_memory(tokenizer="estimate")
    for number in range(60):
        role = "assistant" if number % 2 else "user"
        memory.ingest("s", role, f"The port of service {number} is {8000 + number}; we ship on Tuesdays.", user_id="u")
    assert memory.flush().ok
    return memory


@pytest.mark.requirement("API-1")
@pytest.mark.parametrize("name", MOST)
def test_an_operation_passes_through_few_modules(memory: Memory, name: str) -> None:
    operations: dict[str, Callable[[], object]] = {
        "ingest": lambda: memory.ingest("s", "user", "The staging server listens on 9090.", user_id="u"),
        "search": lambda: memory.search("which port is staging", user_id="u", session_id="s"),
        "assemble": lambda: memory.assemble("s", query="which port", user_id="u", budget_tokens=2000),
        "pack": lambda: memory.pack("which port", user_id="u", session_id="s"),
        "compact": lambda: memory.compact("s", force=True),
    }
    passed = entered(operations[name])
    assert len(passed) <= MOST[name], sorted(passed)
