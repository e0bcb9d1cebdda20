"""`clew bench`: how well Clew finds what it keeps, beside baselines and peers, on a dataset given by path."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import click

from clew.errors import NotFound
from clew.faces.cli.console.command import Verb
from clew.faces.cli.console.invocation import Invocation
from clew.faces.cli.console.terminal import print_fields, print_heading, print_note, print_table

if TYPE_CHECKING:
    from bench.retrieval.systems import Equipment

PERSISTBENCH = "persistbench"
DATASETS = ("locomo", "longmemeval", PERSISTBENCH, "tools", "cjk")

_LEVELS = {
    "Turns": "turn",
    "Sessions": "session",
    "Evidence inside a budget of tokens": "budget",
    "The same where every ranking is written out in plain lines": "written_out",
}
_GROUPS = {"by_category": "by category", "per_corpus": "by corpus"}
_OF_GROUPS = "recall@10"


@click.command(
    "bench",
    cls=Verb,
    examples=[
        "clew bench --dataset locomo --path locomo.json.gz",
        "clew bench --dataset locomo --path locomo.json.gz --system all --only conv-26 --json",
        "clew bench --dataset longmemeval --path longmemeval --questions 50 --budget 1000",
    ],
)
@click.option("--dataset", type=click.Choice(DATASETS), required=True, help="What the data is.")
@click.option(
    "--path", type=click.Path(path_type=Path), required=True, metavar="PATH", help="Where it is; nothing is downloaded."
)
@click.option(
    "--system",
    "systems",
    multiple=True,
    metavar="NAME",
    help="clew, bm25, dense, rrf, a peer's name, or all; may be repeated. Else the first four.",
)
@click.option(
    "--budget",
    "budgets",
    type=click.IntRange(1, 1_000_000),
    multiple=True,
    metavar="TOKENS",
    help="Size of a context to look for evidence in; may be repeated. Else 250, 500, 1000, 2000 and 4000.",
)
@click.option("--only", metavar="NAMES", help="Only these corpora, with commas between.")
@click.option(
    "--questions", type=click.IntRange(min=1), metavar="N", help="So many questions at most, spread evenly over all."
)
@click.option("--embedder", metavar="NAME", help="In place of the setting embedder.")
@click.option(
    "--vectors",
    type=click.Path(dir_okay=False, writable=True, path_type=Path),
    metavar="FILE",
    help="Keep the vectors of texts in this file, for the next run.",
)
@click.pass_obj
def command(
    invocation: Invocation,
    *,
    dataset: str,
    path: Path,
    systems: tuple[str, ...],
    budgets: tuple[int, ...],
    only: str | None,
    questions: int | None,
    embedder: str | None,
    vectors: Path | None,
) -> None:
    """Measure what is found, beside baselines and peers, on a dataset of conversations or memories.

    Everything runs in temporary folders, with the settings of the environment; no store is touched. `locomo` is
    the published file, gzipped or not. `longmemeval` is the published file, or a folder of reduced haystacks.
    `persistbench` is a folder of three files, and measures Clew's packs alone.
    """
    _find_harness()
    from bench.retrieval import datasets, report
    from bench.retrieval.run import BUDGETS_TOKENS, evenly, measure
    from bench.retrieval.systems import candidates

    if dataset == PERSISTBENCH:
        _measure_packs(invocation, path, systems, _equip(embedder, vectors))
        return
    corpora = datasets.read(dataset, path, [name for name in (only or "").split(",") if name])
    corpora = corpora if questions is None else evenly(corpora, questions)
    with _equip(embedder, vectors) as equipment, invocation.stages() as stage:
        chosen = candidates(systems, equipment)
        results = measure(corpora, chosen, equipment, sorted(set(budgets or BUDGETS_TOKENS)), stage)
        answer = report.of_corpora(dataset, path, corpora, equipment, results)
    invocation.show(answer, _print_figures)


def _find_harness() -> None:
    """The harness is part of a clone, not of the package: nobody who uses Clew needs it."""
    clone = Path(__file__).resolve().parents[4]
    if not (clone / "bench" / "retrieval").is_dir():
        raise NotFound("`clew bench` needs a clone of the project; the installed package does not hold the benchmarks")
    sys.path.insert(0, str(clone))


def _measure_packs(
    invocation: Invocation, path: Path, systems: Sequence[str], equipped: AbstractContextManager[Equipment]
) -> None:
    from bench.retrieval import persistbench, report
    from bench.retrieval.systems import candidates

    rows = persistbench.read(path)
    with equipped as equipment, invocation.stages() as stage:
        names = [candidate.name for candidate in candidates(systems or ("clew",), equipment)]
        held = persistbench.measure(rows, equipment, stage) if "clew" in names else {}
        not_run = {name: "has no pack that may stay empty" for name in names if name != "clew"}
        answer = report.of_packs(path, rows, equipment, held, not_run)
    invocation.show(answer, _print_packs)


@contextmanager
def _equip(embedder: str | None, vectors: Path | None) -> Iterator[Equipment]:
    """The settings of the environment and of no data folder, so that a run can be repeated elsewhere."""
    from bench.retrieval.embedding import SharedEmbedder
    from bench.retrieval.systems import Equipment

    from clew.config import Config
    from clew.models.choose import make_embedder

    if vectors is not None and not vectors.parent.is_dir():  # known at once, not after the whole run
        raise NotFound(f"{vectors.parent} is no folder, so no vectors can be kept there")
    with TemporaryDirectory(prefix="clew-bench-") as folder:
        config = Config.load(data_dir=Path(folder), embedder=embedder)
        choice = make_embedder(config)
        if choice.model is None:
            yield Equipment(config, None, choice.reason)
            return
        with closing(choice.model):
            shared = SharedEmbedder(choice.model)
            if vectors is not None:
                shared.load(vectors)
            try:
                yield Equipment(config, shared)
            finally:
                if vectors is not None:
                    shared.save(vectors)


# --- for people ------------------------------------------------------------------------------------------


def _print_figures(answer: dict[str, Any]) -> None:
    systems = answer["systems"]
    print_heading(f"{answer['dataset']}, {answer['path']}")
    print_fields({name.replace("_", " "): count for name, count in answer["counts"].items()})
    for title, level in _LEVELS.items():
        _print_level(title, level, systems)
    if answer["counts"]["audited_questions"]:
        audited = {name: each["audited"] for name, each in systems.items()}
        for title, level in _LEVELS.items():
            _print_level(f"{title}, after an audit of the labels", level, audited)
    for key, title in _GROUPS.items():
        _print_groups(f"{_OF_GROUPS} {title}", key, systems)
    _print_costs(answer)
    _print_not_run(answer)


def _print_level(title: str, level: str, systems: Mapping[str, Mapping[str, Any]]) -> None:
    """A system a row, a figure a column."""
    rows = {name: each[level] for name, each in systems.items() if each.get(level)}
    if rows:
        click.echo()
        print_heading(title)
        print_table(("system", *next(iter(rows.values()))), [(name, *each.values()) for name, each in rows.items()])


def _print_groups(title: str, key: str, systems: Mapping[str, Mapping[str, Any]]) -> None:
    """A group of questions a row, a system a column."""
    groups: Mapping[str, Any] = next((each[key] for each in systems.values()), {})
    if groups:
        click.echo()
        print_heading(title)
        rows = [
            (name, group["questions"], *(each[key][name]["turn"][_OF_GROUPS] for each in systems.values()))
            for name, group in groups.items()
        ]
        print_table(("questions of", "count", *systems), rows)


def _print_costs(answer: Mapping[str, Any]) -> None:
    click.echo()
    print_heading("Cost")
    print_table(
        ("system", "ranking p50 ms", "p95 ms", "filling s", "of it embedding s"),
        [
            (name, each["latency_ms"]["p50"], each["latency_ms"]["p95"], each["fill_s"], each["embedding_s"])
            for name, each in answer["systems"].items()
        ],
    )
    click.echo()
    _print_setting(answer)


def _print_packs(answer: dict[str, Any]) -> None:
    print_heading(f"{answer['dataset']}, {answer['path']}")
    print_fields(answer["counts"])
    click.echo()
    packs = answer["systems"].get("clew", {}).get("packs", {})
    if packs:
        print_table(
            ("memories", "rows", "packs with something", "memories in a pack"),
            [(sort, each["rows"], each["share"], each["items"]) for sort, each in packs.items()],
        )
    click.echo()
    _print_setting(answer)
    _print_not_run(answer)


def _print_setting(answer: Mapping[str, Any]) -> None:
    query_ms = answer["query_embedding_ms"]
    print_fields(
        {
            "embedder": answer["versions"]["embedder"],
            "vector of a query": f"p50 {query_ms['p50']:.1f} ms, p95 {query_ms['p95']:.1f} ms" if query_ms else None,
            "peak memory": f"{answer['peak_resident_mb']:,.0f} MB",
            "cores": answer["machine"]["cores"],
            "commit": answer["commit"],
        }
    )


def _print_not_run(answer: Mapping[str, Any]) -> None:
    for name, reason in answer["not_run"].items():
        print_note(f"{name} was not run: {reason}")
