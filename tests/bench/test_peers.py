"""The peers of the benchmark: tests that need none installed, and one for each that is."""

from __future__ import annotations

import json
import os
import urllib.request
from pathlib import Path

import numpy as np
import pytest
from bench.retrieval import peers
from bench.retrieval.corpus import Corpus, Question, Turn
from bench.retrieval.peers.endpoint import EmbeddingEndpoint
from bench.retrieval.peers.surroundings import Surroundings
from bench.retrieval.peers.turns import iso_time, line

from clew.errors import NotAvailable, NotFound
from clew.models.embedding.hashing import HashingEmbedder

pytestmark = pytest.mark.requirement("PERF-1")

ADAPTERS = Path(peers.__file__).parent


def turn(name: str, text: str, ts_ms: int | None = 0) -> Turn:
    return Turn(name=name, session="s1", role="user", speaker="Ann", text=text, ts_ms=ts_ms)


TURNS = (
    turn("a1", "I planted tomatoes in the garden."),
    turn("a2", "The invoice for the roof arrived."),
    turn("a3", "My sister plays the violin.", None),
)


def vectors_of(endpoint: EmbeddingEndpoint, given: str | list[str]) -> list[list[float]]:
    body = json.dumps({"input": given, "model": "any"}).encode()
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(urllib.request.Request(f"{endpoint.url}/embeddings", data=body)) as answer:
        rows = json.load(answer)["data"]
    assert [row["index"] for row in rows] == list(range(len(rows)))
    return [row["embedding"] for row in rows]


def test_every_peer_in_the_table_has_an_adapter() -> None:
    for peer in peers.PEERS.values():
        assert f"class {peer.system}:" in (ADAPTERS / f"{peer.module}.py").read_text("utf-8")


def test_a_peer_that_is_not_installed_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    absent = peers.Peer("no-such-distribution", "absent", "Absent", ("other<2",))
    monkeypatch.setitem(peers.PEERS, "absent", absent)
    assert peers.missing("absent") == "not installed: pip install no-such-distribution 'other<2'"
    assert peers.installed_version("absent") is None
    with pytest.raises(NotAvailable, match="absent cannot run: not installed"):
        peers.open_peer("absent", tmp_path, HashingEmbedder())


def test_the_error_for_an_unknown_peer_differs_from_that_for_a_missing_one() -> None:
    with pytest.raises(NotFound, match="no peer is called nobody"):
        peers.missing("nobody")


def test_a_peer_gets_a_turn_with_its_speaker_and_time() -> None:
    assert line(TURNS[0]) == "Ann: I planted tomatoes in the garden."
    assert line(Turn("b", "s", "assistant", None, "Done.", None)) == "assistant: Done."
    assert iso_time(TURNS[0]) == "1970-01-01T00:00:00+00:00"
    assert iso_time(TURNS[2]) is None


def test_a_peer_has_a_home_and_variables_of_its_own_until_it_closes(tmp_path: Path) -> None:
    before = dict(os.environ)
    surroundings = Surroundings(tmp_path, PEER_SETTING="on")
    assert Path.home() == tmp_path / "home"
    assert os.environ["PEER_SETTING"] == "on"
    surroundings.close()
    assert dict(os.environ) == before


class Sided(HashingEmbedder):
    """Gives a question the opposite of a passage's vector, so that a test can tell which was asked for."""

    def embed_query(self, text: str) -> np.ndarray:
        return -super().embed_query(text)


def test_the_endpoint_embeds_texts_as_passages_unless_a_question_is_asked() -> None:
    embedder = Sided()
    endpoint = EmbeddingEndpoint(embedder)
    try:
        passages = vectors_of(endpoint, ["red roof", "blue door"])
        with endpoint.asking():
            (question,) = vectors_of(endpoint, "red roof")
        (again,) = vectors_of(endpoint, "red roof")
    finally:
        endpoint.close()
    assert np.allclose(passages, embedder.embed_passages(["red roof", "blue door"]))
    assert np.allclose(question, embedder.embed_query("red roof"))
    assert np.allclose(again, passages[0])


@pytest.mark.filterwarnings("default")  # a peer's own warnings are not this project's to fix
@pytest.mark.parametrize("name", peers.PEERS)
def test_an_installed_peer_finds_the_turn_and_keeps_corpora_apart(name: str, tmp_path: Path) -> None:
    reason = peers.missing(name)
    if reason is not None:
        pytest.skip(reason)
    question = Question("q", "What did Ann plant in the garden?", "fact", frozenset({"a1"}))
    other = (turn("b1", "We planted roses in the garden."), turn("b2", "The train was late."))
    before = dict(os.environ)
    for number, (turns, best) in enumerate(((TURNS, "a1"), (other, "b1"))):
        folder = tmp_path / str(number)
        folder.mkdir()
        system = peers.open_peer(name, folder, HashingEmbedder())
        try:
            system.fill(Corpus("c", turns, (question,)))
            found = list(system.ranked(question, 100))
        finally:
            system.close()
        assert found[0] == best
        assert len(found) == len(set(found))
        assert set(found) <= {each.name for each in turns}
    assert dict(os.environ) == before
