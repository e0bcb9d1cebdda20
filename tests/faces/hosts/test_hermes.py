"""Clew as the memory of a real Hermes: a turn of its command line, a model server on loopback, a real daemon.

The program is the one that CLEW_HERMES names.
"""

from __future__ import annotations

import json
import os
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from clew.api import MemoryApi
from clew.client import connect
from clew.faces.cli.console.invocation import Invocation
from clew.faces.cli.hosts.hermes import command
from tests.testing.daemons import Daemon, running, short_folder
from tests.testing.data import nothing_may_be_skipped
from tests.testing.speed import patience

pytestmark = [pytest.mark.long, pytest.mark.requirement("HOST-2")]

EARLIER = "The mascot of our deployments is a blue heron called Otto."
QUESTION = "What is the mascot of our deployments?"
WAIT_S = patience(180)
CALL = {
    "index": 0,
    "id": "call_1",
    "type": "function",
    "function": {"name": "clew_search", "arguments": '{"query": "mascot of our deployments"}'},
}


@pytest.fixture
def hermes() -> str:
    program = os.environ.get("CLEW_HERMES")
    if program:
        return program
    if nothing_may_be_skipped():
        pytest.fail("CLEW_HERMES does not name the program of Hermes, and nothing may be skipped here")
    pytest.skip("needs Hermes; set CLEW_HERMES to its program")


class Model:
    """An OpenAI-compatible server with a given answer, whole or as a stream."""

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []
        self.answers: list[dict[str, Any]] = []
        model = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                model.asked.append(request)
                message = {"role": "assistant", **(model.answers.pop(0) if model.answers else {"content": "Done."})}
                streams = request.get("stream") is True
                self._send(_stream(message) if streams else _whole(message), streams)

            def do_GET(self) -> None:
                self._send(json.dumps({"object": "list", "data": [{"id": "fake", "object": "model"}]}).encode(), False)

            def _send(self, body: bytes, streams: bool) -> None:
                self.send_response(200)
                self.send_header("Content-Type", "text/event-stream" if streams else "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/v1"

    def turns(self) -> list[dict[str, Any]]:
        """Requests of the conversation itself, which offer tools, and not the small ones for a title."""
        return [request for request in self.asked if request.get("tools")]


def _whole(message: dict[str, Any]) -> bytes:
    reason = "tool_calls" if message.get("tool_calls") else "stop"
    choice = {"index": 0, "message": message, "finish_reason": reason}
    return json.dumps({"id": "x", "object": "chat.completion", "model": "fake", "choices": [choice]}).encode()


def _stream(message: dict[str, Any]) -> bytes:
    reason = "tool_calls" if message.get("tool_calls") else "stop"
    choices = [{"delta": message, "finish_reason": None}, {"delta": {}, "finish_reason": reason}]
    chunks = [
        {"id": "x", "object": "chat.completion.chunk", "model": "fake", "choices": [{"index": 0, **choice}]}
        for choice in choices
    ]
    return b"".join(b"data: " + json.dumps(chunk).encode() + b"\n\n" for chunk in chunks) + b"data: [DONE]\n\n"


@pytest.fixture
def model() -> Iterator[Model]:
    made = Model()
    thread = threading.Thread(target=made.server.serve_forever)
    thread.start()
    yield made
    made.server.shutdown()
    thread.join()
    made.server.server_close()


@pytest.fixture
def home(tmp_path: Path, model: Model) -> Path:
    folder = tmp_path / "hermes"
    folder.mkdir()
    (folder / "config.yaml").write_text(
        "# mine\nmodel:\n"
        f"  provider: custom\n  base_url: {model.url}\n  default: fake\n  api_key: none\n  context_length: 64000\n"
        "memory:\n  memory_enabled: false\n"
    )
    return folder


def clew_hermes(home: Path, data_dir: Path, *arguments: str) -> None:
    verb, *options = arguments
    with pytest.raises(SystemExit) as done:
        command.main([verb, "--home", str(home), *options], prog_name="clew hermes", obj=Invocation(data_dir=data_dir))
    assert done.value.code in (0, None)


def ask(hermes: str, home: Path, question: str) -> str:
    environment = {**os.environ, "HERMES_HOME": str(home), "HOME": str(home.parent), "NO_COLOR": "1"}
    environment.pop("PYTHONPATH", None)  # Hermes must work without the package
    done = subprocess.run(
        [hermes, "chat", "-q", question, "-Q"],
        capture_output=True, text=True, timeout=WAIT_S, env=environment, cwd=home.parent, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def sessions(memory: MemoryApi) -> list[str]:
    names = [view.name for view in memory.collections().collections]
    return [name.removeprefix("session_raw:") for name in names if name.startswith("session_raw:")]


@pytest.fixture
def daemon() -> Iterator[Daemon]:
    with short_folder() as folder, running(folder, embedder="hashing") as started:
        yield started


def test_hermes_recalls_searches_and_stores_a_turn(hermes: str, home: Path, model: Model, daemon: Daemon) -> None:
    with connect(daemon.endpoint) as memory:
        memory.ingest("earlier", "user", EARLIER, user_id="ada")
        before = (home / "config.yaml").read_text()
        clew_hermes(home, daemon.data_dir, "install", "--user", "ada")
        model.answers = [{"content": None, "tool_calls": [CALL]}, {"content": "A blue heron, Otto."}]
        assert "A blue heron, Otto." in ask(hermes, home, QUESTION)

        first, second = model.turns()[:2]
        asked = [message for message in first["messages"] if message["role"] == "user"][-1]["content"]
        assert "blue heron" in str(asked), "the recall stands with the question"
        assert {"clew_search", "clew_get"} <= {tool["function"]["name"] for tool in first["tools"]}
        assert "clew_search" in str(first["messages"][0]["content"]), "the prompt says what the tools are for"
        assert "blue heron" in [m for m in second["messages"] if m["role"] == "tool"][-1]["content"]

        (session,) = [name for name in sessions(memory) if name != "earlier"]
        kept = memory.list(f"session_raw:{session}").records
        assert [record.role for record in kept] == ["user", "assistant", "tool_result", "assistant"]
        assert (kept[0].text, kept[3].text) == (QUESTION, "A blue heron, Otto.")
        assert kept[1].metadata["toolCallIds"] == ["call_1"]
        assert kept[2].metadata["toolCallId"] == "call_1"
        assert kept[2].text == "[recalled from Clew]", "what was recalled once is not learnt again"
        assert QUESTION in [record.text for record in memory.list("turns:ada").records]
        assert memory.verify().ok

        clew_hermes(home, daemon.data_dir, "uninstall")
        assert (home / "config.yaml").read_text() == before
        assert not (home / "plugins" / "clew").exists()


def test_hermes_answers_without_the_daemon(hermes: str, home: Path, model: Model, daemon: Daemon) -> None:
    clew_hermes(home, daemon.data_dir, "install", "--user", "ada")
    daemon.stop()
    model.answers = [{"content": "Here I am."}]
    assert "Here I am." in ask(hermes, home, QUESTION)
