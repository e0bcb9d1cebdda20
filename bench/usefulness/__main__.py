"""How useful Clew is on real work, in one command: summaries, guidance, the gate and packs, with baselines.

    python -m bench.usefulness --data FOLDER
    python -m bench.usefulness --data FOLDER --unseen

Labels name places in the data files by hash and position. A third of every set was kept unseen while Clew was built;
`--unseen` counts that part alone.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from bench.usefulness import packs, summaries
from bench.usefulness.labels import Data, print_rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="the folder with the labelled files")
    parser.add_argument("--unseen", action="store_true", help="count the part that was kept unseen")
    options = parser.parse_args()
    data = Data(options.data)
    for part in (summaries, packs):
        print_rows(part.measure(data, unseen=options.unseen))


if __name__ == "__main__":
    main()
