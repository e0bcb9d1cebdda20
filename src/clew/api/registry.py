"""Every operation by its name on the wire."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from clew.core.operation import Answer, Request
from clew.core.structs import make_known, subclasses
from clew.features.ledger.operations import Event
from clew.kernel.operations import Message

FEATURES = (
    "authored",
    "context",
    "facts",
    "gate",
    "graph",
    "guidance",
    "history",
    "ledger",
    "lifecycle",
    "observations",
    "pack",
    "plans",
    "trust",
    "upkeep",
)
"""Features with operations. Importing those makes their requests known here."""

for _feature in FEATURES:
    import_module(f"clew.features.{_feature}.operations")

REQUESTS: Mapping[str, type[Request[Any]]] = {kind.method: kind for kind in Request.__subclasses__()}

make_known([Message, Event, *REQUESTS.values(), *subclasses(Answer)])
