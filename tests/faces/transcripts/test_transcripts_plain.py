"""Plain JSONL read as a conversation, and how it is cut into requests."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.faces.cli.console.source import BATCH_ITEMS, in_batches
from clew.faces.transcripts import Transcript, read_transcript

pytestmark = pytest.mark.requirement("CLI-1", "INGEST-6")


def read(*lines: object, session: str = "s1", max_text_bytes: int = 1000) -> Transcript:
    raw = [line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines]
    return read_transcript(raw, session, max_text_bytes)


def test_a_line_needs_only_a_role_and_a_text() -> None:
    (message,) = read({"role": "user", "text": "hello"}).messages
    assert (message.role, message.text, message.ts) == ("user", "hello", None)


def test_roles_may_have_the_names_that_hosts_use() -> None:
    names = ("tool", "toolResult", "function", "tool_use", "developer", "User")
    roles = [message.role for message in read(*({"role": name, "text": name} for name in names)).messages]
    assert roles == ["tool_result", "tool_result", "tool_result", "tool_call", "system", "user"]


def test_the_field_content_may_replace_text() -> None:
    assert read({"role": "user", "content": "hello"}).messages[0].text == "hello"


def test_every_known_field_is_read_and_the_others_are_kept_as_metadata() -> None:
    line = {
        "role": "tool_result", "text": "ok", "id": "t1", "ts": 5, "speaker": "Ada", "toolCallId": "c1",
        "metadata": {"a": 1}, "channel": "ops",
    }  # fmt: skip
    (message,) = read(line).messages
    assert (message.id, message.ts, message.speaker, message.tool_call_id) == ("t1", 5, "Ada", "c1")
    assert message.metadata == {"a": 1, "channel": "ops"}


@pytest.mark.parametrize("ts", ["2025-03-03T08:10:00Z", "2025-03-03T09:10:00+01:00", "2025-03-03T08:10:00"])
def test_times_may_be_written_as_text_and_are_utc_without_a_zone(ts: str) -> None:
    assert read({"role": "user", "text": "x", "ts": ts}).messages[0].ts == 1_740_989_400_000


@pytest.mark.parametrize(
    ("line", "word"),
    [
        (b"not json", "malformed"),
        (b'{"role": "user", "text": "\xff"}', "UTF-8"),
        (b"[1]", "object"),
        ({"text": "x"}, "role"),
        ({"role": "robot", "text": "x"}, "unknown role"),
        ({"role": "user"}, "neither"),
        ({"role": "user", "text": 5}, "str"),
        ({"role": "user", "text": "x", "ts": "soon"}, "soon"),
        ({"role": "user", "text": "x", "id": ""}, "id"),
        ({"role": "user", "text": "ä" * 501}, "1,000 bytes"),
    ],
)
def test_a_bad_line_is_reported_by_number_and_reason_and_the_others_are_read(line: object, word: str) -> None:
    good = {"role": "user", "text": "good"}
    transcript = read(good, b"  ", line, good)
    (bad,) = transcript.bad
    assert bad.line == 3
    assert word in bad.reason
    assert len(transcript.messages) == 2


def test_one_id_cannot_have_two_texts() -> None:
    transcript = read({"role": "user", "text": "a", "id": "x"}, {"role": "user", "text": "b", "id": "x"})
    assert [bad.line for bad in transcript.bad] == [2]


def test_ids_come_from_place_content_and_session() -> None:
    line = {"role": "user", "text": "yes"}
    ids = [message.id for message in read(line, line).messages]
    assert len(set(ids)) == 2, "the same words twice are two turns"
    assert [message.id for message in read(line, line, line).messages][:2] == ids, "a grown file keeps its ids"
    assert read(line, session="s2").messages[0].id not in ids


def test_a_byte_order_mark_is_skipped() -> None:
    assert read(b'\xef\xbb\xbf{"role": "user", "text": "x"}').bad == []


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(), lambda inner: st.lists(inner, max_size=3), max_leaves=5
)


@given(st.lists(st.binary() | st.dictionaries(st.text(), json_values).map(lambda v: json.dumps(v).encode())))
def test_every_line_is_read_or_reported_whatever_it_holds(lines: list[bytes]) -> None:
    lines = [line.replace(b"\n", b"") for line in lines]
    transcript = read_transcript(lines, "s1", 1000)
    assert len(transcript.messages) + len(transcript.bad) <= len(lines)


@given(st.lists(st.integers(0, 50), max_size=900), st.integers(1, 200))
def test_batches_keep_order_and_stay_within_their_limits(sizes: list[int], limit: int) -> None:
    batches: list[list[Any]] = list(in_batches(sizes, lambda size: size, limit))
    assert [size for batch in batches for size in batch] == sizes
    assert all(0 < len(batch) <= BATCH_ITEMS for batch in batches)
    assert all(sum(batch) <= limit or len(batch) == 1 for batch in batches)
