"""What each part of ranking is worth, and what it costs: each is left out in turn, all else as it is.

    python -m bench.ablation --locomo FILE --longmemeval FOLDER --tools FOLDER --cjk FOLDER

Every corpus is filled once, through the public interface and with default settings, and asked all its questions by each
variant. Datasets that are not given are left out. Times are of searches for ten turns of LoCoMo whose vectors are
known; the variants take turns at each question, so that all of them meet the machine in the same state.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.altered import LEXICAL_SHARE, Change, altered, weighing
from bench.picture import COLOURS, FOLDER, draw, tell
from bench.retrieval import datasets
from bench.retrieval.clew_memory import ClewMemory
from bench.retrieval.corpus import Corpus, Question
from bench.retrieval.embedding import SharedEmbedder
from bench.retrieval.metrics import Outcome, figures, percentile, sessions_in_order
from bench.retrieval.run import DEPTH, evenly
from clew.config import Config
from clew.core.ports import Embedder
from clew.index import surroundings
from clew.index.collection import CollectionIndex, LexicalLane
from clew.index.columns import Sessions
from clew.index.search import Query
from clew.index.vectors import to_grid
from clew.kernel import search as recall
from clew.kernel.meaning import UNREADABLE, Meaning, Meant
from clew.models.choose import make_embedder
from clew.models.embedding import onnx
from clew.text.terms import QueryTerms, passage_text

FIGURES: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "locomo": ("turn", ("recall@5", "recall@10", "recall@25", "recall@50")),
    "longmemeval": ("session", ("all@5", "all@10")),
    "tools": ("turn", ("recall@10",)),
    "cjk": ("turn", ("recall@10",)),
}
"""By dataset: the level and the figures that are shown."""

TIMED = "locomo"
TIMED_QUESTIONS = 40
"""Of each conversation."""
TIMED_HITS = 10

Floats = NDArray[np.float32]

LEAST_SHOWN = -15.0
"""Points that the picture shows at most: what is worse would make all else too small to see."""


@dataclass(slots=True)
class Variant:
    """Clew with one part left out."""

    name: str
    changes: Sequence[Change]
    is_timed: bool = False
    outcomes: dict[str, list[Outcome]] = field(default_factory=dict)
    """By dataset."""
    search_ms: list[float] = field(default_factory=list)

    def figures(self, dataset: str) -> list[float]:
        level, names = FIGURES[dataset]
        found = figures(self.outcomes[dataset])[level]
        return [found[name] for name in names]


def main() -> int:
    options = _parser().parse_args()
    given = {name: getattr(options, name) for name in FIGURES if getattr(options, name)}
    for name in FIGURES.keys() - given.keys():
        _say(f"{name} is left out: no --{name}")
    if not given:
        return 2
    with TemporaryDirectory(prefix="bench-") as folder:
        config = Config.load(environment={}, data_dir=Path(folder))
        choice = make_embedder(config)
        if choice.model is None:
            _say(f"there is no embedder: {choice.reason}")
            return 1
        with closing(choice.model):
            variants = _variants(choice.model)
            embedder = SharedEmbedder(choice.model)
            if options.vectors:
                embedder.load(options.vectors)
            for dataset, path in given.items():
                _measure(dataset, datasets.read(dataset, path), config, embedder, variants)
            if options.vectors:
                embedder.save(options.vectors)
    _print_table(list(given), variants)
    print(tell(_draw(options.out, list(given), variants)))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in FIGURES:
        parser.add_argument(f"--{name}", type=Path, help=f"where the dataset {name} is, as for clew bench")
    parser.add_argument("--vectors", type=Path, help="keep the vectors of texts in this file, for the next run")
    parser.add_argument("--out", type=Path, default=FOLDER / "ablation.png", help="where to draw the picture")
    return parser


# --- the parts ---------------------------------------------------------------------------------------------


def _variants(embedder: Embedder) -> list[Variant]:
    """Where a part is left out by its weight alone, the work is done all the same, and there is nothing to time."""
    without_surroundings = Change(recall, "Query", partial(Query, by_surroundings=False))
    return [
        Variant("all parts", [], is_timed=True),
        Variant("no turn before", _off("BEFORE")),
        Variant("no turn after", _off("AFTER")),
        Variant("no turns beyond those", _off("BEYOND")),
        Variant("no answers", _off("ANSWER")),
        Variant("none of these four", [Change(surroundings, "_neighbours", _no_neighbours)], is_timed=True),
        Variant("no session", [Change(surroundings, "_session_fit", _no_session)], is_timed=True),
        Variant("no speaker", [Change(CollectionIndex, "said_by", lambda *_: None)], is_timed=True),
        Variant("names left in the vector", [Change(recall, "_speakers", lambda *_: set())], is_timed=True),
        Variant("no dates", [Change(recall, "keys_asked_for", lambda *_: ())], is_timed=True),
        Variant("no surroundings at all", [without_surroundings], is_timed=True),
        Variant("no words", [Change(CollectionIndex, "lexical", _no_words)], is_timed=True),
        Variant("no meaning", [Change(Meaning, "of_query", lambda *_: Meant(trouble=UNREADABLE))], is_timed=True),
        Variant("words and meaning alike", weighing({LEXICAL_SHARE: 0.5})),
        Variant("exact terms as any others", [_without_exact_terms()]),
        Variant("no check of the script", [Change(Meaning, "of_query", _reads_everything(embedder))]),
    ]


def _off(weight: str) -> list[Change]:
    return weighing({weight: 0.0})


def _no_neighbours(_: CollectionIndex, __: Sessions, positions: NDArray[np.int64], *___: object) -> Floats:
    return np.zeros(len(positions), np.float32)


def _no_session(_: CollectionIndex, sessions: Sessions, *__: object) -> Floats:
    return np.zeros(len(sessions.members), np.float32)


def _no_words(index: CollectionIndex, _: QueryTerms) -> LexicalLane:
    size = len(index.seqs)
    return LexicalLane(np.zeros(size, np.float32), np.zeros(size, np.uint16), 0.0)


def _without_exact_terms() -> Change:
    """The lexical lane counts no more for a query that holds identifiers and numbers."""
    lexical = CollectionIndex.lexical
    return Change(CollectionIndex, "lexical", lambda index, query: replace(lexical(index, query), exact_share=0.0))


def _reads_everything(embedder: Embedder) -> Callable[[Meaning, str], Meant]:
    """Every query gets a vector, though the model was not trained on its script."""
    shared = SharedEmbedder(embedder)

    def of_query(_: Meaning, text: str) -> Meant:
        with altered(Change(onnx, "mostly_latin", lambda _: True)):
            return Meant(to_grid(shared.embed_query(text))[0], shared.calibration.of_queries)

    return of_query


# --- measuring ---------------------------------------------------------------------------------------------


def _measure(
    dataset: str, corpora: Sequence[Corpus], config: Config, embedder: SharedEmbedder, variants: Sequence[Variant]
) -> None:
    texts = (passage_text(turn.text, turn.speaker) for corpus in corpora for turn in corpus.turns)
    embedder.prepare(texts, lambda done, total: _say(f"{dataset}: embedding {done} of {total}"))
    for number, corpus in enumerate(corpora, 1):
        _say(f"{dataset}: {number} of {len(corpora)}")
        with (
            TemporaryDirectory(dir=config.data_dir) as folder,
            closing(ClewMemory(replace(config, data_dir=Path(folder)), embedder)) as memory,
        ):
            memory.fill(corpus)
            for variant in variants:
                with altered(*variant.changes):
                    asked = [_outcome(memory, corpus, question) for question in corpus.questions]
                variant.outcomes.setdefault(dataset, []).extend(asked)
            if dataset == TIMED:
                _time(memory, corpus, variants)


def _outcome(memory: ClewMemory, corpus: Corpus, question: Question) -> Outcome:
    ranked = tuple(memory.ranked(question, DEPTH))
    return Outcome(
        corpus=corpus.name,
        kind=question.kind,
        evidence=question.evidence,
        audited=question.audited,
        ranked=ranked,
        sessions=sessions_in_order(ranked, corpus.session_of),
        session_of=corpus.session_of,
        shown={},
        written_out={},
    )


def _time(memory: ClewMemory, corpus: Corpus, variants: Sequence[Variant]) -> None:
    """Each question is put twice and timed the second time: no variant pays for what another then finds at hand."""
    for question in (question for part in evenly([corpus], TIMED_QUESTIONS) for question in part.questions):
        for variant in (variant for variant in variants if variant.is_timed):
            with altered(*variant.changes):
                memory.ranked(question, TIMED_HITS)
                started = perf_counter()
                memory.ranked(question, TIMED_HITS)
                variant.search_ms.append((perf_counter() - started) * 1000.0)


# --- showing -----------------------------------------------------------------------------------------------


def _print_table(given: Sequence[str], variants: Sequence[Variant]) -> None:
    """All parts in percent; the others in points more or less."""
    columns = [f"{dataset} {figure}" for dataset in given for figure in FIGURES[dataset][1]]
    times = ["search p50, ms"] if TIMED in given else []
    print(f"| | {' | '.join(columns + times)} |\n| --- |" + " ---: |" * len(columns + times))
    whole = variants[0]
    for variant in variants:
        cells = [_cell(*pair) for dataset in given for pair in _beside(dataset, variant, whole)]
        cells += [f"{percentile(variant.search_ms, 50):.2f}" if variant.is_timed else "–" for _ in times]
        print(f"| {variant.name} | {' | '.join(cells)} |")


def _beside(dataset: str, variant: Variant, whole: Variant) -> list[tuple[float, float | None]]:
    """Each figure in percent, and that of all parts where it is another variant's."""
    found = [value * 100.0 for value in variant.figures(dataset)]
    others = [None if variant is whole else value * 100.0 for value in whole.figures(dataset)]
    return list(zip(found, others, strict=True))


def _cell(value: float, whole: float | None) -> str:
    return f"{value:.1f}" if whole is None else f"{value - whole:+.1f}"


def _draw(path: Path, given: Sequence[str], variants: Sequence[Variant]) -> Path | None:
    size = (3.6 * len(given) + 2.0, 0.42 * len(variants) + 1.6)
    fill = partial(_bars, given=given, variants=variants)
    return draw(path, columns=len(given), size_inches=size, fill=fill)


def _bars(_: Any, panels: Sequence[Any], given: Sequence[str], variants: Sequence[Variant]) -> None:
    names = [variant.name for variant in variants[1:]]
    for panel, dataset in zip(panels, given, strict=True):
        whole, *others = (np.array(variant.figures(dataset)) * 100.0 for variant in variants)
        _draw_bars(panel, FIGURES[dataset][1], [other - whole for other in others])
        panel.set_title(f"{dataset}: all parts {' / '.join(f'{value:.1f}' for value in whole)}", fontsize=9)
        panel.set_xlabel("points more or less", fontsize=8)
        panel.set_yticks(range(len(names)), names if panel is panels[0] else [""] * len(names), fontsize=8)


def _draw_bars(panel: Any, figures_: Sequence[str], changes: Sequence[NDArray[np.float64]]) -> None:
    """One group a variant. What a bar cannot show is written on it."""
    height = 0.8 / len(figures_)
    for place, (figure, colour) in enumerate(zip(figures_, COLOURS, strict=False)):
        places = [row + (place - (len(figures_) - 1) / 2) * height for row in range(len(changes))]
        values = [float(change[place]) for change in changes]
        bars = panel.barh(places, [max(value, LEAST_SHOWN) for value in values], height, label=figure, color=colour)
        written = [f"{value:.0f}" if value < LEAST_SHOWN else "" for value in values]
        panel.bar_label(bars, written, label_type="center", color="white", fontsize=7)
    panel.set_ylim(len(changes) - 0.5, -0.5)
    panel.set_xlim(left=LEAST_SHOWN)
    panel.axvline(0.0, color="black", linewidth=0.8)
    panel.legend(fontsize=7, frameon=False, loc="upper left")


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
