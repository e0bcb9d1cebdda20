"""Types that several threads decode are registered before the first thread needs them."""

from __future__ import annotations

import pytest

from clew import api
from clew.core.structs import KNOWN, subclasses
from clew.faces.daemon import compat_params

pytestmark = pytest.mark.requirement("RPC-2", "RPC-3")


def test_every_wire_type_is_registered_on_import() -> None:
    read = {
        *api.REQUESTS.values(),
        *subclasses(api.Request),
        *subclasses(api.Answer),
        *subclasses(compat_params.Params),
    }
    assert sorted(kind.__name__ for kind in read - KNOWN) == []
