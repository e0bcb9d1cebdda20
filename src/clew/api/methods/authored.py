"""The operations of `authored` as methods. Written by `python -m tools.api_methods`; do not edit by hand."""

from __future__ import annotations

from clew.api.calls import AsyncCalls, Calls
from clew.features.authored.operations import AuthoredReport, LoadAuthored


class AuthoredMethods(Calls):
    """The operations of `authored`."""

    def load_authored(self, *, notes: bool = True) -> AuthoredReport:
        """Reads the authored files now. Fails where hard text is over its share of the budget."""
        return self.call(LoadAuthored(notes=notes))


class AsyncAuthoredMethods(AsyncCalls):
    """The operations of `authored` to await."""

    async def load_authored(self, *, notes: bool = True) -> AuthoredReport:
        """Reads the authored files now. Fails where hard text is over its share of the budget."""
        return await self.call(LoadAuthored(notes=notes))
