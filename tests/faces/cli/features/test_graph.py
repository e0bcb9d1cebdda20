"""`clew graph`: every verb for people and as JSON, its pictures, and its errors."""

from __future__ import annotations

import stat
from pathlib import Path
from xml.etree import ElementTree

import pytest

from clew.faces.cli.drawing.graph import Edge, Entity, Graph, draw
from tests.testing.command_line import ESCAPE, Clew

pytestmark = pytest.mark.requirement("GRAPH-2", "CLI-1")

PNG = b"\x89PNG\r\n"


@pytest.fixture
def clew(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Clew:
    monkeypatch.setenv("CLEW_EMBEDDER", "none")
    run = Clew(tmp_path / "data", capsys)
    run("ingest", "--session", "s", "--user", "ada", "The Atlas project uses Kafka.")
    run("ingest", "--session", "s", "--user", "ada", f"Kafka is blocked by Redis. The <b>{ESCAPE} is odd.")
    run("flush")
    return run


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["match", "something with Kafka"], "idea -names-> "),
        (["neighbours", "Kafka"], "Kafka <-uses- Atlas"),
        (["neighbours", "Kafka", "--edge", "blocked_by", "--direction", "out"], "Redis"),
        (["upstream", "Atlas"], "Atlas -uses-> Kafka -blocked_by-> Redis"),
        (["downstream", "Redis"], "Redis <-blocked_by- Kafka"),
        (["paths", "Atlas", "Redis"], "Atlas -uses-> Kafka -blocked_by-> Redis"),
        (["entities"], "project"),
        (["entities", "kafak"], "Kafka"),
        (["merges"], "no names that may mean the same"),
        (["export"], "# Graph"),
        (["export", "--format", "mermaid", "--around", "Kafka"], "graph LR"),
    ],
)
def test_every_verb_answers_as_text_and_as_json(clew: Clew, arguments: list[str], part: str) -> None:
    shown = clew("graph", *arguments, "--user", "ada")
    assert part in shown
    assert "\x1b]" not in shown
    assert clew.json("graph", *arguments, "--user", "ada")


def test_a_match_cites_the_records_of_its_path(clew: Clew) -> None:
    (match, *_) = clew.json("graph", "match", "the Atlas project and its events", "--user", "ada")["matches"]
    assert match["project"]["name"] == "Atlas"
    assert match["path"]["steps"][0]["kind"] in ("names", "resembles")
    assert clew("graph", "match", "nothing here").startswith("note: no project is known")


@pytest.mark.requirement("STORE-4")
def test_rebuild_shows_the_size_of_the_graph(clew: Clew) -> None:
    before = clew.json("graph", "status")
    assert "read" in clew("graph", "rebuild")
    assert clew.json("graph", "status") == before
    assert "edges" in clew("graph", "status", "--user", "ada")


def test_names_can_be_merged_and_separated(clew: Clew) -> None:
    assert "tool:redis is tool:kafka" in clew("graph", "merge", "tool:kafka", "tool:redis", "--user", "ada")
    assert "merged: tool:redis is tool:kafka" in clew("graph", "merges", "--user", "ada")
    assert "is an entity of its own again" in clew("graph", "unmerge", "tool:redis", "--user", "ada")
    assert "was not merged" in clew("graph", "unmerge", "tool:redis", "--user", "ada", status=3)


def test_a_picture_is_valid_svg_and_always_the_same(clew: Clew, tmp_path: Path) -> None:
    one, other = tmp_path / "one.svg", tmp_path / "other.svg"
    assert "drew 3 names" in clew("graph", "draw", str(one), "--user", "ada")
    clew("graph", "draw", str(other), "--user", "ada")
    assert one.read_bytes() == other.read_bytes()
    drawn = ElementTree.fromstring(one.read_text("utf-8"))
    shown = [node.text for node in drawn.iter("{http://www.w3.org/2000/svg}text")]
    assert sorted(shown[:3], key=str) == ["Atlas", "Kafka", "Redis"]
    assert shown[3:] == ["project", "tool"]
    around = clew.json("graph", "draw", str(one), "--user", "ada", "--around", "Redis", "--depth", "1")
    assert (around["entities"], around["edges"]) == (2, 1)


def test_a_picture_cuts_long_paths_on_the_left_and_puts_unconnected_names_below(
    tmp_path: Path,
) -> None:
    path = "packages/design-system/source/theme/theme.ts"
    names = [("project", "Atlas"), ("file", path), *(("concept", f"a lonely {'very ' * 9}{n}") for n in range(10))]
    entities = [Entity(kind=kind, name=name, records=1) for kind, name in names]
    target = tmp_path / "graph.svg"
    assert draw(target, Graph(entities=entities, edges=[Edge(source=0, target=1, kind="mentions", strength=0.5)]))
    drawn = ElementTree.fromstring(target.read_text("utf-8"))
    labels = [node for node in drawn.iter("{http://www.w3.org/2000/svg}text") if node.get("text-anchor")]
    assert labels[1].text == "…/source/theme/theme.ts"
    heights = [float(label.attrib["y"]) for label in labels]
    assert max(heights[:2]) < min(heights[2:])
    assert all(100 < float(label.attrib["x"]) < 1100 for label in labels[2:])


def test_a_picture_is_drawn_as_png_where_matplotlib_is(clew: Clew, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    target = tmp_path / "graph.png"
    clew("graph", "draw", str(target), "--user", "ada")
    assert target.read_bytes().startswith(PNG)


@pytest.mark.requirement("SAFE-2")
@pytest.mark.parametrize("name", ["graph.svg", "graph.png"])
def test_a_picture_is_private_and_follows_no_link(clew: Clew, tmp_path: Path, name: str) -> None:
    if name.endswith(".png"):
        pytest.importorskip("matplotlib")
    precious, target = tmp_path / "precious", tmp_path / name
    precious.write_text("keep me")
    target.symlink_to(precious)
    clew("graph", "draw", str(target), "--user", "ada")
    assert precious.read_text() == "keep me"
    assert not target.is_symlink()
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    nowhere = tmp_path / "nowhere"
    assert f"{nowhere} is not a folder" in clew("graph", "draw", str(nowhere / name), "--user", "ada", status=2)


def test_without_matplotlib_a_png_is_refused_with_a_note(
    clew: Clew, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("clew.faces.cli.drawing.graph.util.find_spec", lambda _: None)
    answer = clew.json("graph", "draw", str(tmp_path / "graph.png"), "--user", "ada")
    assert answer["picture"] is None
    assert "matplotlib is not installed" in answer["notes"][0]


def test_an_empty_graph_gives_an_empty_picture(clew: Clew, tmp_path: Path) -> None:
    assert clew.json("graph", "draw", str(tmp_path / "none.svg"))["entities"] == 0


@pytest.mark.parametrize(
    ("arguments", "word", "status"),
    [
        (["neighbours", "Kafak", "--user", "ada"], "there is tool:kafka", 3),
        (["neighbours", "Kafka"], "knows no", 3),
        (["draw", "graph.jpg", "--user", "ada"], ".svg or .png", 2),
        (["neighbours", "Kafka", "--edge", "loves"], "--edge", 2),
        (["merge", "Kafka", "kafka", "--user", "ada"], "one entity already", 2),
    ],
)
def test_mistakes_are_reported_in_one_line(clew: Clew, arguments: list[str], word: str, status: int) -> None:
    assert word in clew("graph", *arguments, status=status)
