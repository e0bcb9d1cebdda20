"""The one setting of Hermes that Clew changes, as text and with an exact undo."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.errors import InvalidInput, NotFound
from clew.faces.hosts.install.hermes import Hermes, provider_of, with_provider, without_provider

pytestmark = pytest.mark.requirement("HOST-2")

BEFORE_AND_AFTER = [
    ("", "memory:  # added by clew\n  provider: clew\n"),
    ("model: x\n", "model: x\nmemory:  # added by clew\n  provider: clew\n"),
    (
        "memory:\n    memory_enabled: true # mine\nmodel: x\n",
        "memory:\n    provider: clew  # added by clew\n    memory_enabled: true # mine\nmodel: x\n",
    ),
    (
        "memory:\n  nested:\n    provider: no\n  provider: 'honcho' # old\n",
        "memory:\n  nested:\n    provider: no\n  provider: clew  # clew replaced:   provider: 'honcho' # old\n",
    ),
    ("memory: {}\nmodel: x\n", "memory:  # clew replaced: memory: {}\n  provider: clew\nmodel: x\n"),
    (
        '# mine\n\ntools:\n- a\n- \'b: c\'\nsets: [x, "y"]  # two\nmemory:\n  "provider": x\n',
        "# mine\n\ntools:\n- a\n- 'b: c'\nsets: [x, \"y\"]  # two\n"
        'memory:\n  provider: clew  # clew replaced:   "provider": x\n',
    ),
    ("memory:\r\n  a: 1\r\n", "memory:\r\n  provider: clew  # added by clew\r\n  a: 1\r\n"),
    ("memory:\n# a comment\n\nmodel: x\n", "memory:\n  provider: clew  # added by clew\n# a comment\n\nmodel: x\n"),
]


@pytest.mark.parametrize(("before", "after"), BEFORE_AND_AFTER)
def test_the_provider_is_one_line_and_its_removal_restores_the_exact_text(before: str, after: str) -> None:
    assert with_provider(before) == after
    assert provider_of(after) == "clew"
    assert with_provider(after) == after, "doing it again changes nothing"
    assert without_provider(after) == before
    assert without_provider(before) == before


UNUSUAL_AND_CLEAR = [
    "memory: &a\n  b: 1\n",
    "---\nmodel: x\n",
    "\ufeffmemory:\n  a: 1\n",
    "tools: [a,\nmemory: b]\n",
    "name: 'open\nmemory: x'\n",
    "base: &base\n  provider: x\nmemory:\n  <<: *base\n  a: 1\n",
]


@pytest.mark.parametrize("text", UNUSUAL_AND_CLEAR)
def test_unusual_yaml_is_changed_if_a_parser_confirms_the_result(text: str) -> None:
    after = with_provider(text)
    assert provider_of(after) == "clew"
    assert without_provider(after) == text


UNUSUAL = [
    "memory: &a\n  b: 1\nother: *a\n",
    "memory:\n  provider: &a x\nother: *a\n",
    "memory: {provider: honcho}\n",
    "memory:\n a: 1\nmemory:\n",
    '{"model": {"default": "x"}}\n',
    "{model: x,\n memory: y}\n",
    "model:\n  default: x\n...\n",
    "%YAML 1.1\n",
    "a: |\n  x\n---\nb: 1\n",
    "  model: x\n  b: 1\n",
    "- a\n- b\n",
    "just words\n",
    "<<: *base\n",
    "? memory\n: x\n",
    "memory: # mine\n- a\n",
    "memory:\n  - a\n",
    "memory:\n  some words\n",
    "memory: null\n  - a\n",
    "memory:\n  provider: >-\n    mem0\n",
    "memory:\n  provider: |\n    mem0\n",
    "memory:\n  provider:\n    mem0\n",
    "memory:\n  provider: mem0\n    and more\n",
    "memory:\n  provider: 'mem0\n    '\n",
    "memory:\n  provider: *chosen\n",
    "memory:\n  provider: a\n  provider: b\n",
]


def test_lines_added_later_stay() -> None:
    later = with_provider("") + "  memory_enabled: true\n"
    assert "memory_enabled: true" in without_provider(later)
    assert provider_of(without_provider(later)) == ""


def test_the_provider_is_removed_from_rewritten_settings() -> None:
    assert without_provider("memory:\n  provider: clew\n  a: 1\n") == "memory:\n  provider: ''\n  a: 1\n"


@pytest.mark.parametrize("value", ["false", "[]", "0", "''"])
def test_a_memory_setting_without_keys_is_not_replaced(value: str) -> None:
    with pytest.raises(InvalidInput, match=r"by hand|cannot change"):
        with_provider(f"memory: {value}\n")


@pytest.mark.parametrize("text", UNUSUAL)
def test_settings_that_one_line_cannot_change_are_left_alone(text: str) -> None:
    with pytest.raises(InvalidInput, match=r"by hand|not YAML|does not hold keys"):
        with_provider(text)


@pytest.mark.parametrize("end", ["...\n", "---\nb: 1\n", "{a: b}\n"])
def test_uninstalling_leaves_settings_that_became_unusual_alone(end: str) -> None:
    with pytest.raises(InvalidInput, match=r"by hand|not YAML"):
        without_provider(f"{with_provider('')}{end}")


line = st.sampled_from(["memory:", "  provider: x", "  provider:", "  a: 1", "# note", "", "model: y", "    deep: 2"])


@settings(deadline=None)  # the first text also waits for the library to load
@given(st.lists(line, max_size=8), st.booleans())
def test_other_lines_never_change(lines: list[str], ends: bool) -> None:
    text = "\n".join(lines) + ("\n" if ends and lines else "")
    try:
        after = with_provider(text)
    except InvalidInput:
        return
    assert provider_of(after) == "clew"
    kept = [line for line in text.splitlines() if not line.startswith(("  provider", "memory:"))]
    assert [line for line in after.splitlines() if line in kept or line == ""][: len(kept)] == kept
    assert without_provider(after).rstrip("\n") == text.rstrip("\n")


def test_a_provider_given_by_an_alias_is_left_to_the_operator() -> None:
    for text in ("a: &a clew\nmemory:\n  provider: *a\n", "a: &a {provider: clew}\nmemory:\n  <<: *a\n"):
        with pytest.raises(InvalidInput, match="by hand"):
            without_provider(text)


def test_a_missing_hermes_is_reported(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="nowhere"):
        Hermes.find(tmp_path / "nowhere")
