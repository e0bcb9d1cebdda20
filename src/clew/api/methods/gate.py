"""The operations of `gate` as methods. Written by `python -m tools.api_methods`; do not edit by hand."""

from __future__ import annotations

from clew.api.calls import AsyncCalls, Calls
from clew.features.gate.operations import Gate, GateScore


class GateMethods(Calls):
    """The operations of `gate`."""

    def gate(self, text: str, *, user_id: str | None = None) -> GateScore:
        """Grades a text as if this user said it now. Keeps nothing."""
        return self.call(Gate(text=text, user_id=user_id))


class AsyncGateMethods(AsyncCalls):
    """The operations of `gate` to await."""

    async def gate(self, text: str, *, user_id: str | None = None) -> GateScore:
        """Grades a text as if this user said it now. Keeps nothing."""
        return await self.call(Gate(text=text, user_id=user_id))
