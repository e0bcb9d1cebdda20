"""Everything Clew raises on purpose.

    ClewError                      code -32000
    ├── InvalidInput               -32602   the caller's arguments; nothing was changed
    ├── NotFound                   -32010   the named thing does not exist
    ├── Conflict                   -32011   same id, other content, on an append-only turn
    ├── RawHistoryProtected        -32012   a raw turn is kept for good, as it is
    ├── NotAvailable               -32013   a method this build does not have yet
    ├── Unauthorized               -32014   missing or wrong token, or another user's process
    ├── TooLarge                   -32015   a frame or text over its limit
    ├── DeadlineExceeded           -32016   the answer was not ready in time
    ├── Busy                       -32017   a limit on connections or requests was reached
    ├── EmbedderFailed             -32020   the embedding model failed or timed out
    ├── SummarizerFailed           -32022   the summarizing model failed or timed out
    ├── ModelInstallFailed         -32021   a model pack could not be built or verified
    ├── StoreError                 -32030   the store cannot be used as it is
    │   ├── StoreTooNew            -32031   written by a newer Clew
    │   ├── StoreInUse             -32032   another daemon serves this data folder
    │   └── StoreCorrupt           -32033   the file is damaged
    │       └── RecordDamaged      -32034   a record is not what was written
    └── DaemonUnreachable          -32040   no daemon answers at the endpoint

Each class carries a stable numeric `code` (used on the wire) and an `exit_status` (used by the
command line), so that a caller can tell them apart without reading the sentence.
"""

from __future__ import annotations

from typing import ClassVar


class ClewError(Exception):
    """Base of every error a caller may want to handle."""

    code: ClassVar[int] = -32000
    exit_status: ClassVar[int] = 1

    @property
    def message(self) -> str:
        return str(self)


class InvalidInput(ClewError):
    code = -32602
    exit_status = 2


class NotFound(ClewError):
    code = -32010
    exit_status = 3


class Conflict(ClewError):
    code = -32011
    exit_status = 4


class RawHistoryProtected(ClewError):
    code = -32012
    exit_status = 4


class NotAvailable(ClewError):
    code = -32013


class Unauthorized(ClewError):
    code = -32014
    exit_status = 5


class TooLarge(ClewError):
    code = -32015
    exit_status = 2


class DeadlineExceeded(ClewError):
    code = -32016
    exit_status = 6


class Busy(ClewError):
    code = -32017
    exit_status = 6


class EmbedderFailed(ClewError):
    code = -32020


class SummarizerFailed(ClewError):
    code = -32022


class ModelInstallFailed(ClewError):
    code = -32021


class StoreError(ClewError):
    code = -32030
    exit_status = 7


class StoreTooNew(StoreError):
    code = -32031


class StoreInUse(StoreError):
    code = -32032


class StoreCorrupt(StoreError):
    code = -32033


class RecordDamaged(StoreCorrupt):
    code = -32034


class DaemonUnreachable(ClewError):
    code = -32040
    exit_status = 8


def _tree(root: type[ClewError]) -> dict[int, type[ClewError]]:
    """A class by its code; one that has no code of its own is known by that of its parent."""
    found: dict[int, type[ClewError]] = {}
    for child in root.__subclasses__():
        found |= _tree(child)
    return found | {root.code: root}


def from_code(code: int, message: str) -> ClewError:
    """The error a daemon reported, as the exception it was raised from."""
    return _tree(ClewError).get(code, ClewError)(message)
