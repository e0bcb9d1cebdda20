"""Every operation by its name on the wire."""

from __future__ import annotations

import pkgutil
from collections.abc import Mapping
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from clew import features
from clew.core.operation import Answer, Request
from clew.core.structs import make_known, subclasses
from clew.features.ledger.operations import Event
from clew.kernel.operations import Message

OPERATION_MODULES = (
    "clew.core.operation",
    "clew.kernel.operations",
    *(
        name
        for package in pkgutil.iter_modules(features.__path__, "clew.features.")
        if find_spec(name := f"{package.name}.operations")
    ),
)
for _module in OPERATION_MODULES:
    import_module(_module)

REQUESTS: Mapping[str, type[Request[Any]]] = {
    kind.method: kind for kind in subclasses(Request) if hasattr(kind, "method")
}

make_known([Message, Event, *subclasses(Request), *subclasses(Answer)])
