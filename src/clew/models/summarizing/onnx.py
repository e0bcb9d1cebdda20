"""Summaries from a sequence-to-sequence model, run on this machine's processor."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clew.core.ports import Abstract
from clew.errors import SummarizerFailed, TooLarge
from clew.models.runtime import onnx_runtime, open_session, open_tokenizer
from clew.models.summarizing.folder import Seq2SeqFolder
from clew.models.summarizing.text import whole_sentences

_MOST_PARTS = 8
"""A transcript that would be read in more parts than this is refused: little of each would be left."""
_CHARS_PER_TOKEN_LIMIT = 16
"""Characters for each token that the model can read; a longer transcript is not even tokenised."""

_ENCODER_INPUTS = {"input_ids", "attention_mask"}
_DECODER_INPUTS = {"input_ids", "encoder_hidden_states", "encoder_attention_mask"}


class OnnxSummarizer:
    """Writes the likeliest token after token, so that the same transcript has the same summary.

    Such a model reads some hundred tokens at once. A longer transcript is read in parts, cut between lines
    where that can be, and each part has its share of the summary. Such a model follows no instructions either:
    it cannot tell earlier notes from the text to summarise, so it does not get them.

    It is large, so it is loaded at the first use.
    """

    def __init__(self, folder: Seq2SeqFolder, timeout_ms: int, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._folder = folder
        self._timeout_ms = timeout_ms
        self._monotonic = monotonic

    @property
    def name(self) -> str:
        return f"onnx:{self._folder.name}"

    def summarise(self, transcript: str, *, earlier: str, max_tokens: int) -> Abstract:  # noqa: ARG002 - see the class
        deadline = self._monotonic() + self._timeout_ms / 1000
        if len(transcript) > _MOST_PARTS * self._folder.positions * _CHARS_PER_TOKEN_LIMIT:
            raise TooLarge(self._too_long)
        parts = self._parts(transcript)
        if len(parts) > _MOST_PARTS:
            raise TooLarge(self._too_long)
        room = max(max_tokens // max(len(parts), 1), 1)
        written = [self._write(part, room, deadline) for part in parts]
        chances = [chance for _, part_chances in written for chance in part_chances]
        text = "\n".join(text for text, _ in written if text)
        return Abstract(text, float(np.mean(chances)) if chances else None)

    def interrupt(self) -> None:
        self._run_options.terminate = True

    def close(self) -> None:
        """Nothing to release: the sessions' memory goes with the object."""

    @property
    def _too_long(self) -> str:
        return f"the transcript is longer than {_MOST_PARTS} parts of {self._folder.positions:,} tokens"

    @cached_property
    def _run_options(self) -> Any:
        return onnx_runtime().RunOptions()

    @cached_property
    def _tokenizer(self) -> Any:
        return open_tokenizer(self._folder.tokenizer, SummarizerFailed)

    @cached_property
    def _encoder(self) -> Any:
        return _open_part(self._folder.encoder, _ENCODER_INPUTS)

    @cached_property
    def _decoder(self) -> Any:
        return _open_part(self._folder.decoder, _DECODER_INPUTS)

    def _parts(self, transcript: str) -> list[str]:
        """The transcript in parts of whole lines, each short enough to be read at once."""
        self._tokenizer.no_truncation()
        room = max(self._folder.positions - len(self._tokenizer.encode(self._folder.prefix).ids), 1)
        parts: list[list[str]] = []
        left = 0
        for line in transcript.splitlines():
            for piece, size in self._pieces(line, room):
                if size > left:
                    parts.append([])
                    left = room
                parts[-1].append(piece)
                left -= size
        return ["\n".join(part) for part in parts]

    def _pieces(self, line: str, room: int) -> Iterator[tuple[str, int]]:
        """A line, cut where it is too long to be read at once, with the tokens of each piece and its line end."""
        spans: list[tuple[int, int]] = self._tokenizer.encode(line, add_special_tokens=False).offsets
        step = max(room - 1, 1)
        for first in range(0, len(spans), step):
            chosen = spans[first : first + step]
            yield line[chosen[0][0] : chosen[-1][1]], len(chosen) + 1

    def _write(self, part: str, room: int, deadline: float) -> tuple[str, list[float]]:
        """The summary of one part, and the probability of each token in it."""
        source = np.array([self._read(part)], np.int64)
        mask = np.ones_like(source)
        [hidden] = self._run(self._encoder, {"input_ids": source, "attention_mask": mask})
        feeds = {"encoder_hidden_states": hidden, "encoder_attention_mask": mask}
        tokens, chances = list(self._folder.first_tokens), list[float]()
        for _ in range(min(room, self._folder.positions - len(tokens))):
            if self._monotonic() > deadline:
                raise SummarizerFailed(f"the summarizing model did not finish within {self._timeout_ms} ms")
            [logits] = self._run(self._decoder, feeds | {"input_ids": np.array([tokens], np.int64)})
            token, chance = self._next(logits[0, -1], tokens)
            chances.append(chance)
            if token in self._folder.end_tokens:
                return self._text(tokens), chances
            tokens.append(token)
        return whole_sentences(self._text(tokens)), chances

    def _run(self, session: Any, feeds: dict[str, Any]) -> Any:
        """Runs a model with those of the inputs that it takes; returns its first output."""
        taken = {item.name for item in session.get_inputs()}
        given = {name: feeds[name] for name in feeds if name in taken}
        return session.run([session.get_outputs()[0].name], given, self._run_options)

    def _read(self, part: str) -> list[int]:
        """The tokens of a part, cut to the limit: lines may make more tokens together than alone."""
        self._tokenizer.enable_truncation(self._folder.positions)
        ids: list[int] = self._tokenizer.encode(self._folder.prefix + part).ids
        return ids

    def _next(self, logits: NDArray[np.float32], tokens: list[int]) -> tuple[int, float]:
        """The likeliest token that may follow, and its probability."""
        scores = logits.astype(np.float64)
        if not np.isfinite(scores.max()):
            raise SummarizerFailed("the summarizing model gave values that are not numbers")
        chances = np.exp(scores - scores.max())
        chances /= chances.sum()
        allowed = chances.copy()
        allowed[_find_repeats(tokens, self._folder.unrepeated_tokens)] = -1.0
        token = int(allowed.argmax())
        return token, float(chances[token])

    def _text(self, tokens: Sequence[int]) -> str:
        text: str = self._tokenizer.decode(list(tokens), skip_special_tokens=True)
        return text.strip()


def _find_repeats(tokens: Sequence[int], length: int) -> list[int]:
    """The tokens that would now repeat a run of this length."""
    if length < 1 or len(tokens) < length:
        return []
    ending = list(tokens[len(tokens) - length + 1 :])
    starts = range(len(tokens) - length + 1)
    return [tokens[start + length - 1] for start in starts if list(tokens[start : start + length - 1]) == ending]


def _open_part(path: Path, inputs: set[str]) -> Any:
    """Opens the encoder or the decoder, on half of the cores."""
    session = open_session(path, SummarizerFailed, threads=max((os.cpu_count() or 1) // 2, 1))
    unknown = sorted({item.name for item in session.get_inputs()} - inputs)
    if unknown:
        raise SummarizerFailed(f"{path} asks for {unknown[0]}; export the model without past key values")
    return session
