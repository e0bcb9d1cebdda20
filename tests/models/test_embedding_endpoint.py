"""Embeddings from a server: its answers are checked, and the key stays secret."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from clew.errors import EmbedderFailed, InvalidInput
from clew.models.embedding.endpoint import OllamaEmbedder, OpenAiEmbedder
from clew.models.embedding.hashing import HashingEmbedder
from clew.models.server import Address

pytestmark = pytest.mark.requirement("STORE-5", "RANK-1")

KEY = "sk-very-secret"


class _QuietServer(ThreadingHTTPServer):
    def handle_error(self, *_: Any) -> None:
        """A client that left before its answer is part of the test."""


class Server:
    """A loopback server that answers as a test tells it."""

    def __init__(self) -> None:
        self.answer: Callable[[list[str]], tuple[int, bytes]] = lambda texts: (200, openai_answer(vectors(texts)))
        self.requests: list[dict[str, Any]] = []
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                server.requests.append({"path": self.path, "key": self.headers.get("Authorization"), **body})
                status, answer = server.answer(body["input"])
                self.send_response(status)
                if status == 302:
                    self.send_header("Location", server.url + "/elsewhere")
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *_: Any) -> None:
                pass

        self._http = _QuietServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._http.server_port}"
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()

    def close(self) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()


@pytest.fixture
def server() -> Iterator[Server]:
    running = Server()
    yield running
    running.close()


def vectors(texts: list[str]) -> list[list[float]]:
    return [[3 * value for value in row] for row in HashingEmbedder().embed_passages(texts).tolist()]


def openai_answer(rows: list[list[float]]) -> bytes:
    items = [{"index": number, "embedding": row} for number, row in enumerate(rows)]
    return json.dumps({"data": items[::-1], "model": "m"}).encode()


def openai(server: Server, folder: Path, model: str = "m", **changes: Any) -> OpenAiEmbedder:
    return OpenAiEmbedder(Address(server.url, model, KEY), folder, **changes)


def failure(embedder: OpenAiEmbedder) -> str:
    with pytest.raises(EmbedderFailed) as caught:
        embedder.embed_passages(["one", "two"])
    assert KEY not in str(caught.value)
    return str(caught.value)


def test_an_openai_server_gives_unit_vectors_in_the_order_of_the_texts(server: Server, tmp_path: Path) -> None:
    embedder = openai(server, tmp_path, batch=2)
    texts = ["red house", "blue boat", "green tree"]
    assert np.allclose(embedder.embed_passages(texts), HashingEmbedder().embed_passages(texts), atol=1e-6)
    assert embedder.embed_query("red house").shape == (64,)
    assert {request["path"] for request in server.requests} == {"/embeddings"}
    assert {request["key"] for request in server.requests} == {f"Bearer {KEY}"}
    assert max(len(request["input"]) for request in server.requests) == 2


def test_an_ollama_server_is_asked_in_its_own_way(server: Server, tmp_path: Path) -> None:
    server.answer = lambda texts: (200, json.dumps({"embeddings": vectors(texts)}).encode())
    embedder = OllamaEmbedder(Address(server.url + "/", "nomic", ""), tmp_path)
    assert np.allclose(embedder.embed_query("red"), HashingEmbedder().embed_query("red"), atol=1e-6)
    assert server.requests[-1]["path"] == "/api/embed"
    assert server.requests[-1]["model"] == "nomic"
    assert server.requests[-1]["key"] is None


def test_the_server_is_not_asked_before_the_first_use(server: Server, tmp_path: Path) -> None:
    openai(server, tmp_path)
    assert server.requests == []


def test_the_identity_is_the_models_name_and_its_dimensions(server: Server, tmp_path: Path) -> None:
    identity = openai(server, tmp_path).identity
    assert (identity.family, identity.dimensions, identity.normalised) == ("m", 64, True)
    assert openai(server, tmp_path, model="other").identity != identity


def test_the_calibration_is_measured_once_and_kept_for_the_next_start(server: Server, tmp_path: Path) -> None:
    first = openai(server, tmp_path).calibration
    assert first.unrelated == pytest.approx(HashingEmbedder().calibration.unrelated, abs=1e-4)
    server.requests.clear()
    assert openai(server, tmp_path).calibration == first
    assert len(server.requests) == 1


def test_a_kept_calibration_that_cannot_be_read_is_measured_again(server: Server, tmp_path: Path) -> None:
    first = openai(server, tmp_path).calibration
    [kept] = tmp_path.iterdir()
    kept.write_text('{"dimensions": 64, "calibration": {"unrelated": 5, "same_meaning": 0}}')
    assert openai(server, tmp_path).calibration == first


def test_empty_and_broken_texts_are_sent_in_a_form_that_a_server_accepts(server: Server, tmp_path: Path) -> None:
    found = openai(server, tmp_path).embed_passages(["", "  \n", "a\ud800b", "x" * 100_000])
    assert np.allclose(np.linalg.norm(found, axis=1), 1, atol=1e-5)
    sent = server.requests[-1]["input"]
    assert sent[:3] == ["-", "-", "a?b"]
    assert len(sent[3]) < 10_000


def test_a_vector_without_direction_still_becomes_a_unit_vector(server: Server, tmp_path: Path) -> None:
    server.answer = lambda texts: (200, openai_answer([[0.0, 0.0]] * len(texts)))
    assert openai(server, tmp_path).embed_query("a").tolist() == [1.0, 0.0]


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"not json", "expected form"),
        (b"{}", "expected form"),
        (b'{"data": [{"index": 0, "embedding": [NaN, 1]}, {"index": 1, "embedding": [1, 1]}]}', "expected form"),
        (b'{"data": [{"index": 0, "embedding": [1e999, 1]}, {"index": 1, "embedding": [1, 1]}]}', ""),
        (b'{"data": [{"index": 0, "embedding": ["1", 1]}, {"index": 1, "embedding": [1, 1]}]}', "expected form"),
        (b'{"data": [{"index": 0, "embedding": [1, 1]}, {"index": 0, "embedding": [1, 1]}]}', "which vector is whose"),
        (b'{"data": [{"index": 0, "embedding": [1, 1]}]}', "1 vectors for 2 texts"),
        (b'{"data": [{"index": 0, "embedding": []}, {"index": 1, "embedding": []}]}', "empty"),
        (b'{"data": [{"index": 0, "embedding": [1, 1]}, {"index": 1, "embedding": [1, 1, 1]}]}', "2 were expected"),
    ],
)
def test_an_invalid_answer_is_a_failure(server: Server, tmp_path: Path, body: bytes, reason: str) -> None:
    embedder = openai(server, tmp_path)
    server.answer = lambda texts: (200, openai_answer([[1.0, 1.0]]) if texts == ["dimensions"] else body)
    assert reason in failure(embedder)


def test_an_error_gives_the_status_and_not_the_servers_words(server: Server, tmp_path: Path) -> None:
    server.answer = lambda texts: (401, f"bad key {KEY}".encode())
    assert failure(openai(server, tmp_path)) == "the embedding server answered with status 401"


def test_a_redirect_is_not_followed(server: Server, tmp_path: Path) -> None:
    server.answer = lambda texts: (302, b"")
    assert "302" in failure(openai(server, tmp_path))
    assert [request["path"] for request in server.requests] == ["/embeddings"]


def test_a_server_that_does_not_answer_in_time_is_a_failure(server: Server, tmp_path: Path) -> None:
    stop = threading.Event()

    def wait(texts: list[str]) -> tuple[int, bytes]:
        stop.wait()
        return 500, b""

    server.answer = wait
    try:
        assert "within 50 ms" in failure(openai(server, tmp_path, timeout_ms=50))
    finally:
        stop.set()


def test_an_unreachable_server_is_a_failure(tmp_path: Path) -> None:
    gone = Server()
    gone.close()
    assert "cannot be reached (ConnectionRefusedError)" in failure(openai(gone, tmp_path))


@pytest.mark.parametrize(
    "url", ["", "ftp://host", "file:///etc/passwd", "http://", "localhost:80", "http://[", "http://user:pw@host"]
)
def test_only_plain_web_addresses_are_taken(tmp_path: Path, url: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        OpenAiEmbedder(Address(url, "m", ""), tmp_path)
    assert "pw" not in str(caught.value)


def test_a_key_with_a_line_break_is_refused_without_showing_it(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput) as caught:
        OpenAiEmbedder(Address("http://127.0.0.1", "m", KEY + "\n"), tmp_path)
    assert KEY not in str(caught.value)


def test_a_model_must_be_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="embedder_model"):
        OpenAiEmbedder(Address("http://127.0.0.1", "", ""), tmp_path)
