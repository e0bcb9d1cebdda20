"""A pack is whole, or the error says what is wrong with it."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import msgspec
import pytest

from clew.engine import Memory
from clew.errors import ClewError, InvalidInput, ModelInstallFailed, NotFound
from clew.models.packs import pack as packs
from clew.models.packs.pack import (
    DEFAULT_PACK,
    MANIFEST_FILE,
    MODEL_FILE,
    TOKENIZER_FILE,
    Pack,
    find_pack,
    is_pack_name,
    list_packs,
    load_pack,
    packs_dir,
    verify_pack,
    write_manifest,
)
from tests.testing.tiny_model import tiny_manifest, write_tiny_pack

pytestmark = pytest.mark.requirement("STORE-5")


@pytest.fixture
def pack(tmp_path: Path) -> Pack:
    return write_tiny_pack(tmp_path / "packs" / "tiny")


def test_a_pack_reads_back_as_it_was_written(pack: Pack) -> None:
    assert load_pack(pack.folder).manifest == tiny_manifest(pack.folder)
    verify_pack(pack)


def test_a_copied_pack_is_the_same_model(pack: Pack, tmp_path: Path) -> None:
    copy = shutil.copytree(pack.folder, tmp_path / "elsewhere")
    assert load_pack(copy).identity == pack.identity


@pytest.mark.parametrize(
    "change", [{"query_prefix": "q: "}, {"passage_prefix": "p: "}, {"pooling": "cls"}, {"max_tokens": 32}]
)
def test_everything_that_shapes_a_vector_is_part_of_the_identity(pack: Pack, change: dict[str, Any]) -> None:
    changed = Pack(folder=pack.folder, manifest=msgspec.structs.replace(pack.manifest, **change))
    assert changed.identity != pack.identity


def test_other_weights_give_another_identity(pack: Pack) -> None:
    with (pack.folder / MODEL_FILE).open("ab") as file:
        file.write(b"x")
    write_manifest(pack.folder, tiny_manifest(pack.folder))
    assert load_pack(pack.folder).identity != pack.identity


def test_a_missing_or_cut_file_is_noticed_when_a_pack_is_read(pack: Pack) -> None:
    (pack.folder / MODEL_FILE).write_bytes(b"cut")
    with pytest.raises(ModelInstallFailed, match=r"'tiny' is damaged: model.onnx is 3 bytes long"):
        load_pack(pack.folder)
    (pack.folder / MODEL_FILE).unlink()
    with pytest.raises(ModelInstallFailed, match=r"model.onnx is missing"):
        load_pack(pack.folder)


def flip(path: Path, place: int = 10) -> None:
    """Changes one bit of a file, in place."""
    with path.open("r+b") as file:
        file.seek(place)
        (byte,) = file.read(1)
        file.seek(place)
        file.write(bytes([byte ^ 1]))


@pytest.mark.parametrize("name", [MODEL_FILE, TOKENIZER_FILE])
@pytest.mark.parametrize("check", [lambda pack: load_pack(pack.folder), verify_pack], ids=["loaded", "verified"])
def test_a_changed_byte_is_noticed_when_a_pack_is_loaded_or_verified(pack: Pack, name: str, check: Any) -> None:
    flip(pack.folder / name)
    with pytest.raises(ModelInstallFailed, match=rf"{name} does not have its recorded content.*clew model install"):
        check(pack)


def test_with_a_damaged_default_pack_clew_searches_by_words_and_says_what_helps(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    installed = tmp_path / "installed"
    flip(write_tiny_pack(installed / DEFAULT_PACK).folder / MODEL_FILE)
    monkeypatch.setenv("CLEW_PACKS", str(installed))
    with Memory.open(data_dir=tmp_path / "data", embedder="auto") as memory:
        memory.put("global", "a", "the harbour")
        assert [hit.record.id for hit in memory.search("harbour").hits] == ["a"]
        (reason,) = memory.status().degraded
    assert "model.onnx does not have its recorded content" in reason
    assert "`clew model install e5-small`" in reason
    with pytest.raises(ModelInstallFailed, match=r"model.onnx does not have"):
        Memory.open(data_dir=tmp_path / "data", embedder=str(installed / DEFAULT_PACK))


def test_an_unchanged_file_is_read_once(pack: Pack, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    real = packs.sha256_of
    packs._hash_of_state.cache_clear()
    monkeypatch.setattr(packs, "sha256_of", lambda path: read.append(path.name) or real(path))
    for _ in range(3):
        load_pack(pack.folder)
    assert sorted(read) == [MODEL_FILE, TOKENIZER_FILE]


def test_a_file_that_changed_and_has_its_old_size_and_time_is_read_again(pack: Pack) -> None:
    load_pack(pack.folder)
    path = pack.folder / MODEL_FILE
    before = path.stat()
    flip(path)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    with pytest.raises(ModelInstallFailed, match="does not have its recorded content"):
        load_pack(pack.folder)


def test_a_file_that_replaced_another_is_read(pack: Pack) -> None:
    load_pack(pack.folder)
    path = pack.folder / MODEL_FILE
    other = shutil.copy2(path, path.with_name("other"))
    flip(other)
    os.utime(other, ns=(path.stat().st_atime_ns, path.stat().st_mtime_ns))
    other.replace(path)
    with pytest.raises(ModelInstallFailed, match="does not have its recorded content"):
        load_pack(pack.folder)


@pytest.mark.parametrize(
    "change",
    [
        {"dimensions": 0},
        {"dimensions": "many"},
        {"pooling": "max"},
        {"calibration": {"unrelated": 0.9, "same_meaning": 0.1}},
        {"files": []},
        {"files": [{"name": "../../etc/passwd", "size_bytes": 1, "sha256": "0" * 64}]},
        {"surprise": 1},
    ],
)
def test_an_invalid_entry_of_a_description_is_refused_by_name(pack: Pack, change: dict[str, Any]) -> None:
    path = pack.folder / MANIFEST_FILE
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(InvalidInput, match=r"pack.json"):
        load_pack(pack.folder)


@pytest.mark.parametrize("content", [b"", b"[]", b"\xff\xfe", b" " * 100_000])
def test_a_file_that_is_no_description_is_refused(pack: Pack, content: bytes) -> None:
    (pack.folder / MANIFEST_FILE).write_bytes(content)
    with pytest.raises(InvalidInput, match=r"pack.json"):
        load_pack(pack.folder)


def test_a_pack_is_found_by_name_and_by_folder(pack: Pack) -> None:
    packs = pack.folder.parent
    assert find_pack("tiny", packs) == find_pack(str(pack.folder), packs) == pack
    with pytest.raises(NotFound, match="'other'"):
        find_pack("other", packs)
    with pytest.raises(NotFound, match="not a model pack"):
        find_pack("./nowhere", packs)


@pytest.mark.parametrize("text", ["", ".", "..", "../x", "a/b", "~/x", "/x", ".hidden"])
def test_a_path_is_no_pack_name(text: str) -> None:
    assert not is_pack_name(text)


def test_installed_packs_are_listed_by_name_without_what_is_being_built(pack: Pack, tmp_path: Path) -> None:
    packs = pack.folder.parent
    write_tiny_pack(packs / ".unfinished.building")
    write_tiny_pack(packs / "another")
    (packs / "no pack").mkdir()
    assert [found.name for found in list_packs(packs)] == ["another", "tiny"]
    assert list_packs(tmp_path / "missing") == []


def test_packs_are_shared_by_all_stores_of_a_user(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("CLEW_PACKS", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setenv("CLEW_HOME", "/another/store")
    assert packs_dir() == tmp_path / "clew" / "packs"
    monkeypatch.setenv("CLEW_PACKS", str(tmp_path / "mine"))
    assert packs_dir() == tmp_path / "mine"


def test_every_failure_is_one_of_clews_own_errors(tmp_path: Path) -> None:
    (tmp_path / MANIFEST_FILE).mkdir()
    with pytest.raises(ClewError):
        load_pack(tmp_path)
