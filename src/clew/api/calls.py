"""How a request reaches the engine: all that differs between a memory, a client and an asynchronous client."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TypeVar

from clew.core.operation import Request

R = TypeVar("R")


class Calls(ABC):
    @abstractmethod
    def call(self, request: Request[R]) -> R:
        """Carry out one request. Raises a ClewError; then nothing was changed."""


class AsyncCalls(ABC):
    @abstractmethod
    async def call(self, request: Request[R]) -> R:
        """Carry out one request. Raises a ClewError; then nothing was changed."""
