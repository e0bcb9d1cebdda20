"""The outcome of a tool as an event for the ledger: the request and the response, both bounded.

Hosts and tools put their words into different fields. Clew tries the few fields that are known to hold words, and keeps
anything else as JSON. Every tool call loads this module, so it imports nothing that takes time.
"""

from __future__ import annotations

import json

from clew.text.cutting import cut_middle

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from clew.faces.hosts.dialects import Payload

MAX_ASKED_CHARS = 300
MAX_OUTCOME_CHARS = 1_500
"""For the text that Clew searches and quotes; the payload has more."""
MAX_INPUT_CHARS = 16_000
MAX_OUTPUT_CHARS = 48_000

_ASKED = (
    "command",
    "file_path",
    "path",
    "dir_path",
    "notebook_path",
    "pattern",
    "url",
    "query",
    "prompt",
    "description",
)
_OUTCOME = ("error", "stderr", "stdout", "output", "llmContent", "content", "text", "result")


def make_event(payload: Payload) -> dict[str, Any]:
    """The event of one tool call; its source is the web address that the tool read, if any."""
    tool = payload.text("tool_name") or "tool"
    given, response = payload.value("tool_input"), payload.value("tool_response")
    outcome = _outcome(response) or payload.text("error")
    text = f"{tool}: {cut_middle(_asked(given), MAX_ASKED_CHARS)}\n{cut_middle(outcome, MAX_OUTCOME_CHARS)}".strip()
    event: dict[str, Any] = {
        "text": text,
        "tool": tool[:200],
        "payload": {"input": _bound(given, MAX_INPUT_CHARS), "outcome": _bound(response, MAX_OUTPUT_CHARS)},
    }
    address = given.get("url") if isinstance(given, dict) else None
    if isinstance(address, str) and address:
        event["source"] = address[:2000]
    return event


def _asked(given: object) -> str:
    if isinstance(given, dict):
        named = next((given[name] for name in _ASKED if isinstance(given.get(name), str) and given[name]), None)
        return _json(given) if named is None else str(named)
    return "" if given is None else _json(given)


def _outcome(response: object) -> str:
    """The words of a response, from any of the known fields."""
    if isinstance(response, dict):
        words = [_outcome(response[name]) for name in _OUTCOME if response.get(name)]
        return "\n".join(filter(None, words)) if words else _json(response)
    if isinstance(response, list):
        return "\n".join(filter(None, map(_outcome, response)))
    return "" if response is None else response if isinstance(response, str) else _json(response)


def _bound(value: object, max_chars: int) -> object:
    """The value itself, or its beginning and end as text."""
    text = value if isinstance(value, str) else _json(value)
    return value if len(text) <= max_chars else cut_middle(text, max_chars)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
