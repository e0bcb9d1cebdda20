"""A query in a script that the model cannot read is searched by words alone, and the answer says so."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.core.ports import Vectors
from clew.engine import Memory
from clew.kernel.meaning import UNREADABLE
from clew.models.embedding.hashing import DIMENSIONS, HashingEmbedder
from clew.text.letters import mostly_latin
from tests.conftest import OpenMemory

pytestmark = pytest.mark.requirement("RANK-1", "RANK-6")


class LatinReader(HashingEmbedder):
    """Has no vector for a query in another script, and records the queries."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def embed_query(self, text: str) -> Vectors:
        self.asked.append(text)
        return super().embed_query(text) if mostly_latin(text) else np.zeros(DIMENSIONS, np.float32)


@pytest.fixture
def reader() -> LatinReader:
    return LatinReader()


@pytest.fixture
def memory(open_memory: OpenMemory, reader: LatinReader) -> Memory:
    memory = open_memory(reader)
    for text in ("我昨天在北京吃了烤鸭", "The duck was served in Beijing.", "порт 8443 открыт", "Rain again."):
        memory.ingest("s", "user", text, user_id="ana", speaker="Ana")
    memory.flush()
    return memory


@pytest.mark.parametrize(
    "text",
    [
        "",
        "123 ?!",
        "plain words",
        "déjà vu à Łódź",
        "Nguyễn Thị Ánh",
        "Ｆｕｌｌ ｗｉｄｔｈ",
        "烤鸭 duck",
        "ab狐狸",
        "🦊 2023年"[:2],
    ],
)
def test_a_text_is_latin_where_half_of_its_letters_are(text: str) -> None:
    assert mostly_latin(text)


@pytest.mark.parametrize(
    "text", ["烤鸭", "порт 8443", "a狐狸", "어제 만났어", "กินข้าว", "שלום", "مرحبا", "καλημέρα", "ひらがな"]
)
def test_a_text_is_not_latin_where_most_of_its_letters_are_not(text: str) -> None:
    assert not mostly_latin(text)


@given(st.text(), st.text(st.characters(categories=["Nd", "P", "Zs", "S"])))
def test_only_letters_count(text: str, around: str) -> None:
    assert mostly_latin(around + text + around) == mostly_latin(text)


@pytest.mark.parametrize(
    ("query", "best"), [("烤鸭", "我昨天在北京吃了烤鸭"), ("какой порт открыт", "порт 8443 открыт")]
)
def test_a_query_that_the_model_cannot_read_is_answered_by_words_and_says_so(
    memory: Memory, query: str, best: str
) -> None:
    found = memory.search(query, user_id="ana")
    assert found.degraded == (UNREADABLE,)
    assert found.hits[0].record.text == best
    assert all(hit.scores.dense is None and hit.scores.dense_rank is None for hit in found.hits)


def test_a_query_that_the_model_can_read_is_answered_by_meaning_too(memory: Memory) -> None:
    found = memory.search("was duck served", user_id="ana")
    assert found.degraded == ()
    assert found.hits[0].scores.dense is not None


def test_an_unreadable_query_is_no_fault_of_the_model(memory: Memory) -> None:
    memory.search("烤鸭", user_id="ana")
    assert memory.status().degraded == ()
    assert memory.search("duck", user_id="ana").degraded == ()


def test_the_embedded_query_leaves_out_the_names_of_speakers(memory: Memory, reader: LatinReader) -> None:
    for query in ("What did Ana's guest say of Beijing?", "What did Ben say of Beijing?", "Ana?"):
        memory.search(query, user_id="ana")
    assert reader.asked == ["What did guest say of Beijing?", "What did Ben say of Beijing?", "Ana?"]


def test_the_embedded_query_leaves_out_only_speakers_of_the_searched_turns(memory: Memory, reader: LatinReader) -> None:
    memory.search("What did Ana say?", user_id="ben")
    memory.search("What did Ana say?", collections=["user:ana"])
    assert set(reader.asked) == {"What did Ana say?"}


def test_a_pack_says_what_its_model_reads(tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime", reason="the `onnx` extra is not installed")
    from clew.models.embedding.onnx import OnnxEmbedder
    from tests.testing.tiny_model import write_tiny_pack

    latin = OnnxEmbedder(write_tiny_pack(tmp_path / "latin", reads="latin"), threads=1)
    anything = OnnxEmbedder(write_tiny_pack(tmp_path / "any"), threads=1)
    assert not latin.embed_query("烤鸭在哪里").any()
    assert latin.embed_query("烤鸭在哪里").shape == anything.embed_query("烤鸭在哪里").shape
    assert anything.embed_query("烤鸭在哪里").any()
    assert np.array_equal(latin.embed_query("where is it"), anything.embed_query("where is it"))
    assert latin.embed_passages(["烤鸭在哪里"]).any(), "what is stored may be asked for in words that it reads"
