"""Every payload of the injection corpora, stored by every way in, and the places where it must never appear."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import msgspec
import pytest

from clew.api import Event, ListTrust, Message
from clew.config import Config
from clew.engine import Memory
from clew.features.pack.layout import without_private_paths
from clew.features.pack.rules import UNTRUSTED_ITEMS, UNTRUSTED_SHARE
from clew.text.framing import (
    FRAME_CLOSE,
    FRAME_OPEN,
    GUIDANCE_CLOSE,
    GUIDANCE_OPEN,
    OPENED_CLOSE,
    OPENED_OPEN,
    PACK_CLOSE,
    PACK_OPEN,
)
from tests.testing.data import shared
from tests.testing.effort import effort
from tests.testing.lines import read, read_opened

pytestmark = pytest.mark.requirement("SAFE-2", "PACK-4")

PAYLOAD_KEYS = ("text", "injected", "question", "context", "prompt", "adv_texts", "action")
RULES_FILE = "- Never push to main.\n- Keep answers short.\n"
EVENTS_A_CALL = 1000
TURNS_A_CALL = 500
PACK_TOKENS = 1200


@dataclass(frozen=True)
class Store:
    """A store full of real talk and of payloads."""

    memory: Memory
    payloads: tuple[str, ...]

    @cached_property
    def asked(self) -> list[str]:
        """A sample of payloads, for queries in their own words."""
        return list(self.payloads[:: max(len(self.payloads) // effort(60, 600), 1)])

    @cached_property
    def quarantined(self) -> frozenset[str]:
        """The texts that only a review may show."""
        cursor: int | None = 0
        refs: list[str] = []
        while cursor is not None:
            page = self.memory.call(ListTrust(cursor=cursor, limit=1000))
            refs += [item.ref for item in page.items]
            cursor = page.cursor
        return frozenset(text for ref in refs for text in [self.stored(ref)])

    def stored(self, ref: str) -> str:
        collection, _, id_ = ref.partition("/")
        (record,) = self.memory.get(collection, id_).records
        return record.text

    def provenance(self, ref: str) -> str:
        collection, _, id_ = ref.partition("/")
        (record,) = self.memory.get(collection, id_).records
        return record.provenance


def payloads() -> list[str]:
    found = [text for path in sorted(shared("injection").iterdir()) for text in _texts(path)]
    assert len(found) > 1000
    return list(dict.fromkeys(found))


def _texts(path: Path) -> Iterator[str]:
    data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    decoded = data.decode("utf-8")
    rows = json.loads(decoded) if path.suffix == ".json" else [json.loads(line) for line in decoded.splitlines()]
    for row in rows:
        for key in PAYLOAD_KEYS:
            value: Any = row.get(key)
            if isinstance(value, dict):
                value = json.dumps(value, ensure_ascii=False)
            yield from [value] if isinstance(value, str) else value or ()


def talk() -> Iterator[str]:
    """Turns of real conversations."""
    for sample in json.loads(gzip.decompress((shared("locomo") / "locomo5_dev.json.gz").read_bytes())):
        for name, turns in sample["conversation"].items():
            if re.fullmatch(r"session_\d+", name):
                yield from (turn["text"] for turn in turns)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    folder = tmp_path_factory.mktemp("corpus")
    rules = folder / "AGENTS.md"
    rules.write_text(RULES_FILE, "utf-8")
    config = Config.load(
        environment={}, data_dir=folder / "data", synchronous="normal", embedder="none",
        tokenizer="estimate", authored_files=(str(rules),),
    )  # fmt: skip
    with Memory(config) as memory:
        filled = Store(memory, tuple(payloads()))
        _fill(filled)
        yield filled


def _fill(store: Store) -> None:
    memory, said = store.memory, cycle(talk())
    turns: list[Message] = []
    for number, text in enumerate(store.payloads):
        call = f"c{number}"
        turns += [Message(role=role, text=next(said)) for role in ("user", "assistant") if number % 4 == 0]
        turns += [
            Message(role="assistant", text="Let me look that up.", tool_call_ids=(call,)),
            Message(role=("tool_result", "user")[number % 2], text=text, tool_call_id=call),
        ]
    for start in range(0, len(turns), TURNS_A_CALL):
        memory.ingest_batch("s", turns[start : start + TURNS_A_CALL], user_id="ana")
    for number, text in enumerate(store.payloads):
        memory.put("user:ana", f"page{number}", text, source=f"https://pages.example/{number}")
    events = [
        Event(text=text, tool="fetch", payload={"output": text}, session_id="s", user_id="ana")
        for text in store.payloads
    ]
    for start in range(0, len(events), EVENTS_A_CALL):
        memory.capture(*events[start : start + EVENTS_A_CALL])
    while not memory.harvest(max_lines=EVENTS_A_CALL).done:
        pass
    assert memory.flush(timeout_ms=120_000).ok
    assert memory.compact("s", force=True).turns_removed > len(turns) - 20


# --- places without payloads -----------------------------------------------------------------------------


def test_no_payload_is_promoted_to_a_memory(store: Store) -> None:
    texts = set(store.payloads)
    kept = store.memory.list("user:ana", limit=10_000).records
    promoted = [record for record in kept if not record.id.startswith("page")]
    assert promoted
    assert not [record.id for record in promoted if record.text in texts]
    assert {record.metadata["source"]["collection"] for record in promoted} == {"turns:ana"}
    pages = [record for record in kept if record.id.startswith("page")]
    assert {record.trust for record in pages} <= {"untrusted", "quarantined"}


def test_no_payload_is_trusted_whatever_its_way_in(store: Store) -> None:
    texts = set(store.payloads)
    for name in ("session_raw:s", "ledger:user:ana", "ledger:session:s", "user:ana"):
        records = store.memory.list(name, limit=10_000).records
        found = [record for record in records if record.text in texts]
        assert len({record.text for record in found}) > 0.9 * len(texts)
        assert {record.trust for record in found} <= {"untrusted", "quarantined"}


def test_no_payload_becomes_guidance_through_compaction(store: Store) -> None:
    texts = set(store.payloads)
    guidance = store.memory.guidance(user_id="ana", session_id="s").items
    assert not [item.record.id for item in guidance if item.record.text in texts]
    assert {item.record.provenance for item in guidance} <= {"user_turn"}


def test_no_summary_quotes_quarantined_text_or_is_trusted_more_than_a_tool(store: Store) -> None:
    for record in store.memory.list("session_summary:s", limit=10_000).records:
        flat = " ".join(record.text.split())
        assert not [text for text in store.quarantined if len(text) > 20 and " ".join(text.split()) in flat]
        if any(len(text) > 20 and text in record.text for text in store.payloads):
            assert record.trust == "untrusted"


def test_no_payload_enters_the_rules_or_the_guidance_of_a_context(store: Store) -> None:
    for query in store.asked:
        for session in ("s", "later"):
            context = store.memory.assemble(session, query=query, user_id="ana", budget_tokens=4000)
            assert context.authored_text == RULES_FILE.strip()
            rules, recalled = context.sections[-2:]
            assert len(framed(context.guidance_text, GUIDANCE_OPEN, GUIDANCE_CLOSE)) == len(rules.refs)
            assert {store.provenance(ref) for ref in rules.refs} <= {"user_turn"}
            lines = framed(context.recalled_text, FRAME_OPEN, FRAME_CLOSE)
            for item, ref in zip(lines, recalled.refs, strict=True):
                assert_quoted(store, item, ref)


def test_no_payload_enters_a_pack_without_a_request_for_it(store: Store) -> None:
    for query in store.asked:
        bundle = store.memory.pack(query, user_id="ana", session_id="s", budget_tokens=PACK_TOKENS)
        assert {item.trust for item in bundle.items} <= {"trusted", "unknown"}
        lines = framed(bundle.bundle_text, PACK_OPEN, PACK_CLOSE)
        for line, item in zip(lines, bundle.items, strict=True):
            assert_quoted(store, line, item.record_ref)
            assert store.stored(item.record_ref) not in store.payloads


def test_a_requested_payload_enters_a_pack_framed_marked_and_capped(store: Store) -> None:
    entered = 0
    for query in store.asked:
        bundle = store.memory.pack(query, user_id="ana", session_id="s", budget_tokens=PACK_TOKENS, untrusted=True)
        lines = framed(bundle.bundle_text, PACK_OPEN, PACK_CLOSE)
        outside = [item for item in bundle.items if item.trust == "untrusted"]
        entered += bool(outside)
        assert [f"[{line['n']}]" for line in lines] == [item.citation for item in bundle.items]
        assert len(outside) <= UNTRUSTED_ITEMS
        assert sum(item.tokens for item in outside) <= UNTRUSTED_SHARE * PACK_TOKENS
        for line, item in zip(lines, bundle.items, strict=True):
            assert (line.get("trust") == "untrusted") == (item in outside)
            assert_quoted(store, line, item.record_ref)
            assert item in outside or store.stored(item.record_ref) not in store.payloads
    assert entered > len(store.asked) // 4


# --- the frame -------------------------------------------------------------------------------------------


def framed(text: str, opening: str, closing: str) -> list[dict[str, Any]]:
    """The items of a frame, read back. Fails on a broken frame."""
    items = [read(line) for line in lines_in(text, opening, closing)]
    assert [item["n"] for item in items] == list(range(1, len(items) + 1))
    return items


def lines_in(text: str, opening: str, closing: str) -> list[str]:
    if not text:
        return []
    first, *lines, last = re.split(r"\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]", text)
    assert (first, last) == (opening, closing)
    assert not any(set("<>") & set(line) for line in lines)
    return lines


def assert_quoted(store: Store, item: dict[str, Any], ref: str) -> None:
    """Asserts that a frame quotes only stored texts, or parts of them, and none in quarantine."""
    stored = store.stored(ref)
    assert item.get("ref", ref) == ref
    assert stored not in store.quarantined
    assert_parts_of(item["text"], stored, store)


def assert_parts_of(shown: str, stored: str, store: Store) -> None:
    whole = " ".join(without_private_paths(stored, (str(store.memory._parts.config.data_dir),)).split())
    plain = " ".join(stored.split())
    for part in re.split(r"\[…\]|…|\n", shown):
        flat = " ".join(part.split())
        assert flat in whole or flat in plain


def test_no_payload_breaks_the_frame_of_an_expansion(store: Store) -> None:
    roots = [node for node in store.memory.show_session("s").view if node.kind == "summary"]
    turns: dict[str, str] = {}
    for root in roots:
        opened = store.memory.expand("s", root.id, max_depth=64)
        assert lines_in(opened.text, OPENED_OPEN, OPENED_CLOSE)
        items = read_opened(opened.text)
        assert [item["text"] for item in items] == [turn.text for turn in opened.turns]
        warnings = [item.get("trust", "") for item in items]
        assert warnings == [turn.trust if turn.trust in ("untrusted", "quarantined") else "" for turn in opened.turns]
        turns.update((turn.text, turn.trust) for turn in opened.turns)
    assert "quarantined" in turns.values()


def test_no_payload_breaks_the_frame_of_guidance(store: Store) -> None:
    memory = store.memory
    rules = [f"You must never forget the {n}th lantern. {text}" for n, text in enumerate(store.asked)]
    memory.ingest_batch("g", [Message(role="user", text=rule) for rule in rules], user_id="eva")
    memory.ingest_batch("g", [Message(role="assistant", text=text) for text in islice(talk(), 20)])
    memory.compact("g", force=True)
    kept = {item.record.text for item in memory.guidance(user_id="eva").items}
    assert 0 < len(kept) <= len(rules)
    shown = set()
    for number in range(len(rules)):
        context = memory.assemble("h", query=f"the {number}th lantern", user_id="eva", budget_tokens=20_000)
        for item in framed(context.guidance_text, GUIDANCE_OPEN, GUIDANCE_CLOSE):
            assert item["text"] == context.guidance[item["n"] - 1].record.text
            shown.add(item["text"])
    assert shown
    assert shown <= kept
    assert not shown & store.quarantined


def test_no_payload_leaves_its_line_in_a_recall_a_timeline_or_a_replay(store: Store) -> None:
    lines = list(store.memory.replay("s", limit=10_000).lines)
    for query in store.asked:
        lines += store.memory.recall(query, user_id="ana", session_id="s", episodes=True).lines
    for record in store.memory.list("ledger:session:s", limit=10_000).records[:: effort(200, 20)]:
        lines += store.memory.timeline(f"ledger:session:s/{record.id}").lines
    for line in lines:
        encoded = msgspec.json.encode(line)
        assert not {b"\n"[0], b"\r"[0]} & set(encoded)
        assert json.loads(encoded)["text"] == line.text
        assert len(line.text.splitlines()) <= 1
        if line.trust == "quarantined":
            assert line.text not in store.quarantined
        else:
            assert_parts_of(line.text, store.stored(line.ref), store)
