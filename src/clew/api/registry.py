"""Every operation by its name on the wire."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clew.api import facts, governing, graph, ledger, observing, packing, plans
from clew.api.answers import Answer
from clew.api.requests import Message, Request
from clew.structs import make_known, subclasses

_AREAS = (facts, governing, graph, ledger, observing, packing, plans)
"""Imported so that their requests are known here."""

REQUESTS: Mapping[str, type[Request[Any]]] = {kind.method: kind for kind in Request.__subclasses__()}

make_known([Message, ledger.Event, *REQUESTS.values(), *subclasses(Answer)])
