"""How long the gate takes for a megabyte of the characters that are hardest on its patterns.

    python -m bench.gate

Grades texts of one repeated piece each: every ASCII character, the beginnings of everything the patterns look
for, scripts, and random mixtures. Then it searches for worse ones: it changes the worst pieces at random and keeps
what became slower. Prints the worst, in processor time, since others may use the machine too: the best of a few runs.
"""

from __future__ import annotations

import argparse
import random
import string
import sys
from collections.abc import Iterator
from time import monotonic, thread_time

from clew.features.gate.rules import grade

SIZE_CHARS = 1_000_000
LIMIT_MS = 50.0
SHOWN = 10

PIECES = (
    "a.", "a/", "a_", "aA", "A1-", "0f", "1/2/", "{{{{", "漢", "字。", "é", "😀", "👩\u200d💻", "`a", "```\n", "~~~\n",
    "'a'\n", '"a" ', "( ", "at a(", "//", "/*", "\n# ", "\n    ", "x = 1\n", "=>", "--a=", "a@^", "12345678-",
    "-" * 60 + "\n", "I ", "my ", "my a ", "a b ", "if if A", "def a", "class A", "import a, ", "from a ", "set a ",
    "migrate a ", "public static ", "Alice ", "with Alice ", "http://a", "GET /", "E" * 15, "3 ", "3. ", "in may ",
    "\x00", "\r",
)  # fmt: skip
"""Beginnings of what the patterns look for, and characters they stumble over."""

KEPT = 12
LONGEST_PIECE = 12


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--search-s", type=float, default=20.0, help="seconds to search for worse pieces (20)")
    parser.add_argument("--seed", type=int, default=1, help="of the search and the mixtures (1)")
    options = parser.parse_args()
    chance = random.Random(options.seed)
    times = {name: _time_ms(text) for name, text in _texts(chance)}
    found = _search(chance, options.search_s)
    _print("given", times)
    _print("found by searching", found)
    worst = max([*times.values(), *found.values()])
    print(f"worst {worst:.1f} ms for {SIZE_CHARS:,} characters; the limit is {LIMIT_MS:.0f} ms")
    return 0 if worst < LIMIT_MS else 1


def _texts(chance: random.Random) -> Iterator[tuple[str, str]]:
    for piece in [*map(chr, range(128)), *PIECES]:
        yield repr(piece), _repeated(piece)
    characters = string.printable + "漢é😀"
    yield "random characters", "".join(chance.choices(characters, k=SIZE_CHARS))
    yield "random pieces", _repeated("".join(chance.choices(PIECES, k=50_000)))


def _search(chance: random.Random, seconds: float) -> dict[str, float]:
    """The slowest pieces that chance finds when it builds on the slowest before; those are timed again."""
    atoms = [*string.printable, *PIECES]
    slowest: list[tuple[float, tuple[str, ...]]] = []
    deadline = monotonic() + seconds
    while monotonic() < deadline:
        piece = list(chance.choice(slowest)[1]) if slowest and chance.random() < 0.7 else []
        piece.insert(chance.randint(0, len(piece)), chance.choice(atoms))
        while len(piece) > 1 and (len(piece) > LONGEST_PIECE or chance.random() < 0.4):
            del piece[chance.randrange(len(piece))]
        slowest = sorted([*slowest, (_time_ms(_repeated("".join(piece))), tuple(piece))], reverse=True)[:KEPT]
    pieces = ["".join(piece) for _, piece in slowest]
    return {repr(piece): _time_ms(_repeated(piece), runs=20) for piece in pieces}


def _repeated(piece: str) -> str:
    return (piece * (SIZE_CHARS // len(piece) + 1))[:SIZE_CHARS]


def _time_ms(text: str, runs: int = 3) -> float:
    best = float("inf")
    for _ in range(runs):
        started = thread_time()
        grade(text, [], [])
        best = min(best, thread_time() - started)
    return best * 1000


def _print(title: str, times: dict[str, float]) -> None:
    print(f"{title}:")
    for name, time_ms in sorted(times.items(), key=lambda item: -item[1])[:SHOWN]:
        print(f"{time_ms:8.1f} ms  {name}")


if __name__ == "__main__":
    sys.exit(main())
