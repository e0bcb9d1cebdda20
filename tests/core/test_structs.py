"""Types that several threads read are known before any of them does."""

from __future__ import annotations

import pytest

from clew import api
from clew.core.structs import KNOWN, subclasses
from clew.faces.daemon import compat_params

pytestmark = pytest.mark.requirement("RPC-2", "RPC-3")


def test_every_type_of_the_wire_is_made_known_on_import() -> None:
    read = {
        *api.REQUESTS.values(),
        *subclasses(api.Request),
        *subclasses(api.Answer),
        *subclasses(compat_params.Params),
    }
    assert sorted(kind.__name__ for kind in read - KNOWN) == []
