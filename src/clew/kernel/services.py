"""Which function carries out which operation.

    @serves(Pack)
    def pack(parts: Parts, request: Pack) -> Bundle: ...

Every operation has one function. The engine finds it here by the type of the request.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Callable
from importlib import import_module
from typing import Any, TypeVar

from clew.core.operation import Request
from clew.kernel.parts import Parts

R = TypeVar("R")
Q = TypeVar("Q")

SERVICES: dict[type[Request[Any]], Callable[[Parts, Any], Any]] = {}


def serves(request: type[Request[R]]) -> Callable[[Callable[[Parts, Q], R]], Callable[[Parts, Q], R]]:
    """Makes a function the service of an operation."""

    def register(service: Callable[[Parts, Q], R]) -> Callable[[Parts, Q], R]:
        SERVICES[request] = service
        return service

    return register


def load_services(*packages: str) -> None:
    """Imports every module of the packages, so that each can register what it serves."""
    for package in packages:
        for module in pkgutil.walk_packages(import_module(package).__path__, f"{package}."):
            import_module(module.name)
