"""Puts Clew into the settings of a host, and takes it out again."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from clew.errors import NotAvailable


def packaged_folder(name: str, manifest: str) -> Path:
    """The folder that a host loads, as files of this package. Raises NotAvailable where Clew is installed packed."""
    folder = files("clew.faces.hosts").joinpath(name)
    if not isinstance(folder, Path) or not (folder / manifest).is_file():
        raise NotAvailable(f"the files for {name} are not there; install Clew unpacked, for instance with pip")
    return folder
