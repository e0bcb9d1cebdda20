"""One run: every system is filled with every corpus and asked its questions, in a folder that is gone afterwards."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

from bench.retrieval.context import PlainContext
from bench.retrieval.corpus import Corpus, Question
from bench.retrieval.metrics import SESSION_DEPTHS, TURN_DEPTHS, Outcome, sessions_in_order
from bench.retrieval.system import ShowsContext, System
from bench.retrieval.systems import Candidate, Equipment
from clew.core.ports import TokenCounter
from clew.models.tokens import CachedCounter, make_counter
from clew.text.terms import passage_text

BUDGETS_TOKENS = (250, 500, 1000, 2000, 4000)
DEPTH = max(TURN_DEPTHS)
DEEP = 250
"""How many turns are asked for where fifty are too few: to fill the largest budget, or to name ten sessions."""

EMBEDDING = "embedding"
"""The step before all systems."""

Report = Callable[[str, int, int], None]
"""Told which system is at work, how much of it is done, and of how much."""


@dataclass(slots=True)
class Measured:
    """What one system did over all corpora."""

    outcomes: list[Outcome] = field(default_factory=list)
    ranked_ms: list[float] = field(default_factory=list)
    """Of each question: its ranking, once the vector of the question is known."""
    fill_s: float = 0.0
    """Of all corpora. The vectors of the turns are known before."""
    embedding_s: float = 0.0
    """The part of filling that went into other vectors than those."""


@dataclass(slots=True)
class Results:
    measured: dict[str, Measured] = field(default_factory=dict)
    not_run: dict[str, str] = field(default_factory=dict)
    """By name, the reason."""


def measure(
    corpora: Sequence[Corpus],
    systems: Sequence[Candidate],
    equipment: Equipment,
    budgets_tokens: Sequence[int],
    report: Report,
) -> Results:
    """Every system that can run; why, for those that cannot."""
    counter = CachedCounter(make_counter(equipment.config))
    results = Results()
    if equipment.embedder is not None:
        texts = (passage_text(turn.text, turn.speaker) for corpus in corpora for turn in corpus.turns)
        equipment.embedder.prepare(texts, lambda done, total: report(EMBEDDING, done, total))
    for candidate in systems:
        if candidate.missing is not None:
            results.not_run[candidate.name] = candidate.missing
            continue
        one = _Run(candidate, equipment, counter, budgets_tokens, report)
        try:
            results.measured[candidate.name] = one.over(corpora)
        except Exception as error:
            if not candidate.foreign:
                raise
            results.not_run[candidate.name] = f"failed: {type(error).__name__}: {error}"
    return results


def evenly(corpora: Sequence[Corpus], count: int) -> list[Corpus]:
    """So many questions at most, spread evenly over all of them; corpora that are asked nothing fall away."""
    total = sum(len(corpus.questions) for corpus in corpora)
    wanted = {place * total // count for place in range(count)} if count < total else set(range(total))
    chosen, first = [], 0
    for corpus in corpora:
        kept = tuple(question for place, question in enumerate(corpus.questions, first) if place in wanted)
        first += len(corpus.questions)
        if kept:
            chosen.append(Corpus(corpus.name, corpus.turns, kept))
    return chosen


class _Run:
    """One system over all corpora."""

    def __init__(
        self,
        candidate: Candidate,
        equipment: Equipment,
        counter: TokenCounter,
        budgets_tokens: Sequence[int],
        report: Report,
    ) -> None:
        self._candidate = candidate
        self._folder = equipment.config.data_dir
        self._embedder = equipment.embedder
        self._counter = counter
        self._budgets_tokens = budgets_tokens
        self._report = report
        self._measured = Measured()

    def over(self, corpora: Sequence[Corpus]) -> Measured:
        total = sum(len(corpus.turns) + len(corpus.questions) for corpus in corpora)
        done = 0
        for corpus in corpora:
            self._report(self._candidate.name, done, total)
            with (
                TemporaryDirectory(dir=self._folder) as folder,
                closing(self._candidate.open(Path(folder))) as system,
            ):
                self._fill(system, corpus)
                done += len(corpus.turns)
                asked = _Asked(system, corpus.session_of, PlainContext(corpus, self._counter), self._budgets_tokens)
                for question in corpus.questions:
                    self._report(self._candidate.name, done, total)
                    self._measured.outcomes.append(self._ask(asked, corpus.name, question))
                    done += 1
        self._report(self._candidate.name, total, total)
        return self._measured

    def _fill(self, system: System, corpus: Corpus) -> None:
        embedding_s = self._embedder.seconds if self._embedder else 0.0
        started = perf_counter()
        system.fill(corpus)
        self._measured.fill_s += perf_counter() - started
        self._measured.embedding_s += self._embedder.seconds - embedding_s if self._embedder else 0.0

    def _ask(self, asked: _Asked, corpus: str, question: Question) -> Outcome:
        if self._embedder is not None:
            self._embedder.embed_query(question.text)  # known from here on, so that no system is timed for it
        started = perf_counter()
        ranked = asked.system.ranked(question, DEPTH)
        self._measured.ranked_ms.append((perf_counter() - started) * 1000.0)
        deep = asked.deep(question, ranked)
        written_out = {budget: asked.context.shown(deep, budget)[1] for budget in asked.budgets_tokens}
        return Outcome(
            corpus=corpus,
            kind=question.kind,
            evidence=question.evidence,
            audited=question.audited,
            ranked=tuple(dict.fromkeys(ranked)),
            sessions=sessions_in_order(deep, asked.session_of),
            session_of=asked.session_of,
            shown={budget: asked.shown(question, budget, plain) for budget, plain in written_out.items()},
            written_out=written_out,
        )


@dataclass(frozen=True, slots=True)
class _Asked:
    """A system filled with one corpus."""

    system: System
    session_of: Mapping[str, str]
    context: PlainContext
    budgets_tokens: Sequence[int]

    def deep(self, question: Question, ranked: Sequence[str]) -> Sequence[str]:
        """The ranking, or a deeper one where that can change a figure."""
        if len(ranked) < DEPTH:
            return ranked
        few = len({self.session_of[name] for name in ranked}) < max(SESSION_DEPTHS)
        return self.system.ranked(question, DEEP) if few or self.budgets_tokens else ranked

    def shown(self, question: Question, budget_tokens: int, written_out: frozenset[str]) -> frozenset[str]:
        """The turns that stand whole in the context: the system's own, or its turns written out."""
        return self.system.shown(question, budget_tokens)[1] if isinstance(self.system, ShowsContext) else written_out
