"""Clew's embedder behind the interface that peers know how to call: OpenAI's `/v1/embeddings`, on loopback."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread

import msgspec

from clew.core.ports import Embedder, Vectors

MODEL = "bench"


class EmbeddingEndpoint:
    """Serves one embedder to this machine until closed.

    The interface cannot say whether a text is a question, and some models embed those differently; so
    whoever asks does it inside `asking`.
    """

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._questions = False
        self._lock = Lock()
        self._server = _Server(self._vectors)
        self._thread = Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    @property
    def dimensions(self) -> int:
        return self._embedder.identity.dimensions

    @contextmanager
    def asking(self) -> Iterator[None]:
        self._questions = True
        try:
            yield
        finally:
            self._questions = False

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def _vectors(self, texts: list[str]) -> list[Vectors]:
        with self._lock:
            if self._questions:
                return [self._embedder.embed_query(text) for text in texts]
            return list(self._embedder.embed_passages(texts))


class _Asked(msgspec.Struct):
    input: str | list[str]


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, vectors: Callable[[list[str]], list[Vectors]]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.vectors = vectors


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        asked = msgspec.json.decode(body, type=_Asked).input
        texts = [asked] if isinstance(asked, str) else asked
        answer = msgspec.json.encode(_answer(self.server.vectors(texts)))
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its interface
        """Says nothing: the terminal belongs to the benchmark."""


def _answer(vectors: list[Vectors]) -> dict[str, object]:
    rows = [
        {"object": "embedding", "index": index, "embedding": vector.tolist()} for index, vector in enumerate(vectors)
    ]
    return {"object": "list", "model": MODEL, "data": rows, "usage": {"prompt_tokens": 0, "total_tokens": 0}}
