"""Old names of what `clew.kernel.records` finds."""

from clew.kernel.records import find_record as located
from clew.kernel.records import place_of

__all__ = ["located", "place_of"]
