"""One session of 20,000 turns on Clew: what it costs, how small its view stays, and that nothing of it is lost.

    python -m bench.continuity --path pi_large-session.jsonl.gz

The session is a real one, replayed with other names, numbers and paths. It is ingested in pieces, with a compaction to
a budget of 32,000 tokens after each. Ten rules are planted in turns of the user, each early enough to see at
least 50 compactions. Times are of the processor as well, since others may use the machine too. At the end every turn is
fetched back through the nodes of the active view, and each rule must come back word for word for a question it
bears on.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic, perf_counter, process_time

from bench.continuity_session import RULES, make_session
from clew import Memory
from clew.api import CompactReceipt, Message, RecordView
from clew.config import Config
from clew.core.model import role_of

SESSION, USER = "bench", "ada"
BUDGET_TOKENS = 32_000
LEAST_COMPACTIONS = 50
LARGEST_VIEW = 200
MARKS = (1 / 8, 1 / 4, 1 / 2, 1)
SETTLE_MS = 3_600_000


@dataclass(slots=True)
class Cost:
    """Seconds on the clock, and of the processor in all threads."""

    wall_s: float = 0.0
    processor_s: float = 0.0
    _started: tuple[float, float] = (0.0, 0.0)

    def __enter__(self) -> None:
        self._started = perf_counter(), process_time()

    def __exit__(self, *_: object) -> None:
        self.wall_s += perf_counter() - self._started[0]
        self.processor_s += process_time() - self._started[1]

    def __str__(self) -> str:
        return f"{self.wall_s:,.1f} ({self.processor_s:,.1f})"


@dataclass(slots=True)
class Run:
    """What happened while the session grew."""

    ingest: Cost = field(default_factory=Cost)
    settle: Cost = field(default_factory=Cost)
    compact: Cost = field(default_factory=Cost)
    worst_compaction_s: float = 0.0
    receipts: list[CompactReceipt] = field(default_factory=list)
    views: list[int] = field(default_factory=list)
    marks: list[tuple[int, tuple[float, ...]]] = field(default_factory=list)
    """At so many turns: processor seconds of ingesting, of what comes behind it, and of compacting."""


def main() -> int:
    options = _parser().parse_args()
    until = options.turns - LEAST_COMPACTIONS * options.piece
    try:
        messages = make_session(options.path, options.turns, options.seed, until)
    except ValueError as error:
        sys.stderr.write(f"{error}; take more turns, or fewer between compactions\n")
        return 2
    with TemporaryDirectory(prefix="bench-") as folder, _open(Path(folder), options.embedder) as memory:
        run = _grow(memory, messages, options.piece)
        proof = _prove(memory, messages)
        print(_figures(run, proof, memory.status().store_bytes))
        print(_growth(run))
    return 0 if proof.holds and max(run.views) < LARGEST_VIEW else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--path", type=Path, required=True, help="the normalised session as JSONL, gzipped")
    parser.add_argument("--turns", type=int, default=20_000, help="length of the session (20,000)")
    parser.add_argument("--piece", type=int, default=250, help="turns between two compactions (250)")
    parser.add_argument("--embedder", default="none", help="none, hashing, or auto for the default model (none)")
    parser.add_argument("--seed", type=int, default=1, help="of the replays and of the rules' places (1)")
    return parser


def _open(folder: Path, embedder: str) -> Memory:
    return Memory(Config.load(environment={}, data_dir=folder, embedder=embedder))


def _grow(memory: Memory, messages: list[Message], piece: int) -> Run:
    run, started = Run(), monotonic()
    marks = {round(len(messages) * share) for share in MARKS}
    for start in range(0, len(messages), piece):
        with run.ingest:
            memory.ingest_batch(SESSION, messages[start : start + piece], user_id=USER)
        with run.settle:
            memory.flush(timeout_ms=SETTLE_MS)
        before = run.compact.wall_s
        with run.compact:
            run.receipts.append(memory.compact(SESSION, budget_tokens=BUDGET_TOKENS))
        run.worst_compaction_s = max(run.worst_compaction_s, run.compact.wall_s - before)
        run.views.append(len(memory.show_session(SESSION).view))
        done = start + piece
        if done in marks:
            run.marks.append((done, tuple(cost.processor_s for cost in (run.ingest, run.settle, run.compact))))
        sys.stderr.write(f"\r{done:,} turns, {monotonic() - started:.0f} s")
    sys.stderr.write("\n")
    return run


# --- what is proved ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Proof:
    turns: int
    lost: int
    """Turns that do not come back byte for byte, or come back more than once."""
    broken: tuple[str, ...]
    """Invariants of the store that do not hold."""
    injected: dict[int, int]
    """For each budget, the number of rules that stand word for word in the guidance of a context."""
    verifying: Cost
    expanding: Cost

    @property
    def holds(self) -> bool:
        return not self.lost and not self.broken and all(count == len(RULES) for count in self.injected.values())


def _prove(memory: Memory, messages: Sequence[Message]) -> Proof:
    verifying, expanding = Cost(), Cost()
    with verifying:
        verified = memory.verify()
    with expanding:
        reached = list(_reached(memory))
    return Proof(
        turns=len(messages),
        lost=_lost(messages, reached),
        broken=tuple(check.name for check in verified.checks if not check.ok),
        injected={budget: _injected(memory, budget) for budget in (Config().budget_tokens, BUDGET_TOKENS)},
        verifying=verifying,
        expanding=expanding,
    )


def _reached(memory: Memory) -> Iterator[RecordView]:
    """Every turn that the nodes of the active view lead to, opened level by level."""
    waiting = [node.id for node in memory.show_session(SESSION).view]
    while waiting:
        opened = memory.expand(SESSION, waiting.pop(), max_depth=1)
        yield from opened.turns
        waiting += [node.id for node in opened.closed]


def _lost(messages: Sequence[Message], reached: Sequence[RecordView]) -> int:
    back = {turn.id: (turn.role, turn.ts, turn.text.encode()) for turn in reached}
    given = {message.id: (role_of(message.role).value, message.ts, message.text.encode()) for message in messages}
    wrong = sum(back.get(str(id_)) != content for id_, content in given.items())
    return wrong + len(reached) - len(back) + len(back.keys() - given.keys())


def _injected(memory: Memory, budget_tokens: int) -> int:
    contexts = (memory.assemble(SESSION, query=rule.query, user_id=USER, budget_tokens=budget_tokens) for rule in RULES)
    return sum(rule.text in _quoted(context.guidance_text) for rule, context in zip(RULES, contexts, strict=True))


def _quoted(framed: str) -> list[str]:
    """The texts in a frame, as they were before they were quoted."""
    return [text for _, _, _, text, *_ in map(json.loads, framed.splitlines()[1:-1])]


# --- tables --------------------------------------------------------------------------------------------


def _figures(run: Run, proof: Proof, store_bytes: int) -> str:
    worked = [receipt for receipt in run.receipts if receipt.did_compact]
    confidence = sum(receipt.mean_confidence for receipt in worked) / max(len(worked), 1)
    last = run.receipts[-1]
    found = " and ".join(f"{count} of {len(RULES)} at {budget:,} tokens" for budget, count in proof.injected.items())
    rows = [
        ("ingesting, s (processor)", str(run.ingest)),
        ("gate and embedder behind it, s (processor)", str(run.settle)),
        (f"{len(run.receipts)} compactions, s (processor)", str(run.compact)),
        ("slowest compaction, s", f"{run.worst_compaction_s:.2f}"),
        ("turns that summaries stand for", f"{sum(receipt.turns_removed for receipt in run.receipts):,}"),
        ("clusters that stayed as they were", f"{sum(receipt.clusters_declined for receipt in run.receipts):,}"),
        ("mean confidence of summaries", f"{confidence:.2f}"),
        ("tokens of the last view, before and after", f"{last.tokens_before:,} → {last.tokens_after:,}"),
        ("largest view after a compaction, nodes", str(max(run.views))),
        ("turns kept word for word as guidance", f"{sum(receipt.shards_kept for receipt in run.receipts):,}"),
        ("planted rules in a context for their question", found),
        ("turns that come back byte for byte", f"{proof.turns - proof.lost:,} of {proof.turns:,}"),
        ("opening every node, s (processor)", str(proof.expanding)),
        ("verify", "; ".join(proof.broken) or "every invariant holds"),
        ("verify, s (processor)", str(proof.verifying)),
        ("store, MB", f"{store_bytes / 1e6:,.1f}"),
    ]
    return _table((f"{proof.turns:,} turns", "value"), rows)


def _growth(run: Run) -> str:
    """Processor time for each turn, and by how much all of it grew where the turns doubled."""
    rows = []
    for place, (turns, costs) in enumerate(run.marks):
        grown = allowed = ""
        if place:
            before, costs_before = run.marks[place - 1]
            grown = f"{sum(costs) / sum(costs_before):.2f}"
            allowed = f"{turns * math.log(turns) / (before * math.log(before)):.2f}"
        rows.append((f"{turns:,}", *(f"{seconds / turns * 1000:.2f}" for seconds in costs), grown, allowed))
    header = ("processor ms a turn", "ingest", "gate and embedder", "compaction", "all grew by", "n log n grows by")
    return _table(header, rows)


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    rule = ["---", *("---:" for _ in header[1:])]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (header, rule, *rows)) + "\n"


if __name__ == "__main__":
    sys.exit(main())
