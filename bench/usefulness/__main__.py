"""How useful Clew is on real work, in one command: summaries, packs, guidance and the gate, with baselines.

    python -m bench.usefulness --data FOLDER
    python -m bench.usefulness --data FOLDER --unseen

Labels name places in the data files by hash and position. A third of every set was kept unseen while Clew was built;
`--unseen` counts that part alone; for the gate it adds it.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from bench.usefulness import gate, guidance, packs, summaries
from bench.usefulness.labels import LABELS, Data, Row, print_rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="the folder with the labelled files")
    parser.add_argument("--unseen", action="store_true", help="count the part that was kept unseen")
    parser.add_argument("--part", choices=PARTS, action="append", help="measure this part alone; may be repeated")
    options = parser.parse_args()
    data = Data(options.data)
    for name in options.part or PARTS:
        print_rows(PARTS[name](data, unseen=options.unseen))


def _measure_gate(data: Data, *, unseen: bool) -> Iterator[Row]:
    for row in gate.measure(LABELS, data.folder, unseen).rows:
        yield Row(f"gate: {row.name}", row.value, "" if row.aim is None else f">= {row.aim}")


PARTS: dict[str, Callable[..., Iterable[Row]]] = {
    "summaries": summaries.measure,
    "packs": packs.measure,
    "guidance": guidance.measure,
    "gate": _measure_gate,
}


if __name__ == "__main__":
    main()
