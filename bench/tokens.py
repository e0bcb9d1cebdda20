"""How far the token estimate and its bound are from the true counts, by kind of text.

    python bench/tokens.py DATA

DATA is the folder of public data sets. The estimate is judged by its mean error, the bound by how many
texts have more tokens than it says (it should be at most one in a hundred) and by how much it is above
the truth on average.
"""

from __future__ import annotations

import argparse
import base64
import gzip
import json
import random
import re
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clew.models.tokens import EstimatingCounter, TiktokenCounter

ENCODINGS = ("o200k_base", "cl100k_base")
TEXTS_PER_CLASS = 1500


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    data: Path = parser.parse_args().data
    counters = [TiktokenCounter(name) for name in ENCODINGS]
    print(f"{'':20}{'texts':>6}" + "".join(f" | {name:>11}: error   over  above" for name in ENCODINGS))
    for name, texts in text_classes(data):
        chosen = [text for text in texts if text.strip()]
        random.Random(1).shuffle(chosen)
        print(_row(name, chosen[:TEXTS_PER_CLASS], counters))


def text_classes(data: Path) -> Iterator[tuple[str, list[str]]]:
    """Each kind of text by name."""
    instructions = [row["text"] for row in _json_lines(data / "instruction_files/dev.jsonl.gz")]
    yield "chat, English", _chat(data / "locomo/locomo5_dev.json.gz")
    yield "instruction files", instructions
    yield "instruction sections", [part for text in instructions for part in re.split(r"\n(?=#)", text)]
    yield "code blocks", [block for text in instructions for block in re.findall(r"```\w*\n(.*?)```", text, re.DOTALL)]
    yield "Python functions", _python_functions()
    session = data / "agent_sessions/normalized/pi_large-session.jsonl.gz"
    yield "agent session", [row["text"] for row in _json_lines(session)]
    yield "meetings", _texts_within(data / "qmsum")
    yield "long chats", _texts_within(data / "longmemeval")
    yield "JSON", _lines(data / "agent_sessions/pi_large-session.jsonl.gz")
    for language, prefix in (("Chinese", "Zh"), ("Japanese", "Jp"), ("Korean", "Ko")):
        yield language, _dialogues(data / f"xpersona/{prefix}_persona_split_valid_human_annotated.json.gz")
    own: dict[str, list[str]] = json.loads((Path(__file__).parent / "token_texts.json").read_text("utf-8"))
    yield from own.items()
    yield "base64 and hex", _random_codes()


def _row(name: str, texts: list[str], counters: list[TiktokenCounter]) -> str:
    estimating = EstimatingCounter()
    estimates = np.array([estimating.estimate(text) for text in texts])
    bounds = np.array([estimating.bound(text) for text in texts])
    cells = [_cells(estimates, bounds, np.array([counter.estimate(text) for text in texts])) for counter in counters]
    return f"{name:20}{len(texts):>6}" + "".join(cells)


def _cells(estimates: NDArray[Any], bounds: NDArray[Any], true: NDArray[Any]) -> str:
    error = estimates.sum() / true.sum() - 1
    over = float((true > bounds).mean())
    above = bounds.sum() / true.sum() - 1
    return f" | {'':12} {error:>+6.0%} {over:>6.1%} {above:>+6.0%}"


def _read(path: Path) -> str:
    return gzip.decompress(path.read_bytes()).decode("utf-8")


def _lines(path: Path) -> list[str]:
    """Split at line feeds alone: other line separators may stand inside a JSON string."""
    return _read(path).rstrip("\n").split("\n")


def _json_lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in _lines(path)]


def _chat(path: Path) -> list[str]:
    conversations = [sample["conversation"] for sample in json.loads(_read(path))]
    sessions = [talk[key] for talk in conversations for key in talk if re.fullmatch(r"session_\d+", key)]
    return [turn["text"] for session in sessions for turn in session]


def _dialogues(path: Path) -> list[str]:
    return [text for sample in json.loads(_read(path)) for exchange in sample["dialogue"] for text in exchange]


def _texts_within(folder: Path) -> list[str]:
    """Every string of a folder's JSON files that is long enough to be a text."""
    lines = [line for path in sorted(folder.glob("*.json*.gz")) for line in _lines(path)]
    return [text for line in lines for text in _strings(json.loads(line)) if len(text) >= 20]


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _strings(item)


def _python_functions() -> list[str]:
    library = Path(sysconfig.get_paths()["stdlib"])
    sources = [path.read_text("utf-8", "replace") for path in sorted(library.glob("*.py"))]
    return [part for source in sources for part in re.split(r"\n(?=def |class )", source)]


def _random_codes() -> list[str]:
    chance = random.Random(1)
    payloads = [chance.randbytes(chance.randint(8, 300)) for _ in range(300)]
    return [base64.b64encode(bits).decode() if bits[0] % 2 else bits.hex() for bits in payloads]


if __name__ == "__main__":
    main()
