"""The model of a pack, run on this machine."""

from __future__ import annotations

import math
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from clew.errors import EmbedderFailed, NotFound
from clew.models.embedding.onnx import OnnxEmbedder
from clew.models.packs.bert import Weights
from clew.models.packs.calibrate import calibration_texts
from clew.models.packs.pack import DEFAULT_PACK, MODEL_FILE, TOKENIZER_FILE, find_pack, packs_dir
from tests.testing.tiny_model import HEADS, WIDTH, tiny_weights, write_tiny_pack

pytest.importorskip("onnxruntime", reason="the `onnx` extra is not installed")
pytestmark = pytest.mark.requirement("RANK-1", "RANK-2")


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> OnnxEmbedder:
    return OnnxEmbedder(write_tiny_pack(tmp_path_factory.mktemp("model") / "tiny"), threads=1)


@pytest.fixture(scope="module")
def e5() -> OnnxEmbedder:
    try:
        return OnnxEmbedder(find_pack(DEFAULT_PACK, packs_dir()))
    except NotFound:
        if os.environ.get("CI") == "true":
            raise
        pytest.skip(f"{DEFAULT_PACK} is not installed: run `clew model install`")


def test_the_int8_model_follows_the_float_model(tiny: OnnxEmbedder) -> None:
    weights = tiny_weights()
    for text in calibration_texts().unrelated[:20]:
        ids = tiny._tokenizer.encode(text).ids
        expected = reference_encoder(weights, ids).mean(axis=0)
        expected /= np.linalg.norm(expected)
        assert float(tiny.embed_passages([text])[0] @ expected) > 0.985


def test_a_text_has_the_same_vector_alone_and_among_others(tiny: OnnxEmbedder) -> None:
    texts = calibration_texts().unrelated[:12]
    together = tiny.embed_passages(texts)
    for row, text in zip(together, texts, strict=True):
        assert np.array_equal(row, tiny.embed_passages([text])[0])
    assert np.array_equal(together, tiny.embed_passages(texts))


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(st.characters(), max_size=120))
def test_any_text_gives_a_unit_vector(tiny: OnnxEmbedder, text: str) -> None:
    for vector in (tiny.embed_query(text), tiny.embed_passages([text])[0]):
        assert vector.dtype == np.float32
        assert float(np.linalg.norm(vector)) == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize("text", ["", " ", "\x00", "a" * 1_000_000, "word " * 200_000, "\ud800", "汉" * 5_000])
def test_extreme_texts_give_a_unit_vector(tiny: OnnxEmbedder, text: str) -> None:
    assert float(np.linalg.norm(tiny.embed_query(text))) == pytest.approx(1, abs=1e-5)


def test_text_beyond_the_limit_changes_nothing(tiny: OnnxEmbedder) -> None:
    long = "the meeting is on monday " * 100
    assert np.array_equal(tiny.embed_query(long), tiny.embed_query(long + "and something else"))


def test_no_texts_give_no_vectors(tiny: OnnxEmbedder) -> None:
    assert tiny.embed_passages([]).shape == (0, WIDTH)


def test_prefixes_and_pooling_of_the_pack_are_used(tmp_path: Path) -> None:
    plain = OnnxEmbedder(write_tiny_pack(tmp_path / "plain"), threads=1)
    marked = OnnxEmbedder(write_tiny_pack(tmp_path / "marked", query_prefix="the ", passage_prefix="never "), threads=1)
    first = OnnxEmbedder(write_tiny_pack(tmp_path / "first", pooling="cls"), threads=1)
    assert np.array_equal(marked.embed_query("cat"), plain.embed_query("the cat"))
    assert np.array_equal(marked.embed_passages(["cat"])[0], plain.embed_query("never cat"))
    assert not np.allclose(first.embed_query("the cat"), plain.embed_query("the cat"))


def test_a_pack_that_declares_the_wrong_dimensions_is_a_failure(tmp_path: Path) -> None:
    embedder = OnnxEmbedder(write_tiny_pack(tmp_path / "tiny", dimensions=WIDTH + 1), threads=1)
    with pytest.raises(EmbedderFailed, match=f"gave {WIDTH} numbers where {WIDTH + 1}"):
        embedder.embed_query("cat")


@pytest.mark.parametrize("name", [MODEL_FILE, TOKENIZER_FILE])
def test_a_file_that_cannot_be_read_is_a_failure(tmp_path: Path, name: str) -> None:
    pack = write_tiny_pack(tmp_path / "tiny")
    (pack.folder / name).write_bytes(b"\x00 nothing of use")
    with pytest.raises(EmbedderFailed, match=name):
        OnnxEmbedder(pack, threads=1)


def test_the_default_model_puts_paraphrases_above_texts_that_are_only_near(e5: OnnxEmbedder) -> None:
    anchor = "We use Redis to hold the sessions."
    same, near, far = e5.embed_passages(["Sessions are kept in Redis.", "Redis ran out of memory.", "My aunt sings."])
    similarity = e5.calibration.similarity(np.stack([same, near, far]) @ e5.embed_passages([anchor])[0])
    assert similarity[0] >= 0.80 > similarity[1] > similarity[2]
    assert similarity[1] < 0.65


def test_with_the_default_model_a_query_and_a_stored_text_reach_the_same_similarity(e5: OnnxEmbedder) -> None:
    pairs = [("When is the final ferry departure?", "What time does the last ferry leave?")]
    for first, second in pairs:
        stored = e5.embed_passages([first, second])
        symmetric = e5.calibration.similarity(np.atleast_1d(stored[0] @ stored[1]))
        asked = e5.calibration.of_queries.similarity(np.atleast_1d(e5.embed_query(first) @ stored[1]))
        assert float(asked[0]) == pytest.approx(float(symmetric[0]), abs=0.15)


def test_the_default_model_has_its_known_shape(e5: OnnxEmbedder) -> None:
    assert (e5.identity.family, e5.identity.dimensions) == ("e5-small", 384)


def reference_encoder(weights: Weights, ids: list[int]) -> NDArray[np.float64]:
    """BERT's forward pass in plain floating point."""
    named = weights.named
    hidden = named["embeddings.word_embeddings.weight"][ids].astype(np.float64)
    hidden += named["embeddings.position_embeddings.weight"][: len(ids)]
    hidden = normalise(hidden + named["embeddings.token_type_embeddings.weight"][0], weights, "embeddings")
    for number, (query, key, value, output, wide, narrow) in enumerate(weights.layers):
        name = f"encoder.layer.{number}"
        q, k, v = (
            (hidden @ matrix + named[f"{name}.attention.self.{part}.bias"])
            .reshape(len(ids), HEADS, -1)
            .transpose(1, 0, 2)
            for part, matrix in (("query", query), ("key", key), ("value", value))
        )
        scores = np.exp(q @ k.transpose(0, 2, 1) / math.sqrt(q.shape[-1]))
        attended = ((scores / scores.sum(axis=-1, keepdims=True)) @ v).transpose(1, 0, 2).reshape(len(ids), -1)
        attended = attended @ output + named[f"{name}.attention.output.dense.bias"]
        middle = normalise(attended + hidden, weights, f"{name}.attention.output")
        widened = middle @ wide + named[f"{name}.intermediate.dense.bias"]
        active = widened * 0.5 * (1 + np.vectorize(math.erf)(widened / math.sqrt(2)))
        hidden = normalise(active @ narrow + named[f"{name}.output.dense.bias"] + middle, weights, f"{name}.output")
    return hidden


def normalise(values: NDArray[np.float64], weights: Weights, name: str) -> NDArray[np.float64]:
    centred = values - values.mean(axis=-1, keepdims=True)
    scaled = centred / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + 1e-12)
    result: NDArray[np.float64] = (
        scaled * weights.named[f"{name}.LayerNorm.weight"] + weights.named[f"{name}.LayerNorm.bias"]
    )
    return result


def test_an_interrupted_model_embeds_nothing_more(tmp_path: Path) -> None:
    embedder = OnnxEmbedder(write_tiny_pack(tmp_path / "tiny"), threads=2)
    texts = calibration_texts().unrelated[:20]
    embedder.embed_passages(texts)
    embedder.interrupt()
    with pytest.raises(EmbedderFailed):
        embedder.embed_passages(texts)
    with pytest.raises(EmbedderFailed):
        embedder.embed_query("the cat")
