"""An operation is defined once; the methods, the client and the daemon all follow from the definition."""

from __future__ import annotations

import inspect
from typing import Any

import pytest
from tools import api_methods

from clew import api
from clew.api import REQUESTS, MemoryApi, Request
from clew.async_client import AsyncClient
from clew.engine import Memory
from clew.faces.daemon.methods import METHODS
from clew.kernel.services import SERVICES

EVERY = [pytest.param(kind, id=name) for name, kind in REQUESTS.items()]
OF_THE_ENGINE = {api.GetStatus, api.Flush, api.Reindex}
"""Operations that need the queue itself; `Memory` carries them out."""


@pytest.mark.requirement("API-1")
def test_the_api_has_exactly_the_defined_methods() -> None:
    made = {name: api_methods.format_source(source) for name, source in api_methods.files().items()}
    kept = {path.name: path.read_text("utf-8") for path in api_methods.FOLDER.glob("*.py")}
    assert made == kept, "run `make docs`"


@pytest.mark.parametrize("kind", EVERY)
def test_every_operation_is_a_method_in_process_and_over_a_socket(kind: type[Request[Any]]) -> None:
    name = kind.python_name or kind.method
    here, there = getattr(MemoryApi, name), getattr(AsyncClient, name)
    assert inspect.iscoroutinefunction(there)
    assert set(inspect.signature(here).parameters) == set(inspect.signature(there).parameters)
    assert inspect.getdoc(here)


@pytest.mark.parametrize("kind", EVERY)
def test_every_operation_is_carried_out_by_one_function(kind: type[Request[Any]]) -> None:
    assert (kind in SERVICES) != (kind in OF_THE_ENGINE)
    assert issubclass(Memory, MemoryApi)


@pytest.mark.parametrize("kind", EVERY)
def test_every_operation_and_its_answer_can_be_imported_from_the_api(kind: type[Request[Any]]) -> None:
    assert getattr(api, kind.__name__) is kind
    assert getattr(api, kind.answer.__name__) is kind.answer


@pytest.mark.requirement("RPC-1")
@pytest.mark.parametrize("kind", EVERY)
def test_the_daemon_takes_order_and_limits_of_an_operation_from_its_definition(kind: type[Request[Any]]) -> None:
    method = METHODS[kind.method]
    assert method.params is kind
    assert (method.writes, method.lets_writes_pass) == (kind.writes, kind.lets_writes_pass)
    assert method.deadline_factor == kind.deadline_factor
    assert kind.writes or not (kind.lets_writes_pass or kind.leaves_work)


@pytest.mark.requirement("PACK-3")
def test_why_takes_every_field_of_a_pack_request() -> None:
    asked = set(api.Pack.__struct_fields__) - {"trace"}
    assert asked < set(api.Why.__struct_fields__)
