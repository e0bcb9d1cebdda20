"""Runs the model of a pack on this machine's processor."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np

from clew.core.calibration import Calibration
from clew.core.ports import EmbedderIdentity, Vectors
from clew.errors import EmbedderFailed
from clew.models.embedding.vectors import unit_vector
from clew.models.packs.pack import Pack
from clew.models.runtime import onnx_runtime, open_session, open_tokenizer
from clew.text.letters import mostly_latin, replace_surrogates

_CHARS_PER_TOKEN_LIMIT = 32
"""Characters for each token of the limit; text beyond them cannot matter and is not tokenised."""


MANY_TEXTS = 8
"""One more core helps for each group of this many waiting texts. Fewer are soon done, and leave the core to callers."""


class OnnxEmbedder:
    """Unit vectors from an ONNX encoder.

    Texts run one by one. An int8 model scales its activations over the whole batch, so in a batch a
    text's vector would depend on its neighbours (down to a cosine of 0.994 with itself). One by one
    the same text has the same vector always, nothing is padded and memory stays flat. With many texts waiting, every
    core takes one text at a time, which is as fast as a batch.
    """

    def __init__(self, pack: Pack, threads: int = 0) -> None:
        self._manifest = pack.manifest
        self._identity = pack.identity
        self._tokenizer = open_tokenizer(pack.tokenizer, EmbedderFailed)
        self._tokenizer.enable_truncation(pack.manifest.max_tokens)
        self._session = open_session(pack.model, EmbedderFailed, threads=1)  # many texts are spread over the cores
        self._run_options = onnx_runtime().RunOptions()
        self._threads = threads or os.cpu_count() or 1
        self._inputs = {item.name for item in self._session.get_inputs()}
        self._output = self._session.get_outputs()[0].name

    @property
    def identity(self) -> EmbedderIdentity:
        return self._identity

    @property
    def calibration(self) -> Calibration:
        return self._manifest.calibration

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        rows = np.empty((len(texts), self._identity.dimensions), np.float32)
        waiting = deque(zip(rows, texts, strict=True))
        helpers = min(self._threads - 1, len(texts) // MANY_TEXTS)
        with ThreadPoolExecutor(max(helpers, 1), "clew-embed") as pool:  # starts a thread only when it gets work
            try:
                others = self._start(pool, helpers, waiting)
                self._embed_waiting(waiting)
                for other in others:
                    other.result()
            finally:
                waiting.clear()  # after a failure, the others need not go on
        return rows

    def _start(self, pool: ThreadPoolExecutor, helpers: int, waiting: deque[tuple[Vectors, str]]) -> list[Future[None]]:
        try:
            return [pool.submit(self._embed_waiting, waiting) for _ in range(helpers)]
        except RuntimeError:  # the process is about to end, and nothing gets a thread any more
            return []

    def _embed_waiting(self, waiting: deque[tuple[Vectors, str]]) -> None:
        """Embeds one text after the other until none is left."""
        while True:
            try:
                row, text = waiting.popleft()
            except IndexError:
                return
            row[:] = self._embed(self._manifest.passage_prefix + text)

    def embed_query(self, text: str) -> Vectors:
        """The zero vector where the model cannot read the text: a guess would push aside matches by words."""
        if self._manifest.reads == "latin" and not mostly_latin(text):
            return np.zeros(self._identity.dimensions, np.float32)
        return self._embed(self._manifest.query_prefix + text)

    def interrupt(self) -> None:
        self._run_options.terminate = True

    def close(self) -> None:
        """Nothing to release: the session's memory goes with the object."""

    def _embed(self, text: str) -> Vectors:
        try:
            encoded = self._tokenizer.encode(
                replace_surrogates(text[: self._manifest.max_tokens * _CHARS_PER_TOKEN_LIMIT])
            )
            hidden = self._session.run([self._output], self._feeds(encoded.ids), self._run_options)[0]
        except Exception as error:  # both native libraries raise their own, undeclared kinds
            raise EmbedderFailed(f"the embedding model failed: {type(error).__name__}") from error
        pooled = hidden[0, 0] if self._manifest.pooling == "cls" else hidden[0].mean(axis=0)
        return unit_vector(pooled, self._identity.dimensions)

    def _feeds(self, ids: Sequence[int]) -> dict[str, Any]:
        tokens = np.array([ids], np.int64)
        feeds = {
            "input_ids": tokens,
            "attention_mask": np.ones_like(tokens),
            "token_type_ids": np.zeros_like(tokens),
        }
        return {name: values for name, values in feeds.items() if name in self._inputs}
