"""Random interleavings of capturing, harvesting, crashes and purges never lose or double an event."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from clew.api import Harvest
from clew.features.ledger import log as capture_log
from clew.features.ledger.harvest import harvest, some
from clew.features.ledger.lines import log_files
from tests.features.ledger.test_capture_log import SMALL, event, everything, folder, keep, make_parts
from tests.testing.effort import effort
from tests.testing.memory_store import MemoryStore

BAD_LINES = (
    b"bad",
    b"\xff\xfe",
    b"[]",
    b'{"clew":2}',
    b'{"clew":1,"id":"x","ts":1,"kind":"odd","text":"","userId":"u"}',
)


class HarvestMachine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.store = MemoryStore()
        self.parts = make_parts(Path(self.folder.name), self.store, **SMALL)
        self.captured: dict[str, str] = {}
        self.bad = 0
        self.torn = False

    @rule(sizes=st.lists(st.integers(0, 1500), min_size=1, max_size=6), user=st.sampled_from("uv"))
    def capture(self, sizes: list[int], user: str) -> None:
        first = len(self.captured)
        events = [
            event(f"event {first + n} " + "x" * size, id=str(first + n), user_id=user) for n, size in enumerate(sizes)
        ]
        keep(self.parts, *events)
        self.captured |= {str(first + n): user for n in range(len(sizes))}
        self.end_torn_line()

    @rule()
    def capture_again(self) -> None:
        again = [event(f"event {id_}", id=id_, user_id=user) for id_, user in [*self.captured.items()][-1:]]
        if again:
            keep(self.parts, *again)
            self.end_torn_line()

    def end_torn_line(self) -> None:
        """The next append turns it into a separate line."""
        self.bad += self.torn
        self.torn = False

    @rule(cut=st.integers(1, 40))
    def die_while_appending(self, cut: int) -> None:
        self.raw(b'{"clew":1,"id":"torn","ts":5,"kind":"note","text":"never acknowledged"}'[:cut])
        self.torn = True

    @rule(content=st.sampled_from(BAD_LINES))
    def append_bad_line(self, content: bytes) -> None:
        self.raw((b"\n" if self.torn else b"") + content + b"\n")
        self.end_torn_line()
        self.bad += 1

    def raw(self, content: bytes) -> None:
        files = log_files(folder(self.parts)) or [folder(self.parts) / "log-00000001.jsonl"]
        files[-1].parent.mkdir(exist_ok=True)
        with files[-1].open("ab") as stream:
            stream.write(content)

    @rule(lines=st.integers(1, 8))
    def harvest_some(self, lines: int) -> None:
        harvest(self.parts, Harvest(max_lines=lines))

    @rule()
    def work_in_the_background(self) -> None:
        some(self.parts)

    @rule(lines=st.integers(1, 8))
    def die_while_harvesting(self, lines: int) -> None:
        """The step has set lines aside, and dies before it is stored."""
        put = self.store.put
        self.store.put = _die  # type: ignore[method-assign, assignment]
        try:
            harvest(self.parts, Harvest(max_lines=lines))
        except KeyboardInterrupt:
            pass
        finally:
            self.store.put = put  # type: ignore[method-assign]

    @rule()
    def restart(self) -> None:
        self.parts = make_parts(Path(self.folder.name), self.store, **SMALL)

    @invariant()
    def every_event_is_there_once(self) -> None:
        shown = [record.id for record in self.store.page("ledger:session:s", 0, 10_000)]
        assert len(shown) == len(set(shown))
        assert set(shown) <= set(self.captured)

    def teardown(self) -> None:
        with self.folder:
            self.check_the_end()

    def check_the_end(self) -> None:
        while not harvest(self.parts, Harvest(max_lines=50)).done:
            pass
        for user in "uv":
            expected = {f"s/{id_}" for id_, owner in self.captured.items() if owner == user}
            assert {record.id for record in self.store.page(f"ledger:user:{user}", 0, 10_000)} == expected
        aside = folder(self.parts) / "set-aside.jsonl"
        lines = aside.read_bytes().splitlines() if aside.exists() else []
        places = [(found["file"], found["line"]) for found in map(json.loads, lines)]
        assert len(places) == len(set(places)) == self.bad
        self.forget_one_user()

    def forget_one_user(self) -> None:
        capture_log.forget(self.parts, lambda held: held.get("userId") == "u")
        assert not any(
            f'"{id_}"'.encode() in everything(self.parts) for id_, user in self.captured.items() if user == "u"
        )
        keep(self.parts, event("one more", id="more", user_id="v"))
        receipt = harvest(self.parts, Harvest())
        assert (receipt.stored, receipt.set_aside) == (1, 0)


def _die(*_: object) -> None:
    raise KeyboardInterrupt


HarvestMachine.TestCase.settings = settings(max_examples=effort(15, 40), stateful_step_count=25, deadline=None)


@pytest.mark.requirement("CAPTURE-1", "CAPTURE-2", "STORE-6")
class TestHarvest(HarvestMachine.TestCase):  # type: ignore[misc, name-defined]
    """Runs the machine."""
