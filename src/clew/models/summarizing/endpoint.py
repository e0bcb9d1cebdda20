"""Summaries from a server the operator runs or rents: OpenAI-compatible or Ollama."""

from __future__ import annotations

from abc import ABC, abstractmethod

import msgspec

from clew.core.ports import Abstract
from clew.core.structs import make_known
from clew.errors import SummarizerFailed, TooLarge
from clew.models.server import Address, ModelServer
from clew.models.summarizing.text import answer_text, chat_messages
from clew.models.tokens import EstimatingCounter

_ANSWER_LIMIT_BYTES = 1 << 20
_WINDOW_TOKENS = (4_096, 8_192, 16_384, 32_768, 65_536)
"""Window sizes for a server that must be told one. Few, because the server loads the model anew for each."""


class _ServerSummarizer(ABC):
    """The base of both kinds. It sends nothing to the server before the first use."""

    _kind: str
    _path: str

    def __init__(self, address: Address, timeout_ms: int) -> None:
        self._server = ModelServer(
            address,
            self._path,
            setting="summarizer",
            title="the summarizing server",
            failure=SummarizerFailed,
            timeout_ms=timeout_ms,
            answer_limit_bytes=_ANSWER_LIMIT_BYTES,
        )
        self._model = address.model

    @property
    def name(self) -> str:
        return f"{self._kind}:{self._model}"

    def summarise(self, transcript: str, *, earlier: str, max_tokens: int) -> Abstract:
        """Asks the server for a summary. A server gives no confidence."""
        return Abstract(self._answer(chat_messages(transcript, earlier, max_tokens), max_tokens))

    def close(self) -> None:
        self._server.close()

    @abstractmethod
    def _answer(self, messages: list[dict[str, str]], max_tokens: int) -> str:
        """The text of the server's answer."""


class OpenAiSummarizer(_ServerSummarizer):
    """Any server with the OpenAI chat call; the base address usually ends in `/v1`."""

    _kind = "openai"
    _path = "/chat/completions"

    def _answer(self, messages: list[dict[str, str]], max_tokens: int) -> str:
        question = {
            "model": self._model,
            "messages": messages,
            "temperature": 0,
            "max_tokens": max_tokens,
            "stream": False,
        }
        choices = self._server.ask(question, _OpenAiAnswer).choices
        if not choices:
            raise SummarizerFailed("the summarizing server gave no answer")
        return answer_text(choices[0].message.content, cut=choices[0].finish_reason == "length")


class OllamaSummarizer(_ServerSummarizer):
    """An Ollama server.

    It is told the window to read with: it would cut the beginning off a longer request without a word.
    """

    _kind = "ollama"
    _path = "/api/chat"

    def _answer(self, messages: list[dict[str, str]], max_tokens: int) -> str:
        options = {"temperature": 0, "seed": 0, "num_predict": max_tokens, "num_ctx": _window(messages, max_tokens)}
        question = {"model": self._model, "messages": messages, "stream": False, "think": False, "options": options}
        answer = self._server.ask(question, _OllamaAnswer)
        return answer_text(answer.message.content, cut=answer.done_reason == "length")


class _Message(msgspec.Struct):
    content: str | None = None


class _OpenAiChoice(msgspec.Struct):
    message: _Message
    finish_reason: str | None = None


class _OpenAiAnswer(msgspec.Struct):
    choices: list[_OpenAiChoice]


class _OllamaAnswer(msgspec.Struct):
    message: _Message
    done_reason: str | None = None


def _window(messages: list[dict[str, str]], max_tokens: int) -> int:
    """The smallest window that holds the request and its answer."""
    counter = EstimatingCounter()
    needed = sum(counter.bound(message["content"]) for message in messages) + max_tokens
    window = next((size for size in _WINDOW_TOKENS if size >= needed), None)
    if window is None:
        raise TooLarge(f"the transcript and its summary need more than {_WINDOW_TOKENS[-1]:,} tokens")
    return window


make_known([_OpenAiAnswer, _OllamaAnswer])
