"""Projects: one name per repository, whatever its address, else one per folder; never a path, never a credential."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.core.projects import (
    is_elsewhere,
    name_of,
    project_at,
    project_in,
    project_of_address,
    project_of_folder,
    same_project,
)

pytestmark = pytest.mark.requirement("USE-5")


def repository(folder: Path, *remotes: tuple[str, str]) -> Path:
    (folder / ".git").mkdir(parents=True)
    lines = [f'[remote "{name}"]\n\turl = {url}\n\tfetch = +refs/heads/*' for name, url in remotes]
    (folder / ".git" / "config").write_text("\n".join(["[core]\n\tbare = false", *lines]), "utf-8")
    return folder


@pytest.mark.parametrize(
    "url",
    [
        "https://github.com/ada/atlas.git",
        "https://github.com/Ada/Atlas",
        "https://ada:s3cret@github.com/ada/atlas.git",
        "https://s3cret@github.com/ada/atlas/",
        "https://github.com/ada/atlas.git?token=s3cret",
        "git@github.com:ada/atlas.git",
        "ssh://git@github.com/ada/atlas.git",
        "ssh://git@github.com:2222/ada/atlas",
        "git://github.com/ada/atlas.git",
    ],
)
def test_a_repository_has_one_name_however_it_is_reached(url: str) -> None:
    assert project_of_address(url) == "github.com/ada/atlas"


@pytest.mark.parametrize(
    "url", ["", "/srv/git/atlas.git", "../atlas", "file:///srv/atlas.git", "C:\\git\\atlas", "atlas"]
)
def test_an_address_on_this_machine_names_no_repository(url: str) -> None:
    assert project_of_address(url) == ""


def test_a_folder_and_every_folder_in_it_take_the_name_of_their_repository(tmp_path: Path) -> None:
    root = repository(tmp_path / "here", ("fork", "git@github.com:bo/atlas"), ("origin", "git@github.com:ada/atlas"))
    (root / "src" / "deep").mkdir(parents=True)
    assert project_at(str(root)) == project_at(str(root / "src" / "deep")) == "github.com/ada/atlas"
    other = repository(tmp_path / "elsewhere", ("mine", "https://github.com/ada/atlas.git"))
    assert project_at(str(other)) == "github.com/ada/atlas"


def test_a_worktree_belongs_to_the_same_project(tmp_path: Path) -> None:
    root = repository(tmp_path / "atlas", ("origin", "git@github.com:ada/atlas"))
    behind = root / ".git" / "worktrees" / "fix"
    behind.mkdir(parents=True)
    (behind / "commondir").write_text("../..\n", "utf-8")
    tree = tmp_path / "fix"
    tree.mkdir()
    (tree / ".git").write_text(f"gitdir: {behind}\n", "utf-8")
    assert project_at(str(tree)) == "github.com/ada/atlas"


def test_without_a_remote_the_root_of_the_repository_names_it(tmp_path: Path) -> None:
    root = repository(tmp_path / "atlas")
    (root / "web").mkdir()
    assert project_at(str(root / "web")) == project_at(str(root)) == project_of_folder(str(root))
    assert name_of(project_at(str(root))) == "atlas"


def test_two_folders_of_one_name_are_two_projects_and_a_bare_name_means_both() -> None:
    one, other = project_of_folder("/srv/one/atlas"), project_of_folder("/srv/two/atlas")
    assert "/" not in one + other
    assert not same_project(one, other)
    assert same_project(one, "Atlas")
    assert same_project("atlas", "github.com/ada/atlas")
    assert not same_project("atlas", "atlas2")
    assert not same_project("github.com/ada/atlas", "gitlab.com/ada/atlas")


@pytest.mark.parametrize("folder", ["", "/", "/tmp", "/home/ada", "/Users/ada", "/srv/app", "/x", "/srv/" + "n" * 300])
def test_a_folder_whose_name_says_nothing_is_no_project(folder: str) -> None:
    assert project_at(folder) == ""


def test_a_record_without_a_project_belongs_to_no_other_project() -> None:
    assert not is_elsewhere({}, "atlas")
    assert not is_elsewhere({"project": 7}, "atlas")
    assert not is_elsewhere({"project": "  "}, "atlas")
    assert is_elsewhere({"project": "orbit"}, "atlas")
    assert project_in({"project": " atlas "}) == "atlas"


@given(st.text(), st.text())
def test_comparing_projects_accepts_any_text_and_is_symmetric(one: str, other: str) -> None:
    assert same_project(one, one)
    assert same_project(one, other) == same_project(other, one)
    assert "@" not in project_of_address(one).partition("/")[0]
    assert len(project_of_folder(one)) <= 255


@given(st.text(alphabet=st.characters(codec="utf-8"), max_size=400))
def test_any_git_configuration_is_read_safely(tmp_path_factory: pytest.TempPathFactory, config: str) -> None:
    root = repository(tmp_path_factory.mktemp("any") / "atlas")
    (root / ".git" / "config").write_text(config, "utf-8")
    assert name_of(project_at(str(root)))
