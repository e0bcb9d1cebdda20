"""A session under random steps: speak, compact, open, dismiss, deliver again, move. Each step is verified."""

from __future__ import annotations

import tempfile
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from clew.api import Compact, Export, Import, Message
from clew.config import Config
from clew.core.tuning import Tuning
from clew.engine import Memory
from clew.errors import Conflict, RawHistoryProtected
from clew.storage.paging import every_member
from tests.conftest import FixedClock
from tests.testing.effort import effort

SESSIONS = ("s", "t")
TEXTS = (
    "ok",
    "",
    "You must never merge without a review.",
    "We decided to move the invoices to PostgreSQL because the export of 31 March failed with ERR_42 twice.",
    "Where is the log of the nightly run? I only find /srv/export/7.log, which ends at 02:14.",
    "NUL \x00, a lone \r, a separator \u2028 and 狐と犬 🦊 in one line; all of it has to come back as it was given.",
    '{"status": "failed", "code": 500, "path": "/api/v2/export", "trace": "' + "QUJD" * 60 + '"}',
)
sessions = st.sampled_from(SESSIONS)
picks = st.integers(0, 10_000)
turns = st.tuples(
    st.sampled_from(["user", "assistant", "system", "tool_call", "tool"]),
    st.sampled_from(TEXTS),
    st.integers(-5, 5),
    st.sampled_from([None, "c1", "c2"]),
)


class HistoryMachine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.stores = 0
        self.clock = FixedClock()
        self.said: dict[str, dict[str, tuple[str, str]]] = {name: {} for name in SESSIONS}
        self.for_user: set[tuple[str, str]] = set()
        self.count = 0
        self.earlier: tuple[str, ...] = ()
        self.memory = self.open()

    def open(self) -> Memory:
        config = Config.load(
            environment={},
            data_dir=Path(self.folder.name) / str(self.stores),
            embedder="none",
            synchronous="normal",
            tokenizer="estimate",
            compact_siblings=3,
        )
        return Memory(config, clock=self.clock, tuning=Tuning(tail_max_turns=6))

    # --- steps --------------------------------------------------------------------------------------

    @rule(session=sessions, given=st.lists(turns, min_size=1, max_size=12), known_user=st.booleans())
    def say(self, session: str, given: list[tuple[str, str, int, str | None]], known_user: bool) -> None:
        """Clocks may step back; calls and results may or may not belong together."""
        said = self.said[session]
        messages = []
        for role, text, minutes, call in given:
            self.clock.ms += 1000
            self.count += 1
            id_ = f"t{self.count}"
            self.for_user |= {(session, id_)} if known_user else set()
            said[id_] = ({"tool": "tool_result"}.get(role, role), text)
            messages.append(
                Message(
                    role=role,
                    text=text,
                    id=id_,
                    ts=self.clock.ms + minutes * 60_000,
                    tool_call_ids=(call,) if role == "tool_call" and call else (),
                    tool_call_id=call if role == "tool" else None,
                )
            )
        receipts = self.memory.ingest_batch(session, messages, user_id="ana" if known_user else None).receipts
        assert all(receipt.stored for receipt in receipts)

    @rule(session=sessions, pick=picks)
    def deliver_again(self, session: str, pick: int) -> None:
        if said := self.said[session]:
            id_ = list(said)[pick % len(said)]
            role, text = said[id_]
            assert self.memory.ingest(session, role, text, id=id_).duplicate
            with pytest.raises(Conflict):
                self.memory.ingest(session, role, text + "!", id=id_)

    @rule(
        session=sessions,
        force=st.booleans(),
        size=st.sampled_from([None, -1, 0, 1, 2, 3, 5]),
        min_turns=st.sampled_from([None, -1, 1, 3]),
        tail=st.sampled_from([None, 0, 60]),
    )
    def compact(self, session: str, force: bool, size: int | None, min_turns: int | None, tail: int | None) -> None:
        request = Compact(
            session_id=session, force=force, cluster_turns=size, min_turns=min_turns, tail_tokens=tail, prior_tokens=80
        )
        done = self.memory.call(request)
        assert done.degraded == ()
        assert done.tokens_after <= done.tokens_before
        assert done.did_compact <= (done.turns_removed >= 2)

    @rule(session=sessions, pick=picks, depth=st.integers(1, 4), budget=st.integers(1, 400))
    def open_one(self, session: str, pick: int, depth: int, budget: int) -> None:
        if not self.said[session]:
            return
        nodes = self.memory.show_session(session).view
        if nodes:
            id_ = nodes[pick % len(nodes)].id
            found = self.memory.expand(session, id_, max_depth=depth, budget_tokens=budget)
            named = {turn.id for turn in found.turns} | {node.id for node in found.closed}
            assert named
            assert self.memory.describe(session, id_).in_view
            assert {turn.id for turn in found.turns} <= self.said[session].keys()

    @rule(session=sessions, pick=picks)
    def dismiss(self, session: str, pick: int) -> None:
        if said := self.said[session]:
            self.memory.delete(f"session:{session}", list(said)[pick % len(said)])

    @rule(session=sessions)
    def clear(self, session: str) -> None:
        with suppress(RawHistoryProtected):
            self.memory.clear(f"session:{session}")

    @rule(session=sessions, pick=picks)
    def readmit(self, session: str, pick: int) -> None:
        """An operator's repair may readmit any node, whether it needs that or not."""
        if not self.said[session]:
            return
        nodes = [*self.said[session], *(node.id for node in self.memory.show_session(session).summaries)]
        self.memory._parts.store.readmit(session, [nodes[pick % len(nodes)]])

    @rule(session=sessions, pick=picks)
    def purge_a_turn(self, session: str, pick: int) -> None:
        if said := self.said[session]:
            id_ = list(said)[pick % len(said)]
            assert self.memory.purge(ref=f"session_raw:{session}/{id_}").turns == 1
            self.forget(session, [id_])

    @rule(session=sessions)
    def purge_a_session(self, session: str) -> None:
        assert self.memory.purge(session_id=session).turns == len(self.said[session])
        self.forget(session, list(self.said[session]))

    @rule()
    def purge_the_user(self) -> None:
        theirs = {session for session, _ in self.for_user}
        receipt = self.memory.purge(user_id="ana")
        assert receipt.turns == sum(len(self.said[session]) for session in theirs)
        for session in theirs:
            self.forget(session, list(self.said[session]))

    def forget(self, session: str, ids: list[str]) -> None:
        self.earlier = ()
        for id_ in ids:
            del self.said[session][id_]
            self.for_user.discard((session, id_))
        assert not any(f'"id":"{id_}"' in line for line in self.exported() for id_ in ids)

    @rule()
    def repair(self) -> None:
        assert self.memory.verify(repair=True).ok

    @rule()
    def reopen(self) -> None:
        self.memory.close()
        self.memory = self.open()

    @rule()
    def move(self) -> None:
        """Move to a new store, which replaces the old one."""
        lines = self.exported()
        self.memory.close()
        self.stores += 1
        self.memory = self.open()
        self.memory.call(Import(lines=lines))
        assert self.exported() == lines
        self.earlier = lines

    @precondition(lambda self: self.earlier)
    @rule()
    def import_again(self) -> None:
        assert self.memory.call(Import(lines=self.earlier)).stored == 0

    def exported(self) -> tuple[str, ...]:
        return self.memory.call(Export(limit=5000)).lines

    # --- invariants ----------------------------------------------------------------------------------

    @invariant()
    def it_verifies(self) -> None:
        assert [check for check in self.memory.verify().checks if not check.ok] == []

    @invariant()
    def the_raw_history_is_what_was_said(self) -> None:
        for session, said in self.said.items():
            kept = self.memory.list(f"session_raw:{session}", limit=10_000).records
            assert [(record.id, (record.role, record.text)) for record in kept] == list(said.items())

    @invariant()
    def the_view_leads_to_every_turn_that_was_not_dismissed(self) -> None:
        for session, said in self.said.items():
            if not said:
                continue
            view = self.memory.show_session(session).view
            found = [turn for node in view for turn in self.memory.expand(session, node.id, max_depth=64).turns]
            away = {record.id for record in every_member(self.memory._store, f"_dismissed:{session}")}
            assert said.keys() - away <= {turn.id for turn in found} <= said.keys()
            assert all(said[turn.id] == (turn.role, turn.text) for turn in found)

    def teardown(self) -> None:
        self.memory.close()
        self.folder.cleanup()


HistoryMachine.TestCase.settings = settings(
    max_examples=effort(10, 150),
    stateful_step_count=25,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


@pytest.mark.requirement("COMP-8", "COMP-10", "STORE-2", "STORE-7", "SAFE-1")
class TestHistory(HistoryMachine.TestCase):  # type: ignore[misc, name-defined]
    pass
