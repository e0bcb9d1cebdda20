"""The list of requirements, the tests and the project's own words agree."""

from __future__ import annotations

import re
from pathlib import Path

from tests.requirements import DONE, REQUIREMENTS, Planned

ROOT = Path(__file__).parents[1]
MARK = re.compile(r"mark\.requirement\(([^)]*)\)")
ID = re.compile(r"[A-Z]+-\d+")


def marked() -> dict[str, set[str]]:
    """Requirement ids by the test file that names them."""
    found: dict[str, set[str]] = {}
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        marks = MARK.findall(path.read_text("utf-8"))
        found[str(path.relative_to(ROOT))] = {id_ for mark in marks for id_ in ID.findall(mark)}
    return found


def test_every_requirement_that_is_done_has_a_test() -> None:
    proven = set().union(*marked().values())
    assert sorted(id_ for id_, state in REQUIREMENTS.items() if state == DONE and id_ not in proven) == []


def test_every_id_a_test_names_exists() -> None:
    named = set().union(*marked().values())
    assert sorted(named - set(REQUIREMENTS)) == []


def test_every_test_of_behaviour_names_a_requirement() -> None:
    about_the_project = {"tests/test_requirements.py", "tests/test_tidy.py"}
    assert [path for path, ids in marked().items() if not ids and path not in about_the_project] == []


def test_nothing_that_is_planned_is_advertised() -> None:
    told = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    told = [path for path in told if "adr" not in path.parts]
    text = "\n".join(path.read_text("utf-8") for path in told)
    planned = [state.words for state in REQUIREMENTS.values() if isinstance(state, Planned)]
    assert [word for words in planned for word in words if word in text] == []
