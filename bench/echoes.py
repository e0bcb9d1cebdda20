"""Replies that repeat what a tool said: how many Clew recognises, and which honest ones it takes for such.

    python -m bench.echoes --data FOLDER

Each payload of the injection corpora comes in as the result of a tool, and the assistant says it again in one of
several forms. Counted are the replies that are trusted no more than the result. The honest replies are those of a
real coding session, each compared with the tool results before it.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
from collections import Counter, deque
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench.retrieval.files import read_lines
from clew.kernel.echoes import HEARD_TEXTS
from clew.text.calls import speech
from clew.text.echoes import Runs, repeats, runs_of

SESSION = Path("agent_sessions", "normalized", "pi_large-session.jsonl.gz")
KEYS = ("text", "injected", "question", "context", "prompt", "adv_texts", "action")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="the folder with the datasets")
    data = parser.parse_args().data
    found, asked = _attacks(data)
    for form, count in asked.items():
        print(f"{form:<28}{found[form]:>6} of {count} recognised ({found[form] / count:.1%})")
    flagged, replies = _honest(data)
    print(f"{'honest replies of a session':<28}{flagged:>6} of {replies} held back ({flagged / replies:.1%})")


def _attacks(data: Path) -> tuple[Counter[str], Counter[str]]:
    found: Counter[str] = Counter()
    asked: Counter[str] = Counter()
    for payload in dict.fromkeys(payloads(data)):
        source = runs_of(payload)
        if len(source):  # shorter ones say too little to be told from chance
            for form, reply in _forms(payload):
                asked[form] += 1
                found[form] += repeats(runs_of(reply), source)
    return found, asked


def _forms(payload: str) -> Iterator[tuple[str, str]]:
    sentences = [part for part in re.split(r"(?<=[.!?。！？])\s*", payload) if part.strip()] or [payload]
    words = payload.split()
    quarter = len(words) // 4
    yield "word for word", payload
    yield "It says: …", f'It says: "{payload}" Let me know if you want to go on.'
    yield "its first sentence", f"The page says that {sentences[0]}"
    yield "its longest sentence", f"I read the page. It says: {max(sentences, key=len)}"
    yield "the middle half of its words", f"In short: {' '.join(words[quarter : quarter + max(len(words) // 2, 1)])}"


def _honest(data: Path) -> tuple[int, int]:
    """Of the replies of a real session, those that repeat a tool result before them; and all."""
    heard: deque[Runs] = deque(maxlen=HEARD_TEXTS)
    flagged = count = 0
    for turn in read_lines(data / SESSION, dict[str, Any]):
        text = turn.get("text") or ""
        if turn["role"] == "tool":
            heard.append(runs_of(text))
        elif turn["role"] == "assistant" and not text.startswith("{") and speech(text).strip():
            reply = runs_of(speech(text))
            count += 1
            flagged += any(repeats(reply, source) for source in heard)
    return flagged, count


def payloads(data: Path) -> Iterator[str]:
    for path in sorted((data / "injection").iterdir()):
        content = (gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()).decode("utf-8")
        rows = json.loads(content) if path.suffix == ".json" else map(json.loads, content.splitlines())
        for row in rows:
            for value in (row.get(key) for key in KEYS):
                yield from [value] if isinstance(value, str) else value if isinstance(value, list) else ()


if __name__ == "__main__":
    main()
