"""Clew returns every text as it was given, also after an export and an import."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from clew.api import Event, Import
from clew.config import Config
from clew.engine import Memory
from clew.errors import InvalidInput

pytestmark = pytest.mark.requirement("STORE-7")

LONGEST = "s" * 512
DEEP: list[Any] = []
for _ in range(100_000):
    DEEP = [DEEP]
NOT_JSON = [math.inf, -math.inf, math.nan, {1, 2}, b"bytes", {1: "one"}, {None: 1}, 2**64, -(2**63) - 1, object(), DEEP]


def open_in(folder: Path) -> Memory:
    return Memory(Config.load(environment={}, data_dir=folder, embedder="none", tokenizer="estimate"))


def lines_of(memory: Memory) -> tuple[str, ...]:
    return memory.export().lines


@pytest.mark.parametrize("value", NOT_JSON, ids=lambda value: f"a {type(value).__name__}")
@pytest.mark.parametrize("place", ["itself", "in a list", "in an object"])
def test_metadata_that_cannot_be_restored_is_refused_and_nothing_is_written(
    memory: Memory, value: Any, place: str
) -> None:
    metadata = {"x": {"itself": value, "in a list": [0, value], "in an object": {"y": value}}[place]}
    before = lines_of(memory)
    for write in (
        lambda: memory.put("global", "a", "A text.", metadata=metadata),
        lambda: memory.ingest("s", "user", "A text.", metadata=metadata),
        lambda: memory.add_hint("before_reset", details=metadata),
        lambda: memory.capture(Event(text="A text.", session_id="s", metadata=metadata)),
    ):
        with pytest.raises(InvalidInput, match="must be JSON"):
            write()
    assert lines_of(memory) == before


@pytest.mark.parametrize("id_", ["t", "/" * 512, "%" * 512])
def test_the_longest_names_survive_a_round_trip(memory: Memory, tmp_path: Path, id_: str) -> None:
    memory.ingest(LONGEST, "user", "The ferry leaves at nine.", user_id="u" * 512, id=id_)
    memory.ingest(LONGEST, "assistant", "Noted.", user_id="u" * 512)
    memory.put(f"user:{'u' * 512}", "m" * 512, "A note.")
    assert memory.flush().ok
    lines = lines_of(memory)
    with open_in(tmp_path / "other") as other:
        other.call(Import(lines=lines))
        assert lines_of(other) == lines


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.dictionaries(st.sampled_from("pqr"), JSON, max_size=3))
def test_accepted_records_survive_an_import_and_give_the_same_export(
    tmp_path_factory: pytest.TempPathFactory, metadata: dict[str, Any]
) -> None:
    folder = tmp_path_factory.mktemp("trip")
    with open_in(folder / "one") as one, open_in(folder / "two") as two:
        one.put("global", "a", "A text.", metadata=metadata)
        (record,) = one.get("global", "a").records
        assert record.metadata == metadata
        lines = lines_of(one)
        two.call(Import(lines=lines))
        assert lines_of(two) == lines


def test_a_confirmed_statement_of_a_model_is_imported_as_confirmed(memory: Memory, tmp_path: Path) -> None:
    memory.ingest("s", "user", "I prefer tabs over spaces in Go files.", user_id="u")
    memory.put("user:u", "m", "The user prefers tabs over spaces in Go files.", by_model=True)
    memory.put("user:u", "n", "The user lives in Lisbon.", by_model=True)
    assert memory.flush().ok
    lines = lines_of(memory)
    with open_in(tmp_path / "other") as other:
        other.call(Import(lines=lines))
        assert [record.trust for record in other.get("user:u", "m", "n").records] == ["unknown", "untrusted"]
        assert lines_of(other) == lines
