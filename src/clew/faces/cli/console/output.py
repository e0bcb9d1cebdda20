"""Files that commands write: whole or not at all, and readable by their owner alone."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from clew.errors import InvalidInput


@contextmanager
def replaced_whole(target: Path) -> Iterator[IO[bytes]]:
    """A stream whose content becomes the file at once when all is written, and not at all otherwise.

    A link of that name is replaced, and what it leads to stays as it is.
    """
    if not target.parent.is_dir():
        raise InvalidInput(f"cannot write {target}: {target.parent} is not a folder")
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")  # made 0600
    try:
        with os.fdopen(handle, "wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(name, target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
