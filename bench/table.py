"""The figures as tables: one for each size and layout, the peers' also as multiples of Clew's."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from bench.results import Asked, Case, Conversed, Filled, Report, Serving, Spread

OURS = "clew"


@dataclass(frozen=True, slots=True)
class Measure:
    """One figure of a case. All but the number of hits are better when smaller."""

    name: str
    read: Callable[[Filled, Asked], float | None]
    compared: bool = True

    def of(self, case: Case) -> float | None:
        return None if case.filled is None or case.asked is None else self.read(case.filled, case.asked)


@dataclass(frozen=True, slots=True)
class Table:
    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


MEASURES = (
    Measure("ingest p50, ms", lambda filled, _: filled.ingest_ms.p50),
    Measure("ingest p95, ms", lambda filled, _: filled.ingest_ms.p95),
    Measure("ingest until searchable by meaning, mean ms", lambda filled, _: filled.settled_ms),
    Measure("search p50, ms", lambda _, asked: asked.search_ms.p50),
    Measure("search p95, ms", lambda _, asked: asked.search_ms.p95),
    Measure("search after a write p50, ms", lambda _, asked: asked.search_after_write_ms.p50),
    Measure("search after a write p95, ms", lambda _, asked: asked.search_after_write_ms.p95),
    Measure("open and first answer, ms", lambda _, asked: asked.open_ms),
    Measure("resident memory, MB", lambda _, asked: asked.resident_mb),
    Measure("disk, bytes a record", lambda filled, _: filled.record_bytes),
    Measure("hits of 10 asked for", lambda _, asked: asked.hits, compared=False),
)


def tables(report: Report) -> list[Table]:
    systems = list(dict.fromkeys(case.system for case in report.cases))
    compared = [_compare(title, cases, systems) for title, cases in layouts(report)]
    return [*compared, *map(_conversation, report.conversed), *([_serving(report.serving)] if report.serving else [])]


def layouts(report: Report) -> Iterator[tuple[str, dict[str, Case]]]:
    """The cases that belong side by side, by system."""
    for size, collections in dict.fromkeys((case.size, case.collections) for case in report.cases):
        spread = "one collection" if collections == 1 else f"{collections} collections"
        cases = {case.system: case for case in report.cases if (case.size, case.collections) == (size, collections)}
        yield f"{size:,} records in {spread}", cases


def ratio(measure: Measure, peer: Case, ours: Case | None) -> float | None:
    """A peer's figure as a multiple of Clew's; None where either is missing."""
    mine = measure.of(ours) if ours is not None else None
    theirs = measure.of(peer)
    return theirs / mine if measure.compared and mine and theirs is not None else None


def plain_tables(report: Report) -> str:
    """For a terminal: columns lined up, one table after the other."""
    parts = [_plain(table) for table in tables(report)]
    notes = "\n".join(f"Note: {note}" for note in report.notes)
    return "\n\n".join([*parts, notes] if notes else parts)


def figure(value: float | None) -> str:
    """Three significant digits, whole numbers in full."""
    if value is None:
        return "–"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def multiple(times: float) -> str:
    return f"{times:.0f}×" if times >= 10 else f"{times:.2g}×"


def _compare(title: str, cases: dict[str, Case], systems: Sequence[str]) -> Table:
    ours = cases.get(OURS)
    rows = tuple(
        (measure.name, *(_cell(measure, cases.get(system), ours) for system in systems)) for measure in MEASURES
    )
    return Table(title, ("", *systems), rows)


def _cell(measure: Measure, case: Case | None, ours: Case | None) -> str:
    if case is None:
        return "–"
    times = None if case.system == OURS else ratio(measure, case, ours)
    value = figure(measure.of(case))
    return value if times is None else f"{value} ({multiple(times)})"


def _conversation(conversed: Conversed) -> Table:
    title = f"Clew alone: a user with {conversed.memories:,} memories, a session of {conversed.session_turns:,} turns"
    rows = (_spread_row("ingest a turn", conversed.ingest_turn_ms), _spread_row("assemble", conversed.assemble_ms))
    return Table(title, ("", "p50, ms", "p95, ms", "worst, ms", "calls"), rows)


def _serving(serving: Serving) -> Table:
    rows = (
        ("start of the process to its first answer, ms", figure(serving.first_answer_ms)),
        ("start of the process to its first answer by meaning, ms", figure(serving.first_answer_by_meaning_ms)),
        ("idle daemon, resident MB", figure(serving.idle_mb)),
        ("embedding a query p50, ms", figure(serving.embed_query_ms.p50)),
        ("embedding a query p95, ms", figure(serving.embed_query_ms.p95)),
        ("embedding texts, texts/s", figure(serving.texts_per_s)),
        ("embedding texts, tokens/s", figure(serving.tokens_per_s)),
        ("bare loop over the same model, texts/s", figure(serving.bare_texts_per_s)),
        ("embedder against the bare loop", f"{serving.texts_per_s / serving.bare_texts_per_s:.2f}×"),
    )
    return Table("Clew alone: the daemon with the default model", ("", "value"), rows)


def _spread_row(name: str, spread: Spread) -> tuple[str, ...]:
    return name, figure(spread.p50), figure(spread.p95), figure(spread.worst), str(spread.count)


def _plain(table: Table) -> str:
    lines = [table.header, *table.rows]
    widths = [max(len(line[column]) for line in lines) for column in range(len(table.header))]
    printed = [
        "  ".join(cell.ljust(width) if column == 0 else cell.rjust(width) for column, (cell, width) in enumerate(pairs))
        for pairs in (list(zip(line, widths, strict=True)) for line in lines)
    ]
    return "\n".join([table.title, "", *printed])
