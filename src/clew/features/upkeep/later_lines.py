"""Captured lines that are later than an order to purge, and so are not what it is about."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from clew.core.ids import digest
from clew.core.structs import plain
from clew.features.ledger.lines import folder_of, log_files, number_of, object_of
from clew.kernel.parts import Parts

