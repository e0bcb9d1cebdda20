"""What the documents show is what happens: their examples are run, and their outputs compared in shape.

A fence marked `run` is executed, and a fence marked `output` after it is what its standard output looks
like: numbers and ids may differ, and a line of `…` stands for any lines. A fence marked `frames` holds
requests to the daemon, each followed by its answer. Blocks of one page share a data folder; in the how-to,
blocks of one recipe do.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from clew.config import CONFIG_FILE, RETIRED, Config
from clew.faces.cli.main import cli
from clew.models.packs.pack import DEFAULT_PACK, list_packs, packs_dir
from tests.faces.cli.test_reference import parse
from tests.test_requirements import marked
from tests.testing.daemons import Wire, short_folder
from tests.testing.data import nothing_may_be_skipped
from tests.testing.speed import patience

pytestmark = pytest.mark.requirement("API-1", "CLI-1", "RPC-1")

ROOT = Path(__file__).parents[2]
TUTORIAL = ROOT / "docs" / "tutorial.md"
HOW_TO = ROOT / "docs" / "how-to.md"
AGENTS = ROOT / "docs" / "agents.md"
DESIGN = ROOT / "docs" / "design.md"
PAGES = [ROOT / "README.md", *(path for path in sorted((ROOT / "docs").rglob("*.md")) if "reference" not in path.parts)]

FENCE = re.compile(r"^```(?P<language>\w+)(?P<marks>[^\n]*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
RECIPE = re.compile(r"^## (.+)$", re.MULTILINE)
COMMAND = re.compile(r"^(?:    )?(clew \w.*)$", re.MULTILINE)


@dataclass(frozen=True)
class Block:
    language: str
    marks: tuple[str, ...]
    text: str


def blocks(text: str) -> list[Block]:
    return [Block(found["language"], tuple(found["marks"].split()), found["text"]) for found in FENCE.finditer(text)]


def recipes() -> dict[str, list[Block]]:
    found: dict[str, list[Block]] = {}
    for page in (HOW_TO, AGENTS):
        _, *parts = RECIPE.split(page.read_text("utf-8"))
        found |= {title: blocks(text) for title, text in zip(parts[::2], parts[1::2], strict=True)}
    return found


class Reader:
    """Somebody who follows a page step by step."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        tools = folder / "bin"
        tools.mkdir()
        for name, arguments in (("clew", "-m clew.faces.cli.main "), ("python", "")):
            (tools / name).write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} {arguments}"$@"\n', "utf-8")
            (tools / name).chmod(0o755)
        settings = {
            "CLEW_HOME": str(folder / "memory"),
            "CLEW_PACKS": str(folder / "packs"),
            "CLEW_EMBEDDER": "hashing",
            "CLEW_SYNCHRONOUS": "normal",
            "PYTHONPATH": str(ROOT / "src"),
            "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}",
        }
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith("CLEW_")} | settings

    def follow(self, steps: list[Block]) -> None:
        output = ""
        for block in steps:
            if "run" in block.marks:
                output = self.run(block)
            elif "output" in block.marks:
                assert_same_shape(output, block.text)
            elif "frames" in block.marks:
                self._exchange(block.text.splitlines())

    def run(self, block: Block) -> str:
        program = ["python", "-c"] if block.language == "python" else ["bash", "-euo", "pipefail", "-c"]
        done = subprocess.run(
            [*program, block.text], capture_output=True, text=True, timeout=patience(300), check=False,
            cwd=self.folder, env=self.environment,
        )  # fmt: skip
        assert done.returncode == 0, f"{block.text}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def _exchange(self, lines: list[str]) -> None:
        with Wire(f"unix:{self.folder}/memory/clew.sock") as wire:
            for request, answer in zip(lines[::2], lines[1::2], strict=True):
                assert shape(wire.reply(request.encode())) == shape(json.loads(answer)), request


def assert_same_shape(output: str, shown: str) -> None:
    """The shown lines occur in this order; between two, there is nothing where no `…` stands."""
    pattern = "".join(r"(?:.*\n)*?" if line == "…" else _pattern(line) for line in shown.splitlines())
    assert re.fullmatch(pattern, _plain(output)), f"shown:\n{shown}\nprinted:\n{output}"


def _pattern(line: str) -> str:
    return re.escape(_plain(line)).replace("…", ".*") + "\n"


def _plain(text: str) -> str:
    """The text without what differs from run to run."""
    text = re.sub(r"(?<![\w.])(?:[tm]_)?[0-9a-f]{16,}\b", "ID", text)
    text = re.sub(r"unix:\S+", "unix:PATH", text)
    text = re.sub(r"\d(?:[\d,.:TZ-]*[\dZ])?", "N", text)
    return re.sub(r"[ \t]+", " ", text)


def shape(value: Any) -> Any:
    """Keys and types; of numbers and ids only that they are there."""
    match value:
        case dict():
            return {key: shape(inner) for key, inner in value.items()}
        case list():
            return [shape(inner) for inner in value]
        case bool() | None:
            return value
        case int() | float():
            return "number"
        case str():
            return _plain(value)


A_CLIENT = """
from types import SimpleNamespace

answer = {"choices": [{"message": {"role": "assistant", "content": "On Fridays."}}]}
completions = SimpleNamespace(create=lambda model, messages: answer)
client = SimpleNamespace(chat=SimpleNamespace(completions=completions))
"""
"""What the example takes for granted: a client of a model."""


@pytest.fixture
def reader() -> Iterator[Reader]:
    with short_folder() as folder:
        reader = Reader(folder)
        yield reader
        subprocess.run(["clew", "down"], cwd=folder, env=reader.environment, capture_output=True, check=True)


@pytest.mark.long
def test_the_tutorial_works_from_the_first_step_to_the_last(reader: Reader) -> None:
    steps = blocks(TUTORIAL.read_text("utf-8"))
    left_out = [block for block in steps if not block.marks]
    assert [block.text.split()[:2] for block in left_out] == [["git", "clone"]]
    assert {block.marks for block in steps if block.marks} == {("run",), ("output",), ("frames",)}
    reader.follow(steps)


def test_the_readme_example_works(reader: Reader) -> None:
    example, chat = (block for block in blocks((ROOT / "README.md").read_text("utf-8")) if block.language == "python")
    reader.follow([Block("python", ("run",), example.text), Block("sh", ("run",), "clew up")])
    reader.follow([Block("python", ("run",), f"{A_CLIENT}{chat.text}"), Block("text", ("output",), "On Fridays.")])


@pytest.mark.parametrize("embedder", ["auto", "none"])
def test_the_readme_example_finds_the_rule_and_puts_it_into_another_session(reader: Reader, embedder: str) -> None:
    """With the default model, and by words alone."""
    if embedder == "auto" and DEFAULT_PACK not in [pack.name for pack in list_packs(packs_dir())]:
        if nothing_may_be_skipped():
            pytest.fail("the default model is not installed, and nothing may be skipped here")
        pytest.skip("needs the default model: `clew model install`")
    reader.environment |= {"CLEW_EMBEDDER": embedder, "CLEW_PACKS": str(packs_dir())}
    rule = "Deploys go through staging first, always."
    example = next(block for block in blocks((ROOT / "README.md").read_text("utf-8")) if block.language == "python")
    assert f'"monday", "user", "{rule}"' in example.text
    found, _, rest = reader.run(Block("python", ("run",), example.text)).partition("[{")
    assert re.match(rf"[01]\.\d\d {re.escape(rule)}\n", found), found
    context, *receipt = rest.splitlines()
    assert rule in context
    used = {name: int(tokens) for name, tokens, *_ in map(str.split, receipt)}
    assert list(used) == ["hard", "soft", "tail", "guidance", "recalled"]
    assert used["guidance"] > 0


@pytest.mark.long
@pytest.mark.parametrize("title", recipes())
def test_a_recipe_works(title: str, reader: Reader) -> None:
    reader.follow(recipes()[title])


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_command_line_that_is_shown_is_accepted(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("backup.jsonl", "conversation.jsonl", "session.jsonl"):
        (tmp_path / name).touch()
    (tmp_path / ".claude" / "projects").mkdir(parents=True)
    for line in COMMAND.findall(path.read_text("utf-8").replace("~", str(tmp_path))):
        words = shlex.split(line, comments=True)[1:]
        for end in ("|", ">", "&"):
            words = words[: words.index(end)] if end in words else words
        parse(cli, words)


def test_every_settings_file_that_is_shown_can_be_read(tmp_path: Path) -> None:
    shown = [block.text for steps in recipes().values() for block in steps if block.language == "toml"]
    assert shown
    for text in shown:
        (tmp_path / CONFIG_FILE).write_text(text, "utf-8")
        Config.load(environment={}, data_dir=tmp_path)
        assert RETIRED.isdisjoint(tomllib.loads(text))


def test_make_knows_every_target_the_documents_name() -> None:
    targets = set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    named = {
        name for path in PAGES for name in re.findall(r"(?:^ *|`)make (\w+)", path.read_text("utf-8"), re.MULTILINE)
    }
    assert named
    assert named <= targets


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_file_that_is_named_exists(path: Path) -> None:
    named = re.findall(r"`((?:[\w-]+/)*[\w-]+\.(?:py|sql))`", path.read_text("utf-8"))
    places = (ROOT, ROOT / "src" / "clew")
    assert [name for name in named if not any((place / name).is_file() for place in places)] == []


def test_the_tests_that_are_said_to_prove_a_requirement_name_it() -> None:
    proven = marked()
    rows = re.findall(r"^\| .+ \| ([A-Z\d, -]+) \| (`tests/.+`) \|$", DESIGN.read_text("utf-8"), re.MULTILINE)
    assert rows
    for ids, files in rows:
        named = set().union(*(proven[file] for file in re.findall(r"`(.+?)`", files)))
        assert set(ids.split(", ")) <= named, files
