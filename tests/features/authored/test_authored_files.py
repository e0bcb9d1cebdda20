"""Which files the settings name, what Clew calls them, and where their links lead."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from clew.config import Config
from clew.errors import InvalidInput
from clew.features.authored import files as authored_files
from clew.features.authored.files import MAX_FILE_BYTES, File, Names, core_files, note_files, read_file, stamp

pytestmark = pytest.mark.requirement("AUTH-4", "AUTH-5")


def config(folder: Path, files: tuple[str, ...] = (), notes: tuple[str, ...] = ()) -> Config:
    return Config.load(environment={}, data_dir=folder / "data", authored_files=files, authored_notes=notes)


def make(folder: Path, *names: str) -> None:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"text of {name}\n", "utf-8")


def by_name(files: list[File]) -> dict[str, Path]:
    names = {file.name: file.path for file in files}
    assert len(names) == len(files), "two files under one name"
    return names


# --- names -------------------------------------------------------------------------------------------


def test_a_document_name_has_only_as_much_path_as_it_needs(tmp_path: Path) -> None:
    given = ("AGENTS.md", "x/SOUL.md", "y/SOUL.md", "a/b/CLAUDE.md", "c/b/CLAUDE.md")
    make(tmp_path, *given)
    found = core_files(config(tmp_path, files=tuple(str(tmp_path / name) for name in given)))
    assert list(by_name(found)) == list(given)
    assert all(file.core for file in found)


def test_a_relative_path_starts_at_the_data_folder_and_a_tilde_at_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(tmp_path, "data/AGENTS.md", "home/SOUL.md")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    found = core_files(config(tmp_path, files=("AGENTS.md", "./AGENTS.md", "~/SOUL.md", "~nobody-at-all/X.md")))
    assert [file.path for file in found[:2]] == [tmp_path / "data/AGENTS.md", tmp_path / "home/SOUL.md"]
    assert [file.name for file in found] == ["AGENTS.md", "SOUL.md", "X.md"]


def test_notes_are_named_by_their_path_in_the_folder_and_hidden_ones_are_skipped(tmp_path: Path) -> None:
    make(tmp_path, "notes/b.md", "notes/sub/a.MD", "notes/c.mdx", "notes/d.txt", "notes/.e.md", "notes/.git/f.md")
    make(tmp_path, "alone.md")
    found = note_files(config(tmp_path, notes=(str(tmp_path / "notes"), str(tmp_path / "alone.md"))))
    assert list(by_name(found)) == ["notes/b.md", "notes/c.mdx", "notes/sub/a.MD", "alone.md"]
    assert not any(file.core for file in found)


def test_notes_of_one_name_in_two_folders_are_two_documents(tmp_path: Path) -> None:
    make(tmp_path, "one/notes/x.md", "two/notes/x.md", "three/x.md", "four/x.md")
    roots = ("one/notes", "two/notes", "three/x.md", "four/x.md")
    found = by_name(note_files(config(tmp_path, notes=tuple(str(tmp_path / root) for root in roots))))
    assert list(found) == ["notes/x.md", "two/notes/x.md", "x.md", "four/x.md"]
    assert found["two/notes/x.md"] == tmp_path / "two/notes/x.md"


def test_a_note_never_takes_the_name_or_the_place_of_an_agents_document(tmp_path: Path) -> None:
    make(tmp_path, "repo/AGENTS.md", "other/AGENTS.md", "far/repo/AGENTS.md", "repo/x.md")
    link = tmp_path / "linked.md"
    link.symlink_to(tmp_path / "repo/AGENTS.md")
    settings = config(
        tmp_path,
        files=(str(link), str(tmp_path / "other/AGENTS.md")),
        notes=(str(tmp_path / "repo"), str(tmp_path / "repo"), str(tmp_path / "far/repo"), str(tmp_path / "other")),
    )
    core, notes = by_name(core_files(settings)), by_name(note_files(settings))
    assert not core.keys() & notes.keys()
    assert list(notes) == ["repo/x.md", "repo/AGENTS.md"]
    assert notes["repo/AGENTS.md"] == tmp_path / "far/repo/AGENTS.md"


def test_an_undecodable_file_name_is_shown_escaped(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    Path(os.fsdecode(os.fsencode(tmp_path / "notes") + b"/caf\xe9.md")).write_text("x", "utf-8")
    assert list(by_name(note_files(config(tmp_path, notes=(str(tmp_path / "notes"),))))) == ["notes/caf\ufffd.md"]


def test_too_many_notes_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(tmp_path, "notes/a.md", "notes/b.md", "notes/c.md")
    monkeypatch.setattr(authored_files, "MAX_FILES", 3)
    settings = config(tmp_path, notes=(str(tmp_path / "notes"),))
    assert len(note_files(settings)) == 3
    make(tmp_path, "notes/d.md")
    with pytest.raises(InvalidInput, match="more than 3 files"):
        note_files(settings)


# --- content -----------------------------------------------------------------------------------------


def test_a_stamp_changes_only_with_content_and_place(tmp_path: Path) -> None:
    make(tmp_path, "a.md", "b.md")
    path, other = tmp_path / "a.md", tmp_path / "b.md"
    first = stamp(path)
    assert stamp(path) == first
    status = path.stat()
    other.write_bytes(path.read_bytes())
    os.utime(other, ns=(status.st_atime_ns, status.st_mtime_ns))
    other.replace(path)
    assert stamp(path) != first
    assert stamp(tmp_path / "missing.md") is None
    assert stamp(path / "below-a-file.md") is None


def test_an_inaccessible_file_is_not_taken_for_a_deleted_one(tmp_path: Path) -> None:
    loop = tmp_path / "loop.md"
    loop.symlink_to(loop)
    for path in (loop, tmp_path / ("n" * 300)):
        assert stamp(path) is not None
        with pytest.raises(InvalidInput) as failure:
            read_file(path)
        assert str(tmp_path) not in failure.value.message


def test_a_file_of_the_largest_size_is_read_and_one_byte_more_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "large.md"
    path.write_bytes(b"x" * MAX_FILE_BYTES)
    assert len(read_file(path).text) == MAX_FILE_BYTES
    path.write_bytes(b"x" * (MAX_FILE_BYTES + 1))
    with pytest.raises(InvalidInput, match=r"large\.md has over"):
        read_file(path)


@pytest.mark.parametrize("data", [b"\xff\xfe- rule", b"- caf\xe9", b"- \xed\xa0\x80"])
def test_a_file_that_is_not_utf_8_is_refused_by_name(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "odd.md"
    path.write_bytes(data)
    with pytest.raises(InvalidInput, match=r"odd\.md is not UTF-8"):
        read_file(path)


# --- links -------------------------------------------------------------------------------------------

NAMES = Names(["notes/index.md", "notes/sub/Deep Note.md", "notes/sub/other.markdown", "AGENTS.md", "far/Topic.mdx"])


@pytest.mark.parametrize(
    ("source", "link", "target"),
    [
        ("notes/index.md", "sub/Deep Note.md", "notes/sub/Deep Note.md"),
        ("notes/index.md", "./sub/../sub/Deep Note", "notes/sub/Deep Note.md"),
        ("notes/sub/other.markdown", "../index.md", "notes/index.md"),
        ("notes/sub/other.markdown", "../index", "notes/index.md"),
        ("notes/index.md", "sub/other", "notes/sub/other.markdown"),
        ("notes/index.md", "deep note", "notes/sub/Deep Note.md"),
        ("notes/index.md", "Topic", "far/Topic.mdx"),
        ("notes/index.md", "/anywhere/topic.md", "far/Topic.mdx"),
        ("AGENTS.md", "notes/index.md", "notes/index.md"),
        ("notes/index.md", "../../../../etc/passwd", None),
        ("notes/index.md", "nowhere.md", None),
        ("notes/index.md", "..", None),
        ("notes/index.md", ".", None),
        ("notes/index.md", "\0", None),
    ],
)
def test_a_link_leads_to_a_known_document_or_nowhere(source: str, link: str, target: str | None) -> None:
    assert NAMES.follow(source, link) == target


def test_a_bare_link_prefers_the_nearer_path_then_the_first_name() -> None:
    names = Names(["b/x.md", "a/x.md", "c/y.md"])
    assert names.follow("b/other.md", "x") == "b/x.md"
    assert names.follow("c/y.md", "x") == "a/x.md"
