"""A pack is whole, or it is an error that says what is wrong."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import msgspec
import pytest

from clew.errors import ClewError, InvalidInput, ModelInstallFailed, NotFound
from clew.models.packs.pack import (
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
def test_whatever_shapes_a_vector_is_part_of_the_identity(pack: Pack, change: dict[str, Any]) -> None:
    changed = Pack(folder=pack.folder, manifest=msgspec.structs.replace(pack.manifest, **change))
    assert changed.identity != pack.identity


def test_other_weights_are_another_identity(pack: Pack) -> None:
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


def test_a_changed_byte_is_noticed_when_a_pack_is_verified(pack: Pack) -> None:
    content = bytearray((pack.folder / TOKENIZER_FILE).read_bytes())
    content[10] ^= 1
    (pack.folder / TOKENIZER_FILE).write_bytes(content)
    with pytest.raises(ModelInstallFailed, match=r"tokenizer.json does not have its recorded content"):
        verify_pack(load_pack(pack.folder))


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
def test_a_description_that_makes_no_sense_is_refused_by_name(pack: Pack, change: dict[str, Any]) -> None:
    path = pack.folder / MANIFEST_FILE
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(InvalidInput, match=r"pack.json"):
        load_pack(pack.folder)


@pytest.mark.parametrize("content", [b"", b"[]", b"\xff\xfe", b" " * 100_000])
def test_a_description_that_is_no_description_is_refused(pack: Pack, content: bytes) -> None:
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
