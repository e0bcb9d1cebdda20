"""A daemon under steady load with a store of constant size holds no more after an hour than after a minute."""

from __future__ import annotations

import gc
import os
import sys
import threading
from collections import Counter
from pathlib import Path

import pytest

from clew.api import MemoryApi
from clew.client import connect
from clew.faces.daemon.limits import Limits
from clew.storage.sqlite.connection import READERS
from tests.conftest import OpenMemory
from tests.testing.daemons import WAIT_S, Serving, short_folder

pytestmark = [pytest.mark.requirement("RPC-2", "RPC-3"), pytest.mark.long]

CLIENTS = 3
ROUNDS = 40
WORDS = ("harbor", "billing", "atlas", "deploy", "mirror")


def work(api: MemoryApi, user_id: str, number: int) -> None:
    """Writes, reads and takes away again, always with the same few words."""
    word = WORDS[number % len(WORDS)]
    for step in range(10):
        api.put(f"user:{user_id}", f"r{step}", f"The port of {word} is {8000 + number % 7}.")
        assert api.search(f"port {word}", user_id=user_id).hits
    api.pack(f"which port has {word}", user_id=user_id)
    session_id = f"{user_id}-{number}"
    for step in range(3):
        api.ingest(session_id, "user", f"We decided to use {word} {step}.", user_id=user_id)
    api.assemble(session_id, user_id=user_id, budget_tokens=600)
    api.status()
    api.clear(f"session:{session_id}-notes")
    api.purge(session_id=session_id)


def run_rounds(endpoint: str, first: int) -> None:
    """All clients at once; each connects anew every round."""
    failures: list[BaseException] = []

    def run(client: int) -> None:
        try:
            for number in range(first, first + ROUNDS):
                with connect(endpoint) as api:
                    work(api, f"u{client}", number)
        except BaseException as error:  # noqa: BLE001 — handed to the test, which fails with it
            failures.append(error)

    threads = [threading.Thread(target=run, args=(client,)) for client in range(CLIENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def held() -> tuple[Counter[str], int, Counter[str]]:
    """Live objects by type, allocated blocks, and open files by name."""
    gc.collect()
    objects = Counter(type(each).__name__ for each in gc.get_objects())
    files: Counter[str] = Counter()
    for name in os.listdir("/proc/self/fd"):
        try:
            files[Path(os.readlink(f"/proc/self/fd/{name}")).name.partition(":")[0]] += 1
        except FileNotFoundError:
            continue
    return objects, sys.getallocatedblocks(), files


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="counts open files through /proc")
def test_steady_load_on_a_store_of_constant_size_makes_nothing_grow(open_memory: OpenMemory) -> None:
    memory = open_memory()
    limits = Limits(frame_bytes=1 << 20, connections=16, deadline_s=WAIT_S)
    with short_folder() as folder, Serving(memory, folder, limits) as serving:
        run_rounds(serving.endpoint, 0)
        objects, blocks, files = held()
        for turn in range(1, 4):
            run_rounds(serving.endpoint, turn * ROUNDS)
        memory.flush(timeout_ms=20_000)
        objects_then, blocks_then, files_then = held()
        grown = {name: count - objects[name] for name, count in objects_then.items() if count - objects[name] > 200}
        assert sum(objects_then.values()) < sum(objects.values()) * 1.1, grown
        assert blocks_then < blocks * 1.1, grown
        of_store = sum(count for name, count in files_then.items() if name.startswith("clew.db"))
        assert of_store <= 2 * (2 * READERS + 1) + 2, "two pools of readers and a writer, each with its log"
        others = {name: count for name, count in files_then.items() if not name.startswith("clew.db")}
        assert all(count <= files[name] + CLIENTS for name, count in others.items()), (files, files_then)
