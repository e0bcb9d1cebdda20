"""An embedding server that is down, hangs and comes back, seen from a daemon that uses it."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from clew.api import Flush
from clew.client import connect
from clew.models.embedding.hashing import HashingEmbedder
from tests.testing.daemons import running, short_folder

pytestmark = pytest.mark.requirement("INGEST-3", "STORE-5")


class Server(ThreadingHTTPServer):
    """Answers like an OpenAI-compatible server, with the vectors of the test embedder; or not at all."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.broken = True
        self.door = threading.Event()
        self.door.set()


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.door.wait()
        texts = [asked["input"]] if isinstance(asked["input"], str) else asked["input"]
        vectors = HashingEmbedder().embed_passages(texts).tolist()
        data = [{"index": place, "embedding": vector} for place, vector in enumerate(vectors)]
        body = json.dumps({"data": data}).encode()
        self.send_response(500 if self.server.broken else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Quiet."""


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as made:
        thread = threading.Thread(target=made.serve_forever)
        thread.start()
        yield made
        made.door.set()
        made.shutdown()
        thread.join()


@pytest.mark.parametrize("trouble", ["failing", "hanging"])
def test_without_the_server_turns_are_found_by_words_and_the_queue_drains_when_it_is_back(
    server: Server, trouble: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with short_folder() as folder:
        monkeypatch.setenv("CLEW_PACKS", str(folder / "packs"))
        settings = {
            "embedder": "openai",
            "embedder_url": f"http://127.0.0.1:{server.server_port}/v1",
            "embedder_model": "fake",
            "embed_timeout_ms": 50,
        }
        if trouble == "hanging":
            server.door.clear()
        with running(folder / "data", **settings) as daemon, connect(daemon.endpoint) as api:
            assert api.ingest("s", "user", "the staging host is tarn", user_id="ana").stored
            found = api.search("staging host", user_id="ana")
            assert found.hits[0].record.text == "the staging host is tarn"
            assert "by words alone" in found.degraded[0]
            assert api.status().message.startswith("degraded")
            assert api.flush(timeout_ms=0).pending > 0
            server.broken = False
            server.door.set()
            assert api.flush(timeout_ms=29_000).ok
            assert api.search("staging host", user_id="ana").hits[0].scores.dense is not None
            assert api.status().message == "ok"


@pytest.mark.requirement("RPC-1")
def test_a_flush_without_a_timeout_soon_tells_what_still_waits_and_blocks_nobody(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its client gives it 5 s; a slow machine is given three times as much here."""
    assert Flush().timeout_ms < 5000
    with short_folder() as folder:
        monkeypatch.setenv("CLEW_PACKS", str(folder / "packs"))
        settings = {
            "embedder": "openai",
            "embedder_url": f"http://127.0.0.1:{server.server_port}/v1",
            "embedder_model": "fake",
        }
        server.broken = False
        with running(folder / "data", **settings) as daemon, daemon.wire() as wire, connect(daemon.endpoint) as api:
            assert api.ingest("s", "user", "the staging host is tarn", user_id="ana").stored
            assert api.flush(timeout_ms=29_000).ok
            server.door.clear()
            assert api.ingest("s", "user", "the other host is fell", user_id="ana").stored
            begun = time.monotonic()
            answer = wire.ask("flush")["result"]
            assert time.monotonic() - begun < 15
            assert (answer["ok"], answer["pending"] > 0) == (False, True)
            server.door.set()
            assert api.flush(timeout_ms=29_000).ok
            assert wire.ask("flush")["result"] == {"ok": True, "pending": 0}
