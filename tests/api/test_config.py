"""Settings come from four places, are checked at once, and never keep an upgraded store from opening."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from clew import Memory
from clew.config import MIB, RETIRED, Config, _warn_of_retired
from clew.errors import InvalidInput

pytestmark = pytest.mark.requirement("CLI-1", "STORE-8")


@pytest.fixture(autouse=True)
def not_warned() -> Iterator[None]:
    _warn_of_retired.cache_clear()
    yield
    _warn_of_retired.cache_clear()


def load(folder: Path, toml: str = "", environment: dict[str, str] | None = None, **arguments: Any) -> Config:
    (folder / "clew.toml").write_text(toml, "utf-8")
    return Config.load(environment=environment or {}, data_dir=folder, **arguments)


def test_the_number_of_settings_stays_small() -> None:
    assert len(fields(Config)) < 40


def test_later_sources_override_earlier_ones(tmp_path: Path) -> None:
    toml = "budget_tokens = 1000\ntail_share = 0.25\npack_budget_tokens = 100\n"
    environment = {"CLEW_TAIL_SHARE": "0.5", "CLEW_PACK_BUDGET_TOKENS": "200", "CLEW_RETENTION_DAYS": "9, 3"}
    config = load(tmp_path, toml, environment, pack_budget_tokens=300, listen=None)
    found = (config.budget_tokens, config.tail_share, config.pack_budget_tokens, config.retention_days, config.listen)
    assert found == (1000, 0.5, 300, (9, 3), "")


@pytest.mark.parametrize(
    ("toml", "words"),
    [
        ("budgets = 1", "unknown setting 'budgets'"),
        ("budget_tokens = 1", "budget_tokens must be from 64 to 1e"),
        ("budget_tokens = true", "budget_tokens must be a int"),
        ("tail_share = 'half'", "tail_share must be a float"),
        ("retention_days = 90", "retention_days must be a list"),
        ("retention_days = [90]", "retention_days must have 2 values"),
        ("redaction = 'some'", "redaction must be one of"),
        ("redaction_scopes = ['user:ann=some']", "redaction_scopes: user:ann=some must be one of"),
        ("data_dir = '/'", "data_dir cannot be set"),
        ("budget_tokens", "clew.toml"),
    ],
)
def test_a_wrong_setting_is_refused(tmp_path: Path, toml: str, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        load(tmp_path, toml)


def test_a_wrong_value_in_the_environment_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="CLEW_BUDGET_TOKENS: 'many' is not a valid int"):
        load(tmp_path, environment={"CLEW_BUDGET_TOKENS": "many"})


def test_no_setting_reuses_the_name_of_a_removed_one() -> None:
    assert RETIRED.isdisjoint(item.name for item in fields(Config))


def test_a_store_opens_with_one_warning_when_its_settings_name_a_removed_one(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    toml = "search_weights = [0.7, 0.2, 0.1]\nembed_batch = 'of another kind'\nembedder = 'none'\n"
    config = load(tmp_path, toml, {"CLEW_RECALL_ITEMS": "5"})
    with Memory(config) as memory:
        assert memory.status().ok
    load(tmp_path, toml, {"CLEW_RECALL_ITEMS": "5"})
    warnings = [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]
    assert warnings == ["no longer a setting, and ignored: embed_batch, recall_items, search_weights"]


def test_existing_settings_cause_no_warning(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    load(tmp_path, "budget_tokens = 1000\n")
    assert not caplog.records


@pytest.mark.parametrize(("text_bytes", "line_bytes"), [(1024, MIB), (MIB, MIB), (8 * MIB, 8 * MIB)])
def test_the_longest_allowed_text_fits_a_wire_frame(tmp_path: Path, text_bytes: int, line_bytes: int) -> None:
    assert load(tmp_path, max_text_bytes=text_bytes).frame_limit_bytes == line_bytes
