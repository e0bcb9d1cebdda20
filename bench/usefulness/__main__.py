"""How useful Clew is on real work, in one command: summaries, packs and the gate, with baselines.

    python -m bench.usefulness --data FOLDER
    python -m bench.usefulness --data FOLDER --unseen

Labels name places in the data files by hash and position. A third of every set was kept unseen while Clew was built;
`--unseen` counts that part alone; for the gate it adds it.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from bench.usefulness import gate, packs, summaries
from bench.usefulness.labels import LABELS, Data, Row, print_rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="the folder with the labelled files")
    parser.add_argument("--unseen", action="store_true", help="count the part that was kept unseen")
    options = parser.parse_args()
    data = Data(options.data)
    for part in (summaries, packs):
        print_rows(part.measure(data, unseen=options.unseen))
    judged = gate.measure(LABELS, options.data, options.unseen).rows
    print_rows(Row(f"gate: {row.name}", row.value, "" if row.aim is None else f">= {row.aim}") for row in judged)


if __name__ == "__main__":
    main()
