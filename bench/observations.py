"""What the observation log is worth: how much of a prompt stays the same, how small it is, and what it still knows.

    python -m bench.observations session --path pi_large-session.jsonl.gz
    python -m bench.observations locomo --path locomo.json.gz

`session` replays a real session turn by turn and assembles a context in mode `observations` at each turn of the user,
and at each answer of the model. The stable share is that part of the tokens of a prompt that the next prompt begins
with, byte for byte; a provider's prompt cache holds for just that. `locomo` asks how much of the evidence of each
question stands in 2,000 tokens of the log alone, of recall alone, and of both together. Evidence counts as cited where
a line of the log rests on the turn, and as told where most of the turn's terms stand in that line; recall shows whole
turns, which count as both. Recall needs the default embedding model.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from bench.retrieval import locomo
from bench.retrieval.corpus import Corpus
from clew import Memory
from clew.api import Context, Message, ObserveRun, ObserveShow, ObserveStats
from clew.config import Config
from clew.core.tuning import Tuning
from clew.faces.transcripts import Format, Tally, read_turns
from clew.models.tokens import make_counter
from clew.text.grading.salience import terms_of

SESSION = "bench"
DEFAULTS = Tuning()
LIMIT = 0.95
BUDGET_TOKENS = 2_000
SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)
BUFFER_TOKENS = 4_000
"""What stands in a context of the usual budget before it is observed."""

TOLD_FROM = 0.6
"""The share of a turn's terms that a line must hold to tell it."""

ASKING = ("user", "tool", "tool_result")
"""Roles of turns that a model answers."""

SETTLE_MS = 3_600_000


def main() -> int:
    options = _parser().parse_args()
    return _session(options) if options.what == "session" else _locomo(options)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("session", "locomo"))
    parser.add_argument("--path", type=Path, required=True, help="the session as JSON lines, or LoCoMo; gzipped or not")
    parser.add_argument("--budget", type=int, default=128_000, help="tokens of a context of the session (128,000)")
    parser.add_argument("--buffer", type=int, default=DEFAULTS.observe_buffer_tokens, help="tokens of the buffer")
    parser.add_argument("--block", type=int, default=DEFAULTS.observe_block_tokens, help="tokens of the log")
    return parser


# --- the session ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Stability:
    """Of the prompts at one kind of moment."""

    prompts: int
    mean: float
    worst: float


def _session(options: argparse.Namespace) -> int:
    messages = _turns(options.path)
    tuning = Tuning(observe_buffer_tokens=options.buffer, observe_block_tokens=options.block)
    with TemporaryDirectory(prefix="bench-") as folder:
        config = Config.load(environment={}, data_dir=Path(folder), embedder="none", synchronous="normal")
        count = make_counter(config).estimate
        with Memory(config, tuning=tuning) as memory:
            prompts = list(_replayed(memory, messages, options.budget))
            stats = memory.call(ObserveStats(session_id=SESSION))
    asked = [prompt for role, prompt in prompts if role == "user"]
    stable = {"each turn of the user": asked, "each call of the model": [prompt for _, prompt in prompts]}
    print(f"| prompts of {options.budget:,} tokens at | number | stable share, mean % | worst % |")
    print("| --- | ---: | ---: | ---: |")
    figures = {name: _stability(found, count) for name, found in stable.items()}
    for name, figure in figures.items():
        print(f"| {name} | {figure.prompts:,} | {figure.mean:.1%} | {figure.worst:.1%} |")
    print(f"\n{stats.runs} runs, {stats.reflections} reflections; {stats.tokens:,} tokens of lines for ", end="")
    print(f"{stats.observed_tokens:,} tokens of turns ({stats.share:.1%}); {stats.cited_turns:,} turns are cited")
    return 0 if figures["each turn of the user"].mean >= LIMIT else 1


def _turns(path: Path) -> list[Message]:
    with gzip.open(path) as lines:
        read = read_turns(
            lines,
            Format.OPENCLAW,
            session_id=SESSION,
            file_session=SESSION,
            limit_bytes=1 << 20,
            tally=Tally(),
        )
        return [turn.message for turn in read]


def _replayed(memory: Memory, messages: Sequence[Message], budget: int) -> Iterator[tuple[str, str]]:
    """A prompt before each turn of the model, with the role of the turn it answers."""
    for before, message in pairwise((None, *messages, None)):
        if before is not None and before.role in ASKING and (message is None or message.role not in ASKING):
            context = memory.assemble(SESSION, mode="observations", budget_tokens=budget)
            assert context.used_tokens <= budget or context.degraded
            yield before.role, _prompt(context)
        if message is not None:
            memory.ingest_batch(SESSION, [message])


def _prompt(context: Context) -> str:
    return "\n".join(json.dumps(message) for message in context.as_messages())


def _stability(prompts: Sequence[str], count: Callable[[str], int]) -> Stability:
    shares = [count(_common(before, after)) / count(before) for before, after in pairwise(prompts)]
    return Stability(len(prompts), float(np.mean(shares)), min(shares))


def _common(before: str, after: str) -> str:
    """What both begin with."""
    length = bisect_left(range(len(before)), True, key=lambda place: before[: place + 1] != after[: place + 1])
    return before[:length]


# --- LoCoMo --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Known:
    """What stands in a context, by the names of turns."""

    cited: frozenset[str]
    told: frozenset[str]

    def __or__(self, other: Known) -> Known:
        return Known(self.cited | other.cited, self.told | other.told)


NOTHING = Known(frozenset(), frozenset())


def _locomo(options: argparse.Namespace) -> int:
    corpora = locomo.read(options.path)
    figures: dict[float, list[tuple[float, float]]] = {share: [] for share in SHARES}
    for corpus in corpora:
        with TemporaryDirectory(prefix="bench-") as folder:
            logs = {share: _log(Path(folder, f"log-{share}"), corpus, share) for share in SHARES}
            with _open(Path(folder, "recall")) as memory:
                _ingest(memory, corpus)
                memory.flush(timeout_ms=SETTLE_MS)
                for share in SHARES:
                    figures[share].append(_reached(memory, corpus, logs[share], share))
        print(f"{corpus.name} done", file=sys.stderr, flush=True)
    print("| tokens of the log, of recall | evidence cited, % | evidence told, % |\n| --- | ---: | ---: |")
    for share, found in figures.items():
        log = int(BUDGET_TOKENS * share)
        cited, told = (100 * float(np.mean(values)) for values in zip(*found, strict=True))
        print(f"| {log:,} and {BUDGET_TOKENS - log:,} | {cited:.1f} | {told:.1f} |")
    return 0


def _open(folder: Path, tuning: Tuning = DEFAULTS, **settings: object) -> Memory:
    """Opens a store that spends no budget on a tail or on guidance."""
    config = Config.load(environment={}, data_dir=folder, tail_share=0.0, guidance_share=0.0, **settings)
    return Memory(config, tuning=tuning)


def _ingest(memory: Memory, corpus: Corpus) -> None:
    messages = [
        Message(role=turn.role, text=turn.text, id=turn.name, ts=turn.ts_ms, speaker=turn.speaker)
        for turn in corpus.turns
    ]
    memory.ingest_batch(SESSION, messages, user_id="reader")


def _log(folder: Path, corpus: Corpus, share: float) -> Known:
    """What the log tells of a whole conversation within its share of the budget."""
    room = int(BUDGET_TOKENS * share)
    if room == 0:
        return NOTHING
    tuning = Tuning(observe_buffer_tokens=BUFFER_TOKENS, observe_block_tokens=max(room, 256))
    with _open(folder, tuning, embedder="none") as memory:
        _ingest(memory, corpus)
        memory.call(ObserveRun(session_id=SESSION))
        memory.call(ObserveRun(session_id=SESSION, force=True))
        context = memory.assemble(SESSION, messages=[], mode="observations", budget_tokens=room)
        shown = {ref for section in context.sections if section.name == "observations" for ref in section.refs}
        lines = [line for line in memory.call(ObserveShow(session_id=SESSION)).lines if line.ref in shown]
    texts = {turn.name: frozenset(terms_of(turn.text)) for turn in corpus.turns}
    cited: set[str] = set()
    told: set[str] = set()
    for line in lines:
        held = frozenset(terms_of(line.text))
        names = {source.rpartition("/")[2] for source in line.sources}
        cited |= names
        told |= {name for name in names if len(texts[name] & held) >= TOLD_FROM * len(texts[name])}
    return Known(frozenset(cited), frozenset(told))


def _reached(memory: Memory, corpus: Corpus, log: Known, share: float) -> tuple[float, float]:
    """Mean shares of the evidence of its questions that are cited and told."""
    left = BUDGET_TOKENS - int(BUDGET_TOKENS * share)
    cited, told = [], []
    for question in corpus.questions:
        if question.evidence:
            known = log | (_recalled(memory, question.text, left) if left else NOTHING)
            cited.append(len(question.evidence & known.cited) / len(question.evidence))
            told.append(len(question.evidence & known.told) / len(question.evidence))
    return float(np.mean(cited)), float(np.mean(told))


def _recalled(memory: Memory, question: str, budget: int) -> Known:
    """The turns that stand whole in a context, by themselves or as the memory kept from one."""
    context = memory.assemble(SESSION, query=question, messages=[], budget_tokens=budget, user_id="reader")
    names = set()
    for hit in (*context.recalled, *context.guidance):
        source = hit.record.metadata.get("source")
        names.add(str(source["id"] if isinstance(source, dict) else hit.record.id).removeprefix(f"{SESSION}/"))
    return Known(frozenset(names), frozenset(names))


if __name__ == "__main__":
    sys.exit(main())
