"""How well the deontic lexer tells rules from lore, and what the hard tier of real files costs.

    python -m bench.deontic DATA

DATA is the folder of public data sets. Three tables: the lexer on sentences that others labelled; on nodes of
real instruction files, labelled for this project by file hash and place (`bench/labels`), where files fall by
their hash into a half that was looked at while the lexer was written and a half that was not; and the share of
usual budgets that hard nodes take, for the default choice of hard kinds and for stricter ones. Wasted tokens are
those of texts taken for rules that are none.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from clew.features.authored.rules import DEFAULT_HARD_KINDS, parse
from clew.models.tokens import TiktokenCounter
from clew.text.deontic import read
from clew.text.rules import Turn

LABELS = Path(__file__).parent / "labels" / "instruction_nodes.jsonl"
INSTRUCTION_FILES = "instruction_files/dev.jsonl.gz"
BUDGETS = (8_000, 32_000, 128_000)
HARD_SHARE = 0.25
CHOICES: dict[str, frozenset[str]] = {
    "front_matter, list_item": DEFAULT_HARD_KINDS,
    "front_matter, rule_item": frozenset({"front_matter", "rule_item"}),
    "front_matter": frozenset({"front_matter"}),
}

_tokens = TiktokenCounter("o200k_base").estimate


@dataclass(frozen=True, slots=True)
class Labelled:
    text: str
    is_rule: bool


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    data: Path = parser.parse_args().data
    documents = [row["text"] for row in _json_lines(data / INSTRUCTION_FILES)]
    print(f"{'':34}{'texts':>6}{'rules':>6} | precision  recall  false+  false- | wasted tokens: of taken  a text")
    for name, texts in _sentence_sets(data / "deontic"):
        print(_row(name, texts, lambda text: read(text).binding))
    for name, texts in _guidance_sets(data / "deontic"):
        print(_row(name, texts, lambda text: bool(Turn.read(text).rules)))
    for name, texts in _instruction_nodes(documents):
        print(_row(name, texts, lambda text: read(text).binding))
    print(
        f"\n{'hard kinds, share of budget':34}"
        + "".join(f" | {budget:>7,}: p50   p90    max  over" for budget in BUDGETS)
    )
    for name, kinds in CHOICES.items():
        print(_share_row(name, documents, kinds))


def _row(name: str, texts: Iterable[Labelled], is_taken: Callable[[str], bool]) -> str:
    judged = [(item, is_taken(item.text)) for item in texts]
    rules = sum(item.is_rule for item, _ in judged)
    taken = [item for item, kept in judged if kept]
    right = sum(item.is_rule for item in taken)
    wasted = sum(_tokens(item.text) for item in taken if not item.is_rule)
    return (
        f"{name:34}{len(judged):>6}{rules:>6} |"
        f"{_ratio(right, len(taken)):>9.1%}{_ratio(right, rules):>9.1%}"
        f"{_ratio(len(taken) - right, len(judged) - rules):>8.1%}{_ratio(rules - right, rules):>8.1%} |"
        f"{_ratio(wasted, sum(_tokens(item.text) for item in taken)):>24.1%}{wasted / len(judged):>8.1f}"
    )


def _share_row(name: str, documents: list[str], kinds: frozenset[str]) -> str:
    costs = np.array([sum(_tokens(node.text) for node in parse(text, kinds).hard) for text in documents])
    cells = []
    for budget in BUDGETS:
        middle, high, most = np.percentile(costs / budget, [50, 90, 100])
        over = float((costs > HARD_SHARE * budget).mean())
        cells.append(f" | {'':7} {middle:>6.1%}{high:>6.1%}{most:>7.1%}{over:>6.0%}")
    return f"{name:34}" + "".join(cells)


def _ratio(part: int, whole: int) -> float:
    return part / whole if whole else 0.0


def _sentence_sets(folder: Path) -> Iterator[tuple[str, list[Labelled]]]:
    for name, rows in _sets(folder):
        if "BehavioralRule" in rows[0]:
            yield name, [Labelled(row["Text"], row["BehavioralRule"]) for row in rows]


def _guidance_sets(folder: Path) -> Iterator[tuple[str, list[Labelled]]]:
    """What a user said, and whether it is guidance worth keeping word for word."""
    for name, rows in _sets(folder):
        turns = [row for row in rows if row.get("ProvenanceClass") == "session_turn"]
        if turns:
            yield f"{name}, turns", [Labelled(row["Text"], row["expectedTier"] == "tier1_5") for row in turns]


def _sets(folder: Path) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    for path in sorted(folder.iterdir()):
        name = path.name.removeprefix("libravdb_").split(".")[0]
        yield name, _json_lines(path) if path.suffix == ".jsonl" else json.loads(path.read_text("utf-8"))


def _instruction_nodes(documents: list[str]) -> Iterator[tuple[str, list[Labelled]]]:
    sources = {hashlib.sha256(text.encode()).hexdigest(): text.encode() for text in documents}
    halves: dict[bool, list[Labelled]] = {False: [], True: []}
    for label in _json_lines(LABELS):
        text = sources[label["sha256"]][label["start"] : label["end"]].decode()
        halves[_is_held_back(label["sha256"])].append(Labelled(text, label["directive"]))
    yield "instruction nodes, looked at", halves[False]
    yield "instruction nodes, held back", halves[True]


def _is_held_back(file_hash: str) -> bool:
    return int(hashlib.sha256(file_hash.encode()).hexdigest(), 16) % 2 == 1


def _json_lines(path: Path) -> list[dict[str, Any]]:
    data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    return [json.loads(line) for line in data.decode().rstrip("\n").split("\n")]


if __name__ == "__main__":
    main()
