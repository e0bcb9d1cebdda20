"""A chat model on loopback that answers from a script and remembers what it was asked."""

from __future__ import annotations

import json
import threading
import uuid
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

MODEL = "fake-1"
DEFAULT_ANSWER = "Understood."
HOST_NOTE = "<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>"
"""The first words of a message that the host writes in the user's name."""


@dataclass(frozen=True, slots=True)
class Say:
    """Answer in words, after something else has happened."""

    text: str
    meanwhile: Callable[[], object] | None = None


@dataclass(frozen=True, slots=True)
class Use:
    """Call one tool."""

    tool: str
    arguments: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Overflow:
    """Refuse because the prompt is too long."""


Reply = Say | Use | Overflow


class Asked:
    """One request to the model, as the server received it."""

    def __init__(self, body: dict[str, Any]) -> None:
        self._messages: list[dict[str, Any]] = body.get("messages", [])
        self.model: str = body.get("model", "")
        self.tools = [tool["function"]["name"] for tool in body.get("tools", [])]
        self.streaming = bool(body.get("stream"))
        self.tokens = _tokens(self.prompt) + _tokens(json.dumps(body.get("tools", [])))

    @property
    def prompt(self) -> str:
        """Everything the model is shown, in one text."""
        return "\n".join(_text(message) for message in self._messages)

    @property
    def system(self) -> str:
        return "\n".join(self.said_by("system", "developer"))

    @property
    def question(self) -> str:
        """The user's last words; tools' answers and notes of the host may follow them."""
        said = [text for text in self.said_by("user") if not text.startswith(HOST_NOTE)]
        return said[-1] if said else ""

    def said_by(self, *roles: str) -> list[str]:
        return [_text(message) for message in self._messages if message["role"] in roles]


class FakeModel:
    """Serves chat completions, streamed or whole.

    A reply is chosen by the question: the first script whose words are in it gives its next one. So
    calls a host makes on the side never take the reply that was meant for a turn. Where no script fits, `default` says
    something.
    """

    def __init__(self, default: Callable[[Asked], str] = lambda _: DEFAULT_ANSWER) -> None:
        self._default = default
        self._lock = threading.Lock()
        self._asked: list[Asked] = []
        self._scripts: list[tuple[str, deque[Reply]]] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05})

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def script(self, words: str, *replies: Reply) -> None:
        """Give these replies, one a request, for questions that contain the words."""
        with self._lock:
            self._scripts.insert(0, (words, deque(replies)))

    def asked(self, words: str = "") -> list[Asked]:
        """The requests whose question contains the words, in order of arrival."""
        with self._lock:
            return [asked for asked in self._asked if words in asked.question]

    def _reply_to(self, asked: Asked) -> Reply:
        with self._lock:
            self._asked.append(asked)
            for words, replies in self._scripts:
                if words in asked.question and replies:
                    return replies.popleft()
        return Say(self._default(asked))

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        model = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self._send(200, "application/json", _encode({"object": "list", "data": [{"id": MODEL}]}))

            def do_POST(self) -> None:
                asked = Asked(json.loads(self.rfile.read(int(self.headers["content-length"]))))
                reply = model._reply_to(asked)
                if isinstance(reply, Say) and reply.meanwhile:
                    reply.meanwhile()
                if isinstance(reply, Overflow):
                    self._send(400, "application/json", _encode(_OVERFLOW))
                elif asked.streaming:
                    self._send(200, "text/event-stream", b"".join(_events(reply, asked)))
                else:
                    self._send(200, "application/json", _encode(_completion(reply, asked)))

            def _send(self, status: int, kind: str, body: bytes) -> None:
                self.send_response(status)
                self.send_header("content-type", kind)
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                """Say nothing: the tests read `asked`."""

        return Handler


_OVERFLOW = {
    "error": {
        "message": "The maximum context length is 32000 tokens, but the messages came to 99999 tokens.",
        "type": "invalid_request_error",
        "param": "messages",
        "code": "context_length_exceeded",
    }
}
_CHARS_A_TOKEN = 4


def _tokens(text: str) -> int:
    """Roughly the count of a provider for English."""
    return -(-len(text) // _CHARS_A_TOKEN)


def _usage(reply: Say | Use, asked: Asked) -> dict[str, int]:
    """The usage that a provider reports; a host relies on it."""
    said = _tokens(reply.text if isinstance(reply, Say) else json.dumps(reply.arguments))
    return {"prompt_tokens": asked.tokens, "completion_tokens": said, "total_tokens": asked.tokens + said}


def _completion(reply: Say | Use, asked: Asked) -> dict[str, Any]:
    choice = {"index": 0, "message": {"role": "assistant", **_delta(reply)}, "finish_reason": _finish(reply)}
    return {
        "id": "completion",
        "object": "chat.completion",
        "model": MODEL,
        "choices": [choice],
        "usage": _usage(reply, asked),
    }


def _events(reply: Say | Use, asked: Asked) -> Iterator[bytes]:
    for delta, finish in (({"role": "assistant"}, None), (_delta(reply), None), ({}, _finish(reply))):
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        yield _event({"choices": [choice]})
    yield _event({"choices": [], "usage": _usage(reply, asked)})
    yield b"data: [DONE]\n\n"


def _event(content: dict[str, Any]) -> bytes:
    chunk = {"id": "completion", "object": "chat.completion.chunk", "model": MODEL, **content}
    return b"data: " + _encode(chunk) + b"\n\n"


def _delta(reply: Say | Use) -> dict[str, Any]:
    if isinstance(reply, Say):
        return {"content": reply.text}
    function = {"name": reply.tool, "arguments": json.dumps(reply.arguments)}
    return {"tool_calls": [{"index": 0, "id": f"call_{uuid.uuid4().hex}", "type": "function", "function": function}]}


def _finish(reply: Say | Use) -> str:
    return "stop" if isinstance(reply, Say) else "tool_calls"


def _encode(value: object) -> bytes:
    return json.dumps(value).encode()


def _text(message: dict[str, Any]) -> str:
    content = message.get("content") or ""
    return content if isinstance(content, str) else "\n".join(part.get("text", "") for part in content)
