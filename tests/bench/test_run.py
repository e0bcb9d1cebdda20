"""A run of the benchmark: every system gets the same turns and questions, from a small corpus with known answers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from bench.retrieval import persistbench
from bench.retrieval.baselines import fused
from bench.retrieval.clew_memory import ClewMemory
from bench.retrieval.context import PlainContext
from bench.retrieval.corpus import Corpus, Question, Turn
from bench.retrieval.embedding import SharedEmbedder
from bench.retrieval.metrics import figures
from bench.retrieval.report import commit, of_corpora
from bench.retrieval.run import DEEP, DEPTH, Results, measure
from bench.retrieval.systems import Candidate, Equipment, candidates
from hypothesis import given
from hypothesis import strategies as st

from bench import ablation
from clew.config import Config
from clew.core.ports import Vectors
from clew.errors import EmbedderFailed, InvalidInput, NotAvailable
from clew.models.embedding.hashing import HashingEmbedder
from clew.models.tokens import EstimatingCounter

pytestmark = pytest.mark.requirement("PERF-1", "PERF-3")

DAY_MS = 86_400_000
START_MS = 1_700_000_000_000
SUBJECTS = (
    "kayak trip on the lake", "sourdough starter that died", "new violin teacher", "broken dishwasher pump",
    "marathon training plan", "grandmother's knitting", "lost passport in Lisbon", "beehives behind the barn",
)  # fmt: skip


def tiny_corpus() -> Corpus:
    turns = tuple(
        Turn(f"t{n}", f"s{n // 3 + 1}", "user", "Ida" if n % 2 else "Jon", f"I told you about the {subject}.", ts)
        for n, subject in enumerate(SUBJECTS, 1)
        for ts in (START_MS + (n // 3) * DAY_MS,)
    )
    questions = tuple(
        Question(f"q{n}", f"What about the {subject}?", "even" if n % 2 == 0 else "odd", frozenset({f"t{n}"}))
        for n, subject in enumerate(SUBJECTS, 1)
    )
    return Corpus("tiny", turns, questions)


@pytest.fixture
def equipment(tmp_path: Path) -> Equipment:
    config = Config.load(environment={}, data_dir=tmp_path / "work", embedder="hashing", synchronous="normal")
    config.data_dir.mkdir()
    return Equipment(config, SharedEmbedder(HashingEmbedder()))


@pytest.fixture
def words_only(tmp_path: Path) -> Equipment:
    return Equipment(Config.load(environment={}, data_dir=tmp_path, embedder="none"), None, "none is set")


class Scripted:
    """Ranks turns as they were said, and fails where it is told to."""

    name = "scripted"

    def __init__(self, failure: Exception | None = None) -> None:
        self.failure = failure
        self.limits: list[int] = []
        self.closed = False
        self._names: list[str] = []

    def fill(self, corpus: Corpus) -> None:
        self._names = [turn.name for turn in corpus.turns]

    def ranked(self, question: Question, limit: int) -> Sequence[str]:
        if self.failure is not None:
            raise self.failure
        self.limits.append(limit)
        return self._names[:limit]

    def close(self) -> None:
        self.closed = True


def silent(step: str, done: int, total: int) -> None:
    """Reports no progress."""


def test_every_usual_system_finds_an_obvious_answer(equipment: Equipment) -> None:
    results = measure([tiny_corpus()], candidates((), equipment), equipment, [200, 4000], silent)
    assert list(results.measured) == ["clew", "bm25", "dense", "rrf"]
    assert results.not_run == {}
    answer = of_corpora("locomo", Path("/private/tiny.json"), [tiny_corpus()], equipment, results)
    for each in answer["systems"].values():
        assert each["turn"]["recall@5"] == 1.0
        assert each["session"]["all@5"] == 1.0
        assert each["budget"]["4000"] == each["written_out"]["4000"] == 1.0
        assert each["by_category"]["even"]["questions"] == 4
        assert each["per_corpus"]["tiny"]["turn"] == each["turn"]
        assert each["latency_ms"]["p50"] <= each["latency_ms"]["p95"]
        assert each["audited"] == {"by_category": {}}
    assert answer["path"] == "tiny.json"
    assert answer["counts"] == {"corpora": 1, "turns": 8, "questions": 8, "audited_questions": 0}
    assert answer["embedding"]["texts"] == 8, "each text once for all systems"
    assert list(equipment.config.data_dir.iterdir()) == [], "no folder is left"


class Showing(Scripted):
    """Builds its own contexts, which show nothing."""

    def shown(self, question: Question, budget_tokens: int) -> tuple[str, frozenset[str]]:
        return "", frozenset()


def test_a_systems_own_context_is_measured_beside_its_ranking_in_plain_lines(equipment: Equipment) -> None:
    listed = [Candidate("plain", lambda _: Scripted()), Candidate("own", lambda _: Showing())]
    results = measure([tiny_corpus()], listed, equipment, [4000], silent)
    plain, own = (figures(results.measured[name].outcomes) for name in ("plain", "own"))
    assert plain["budget"] == plain["written_out"] == own["written_out"] == {"4000": 1.0}
    assert own["budget"] == {"4000": 0.0}


def test_a_system_that_cannot_run_is_named_with_the_reason(words_only: Equipment) -> None:
    results = measure([tiny_corpus()], candidates(["all"], words_only), words_only, [], silent)
    assert {"clew", "bm25"} <= set(results.measured)
    assert results.not_run["dense"] == results.not_run["rrf"] == "there is no embedder: none is set"
    assert set(results.measured) | set(results.not_run) >= {"clew", "bm25", "dense", "rrf", "mem0", "mempalace"}


def test_an_unknown_system_is_refused(equipment: Equipment) -> None:
    with pytest.raises(InvalidInput, match="no system is called 'nobody'; there are clew, bm25"):
        candidates(["clew", "nobody"], equipment)


def test_a_failing_foreign_system_is_named_and_the_others_go_on(equipment: Equipment) -> None:
    bad, good = Scripted(RuntimeError("no disk")), Scripted()
    listed = [Candidate("bad", lambda _: bad, foreign=True), Candidate("good", lambda _: good)]
    results = measure([tiny_corpus()], listed, equipment, [], silent)
    assert results.not_run == {"bad": "failed: RuntimeError: no disk"}
    assert list(results.measured) == ["good"]
    assert bad.closed
    assert good.closed


@pytest.mark.parametrize("failure", [NotAvailable("broken"), KeyboardInterrupt()])
def test_a_failure_of_clew_or_an_interrupt_stops_the_run_and_leaves_nothing(
    equipment: Equipment, failure: Exception
) -> None:
    system = Scripted(failure)
    with pytest.raises(type(failure)):
        measure([tiny_corpus()], [Candidate("own", lambda _: system)], equipment, [], silent)
    assert system.closed
    assert list(equipment.config.data_dir.iterdir()) == []


def test_a_ranking_goes_as_deep_as_budgets_and_sessions_need(equipment: Equipment) -> None:
    turns = tuple(Turn(f"t{n}", f"s{n // 60}", "user", None, f"word{n}", None) for n in range(600))
    corpus = Corpus("long", turns, (Question("q1", "word7", "k", frozenset({"t7"})),))
    system = Scripted()
    measure([corpus], [Candidate("own", lambda _: system)], equipment, [], silent)
    assert system.limits == [DEPTH, DEEP], "fifty turns of one session name too few"
    short = Scripted()
    measure([tiny_corpus()], [Candidate("own", lambda _: short)], equipment, [100], silent)
    assert set(short.limits) == {DEPTH}, "a ranking of all there is cannot be deeper"


def test_clew_ranks_a_turn_once_in_however_many_collections_it_is(equipment: Equipment) -> None:
    corpus = tiny_corpus()
    memory = ClewMemory(equipment.config, equipment.embedder)
    try:
        memory.fill(corpus)
        names = memory.ranked(corpus.questions[2], 50)
        assert names[0] == "t3"
        assert sorted(names) == sorted(corpus.session_of)
        text, shown = memory.shown(corpus.questions[2], 300)
        assert "violin" in text
        assert "t3" in shown
        assert memory.shown(corpus.questions[2], 30) == ("", frozenset())
    finally:
        memory.close()


def test_a_turn_shown_in_part_does_not_count(equipment: Equipment) -> None:
    long = " ".join(f"Day {n} of the kayak trip on the lake." for n in range(200))
    corpus = Corpus("long", (Turn("t1", "s1", "user", None, long, START_MS),), ())
    memory = ClewMemory(equipment.config, equipment.embedder)
    try:
        memory.fill(corpus)
        question = Question("q", "kayak trip on the lake", "k", frozenset({"t1"}))
        assert "kayak" in memory.shown(question, 300)[0]
        assert memory.shown(question, 300)[1] == frozenset()
        assert memory.shown(question, 12_000)[1] == {"t1"}
    finally:
        memory.close()


def test_a_search_that_lost_its_embedder_is_not_measured(equipment: Equipment) -> None:
    class Failing(HashingEmbedder):
        def embed_query(self, text: str) -> Vectors:
            raise EmbedderFailed("gone")

    memory = ClewMemory(equipment.config, Failing())
    try:
        memory.fill(tiny_corpus())
        with pytest.raises(EmbedderFailed, match="gone"):
            memory.ranked(tiny_corpus().questions[0], 5)
    finally:
        memory.close()


def test_packs_are_measured_by_category_of_memory(equipment: Equipment) -> None:
    rows = [
        persistbench.Row("helps", "How do I revive my sourdough starter?", ("The user's sourdough starter died.",)),
        persistbench.Row("opinion", "Which tyre fits?", ("Ida likes tea.", "Jon was born in May.")),
    ]
    held = persistbench.measure(rows, equipment, silent)
    assert (held["helps"].rows, held["helps"].share, held["helps"].items) == (1, 1.0, 1.0)
    assert (held["opinion"].rows, held["opinion"].share) == (1, 0.0)


@given(st.lists(st.permutations(["a", "b", "c", "d", "e"]), min_size=1, max_size=4))
def test_fusion_keeps_each_name_once_and_any_order_all_agree_on(rankings: list[list[str]]) -> None:
    found = fused(rankings)
    assert sorted(found) == ["a", "b", "c", "d", "e"]
    assert fused([rankings[0]] * 3) == rankings[0]
    firsts = {ranking[0] for ranking in rankings}
    assert len(firsts) > 1 or found[0] in firsts


texts = st.text(st.characters(codec="utf-8", exclude_characters="\n\r"), min_size=1, max_size=200)


@given(st.lists(texts, min_size=1, max_size=12), st.integers(1, 120))
def test_a_plain_context_stays_within_its_budget_and_holds_whole_lines(said: list[str], budget: int) -> None:
    counter = EstimatingCounter()
    turns = tuple(Turn(f"t{n}", "s1", "user", None, text, START_MS) for n, text in enumerate(said))
    ranked = [turn.name for turn in turns]
    text, names = PlainContext(Corpus("c", turns, ()), counter).shown([*ranked, *ranked], budget)
    lines = [f"[2023-11-14] user: {turn.text}" for turn in turns if turn.name in names]
    assert text.split("\n") == lines or (text, lines) == ("", [])
    assert sum(counter.bound(f"{line}\n") for line in lines) <= budget


class Counting(HashingEmbedder):
    def __init__(self) -> None:
        self.seen: list[str] = []

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        self.seen += texts
        return super().embed_passages(texts)


@pytest.fixture
def counting() -> Counting:
    return Counting()


def test_a_shared_embedder_embeds_each_text_once_and_gives_the_same_vectors(counting: Counting) -> None:
    shared = SharedEmbedder(counting)
    shared.prepare(["one", "two", "one"], lambda done, total: None)
    found = shared.embed_passages(["two", "three", "two"])
    assert sorted(counting.seen) == ["one", "three", "two"]
    assert np.array_equal(found, HashingEmbedder().embed_passages(["two", "three", "two"]))
    assert shared.embed_passages([]).shape == (0, 64)
    assert np.array_equal(shared.embed_query("who"), shared.embed_query("who"))
    assert (shared.texts, len(shared.query_ms)) == (3, 1)


def test_vectors_can_be_kept_for_the_next_run_of_the_same_model(tmp_path: Path, counting: Counting) -> None:
    path = tmp_path / "vectors.npz"
    first = SharedEmbedder(HashingEmbedder())
    first.load(path)
    vectors = first.embed_passages(["one", "two"])
    first.save(path)
    second = SharedEmbedder(counting)
    second.load(path)
    assert np.array_equal(second.embed_passages(["one", "two"]), vectors)
    assert counting.seen == []
    path.write_bytes(b"something else")
    with pytest.raises(InvalidInput, match="no vectors of an earlier run"):
        second.load(path)


def test_the_report_names_no_address_and_no_folder(equipment: Equipment) -> None:
    answer = of_corpora("locomo", Path("/private/x.json"), [], equipment, Results())
    assert "/private" not in repr(answer)
    assert not {"embedder_url", "embedder_key_env", "data_dir"} & set(answer["settings"])
    assert {"search_weights", "pack_min_similarity", "tokenizer"} <= set(answer["settings"])
    found = commit()
    assert found is None or len(found.removesuffix("-dirty")) == 40


def test_every_part_of_the_retriever_can_be_left_out(equipment: Equipment) -> None:
    assert equipment.embedder is not None
    variants = ablation._variants(equipment.embedder)
    ablation._measure("locomo", [tiny_corpus()], equipment.config, equipment.embedder, variants)
    assert {variant.name: len(variant.outcomes["locomo"]) for variant in variants} == {
        variant.name: len(tiny_corpus().questions) for variant in variants
    }
    assert variants[0].figures("locomo")[0] == 1.0
