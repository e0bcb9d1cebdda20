"""A model pack: one folder with everything an embedding model needs to run.

`model.onnx` holds the weights, `tokenizer.json` the vocabulary, and `pack.json` says how to use them
and what their bytes must be. A pack has no absolute paths in it, so it can be copied from machine to
machine. Loading one compares the hash of each file with the recorded one. A process reads a file
for that once, and again after a change; `verify` reads every byte.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from clew.core.calibration import Calibration
from clew.core.ports import EmbedderIdentity
from clew.core.structs import make_known
from clew.errors import InvalidInput, ModelInstallFailed, NotFound

MODEL_FILE = "model.onnx"
TOKENIZER_FILE = "tokenizer.json"
MANIFEST_FILE = "pack.json"
DEFAULT_PACK = "e5-small"

_MANIFEST_LIMIT_BYTES = 64 * 1024
_CHUNK_BYTES = 1 << 20


def packs_dir() -> Path:
    """The folder of installed packs: `CLEW_PACKS`, or one folder of the user, shared by all stores."""
    given = os.environ.get("CLEW_PACKS")
    if given:
        return Path(given).expanduser()
    base = os.environ.get("XDG_DATA_HOME") or str(Path.home() / ".local" / "share")
    return Path(base) / "clew" / "packs"


class PackFile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    name: Literal["model.onnx", "tokenizer.json"]
    size_bytes: Annotated[int, msgspec.Meta(ge=0)]
    sha256: Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{64}$")]


class Manifest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The content of `pack.json`."""

    family: Annotated[str, msgspec.Meta(min_length=1, max_length=200)]
    dimensions: Annotated[int, msgspec.Meta(ge=1, le=16_384)]
    pooling: Literal["mean", "cls"]
    query_prefix: str
    passage_prefix: str
    max_tokens: Annotated[int, msgspec.Meta(ge=8, le=32_768)]
    reads: Literal["latin", "any"] = "any"
    """The scripts it was trained on. Its vectors of texts in other scripts are not worth comparing."""
    calibration: Calibration
    files: tuple[PackFile, ...]
    licence: str
    sources: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Pack:
    folder: Path
    manifest: Manifest

    @property
    def name(self) -> str:
        return self.folder.name

    @property
    def model(self) -> Path:
        return self.folder / MODEL_FILE

    @property
    def tokenizer(self) -> Path:
        return self.folder / TOKENIZER_FILE

    @property
    def size_bytes(self) -> int:
        return sum(file.size_bytes for file in self.manifest.files)

    @property
    def identity(self) -> EmbedderIdentity:
        """Covers everything that shapes a vector: both files, the pooling, the prefixes and the token limit."""
        manifest = self.manifest
        parts = [f"{file.name}:{file.sha256}" for file in sorted(manifest.files, key=lambda f: f.name)]
        parts += [manifest.pooling, manifest.query_prefix, manifest.passage_prefix, str(manifest.max_tokens)]
        digest = hashlib.sha256("\x00".join(parts).encode()).hexdigest()
        return EmbedderIdentity(
            family=manifest.family, dimensions=manifest.dimensions, normalised=True, weights_hash=digest
        )


def load_pack(folder: Path) -> Pack:
    """The pack in a folder, its files there and with the recorded content.

    Raises ModelInstallFailed, which names the file that is damaged and what helps.
    """
    manifest = _read_manifest(folder / MANIFEST_FILE)
    pack = Pack(folder=folder, manifest=manifest)
    if sorted(file.name for file in manifest.files) != [MODEL_FILE, TOKENIZER_FILE]:
        raise InvalidInput(f"{folder / MANIFEST_FILE}: must list {MODEL_FILE} and {TOKENIZER_FILE}, once each")
    for file in manifest.files:
        path = folder / file.name
        size_bytes = path.stat().st_size if path.is_file() else None
        if size_bytes != file.size_bytes:
            found = "missing" if size_bytes is None else f"{size_bytes} bytes long"
            raise _damaged(pack, f"{file.name} is {found} and should have {file.size_bytes} bytes")
        if _known_hash(path) != file.sha256:
            raise _damaged(pack, f"{file.name} does not have its recorded content")
    return pack


def verify_pack(pack: Pack) -> None:
    """Reads every byte of the pack and compares it with the manifest."""
    for file in pack.manifest.files:
        if sha256_of(pack.folder / file.name) != file.sha256:
            raise _damaged(pack, f"{file.name} does not have its recorded content")


def _damaged(pack: Pack, what: str) -> ModelInstallFailed:
    is_default = pack.name == DEFAULT_PACK
    remedy = f"`clew model install {DEFAULT_PACK}`" if is_default else "`clew model install FOLDER` from its source"
    return ModelInstallFailed(f"model pack {pack.name!r} is damaged: {what}; install it again with {remedy}")


def find_pack(name: str, packs: Path) -> Pack:
    """An installed pack by its name, or any pack by the path of its folder."""
    if not is_pack_name(name):
        return load_pack(Path(name).expanduser())
    if not (packs / name / MANIFEST_FILE).is_file():
        raise NotFound(f"no model pack {name!r} is installed; `clew model install {name}` may get it")
    return load_pack(packs / name)


def list_packs(packs: Path) -> list[Pack]:
    """Every installed pack, by name. A damaged one is an error that names it."""
    if not packs.is_dir():
        return []
    folders = sorted(path.parent for path in packs.glob(f"*/{MANIFEST_FILE}"))
    return [load_pack(folder) for folder in folders if not folder.name.startswith(".")]


def is_pack_name(text: str) -> bool:
    """Whether this names an installed pack; anything that looks like a path is a folder."""
    return bool(text) and "/" not in text and os.sep not in text and not text.startswith((".", "~"))


def write_manifest(folder: Path, manifest: Manifest) -> None:
    encoded = msgspec.json.format(msgspec.json.encode(manifest), indent=2)
    (folder / MANIFEST_FILE).write_bytes(encoded + b"\n")


def describe_file(path: Path) -> PackFile:
    name = msgspec.convert(path.name, Literal["model.onnx", "tokenizer.json"])
    return PackFile(name=name, size_bytes=path.stat().st_size, sha256=sha256_of(path))


def _known_hash(path: Path) -> str:
    """The cached hash of a file. A program can set back the modification time of a file, but not the change time."""
    try:
        status = path.stat()
        return _hash_of_state(
            path, status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns
        )
    except OSError as error:
        raise ModelInstallFailed(f"{path} cannot be read: {error.strerror or error}") from error


@lru_cache(maxsize=32)
def _hash_of_state(path: Path, *_state: int) -> str:
    return sha256_of(path)


def sha256_of(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK_BYTES):
            digest.update(chunk)
    return digest.hexdigest()


def _read_manifest(path: Path) -> Manifest:
    try:
        if path.stat().st_size > _MANIFEST_LIMIT_BYTES:
            raise InvalidInput("too large for a pack description")
        return msgspec.json.decode(path.read_bytes(), type=Manifest)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise NotFound(f"{path.parent} is not a model pack: it has no {MANIFEST_FILE}") from error
    except (msgspec.MsgspecError, UnicodeDecodeError, InvalidInput) as error:
        raise InvalidInput(f"{path}: {error}") from error
    except OSError as error:
        raise ModelInstallFailed(f"{path} cannot be read: {error.strerror}") from error


make_known([Manifest])
