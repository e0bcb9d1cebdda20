"""The registry of predicates: built-in ones, those of the operator, and those it refuses."""

from __future__ import annotations

from pathlib import Path

import pytest

from clew.config import Config
from clew.core.predicates import BUILT_IN, Values, canonical, registry, sentence
from clew.errors import InvalidInput

pytestmark = pytest.mark.requirement("FACT-1")


def test_the_built_in_predicates_say_how_many_values_they_take() -> None:
    known = registry()
    assert sorted(name for name in BUILT_IN if known.is_single(name)) == [
        "configured_as", "retired_by", "source_of_truth", "status",
    ]  # fmt: skip
    assert sorted(name for name in BUILT_IN if not known.is_single(name)) == [
        "decision", "depends_on", "owns", "prefers", "replaces", "uses",
    ]  # fmt: skip


def test_the_operator_adds_predicates_and_overrides_built_in_ones() -> None:
    known = registry(["lives_in=single", "uses=single"])
    assert known.is_single("lives_in")
    assert known.values["uses"] is Values.SINGLE
    assert "status" in known


@pytest.mark.parametrize("written", ["Depends on", " depends-on ", "DEPENDS_ON", "depends\ton"])
def test_a_predicate_is_known_however_it_is_written(written: str) -> None:
    assert canonical(written) == "depends_on"
    assert registry().checked(written) == "depends_on"


def test_an_unknown_predicate_is_refused_with_a_list_of_the_known_ones() -> None:
    with pytest.raises(
        InvalidInput, match=r"'likes' is no known predicate; there are configured_as, .*fact_predicates"
    ):
        registry().checked("likes")
    assert not registry().is_single("likes")


@pytest.mark.parametrize(
    "setting", ["plan=single", "lives in=single", "=many", "x=two", "x", "1x=many", "a" * 65 + "=many"]
)
def test_a_setting_that_names_no_predicate_is_refused_when_settings_are_read(setting: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="fact_predicates"):
        Config.load(environment={}, data_dir=tmp_path, fact_predicates=(setting,))


def test_predicates_read_as_words_in_a_sentence() -> None:
    said = [sentence("It", name, "so") for name in ("uses", "depends_on", "status", "lives_in")]
    assert said == ["It uses so.", "It depends on so.", "It is so.", "It lives in so."]
