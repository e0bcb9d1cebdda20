"""Whether a pack holds what a question needs, and nothing where nothing is known.

    python -m bench.usefulness.packs --data FOLDER

The coding session and two conversations are taken in, each for a user of its own, and compacted. Labelled questions
are asked later, in a new session. An item is relevant where the turn it comes from was labelled so; a summary, where
one of its lines shown holds most words of a relevant turn. A question about something else should get an empty pack.
"""

from __future__ import annotations

import argparse
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec

from bench.usefulness.labels import Data, Row, print_rows, rows_of
from bench.usefulness.summaries import Session, coding_session, keeps, sessions, words_of
from clew import Memory, Message
from clew.api import Flush, Get, PackItem
from clew.config import Config
from clew.core.ports import Embedder
from clew.models.choose import make_embedder

PROJECT = "pi-mono"
_SETTLE_MS = 3_600_000


@dataclass
class Asked:
    """The answers to the questions of one sort."""

    questions: int = 0
    empty: int = 0
    items: int = 0
    relevant: int = 0
    best: int = 0
    """Questions whose pack holds one of the best turns."""
    tokens: int = 0
    context_empty: int = 0
    examples: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Told:
    """A session in a store of its own."""

    memory: Memory
    session: Session

    def texts(self) -> dict[str, str]:
        return {_position(self.session, position): message.text for position, message in self.session.turns}


def take_in(session: Session, folder: Path, embedder: Embedder | None, settings: dict[str, Any]) -> Told:
    memory = Memory(Config.load(data_dir=folder / session.name, **settings), embedder=embedder)
    messages = [
        msgspec.structs.replace(message, id=_position(session, position)) for position, message in session.turns
    ]
    for start in range(0, len(messages), 500):
        memory.ingest_batch(session.name, messages[start : start + 500], user_id="u")
    memory.call(Flush(timeout_ms=_SETTLE_MS))
    memory.compact(session.name, force=True)
    memory.call(Flush(timeout_ms=_SETTLE_MS))
    return Told(memory, session)


def _position(session: Session, position: str) -> str:
    return position if session.file == "coding" else position.partition(":")[2]


def measure(data: Data, *, unseen: bool | None = False, show: bool = False, embedder: str = "auto") -> list[Row]:
    asked: dict[tuple[str, str], Asked] = {}
    with TemporaryDirectory() as folder, ExitStack() as open_:
        config = Config.load(data_dir=Path(folder), embedder=embedder)
        model = make_embedder(config).model
        settings: dict[str, Any] = {} if model is not None else {"embedder": "none"}
        wanted = {row.get("conversation", "coding") for row in rows_of("questions", unseen=None)}
        told = {}
        for session in [coding_session(data), *(one for one in sessions(data) if one.file == "locomo")]:
            if session.name in wanted:
                told[session.name] = take_in(session, Path(folder), model, settings)
                open_.callback(told[session.name].memory.close)
        for row in rows_of("questions", unseen=unseen):
            here = told[row.get("conversation", "coding")]
            _ask(asked.setdefault((row["file"], row["sort"]), Asked()), here, row, show=show)
    return _rows(asked)


def _ask(asked: Asked, told: Told, row: dict[str, Any], *, show: bool) -> None:
    bundle = told.memory.pack(row["question"], user_id="u", session_id="later")
    context = told.memory.assemble(
        "later", user_id="u", messages=[Message(role="user", text=row["question"])], budget_tokens=4000
    )
    recalled = next(section.used_tokens for section in context.sections if section.name == "recalled")
    judged = [(_relevant(told, item, set(row["relevant"])), item) for item in bundle.items]
    asked.questions += 1
    asked.empty += not bundle.items
    asked.context_empty += not recalled
    asked.items += len(judged)
    asked.relevant += sum(one for one, _ in judged)
    asked.best += any(_relevant(told, item, set(row["best"])) for item in bundle.items)
    asked.tokens += bundle.used_tokens
    if show:
        print(f"## {row['sort']}: {row['question']} ({bundle.used_tokens} tokens, context {recalled})")
        for right, item in judged:
            print(f"   {'+' if right else '-'} {item.record_ref[:40]} {item.layer} {item.kind} {item.text[:150]!r}")


def _relevant(told: Told, item: PackItem, relevant: set[str]) -> bool:
    return bool(_positions(told, item.record_ref, item.text) & relevant)


def _positions(told: Told, ref: str, shown: str) -> set[str]:
    """The turns that an item comes from: its own, that of the memory, or those that a summary covers."""
    collection, _, id_ = ref.partition("/")
    known = {_position(told.session, position) for position, _ in told.session.turns}
    record = told.memory.call(Get(collection=collection, ids=(id_,))).records[0]
    source = record.metadata.get("source")
    names = {id_, str(source.get("id", "")) if isinstance(source, dict) else ""}
    names |= {part for name in names for part in (name.rpartition("/")[2], name.partition("/")[2])}
    if collection.startswith(("session", "session_summary")) and record.provenance == "summary":
        return _covered(told, id_, shown)
    return names & known


def _covered(told: Told, id_: str, text: str) -> set[str]:
    """Turns under a summary whose words it shows."""
    turns = told.memory.expand(told.session.name, id_, max_depth=64, budget_tokens=200_000).turns
    return {turn.id for turn in turns if keeps(text, words_of(turn.text[:300]))}


def _rows(asked: dict[tuple[str, str], Asked]) -> list[Row]:
    total: Counter[str] = Counter()
    rows = []
    for (file, sort), one in sorted(asked.items()):
        name = f"packs, {file}, {sort}, {one.questions} questions:"
        right = one.empty if sort == "nothing" else one.questions - one.empty
        total.update(questions=one.questions, right=right, items=one.items, relevant=one.relevant)
        rows.append(Row(f"{name} abstention right", right / one.questions))
        rows.append(Row(f"{name} tokens a pack", one.tokens / one.questions))
        if sort == "nothing":
            rows.append(Row(f"{name} contexts that recall nothing", one.context_empty / one.questions))
        else:
            rows.append(Row(f"{name} items relevant, of {one.items}", one.relevant / max(one.items, 1)))
            rows.append(Row(f"{name} a best turn is there", one.best / one.questions))
    relevant = total["relevant"] / max(total["items"], 1)
    rows.append(Row(f"packs: items relevant, of {total['items']}", relevant, ">= 0.75"))
    abstained = total["right"] / max(total["questions"], 1)
    rows.append(Row(f"packs: abstention right, of {total['questions']}", abstained, ">= 0.85"))
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="the folder with the labelled files")
    parser.add_argument("--unseen", action="store_true", help="count the part that was kept unseen")
    parser.add_argument("--show", action="store_true", help="print every pack")
    parser.add_argument("--embedder", default="auto", help="as the setting of that name")
    options = parser.parse_args()
    print_rows(measure(Data(options.data), unseen=options.unseen, show=options.show, embedder=options.embedder))


if __name__ == "__main__":
    main()
