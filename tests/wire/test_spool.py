"""The spool as files: private, bounded, in order, and safe with several writers at once."""

from __future__ import annotations

import json
import os
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from clew.wire.spool import FOLDER, MAX_LINE_BYTES, Spool, SpoolState

pytestmark = pytest.mark.requirement("USE-6")


def fill(data_dir: Path, count: int, text: str = "x", **limits: int) -> None:
    for number in range(count):
        with Spool(str(data_dir), create=True, **limits) as spool:
            spool.append(method="ingest", params={"number": number, "text": text})


def numbers(data_dir: Path) -> list[Any]:
    with Spool(str(data_dir)) as spool:
        return [json.loads(spool.read(name))["params"]["number"] for name in spool.names()]


def test_events_are_read_in_the_order_in_which_they_were_written(tmp_path: Path) -> None:
    fill(tmp_path, 12)
    assert numbers(tmp_path) == list(range(12))
    (line,) = {path.read_bytes().count(b"\n") for path in (tmp_path / FOLDER).iterdir()}
    assert line == 1


def test_nobody_else_can_read_it(tmp_path: Path) -> None:
    mask = os.umask(0)
    try:
        fill(tmp_path / "new" / "data", 1)
    finally:
        os.umask(mask)
    folder = tmp_path / "new" / "data" / FOLDER
    assert folder.stat().st_mode & 0o777 == 0o700
    assert [path.stat().st_mode & 0o777 for path in folder.iterdir()] == [0o600]
    folder.chmod(0o755)
    fill(tmp_path / "new" / "data", 1)
    assert folder.stat().st_mode & 0o777 == 0o700


def test_when_there_are_too_many_events_the_oldest_are_dropped_and_counted(tmp_path: Path) -> None:
    fill(tmp_path, 7, max_events=4)
    assert numbers(tmp_path) == [3, 4, 5, 6]
    assert (SpoolState(str(tmp_path)).waiting, SpoolState(str(tmp_path)).dropped) == (4, 3)


def test_when_events_are_too_large_together_the_oldest_are_dropped(tmp_path: Path) -> None:
    fill(tmp_path, 6, text="x" * 1000, max_bytes=3500)
    assert numbers(tmp_path) == [3, 4, 5]
    assert SpoolState(str(tmp_path)).dropped == 3


def test_an_event_that_is_too_large_is_dropped_and_counted_and_displaces_no_other(tmp_path: Path) -> None:
    fill(tmp_path, 2)
    fill(tmp_path, 1, text="x" * MAX_LINE_BYTES)
    assert numbers(tmp_path) == [0, 1]
    assert SpoolState(str(tmp_path)).dropped == 1


def test_concurrent_writers_lose_nothing(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: fill(tmp_path, 10), range(8)))
    assert sorted(numbers(tmp_path)) == sorted(list(range(10)) * 8)


def test_one_reader_takes_events_at_a_time_and_sees_those_that_come_meanwhile(tmp_path: Path) -> None:
    fill(tmp_path, 2)
    with Spool(str(tmp_path)) as spool, Spool(str(tmp_path)) as other, closing(spool.take()) as names:
        taken = [next(names)]
        assert list(other.take()) == []
        spool.remove(taken[0])
        fill(tmp_path, 1)
        for name in names:
            taken.append(name)
            spool.remove(name)
    assert len(taken) == 3
    assert numbers(tmp_path) == []


@pytest.mark.parametrize("what", ["folder", "event", "count"])
def test_no_symbolic_link_is_followed(tmp_path: Path, what: str) -> None:
    data, victim = tmp_path / "data", tmp_path / "victim"
    data.mkdir()
    if what == "folder":
        victim.mkdir()
        (data / FOLDER).symlink_to(victim)
        with pytest.raises(OSError, match=FOLDER):
            fill(data, 1)
        assert list(victim.iterdir()) == []
        return
    victim.write_text("secret")
    fill(data, 1)
    if what == "count":
        (data / FOLDER / "dropped").symlink_to(victim)
        with pytest.raises(OSError, match="dropped"):
            fill(data, 1, max_events=1)
    else:
        (data / FOLDER / "000000000009-00000000.jsonl").symlink_to(victim)
        with Spool(str(data)) as spool, pytest.raises(OSError, match="symbolic"):
            spool.read(spool.names()[-1])
    assert victim.read_text() == "secret"


def test_an_unfinished_file_of_a_killed_process_is_no_event_and_is_removed(tmp_path: Path) -> None:
    fill(tmp_path, 1)
    torn = tmp_path / FOLDER / "0011223344556677.part"
    torn.write_text('{"clew": 1, "meth')
    assert numbers(tmp_path) == [0]
    fill(tmp_path, 1)
    assert torn.exists(), "its process may still write"
    os.utime(torn, (1, 1))
    fill(tmp_path, 1)
    assert not torn.exists()


def test_files_of_other_names_are_left_alone(tmp_path: Path) -> None:
    fill(tmp_path, 1)
    (tmp_path / FOLDER / "notes.jsonl").write_text("mine")
    fill(tmp_path, 1)
    assert numbers(tmp_path) == [0, 0]
    assert (tmp_path / FOLDER / "notes.jsonl").read_text() == "mine"
