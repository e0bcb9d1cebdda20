"""Carries out each writing operation on a small store, with a fault at one step after another, and looks at the rest.

Each attempt is a process of its own, forked from one that has no threads. `python -m tests.fault.campaign FAULT LIMIT
[OPERATION ...]` writes what it found as JSON.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path
from typing import Any

import apsw

from clew.api import (
    AddHint,
    Age,
    Backup,
    Event,
    Export,
    FactsAssert,
    Import,
    ListPurges,
    Message,
    PlansAdd,
    ReadJournal,
)
from clew.config import Config
from clew.engine import Memory
from clew.errors import ClewError
from clew.features.ledger.lines import log_files
from clew.kernel.queue import Indexer
from clew.storage.sqlite.restore import restore
from tests.conftest import NOW_MS, FixedClock
from tests.fault.disk import KILLED, Disk, Fault

TOLD = "We decided to move service {0} to region {1} on 3 March; see src/export/job{0}.py and E10{0}."
LONG = "the output of a tool, line by line; " * 400


class Numbered:
    """Ids that are the same in every attempt."""

    def __init__(self) -> None:
        self._numbers = count()

    def new(self) -> str:
        return f"n{next(self._numbers):05d}"


def opened(folder: Path) -> Memory:
    config = Config.load(environment={}, data_dir=folder / "data", embedder="hashing", synchronous="full")
    return Memory(config, clock=FixedClock(), ids=Numbered())


def fill(folder: Path) -> None:
    with opened(folder) as memory:
        memory.ingest_batch(
            "s", [Message(role="user", text=TOLD.format(n, n * 7), id=f"t{n}", ts=NOW_MS + n) for n in range(24)],
            user_id="ann",
        )  # fmt: skip
        memory.ingest("theirs", "user", "You must always answer in French.", user_id="bob", id="b", ts=NOW_MS)
        memory.capture(Event(id="e1", text="harvested", payload=LONG + "1", user_id="ann", session_id="s"))
        memory.harvest()
        for value in ("draft", "live"):
            assertion = FactsAssert(subject="page", predicate="status", object=value, statement=value, user_id="ann")
            memory.call(assertion)
        memory.call(AddHint(hook="session_end", details={"why": "nobody's"}))
        memory.put("user:ann", "old", "A note that nobody has used for years.")
        memory.put("user:ann", "older", "A note that nobody has used in years.")
        assert memory.flush(timeout_ms=60_000).ok
        memory.call(Backup(path=str(folder / "copy.db")))
        memory._indexer.close()  # or it would harvest this
        memory.capture(Event(id="e2", text="not harvested", payload=LONG + "2", user_id="ann", session_id="s"))


def _import(memory: Memory, _: Path) -> None:
    (line, *_rest) = memory.call(Export(limit=1)).lines
    memory.call(Import(lines=(line.replace('"t0"', '"t99"'),)))


def _archive(memory: Memory, _: Path) -> None:
    memory._parts.clock.ms += 10 * 365 * 86_400_000  # type: ignore[attr-defined]
    memory.call(Age(dry_run=False))


def _compact(memory: Memory, _: Path) -> None:
    receipt = memory.compact("s", force=True)
    if not receipt.did_compact:  # it says why, and does not raise
        raise ClewError(str(receipt.degraded))


def _restore(memory: Memory, folder: Path) -> None:
    memory.close()
    restore(folder / "data" / "clew.db", folder / "copy.db")


OPERATIONS: dict[str, Callable[[Memory, Path], Any]] = {
    "ingest": lambda memory, _: memory.ingest("s", "user", "One more turn.", user_id="ann", id="more", ts=NOW_MS),
    "put": lambda memory, _: memory.put("user:ann", "new", "A new record."),
    "capture": lambda memory, _: memory.capture(Event(id="e3", text="captured", payload=LONG + "3", user_id="ann")),
    "harvest": lambda memory, _: memory.harvest(),
    "compact": _compact,
    "purge user": lambda memory, _: memory.purge(user_id="ann"),
    "purge record": lambda memory, _: memory.purge(ref="user:ann/old"),
    "reindex": lambda memory, _: memory.reindex(everything=True),
    "backup": lambda memory, folder: memory.call(Backup(path=str(folder / "new.db"))),
    "restore": _restore,
    "import": _import,
    "fact": lambda memory, _: memory.call(
        FactsAssert(subject="page", predicate="status", object="gone", statement="gone", user_id="ann")
    ),
    "plan": lambda memory, _: memory.call(PlansAdd(what="Write the report.", user_id="ann")),
    "archive": _archive,
    "delete": lambda memory, _: memory.delete("user:ann", "old"),
    "review": lambda memory, _: memory.review("session_raw:s/t0", "quarantine"),
    "label": lambda memory, _: memory.label("user:ann/old", importance="must_remember"),
    "merge": lambda memory, _: memory.merge("user:ann/old", ["user:ann/older"]),
    "observe": lambda memory, _: memory.observe_run("s", force=True),
    "repair": lambda memory, _: memory.verify(repair=True),
    "hint": lambda memory, _: memory.call(AddHint(hook="session_end", session_id="s", details={})),
}


GRADUAL = ("archive", "merge")
"""Operations that work record by record, so that nobody waits: halfway, they only have to keep all texts. What a merge
drops gives way at once, and leaves later."""


def attempt(folder: Path, operation: str, fault: Fault, fails_at: int) -> dict[str, Any]:
    """In a child: one operation with one fault. How it ended, and how many steps it took."""
    disk = Disk(folder, fault, fails_at)
    for name in ("start", "close", "join", "wake"):  # the work behind writes comes when it comes
        setattr(Indexer, name, lambda _: None)
    memory = opened(folder)
    memory._parts.meaning.settle()
    disk.armed = True
    try:
        OPERATIONS[operation](memory, folder)
        outcome = "done"
    except ClewError:
        outcome = "refused"
    except Exception as error:  # noqa: BLE001 — that is what is looked for
        outcome = f"raw {type(error).__name__}: {error}"
    disk.armed = False
    if fault is Fault.POWER and disk.steps < fails_at:
        disk.end()
    return {"outcome": outcome, "steps": disk.steps}


def look(folder: Path) -> dict[str, Any]:
    """In a child: everything that a caller can see of the store, and whether its checks hold."""
    with opened(folder) as memory:
        memory.flush(timeout_ms=60_000)
        lines: list[str] = []
        cursor: int | None = 0
        while cursor is not None:
            page = memory.call(Export(cursor=cursor))
            lines += page.lines
            cursor = page.cursor
        report = memory.verify()
        data = folder / "data"
        log = [line for path in log_files(data / "captures") for line in path.read_text("utf-8").splitlines()]
        return {
            "problems": [f"{check.name}: {check.problems}" for check in report.checks if not check.ok],
            "unfinished": [reason for reason in memory.status().degraded if "purge" in reason],
            "state": {
                "records": sorted(json.dumps(_without_uses(json.loads(line)), sort_keys=True) for line in lines),
                "journal": [entry.hook for entry in memory.call(ReadJournal()).entries],
                "purges": [entry.kind for entry in memory.call(ListPurges()).purges],
                "captured": sorted(line for line in log if line.strip()),
                "copies": [_copied(path) for path in sorted(folder.glob("new*.db"))],
                "artifacts": sorted(path.name for path in (data / "artifacts").rglob("*.json")),
            },
        }


def _copied(path: Path) -> str:
    """The texts in a backup; it is whole, or it is not there."""
    try:
        connection = apsw.Connection(str(path))
        sound = connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        texts = connection.execute("SELECT text FROM records ORDER BY key").fetchall()
        connection.close()
    except apsw.Error as error:
        return f"damaged: {error}"
    return json.dumps(texts) if sound else "damaged"


def _without_uses(line: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in line.items() if name not in ("accessCount", "lastUsed", "uses")}


def in_child(work: Callable[[], dict[str, Any]]) -> dict[str, Any] | None:
    """Its answer; None where it died."""
    with tempfile.NamedTemporaryFile() as answer:
        child = os.fork()
        if child == 0:
            try:
                written = json.dumps(work())
            except BaseException as error:  # noqa: BLE001 — the edge of a process
                written = json.dumps({"crash": f"{type(error).__name__}: {error}"})
            Path(answer.name).write_text(written, "utf-8")
            os._exit(0)
        _, status = os.waitpid(child, 0)
        return None if os.waitstatus_to_exitcode(status) == KILLED else json.loads(Path(answer.name).read_text("utf-8"))


def judge(fault: Fault, done: dict[str, Any] | None, seen: dict[str, Any], before: Any, after: Any) -> str | None:
    """What is wrong; None where nothing is."""
    outcome = "died" if done is None else done.get("outcome", done.get("crash", ""))
    if outcome not in ("died", "done", "refused"):
        return f"the error is none of Clew's: {outcome}"
    if "crash" in seen:
        return f"the store does not open: {seen['crash']}"
    if seen["problems"] or seen["unfinished"]:
        return f"not whole: {seen['problems'] or seen['unfinished']}"
    if outcome == "done" and seen["state"] != after and not (fault is not Fault.NONE and after == before):
        return f"an acknowledged operation is missing: {_difference(seen['state'], after)}"
    if seen["state"] not in (before, after):
        return f"neither before nor after: {_difference(seen['state'], before)}"
    return None


def _difference(one: dict[str, list[str]], other: dict[str, list[str]]) -> str:
    return "; ".join(f"{name}: {len(one[name])} and {len(other[name])}" for name in one if one[name] != other[name])


def _texts(seen: dict[str, Any]) -> list[str]:
    return sorted(json.loads(line)["text"] for line in seen.get("state", {}).get("records", ()))


def spread(steps: int, limit: int) -> list[int]:
    """At most so many of the steps, with the first and the last, evenly."""
    if steps <= limit:
        return list(range(1, steps + 1))
    return sorted({1 + round(number * (steps - 1) / max(limit - 1, 1)) for number in range(limit)})


def run(fault: Fault, limit: int, root: Path, operations: Sequence[str]) -> dict[str, Any]:
    """Each operation, with the fault at no more than so many of its steps."""
    template = root / "template"
    found: dict[str, Any] = {"attempts": 0, "faults": [], "steps": {}}
    fill(template)

    def copied() -> Path:
        folder = root / "attempt"
        shutil.rmtree(root / "attempt", ignore_errors=True)
        shutil.copytree(template, folder)
        return folder

    before = look(copied())["state"]  # here, so that no child has to load what all of them need
    for operation in operations:
        folder = copied()
        done = in_child(lambda: attempt(folder, operation, Fault.NONE, 0))  # noqa: B023 — called at once
        seen = in_child(lambda: look(folder)) or {}  # noqa: B023
        after = seen.get("state", before)
        wrong = judge(Fault.NONE, done, seen, before, after)
        steps = (done or {}).get("steps", 0)
        found["steps"][operation] = steps
        found["faults"] += [f"{operation} without a fault: {wrong}"] if wrong else []
        for at in spread(steps + (fault is Fault.POWER), limit):
            folder = copied()
            done = in_child(lambda: attempt(folder, operation, fault, at))  # noqa: B023
            seen = in_child(lambda: look(folder)) or {}  # noqa: B023
            is_acknowledged = fault is Fault.POWER and at > steps
            if operation in GRADUAL and _texts(seen) == _texts({"state": before}):
                seen["state"] = after
            wrong = judge(fault, {"outcome": "done"} if is_acknowledged else done, seen, before, after)
            found["attempts"] += 1
            found["faults"] += [f"{operation}, step {at} of {steps}: {wrong}"] if wrong else []
    return found


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        _, kind, most, *named = sys.argv
        outcome = run(Fault(kind), int(most), Path(place), named or list(OPERATIONS))
        sys.stdout.write(json.dumps(outcome, indent=1) + "\n")
