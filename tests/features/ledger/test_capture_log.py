"""The capture log on disk: lines, rotation, index, artifacts, and their purge."""

from __future__ import annotations

import json
import os
import stat
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from clew.api import Capture, Captured, Event, Harvest
from clew.config import Config
from clew.errors import InvalidInput, NotFound, StoreError, TooLarge
from clew.features.ledger import artifacts
from clew.features.ledger import log as capture_log
from clew.features.ledger.capture import capture
from clew.features.ledger.harvest import harvest
from clew.features.ledger.lines import decode, encode, log_files
from clew.index.cache import IndexCache
from clew.kernel.meaning import Meaning
from clew.kernel.parts import Parts
from clew.models.tokens import make_counter
from clew.storage.protocol import Store
from tests.conftest import FixedClock, take_tuning
from tests.testing.memory_store import MemoryStore

pytestmark = pytest.mark.requirement("CAPTURE-1")

SMALL: dict[str, Any] = {"capture_file_bytes": 4096, "capture_inline_bytes": 256}


class CountedIds:
    def __init__(self) -> None:
        self._count = 0

    def new(self) -> str:
        self._count += 1
        return f"id{self._count}"


def make_parts(folder: Path, store: Store | None = None, **settings: Any) -> Parts:
    """The parts of the services, without background threads."""
    store = MemoryStore() if store is None else store
    tuning = take_tuning(settings)
    config = Config.load(environment={}, data_dir=folder, embedder="none", tokenizer="estimate", **settings)
    return Parts(
        config=config,
        store=store,
        indexes=IndexCache(store, config.index_cache_bytes),
        meaning=Meaning(store, None, "no embedder"),
        counter=make_counter(config),
        clock=FixedClock(),
        ids=CountedIds(),
        tuning=tuning,
    )


@pytest.fixture
def parts(tmp_path: Path) -> Parts:
    return make_parts(tmp_path / "data", **SMALL)


def keep(parts: Parts, *events: Event) -> list[Captured]:
    return list(capture(parts, Capture(events=events)).captured)


def event(text: str, **fields: Any) -> Event:
    return Event(text=text, **({"session_id": "s"} | fields))


def folder(parts: Parts) -> Path:
    return parts.config.data_dir / "captures"


def lines(parts: Parts) -> list[dict[str, Any]]:
    return [
        json.loads(line) for path in log_files(folder(parts)) for line in path.read_text().split("\n") if line.strip()
    ]


def everything(parts: Parts) -> bytes:
    return b"".join(path.read_bytes() for path in parts.config.data_dir.rglob("*") if path.is_file())


def harvest_all(parts: Parts) -> int:
    """Reads the log to its end; how many records are new or changed."""
    stored = 0
    while True:
        receipt = harvest(parts, Harvest())
        stored += receipt.stored
        if receipt.done:
            return stored


def test_an_event_is_one_versioned_line_with_its_keys_in_order(parts: Parts) -> None:
    (kept,) = keep(
        parts, event("ran make", tool="bash", payload={"b": 1, "a": [2]}, user_id="u", metadata={"z": 1, "c": 2})
    )
    (path,) = log_files(folder(parts))
    assert path.read_text() == (
        f'{{"clew":1,"id":"{kept.id}","ts":{parts.clock.now_ms()},"kind":"observation","text":"ran make","tool":"bash",'
        '"payload":{"a":[2],"b":1},"sessionId":"s","userId":"u","metadata":{"c":2,"z":1}}\n'
    )


def test_only_the_owner_can_read_what_was_captured(parts: Parts) -> None:
    keep(parts, event("ran", payload="x" * 300))
    captured = [folder(parts), *folder(parts).iterdir(), *(parts.config.data_dir / "artifacts").rglob("*")]
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in captured}
    assert set(modes.values()) == {0o600, 0o700}
    assert all(modes[path.name] == (0o700 if path.is_dir() else 0o600) for path in captured)


def test_an_id_is_made_from_the_event_and_distinguishes_equal_events_of_one_delivery(parts: Parts) -> None:
    twice = [event("ran", ts=5), event("ran", ts=5)]
    first = [item.id for item in keep(parts, *twice)]
    assert len(set(first)) == 2
    assert [item.id for item in keep(parts, *twice)] == first
    assert keep(parts, event("ran", ts=6))[0].id not in first
    assert keep(parts, event("ran", id="mine"))[0].id == "mine"


@pytest.mark.parametrize(
    ("bad", "error"),
    [
        (Event(text="nobody's"), InvalidInput),
        (event("x", kind="rumour"), InvalidInput),
        (event("x", id="a\nb"), InvalidInput),
        (event("x", ts=-1), InvalidInput),
        (event("x", payload=object()), InvalidInput),
        (event("x", tool=""), InvalidInput),
        (event("half \ud800"), InvalidInput),
        (event("x" * 2000), TooLarge),
        (event("x", metadata={"x": "y" * 2000}), TooLarge),
    ],
)
def test_a_capture_with_a_bad_event_writes_nothing(tmp_path: Path, bad: Event, error: type[Exception]) -> None:
    parts = make_parts(tmp_path / "data", max_text_bytes=1024)
    with pytest.raises(error):
        keep(parts, event("good"), bad)
    assert not log_files(folder(parts))


def test_a_full_file_is_closed_and_listed_in_the_index(parts: Parts) -> None:
    for number in range(60):
        keep(parts, event(f"event {number} " + "x" * 200, ts=1000 + number))
    *closed, active = log_files(folder(parts))
    assert len(closed) > 2
    assert all(path.stat().st_size <= 4096 for path in [*closed, active])
    index = capture_log.closed_files(parts)
    assert [(item.name, item.bytes) for item in index] == [(path.name, path.stat().st_size) for path in closed]
    assert [item.lines for item in index] == [len(path.read_bytes().splitlines()) for path in closed]
    assert index[0].first_ts == 1000
    assert all((other.first_ts or 0) - (one.last_ts or 0) == 1 for one, other in pairwise(index))
    assert len({item.hash for item in index}) == len(index)
    assert [line["ts"] for line in lines(parts)] == [1000 + number for number in range(60)]


@pytest.mark.parametrize("damage", [b"", b"{", b'{"clew":1,"files":[]}', None])
def test_the_index_is_rebuilt_from_the_files(parts: Parts, damage: bytes | None) -> None:
    for number in range(40):
        keep(parts, event(f"event {number} " + "x" * 200))
    index = capture_log.closed_files(parts)
    path = folder(parts) / "index.json"
    if damage is None:
        path.unlink()
    else:
        path.write_bytes(damage)
    assert capture_log.closed_files(parts) == index
    assert json.loads(path.read_bytes())["files"]


def test_a_line_cut_short_by_a_crash_stays_a_separate_line(parts: Parts) -> None:
    keep(parts, event("before"))
    (path,) = log_files(folder(parts))
    with path.open("ab") as stream:
        stream.write(b'{"clew":1,"id":"e_1","te')
    keep(parts, event("after"))
    first, torn, last = path.read_bytes().splitlines()
    assert (json.loads(first)["text"], json.loads(last)["text"]) == ("before", "after")
    assert torn == b'{"clew":1,"id":"e_1","te'


def test_a_failed_write_leaves_nothing_behind(parts: Parts, monkeypatch: pytest.MonkeyPatch) -> None:
    keep(parts, event("before"))
    before = log_files(folder(parts))[0].read_bytes()
    real: Callable[[int, bytes], int] = os.write
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", lambda descriptor, data: real(descriptor, data[: len(data) // 2]))
        with pytest.raises(StoreError):
            keep(parts, event("one"), event("two"))
    assert log_files(folder(parts))[0].read_bytes() == before


def test_concurrent_writers_do_not_disturb_each_other(parts: Parts) -> None:
    def write(number: int) -> str:
        return keep(parts, event(f"event {number} " + "x" * 100, id=str(number)))[0].id

    with ThreadPoolExecutor(8) as pool:
        ids = list(pool.map(write, range(120)))
    assert sorted(line["id"] for line in lines(parts)) == sorted(ids)
    assert len(log_files(folder(parts))) > 3


def test_a_long_payload_goes_to_an_artifact_stored_once(parts: Parts) -> None:
    long = {"out": "line\n" * 100}
    one, two = keep(parts, event("one", payload=long), event("two", payload=long))
    short = keep(parts, event("three", payload={"out": "x" * 200}))[0]
    assert one.artifact is not None
    assert (one.artifact, short.artifact) == (two.artifact, None)
    (path,) = (parts.config.data_dir / "artifacts").rglob("*.json")
    assert path.parent.name == path.name[:2]
    assert json.loads(path.read_bytes()) == long
    line = lines(parts)[0]
    assert (line["artifact"], line["bytes"], line["preview"][:12]) == (path.stem, path.stat().st_size, '{"out":"line')
    assert "payload" not in line


def test_an_artifact_is_read_up_to_the_requested_size(parts: Parts) -> None:
    name = keep(parts, event("one", payload="ä" * 1000))[0].artifact
    assert name is not None
    assert artifacts.read(parts, name, 10_000) == '"' + "ä" * 1000 + '"'
    assert artifacts.read(parts, name, 20) == '"' + "ä" * 15 + " […]"
    for wrong in ("../../clew.db", name[:-1], "0" * 40):
        with pytest.raises(NotFound):
            artifacts.read(parts, wrong, 20)


def test_an_artifact_is_removed_unless_the_log_still_refers_to_it(parts: Parts) -> None:
    name = keep(parts, event("one", payload="x" * 1000))[0].artifact
    assert name is not None
    assert artifacts.remove(parts, [name, "../x"]) == 0
    log_files(folder(parts))[0].unlink()
    assert artifacts.remove(parts, [name]) == 1
    assert artifacts.remove(parts, [name]) == 0


# --- forgetting --------------------------------------------------------------------------------------------


@pytest.mark.requirement("STORE-6")
def test_forgetting_leaves_no_trace_in_any_file(parts: Parts) -> None:
    for number in range(40):
        keep(parts, event(f"canary-{number}", user_id="ann", payload=f"payload-canary-{number} " * 30))
        keep(parts, event(f"other-{number}", user_id="bob", payload=f"payload-other-{number} " * 30))
    with log_files(folder(parts))[-1].open("ab") as stream:
        stream.write(b'{"torn":"canary-torn')
    assert capture_log.forget(parts, lambda held: held.get("userId") == "ann") == 41
    assert b"canary" not in everything(parts)
    assert [line["text"] for line in lines(parts)] == [f"other-{number}" for number in range(40)]
    assert len(list((parts.config.data_dir / "artifacts").rglob("*.json"))) == 40
    assert capture_log.forget(parts, lambda held: held.get("userId") == "ann") == 0


@pytest.mark.requirement("STORE-6", "CAPTURE-2")
@pytest.mark.parametrize("read_before", [0, 1, 25, 60])
def test_a_harvest_resumes_at_its_place_after_forgetting(parts: Parts, read_before: int) -> None:
    for number in range(60):
        keep(parts, event(f"event {number} " + "x" * 150, id=str(number), user_id="ann" if number % 3 else "bob"))
    if read_before:
        harvest(parts, Harvest(max_lines=read_before))
    capture_log.forget(parts, lambda held: held.get("userId") == "ann")
    keep(parts, event("the last one", id="last"))
    assert harvest_all(parts) == len([n for n in range(60) if n >= read_before and n % 3 == 0]) + 1
    stored = {record.id for record in parts.store.page("ledger:session:s", 0, 100)}
    assert stored == {"last"} | {str(n) for n in range(60) if n < read_before or n % 3 == 0}


@pytest.mark.requirement("STORE-6")
def test_a_closed_file_without_remaining_lines_takes_no_room(parts: Parts) -> None:
    for number in range(60):
        keep(parts, event(f"event {number} " + "x" * 200))
    capture_log.forget(parts, lambda _: True)
    *closed, active = log_files(folder(parts))
    assert {path.stat().st_size for path in closed} == {0}
    assert active.read_bytes().strip() == b""
    assert {item.lines for item in capture_log.closed_files(parts)} == {0}
    keep(parts, event("new"))
    assert harvest_all(parts) == 1


@pytest.mark.requirement("STORE-6")
def test_forgetting_an_owner_also_removes_its_set_aside_lines_and_ownerless_ones(parts: Parts, tmp_path: Path) -> None:
    other = tmp_path / "other.jsonl"
    bad = [{"clew": 9, "text": f"{who} said canary", "userId": who} for who in ("ann", "bob")]
    other.write_text("".join(json.dumps(line) + "\n" for line in bad) + "canary in no JSON\n")
    assert harvest(parts, Harvest(path=str(other))).set_aside == 3
    assert capture_log.forget(parts, lambda held: held.get("userId") == "ann") == 2
    (left,) = (folder(parts) / "set-aside.jsonl").read_text().split("\n")[1:2]
    assert json.loads(json.loads(left)["text"])["userId"] == "bob"
    assert b"ann said" not in everything(parts)
    assert b"no JSON" not in everything(parts).replace(b'"reason":"not JSON"', b"")
    other.write_text(json.dumps({"clew": 9}) + "\n")
    assert harvest(parts, Harvest(path=str(other))).set_aside == 1
    kept = [json.loads(line) for line in (folder(parts) / "set-aside.jsonl").read_text().split("\n") if line.strip()]
    assert [line["line"] for line in kept] == [2, 1]


def test_the_leftover_of_an_interrupted_rewrite_is_forgotten_too(parts: Parts) -> None:
    keep(parts, event("one", payload="x" * 1000))
    (artifact,) = (parts.config.data_dir / "artifacts").rglob("*.json")
    for path in (folder(parts) / "log-00000001.jsonl.new", artifact.with_name("ab.json.new")):
        path.write_bytes(b"canary")
    capture_log.forget(parts, lambda _: False)
    assert b"canary" not in everything(parts)
    assert artifact.exists()


@pytest.mark.requirement("STORE-6")
def test_forgetting_reads_each_file_once_and_changed_files_again(parts: Parts, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(60):
        keep(parts, event(f"event {number} " + "x" * 200, id=str(number), payload="y" * 300))
    files = [path.name for path in log_files(folder(parts))]
    read: Counter[str] = Counter()
    real = Path.open

    def counting(path: Path, *args: Any, **kwargs: Any) -> Any:
        read[path.name] += path.name in files
        return real(path, *args, **kwargs)

    monkeypatch.setattr(Path, "open", counting)
    index = capture_log.closed_files(parts)
    read.clear()
    assert capture_log.forget(parts, lambda _: False) == 0
    assert artifacts.remove(parts, ["0" * 40]) == 0
    assert +read == Counter(files)
    read.clear()
    assert capture_log.forget(parts, lambda held: held["id"] == "0") == 1
    assert (read.pop(files[0]), +read) == (3, Counter(files[1:])), "to find the line, to blank it, for the index"
    described = capture_log.closed_files(parts)
    assert (described[0].lines, described[1:]) == (index[0].lines - 1, index[1:])


@pytest.mark.requirement("STORE-6")
def test_a_line_set_aside_does_not_keep_an_artifact(parts: Parts, tmp_path: Path) -> None:
    name = keep(parts, event("one", payload="canary " * 100))[0].artifact
    other = tmp_path / "other.jsonl"
    other.write_text(json.dumps({"clew": 9, "artifact": name, "userId": "bob"}) + "\n")
    assert harvest(parts, Harvest(path=str(other))).set_aside == 1
    capture_log.forget(parts, lambda held: held.get("userId") != "bob")
    assert b"canary" not in everything(parts)


def test_two_writers_may_write_the_same_artifact_at_once(parts: Parts, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.fsync
    content = b'"' + b"x" * 300 + b'"'

    def meanwhile(descriptor: int) -> None:
        monkeypatch.setattr(os, "fsync", real)
        artifacts.remove_marks(artifacts.keep(parts, content))
        real(descriptor)

    monkeypatch.setattr(os, "fsync", meanwhile)
    artifacts.remove_marks(artifacts.keep(parts, content))
    assert artifacts.read(parts, artifacts.name_of(content), 1000).encode() == content
    assert [path.stem for path in (parts.config.data_dir / "artifacts").rglob("*.*")] == [artifacts.name_of(content)]


def test_a_failed_write_of_an_artifact_leaves_nothing_behind(parts: Parts, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="space"):
        artifacts.keep(parts, b'"canary"')
    assert b"canary" not in everything(parts)


def test_a_line_reads_back_as_it_was_written(parts: Parts) -> None:
    keep(parts, event("狐 \x00 \u2028 \U0001f98a", payload=[None, 1.5, {"": ""}], source="https://example.org/a"))
    (line,) = log_files(folder(parts))[0].read_bytes().splitlines()
    assert encode(decode(line)) == line + b"\n"
