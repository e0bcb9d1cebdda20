"""Whether summaries keep the points that a colleague would write down.

    python -m bench.usefulness.summaries --data FOLDER

Each session is taken in and compacted by the engine. A labelled point is kept where one line of a summary that covers
its turn holds most of its words. Baselines get as many tokens for each stretch as the summary has. Also counted: the
points in the active view, `Open` lines that name something open, and the share of the text that is payload.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec

from bench.retrieval import locomo
from bench.usefulness.baselines import BASELINES, summarise
from bench.usefulness.labels import Data, Row, print_rows, rows_of
from clew import Memory, Message
from clew.config import Config
from clew.core.collections import Collection
from clew.core.lineage import Lineage, lineage_of
from clew.core.model import Record
from clew.faces.transcripts import Format, Tally, read_turns
from clew.kernel.views import active_view
from clew.models.tokens import make_counter
from clew.storage.paging import every_member
from clew.text.calls import speech
from clew.text.speech import own_words
from clew.text.terms import analyse

KEPT_SHARE = 0.7
"""The share of a point's words that one line must hold."""

_USERS = ("request", "correction", "decision")
_PATH = re.compile(r"[^\s'\"`]*/([^\s'\"`/]+)")
_WORDS = re.compile(r"[^\s;:,()]+")
_RUN = 4
"""Words in a row that only the text of a tool holds: they are payload."""

_BATCH = 500
_GAP_MS = 20_000
"""Between turns whose file gives no time."""


@dataclass(frozen=True)
class Session:
    name: str
    file: str
    turns: list[tuple[str, Message]]
    """Each with its position in the file."""


@dataclass(frozen=True)
class Made:
    """What compaction made of a session: each summary of the first level with the positions of its turns, and the
    summaries of the active view."""

    stretches: list[tuple[str, list[str]]]
    view: list[str]


@dataclass
class Found:
    """The counts of one file, by the kind of point."""

    points: Counter[str] = field(default_factory=Counter)
    kept: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    """By the maker of the summary."""
    in_view: Counter[str] = field(default_factory=Counter)
    tokens: int = 0
    source_tokens: int = 0
    payload: int = 0
    text: int = 0

    def share(self, maker: str, kinds: Iterable[str] = ()) -> float:
        names = list(kinds) or list(self.points)
        return sum(self.kept[maker][name] for name in names) / max(sum(self.points[name] for name in names), 1)


# --- sessions ------------------------------------------------------------------------------------------


def sessions(data: Data) -> Iterator[Session]:
    labelled = {(row["file"], row["at"].partition(":")[0]) for row in rows_of("points", unseen=None)}
    yield coding_session(data)
    for _, number in sorted(one for one in labelled if one[0] == "qmsum"):
        said = enumerate(data.meetings[int(number)]["meeting_transcripts"])
        turns = [
            (f"{number}:{place}", Message(role="user", text=turn["content"], speaker=turn["speaker"]))
            for place, turn in said
            if turn["content"].strip()
        ]
        yield Session(f"qmsum-{number}", "qmsum", turns)
    for corpus in locomo.read(data.path("locomo")):
        if ("locomo", corpus.name) in labelled:
            yield Session(corpus.name, "locomo", list(_chat(data, corpus.name, corpus.turns)))


def coding_session(data: Data) -> Session:
    lines = [msgspec.json.encode(row) for row in data.coding]
    turns = read_turns(
        lines, Format.OPENCLAW, session_id="coding", file_session="coding", limit_bytes=1_000_000, tally=Tally()
    )
    return Session("coding", "coding", [(str(turn.line - 1), turn.message) for turn in turns])


def _chat(data: Data, name: str, turns: Sequence[Any]) -> Iterator[tuple[str, Message]]:
    for id_, turn in zip(data.turn_ids(name), turns, strict=True):
        yield f"{name}:{id_}", Message(role="user", text=turn.text, speaker=turn.speaker, ts=turn.ts_ms)


def compact(session: Session, folder: Path) -> Made:
    at = {f"t{place}": position for place, (position, _) in enumerate(session.turns)}
    messages = [
        msgspec.structs.replace(message, id=f"t{place}", ts=place * _GAP_MS if message.ts is None else message.ts)
        for place, (_, message) in enumerate(session.turns)
    ]
    with Memory(Config.load(data_dir=folder / session.name, embedder="none")) as memory:
        for start in range(0, len(messages), _BATCH):
            memory.ingest_batch(session.name, messages[start : start + _BATCH], user_id="u")
        memory.flush(timeout_ms=600_000)
        memory.compact(session.name, force=True)
        parts = memory._parts
        shown = [one.record for one in active_view(parts, session.name).summaries]
        records = [*every_member(parts.store, Collection.summaries(session.name)), *shown]
    first = sorted(
        _of_first_level({record.id: record for record in records}.values()), key=lambda one: one[1].first_ts_ms
    )
    stretches = [(record.text, [at[id_] for id_ in lineage.source_ids]) for record, lineage in first]
    return Made(stretches, [record.text for record in shown])


def _of_first_level(records: Iterable[Record]) -> Iterator[tuple[Record, Lineage]]:
    for record in records:
        lineage = lineage_of(record)
        if lineage is not None and lineage.level == 1:
            yield record, lineage


# --- counting ------------------------------------------------------------------------------------------


def measure(data: Data, *, unseen: bool | None = False, show: bool = False) -> list[Row]:
    count = make_counter(Config()).estimate
    points: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    for row in rows_of("points", unseen=unseen):
        points[row["file"], row["at"]].append(row)
    found: dict[str, Found] = defaultdict(Found)
    opened: Counter[bool] = Counter()
    with TemporaryDirectory() as folder:
        for session in sessions(data):
            made = compact(session, Path(folder))
            view = "\n".join(made.view)
            texts = {position: message.text for position, message in session.turns}
            here = found[session.file]
            for text, positions in made.stretches:
                stretch = [texts[position] for position in positions]
                makers = {name: summarise(stretch, count(text), order, count) for name, order in BASELINES.items()}
                makers["Clew"] = text
                here.tokens += count(text)
                here.source_tokens += sum(map(count, stretch))
                _count_payload(here, session, positions, text)
                for point in (point for position in positions for point in points[session.file, position]):
                    wanted = words_of(data.quote(point))
                    here.points[point["kind"]] += 1
                    here.in_view[point["kind"]] += keeps(view, wanted)
                    for name, made_text in makers.items():
                        here.kept[name][point["kind"]] += keeps(made_text, wanted)
            opened.update(_open_lines(data, session, made))
            if show:
                _show(session, made)
    return [*(row for file, one in found.items() for row in _rows(file, one)), _open_row(opened)]


def words_of(quote: str) -> frozenset[str]:
    """The words of a point; of a path, those of its last step."""
    return frozenset(analyse(_PATH.sub(r"\1", quote)))


def keeps(text: str, wanted: frozenset[str]) -> bool:
    lines = (words_of(line) for line in text.split("\n"))
    return bool(wanted) and any(len(wanted & line) >= KEPT_SHARE * len(wanted) for line in lines)


def _count_payload(found: Found, session: Session, positions: Sequence[str], text: str) -> None:
    """Counts the characters of words that stand in a row in the text of tools, and nowhere in what was said."""
    messages = dict(session.turns)
    said: set[tuple[str, ...]] = set()
    whole: set[tuple[str, ...]] = set()
    for position in positions:
        message = messages[position]
        of_role = {"assistant": speech, "user": own_words}
        words = of_role[message.role](message.text) if message.role in of_role else ""
        said |= _runs(words)
        whole |= _runs(message.text)
    for line in text.split("\n")[1:]:
        words_in_line = _WORDS.findall(line.lower())
        marked = [False] * len(words_in_line)
        for place in range(len(words_in_line) - _RUN + 1):
            run = tuple(words_in_line[place : place + _RUN])
            if run in whole and run not in said:
                marked[place : place + _RUN] = [True] * _RUN
        found.payload += sum(len(word) for word, of_tool in zip(words_in_line, marked, strict=True) if of_tool)
        found.text += sum(map(len, words_in_line))


def _runs(text: str) -> set[tuple[str, ...]]:
    words = _WORDS.findall(text.lower())
    return {tuple(words[place : place + _RUN]) for place in range(len(words) - _RUN + 1)}


def _open_lines(data: Data, session: Session, made: Made) -> Iterator[bool]:
    """Whether each `Open` line holds the words of something that was labelled open."""
    asks = [ask for ask in rows_of("asks", unseen=None) if ask["file"] == session.file and ask["open"]]
    positions = {position for position, _ in session.turns}
    wanted = [words_of(data.quote(ask)) for ask in asks if ask["at"] in positions]
    texts = [*(text for text, _ in made.stretches), *made.view]
    for line in dict.fromkeys(line for text in texts for line in text.split("\n") if line.startswith("Open: ")):
        yield any(keeps(line, words) for words in wanted)


# --- figures -------------------------------------------------------------------------------------------


def _rows(file: str, found: Found) -> Iterator[Row]:
    is_work = file == "coding"
    own = found.share("Clew")
    best = max(BASELINES, key=found.share)
    name = f"summaries, {file}:"
    yield Row(f"{name} points kept at level 1, of {found.points.total()}", own, ">= 0.70" if is_work else "")
    yield Row(f"{name} times the best baseline ({best})", own / max(found.share(best), 1e-9), ">= 1.5")
    yield from (Row(f"{name} points kept by {other}, same length", found.share(other)) for other in BASELINES)
    in_view = found.in_view.total() / max(found.points.total(), 1)
    yield Row(f"{name} points kept in the active view", in_view, ">= 0.45" if is_work else "")
    if is_work:
        yield Row(f"{name} requests, corrections, decisions at level 1", found.share("Clew", _USERS), ">= 0.85")
        yield Row(f"{name} payload, share of the text", found.payload / max(found.text, 1), "<= 0.15")
    yield Row(f"{name} length, share of the turns", found.tokens / max(found.source_tokens, 1))
    for kind in sorted(found.points):
        yield Row(f"{name} {kind}, of {found.points[kind]}", found.share("Clew", [kind]))


def _open_row(opened: Counter[bool]) -> Row:
    return Row(
        f"summaries: Open lines that are open, of {opened.total()}", opened[True] / max(opened.total(), 1), ">= 0.80"
    )


def _show(session: Session, made: Made) -> None:
    for text, positions in made.stretches:
        print(f"##### {session.name} {positions[0]} to {positions[-1]}\n{text}\n")
    print(f"##### {session.name}, active view\n" + "\n--\n".join(made.view) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="the folder with the labelled files")
    parser.add_argument("--unseen", action="store_true", help="count the part that was kept unseen")
    parser.add_argument("--show", action="store_true", help="print every summary")
    options = parser.parse_args()
    print_rows(measure(Data(options.data), unseen=options.unseen, show=options.show))


if __name__ == "__main__":
    main()
