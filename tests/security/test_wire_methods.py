"""The real engine behind every method, with parameters of the right type and any content."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew import Config, Memory
from clew.api import REQUESTS
from clew.faces.daemon.methods import METHODS, answer
from clew.faces.daemon.wire import Call
from tests.testing.daemons import short_folder

pytestmark = pytest.mark.requirement("RPC-2")

WORDS = st.sampled_from(["", "a", "u", "\x00", "a:b", "ä" * 300, "copper kettle", "' OR 1=1 --", "../..", "%"])
NAMES = st.sampled_from(
    ["user:u", "user:", "session:s", "session_raw:s", "turns:u", "global", "_own", "", ":", "nowhere", "user:\x00",
     "authored:hard", "elevated:user:u"]
)  # fmt: skip
NUMBERS = st.sampled_from([-(2**70), -1, 0, 1, 3, 1000, 2**31, 2**53, 2**63, 2**64, 2**70])
VALUES = st.none() | st.booleans() | NUMBERS | st.floats(allow_nan=False, allow_infinity=False) | WORDS
METADATA = st.dictionaries(
    st.sampled_from(["role", "ts", "userId", "type", "x", ""]), VALUES | st.lists(VALUES, max_size=2), max_size=4
)
MESSAGE = st.fixed_dictionaries(
    {"role": st.sampled_from(["user", "assistant", "tool", "toolResult", "", "king"]), "text": WORDS},
    optional={"id": WORDS, "ts": NUMBERS, "speaker": WORDS, "metadata": METADATA, "toolCallId": WORDS,
              "toolCallIds": st.lists(WORDS, max_size=2)},
)  # fmt: skip
FIELDS: dict[str, st.SearchStrategy[Any]] = {
    "collection": NAMES,
    "collections": st.lists(NAMES, max_size=3),
    "id": WORDS,
    "ids": st.lists(WORDS, max_size=3),
    "text": WORDS,
    "metadata": METADATA,
    "sessionId": WORDS,
    "userId": WORDS,
    "message": MESSAGE,
    "messages": st.lists(MESSAGE, max_size=3),
    "k": NUMBERS,
    "cursor": NUMBERS,
    "limit": NUMBERS,
    "budgetTokens": NUMBERS,
    "query": WORDS,
    "key": WORDS,
    "value": VALUES,
    "exclude": st.dictionaries(NAMES, st.lists(WORDS, max_size=2), max_size=2),
    "excludeIds": st.lists(WORDS, max_size=2),
    "uses": st.dictionaries(NAMES, st.lists(WORDS, max_size=2), max_size=2),
    "updates": st.lists(st.fixed_dictionaries({"collection": NAMES, "ids": st.lists(WORDS, max_size=2)}), max_size=2),
    "hook": WORDS,
    "details": METADATA,
    "reason": WORDS,
    "lines": st.lists(WORDS | METADATA.map(lambda given: msgspec.json.encode(given).decode()), max_size=2),
    "summaryId": WORDS,
    "sourceDoc": WORDS,
    "sourceMeta": METADATA,
    "entries": st.lists(
        st.fixed_dictionaries(
            {"text": WORDS | st.just("long enough to be promoted"), "score": st.just(1), "recallCount": st.just(2)},
            optional={"uniqueQueries": st.just(2), "metadata": METADATA},
        ),
        max_size=2,
    ),
}


@pytest.fixture(scope="module")
def memory() -> Iterator[Memory]:
    with short_folder() as folder, Memory.open(Config(data_dir=folder, embedder="hashing")) as opened:
        yield opened


def some_params(method: str) -> st.SearchStrategy[dict[str, Any]]:
    """Parameters for a method: exactly its own, or, for a compatibility method, among others that it ignores."""
    kind = REQUESTS.get(method)
    if kind is None:
        return st.fixed_dictionaries(FIELDS)
    fields = [field for field in msgspec.structs.fields(kind) if field.encode_name in FIELDS]
    return st.fixed_dictionaries(
        {field.encode_name: FIELDS[field.encode_name] for field in fields if field.required},
        optional={field.encode_name: FIELDS[field.encode_name] for field in fields if not field.required},
    )


@settings(deadline=None, max_examples=400)
@given(st.data())
def test_no_parameters_cause_an_internal_error(memory: Memory, data: st.DataObject) -> None:
    method = data.draw(st.sampled_from(sorted(METHODS)))
    params = data.draw(some_params(method))
    reply = msgspec.json.decode(answer(memory, Call(id=1, method=method, params=params)))
    assert ("result" in reply) != ("error" in reply)
    assert reply.get("error", {}).get("code") != -32603, (method, params)
