"""A fault at any step of any writing operation: what was acknowledged is there, and nothing is done by halves.

Every day, each operation meets one of the faults at a few of its steps, and a purge meets all of them.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.fault.campaign import OPERATIONS, spread
from tests.fault.disk import Fault

pytestmark = pytest.mark.requirement("SAFE-1", "STORE-4", "STORE-6")

FAULTS: list[Fault] = [fault for fault in Fault if fault is not Fault.NONE]
ALL_STEPS = 1_000_000
ROOT = Path(__file__).parents[2]


def campaign(fault: Fault, limit: int, operations: Sequence[str]) -> dict[str, Any]:
    """In a process without threads, since it forks."""
    command = [sys.executable, "-m", "tests.fault.campaign", fault, str(limit), *operations]
    finished = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stderr
    found: dict[str, Any] = json.loads(finished.stdout)
    return found


@pytest.mark.parametrize("fault", FAULTS)
def test_an_operation_that_meets_a_fault_is_wholly_done_or_not_begun(fault: Fault) -> None:
    share = list(OPERATIONS)[FAULTS.index(fault) :: len(FAULTS)]
    found = campaign(fault, 2, sorted({*share, "purge user"}))
    assert found["faults"] == []
    assert found["attempts"] >= 2 * len(share)
    assert min(found["steps"].values()) > 0


@pytest.mark.long
@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("fault", FAULTS)
def test_an_operation_that_meets_a_fault_at_any_step_is_wholly_done_or_not_begun(fault: Fault, operation: str) -> None:
    found = campaign(fault, ALL_STEPS, [operation])
    assert found["faults"] == []
    assert found["attempts"] >= found["steps"][operation] > 0


def test_the_steps_that_are_tried_include_the_first_and_the_last() -> None:
    assert spread(5, 9) == [1, 2, 3, 4, 5]
    assert spread(100, 3) == [1, 51, 100]
    assert spread(100, 2) == [1, 100]
