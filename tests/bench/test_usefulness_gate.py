"""The benchmark of the gate, on a made-up folder: the files it reads, and the labels it does not touch."""

from __future__ import annotations

import gzip
import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from bench.usefulness.gate import measure

from clew.errors import InvalidInput

pytestmark = pytest.mark.requirement("GATE-4", "GATE-6")

SAID = ["/mode", "I prefer tabs in every Go file.", "delete it", "We decided to use Postgres 16.", "ok"]
KEEP = [False, True, False, True, False]


def write(path: Path, lines: list[Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    content = "".join(f"{json.dumps(line)}\n" for line in lines).encode()
    path.write_bytes(gzip.compress(content, mtime=0) if path.suffix == ".gz" else content)


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    """Labels and data: one coding session whose last two turns are unseen."""
    data, labels = tmp_path / "data", tmp_path / "labels"
    write(data / "session.jsonl.gz", [{"message": {"role": "user", "content": text}} for text in SAID])
    rows = [
        {"file": "coding", "at": str(place), "keep": keep, "rule": False, "unseen": place >= 3}
        for place, keep in enumerate(KEEP)
    ]
    write(labels / "gate.jsonl", rows)
    digest = hashlib.sha256((data / "session.jsonl.gz").read_bytes()).hexdigest()
    (labels / "files.json").write_text(json.dumps({"coding": {"path": "session.jsonl.gz", "sha256": digest}}))
    return labels, data


def test_the_unseen_labels_are_read_only_on_request(folders: tuple[Path, Path]) -> None:
    seen = {row.name: row for row in measure(*folders, embedder="none").rows}
    assert seen["turns"].value == 3
    everything = {row.name: row for row in measure(*folders, unseen=True, embedder="none").rows}
    assert everything["turns"].value == 5
    assert (everything["precision"].value, everything["recall"].value) == (1.0, 1.0)
    assert everything["precision"].aim == everything["recall"].aim == 0.75


def test_recall_falls_as_the_threshold_rises(folders: tuple[Path, Path]) -> None:
    recalls = [point.recall for point in measure(*folders, embedder="none").curve]
    assert recalls == sorted(recalls, reverse=True)


def test_a_file_other_than_the_labelled_one_is_refused(folders: tuple[Path, Path]) -> None:
    labels, data = folders
    write(data / "session.jsonl.gz", [{"message": {"role": "user", "content": "other"}}])
    with pytest.raises(InvalidInput, match="not the file that was labelled"):
        measure(labels, data)
