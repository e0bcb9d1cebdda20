"""The plain design: one SQLite file, FTS5 for words, sqlite-vec for meaning, the two ranked lists fused.

Written the way a careful engineer would. The collection stands in the full-text index as a term, so
that other collections' matches are never scored; it is the partition key of the vectors, so that they
are never compared. Stop words are left out of the match. Vectors are kept in chunks of 256, because
the usual 1024 fill a small partition with empty space. Each record is one transaction, WAL, fully
synchronous: as durable as Clew.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import apsw
import sqlite_vec

from bench.corpus import Question, Record
from bench.system import HITS
from clew.core.ports import Vectors

CANDIDATES_PER_LANE = 50
RANK_OFFSET = 60
"""The usual constant of reciprocal rank fusion."""

STOP_WORDS = frozenset(
    """a about after all an and are as at be because been before but by can could did do does for from had has have he
    her his how i if in is it its me my no not of on or our she so than that the their them then there these they
    this to was we were what when where which who why will with would you your""".split()
)

_SCHEMA = """
CREATE TABLE IF NOT EXISTS records (
  key INTEGER PRIMARY KEY, collection TEXT NOT NULL, id TEXT NOT NULL, ts_ms INTEGER NOT NULL, text TEXT NOT NULL,
  UNIQUE (collection, id)
);
CREATE VIRTUAL TABLE IF NOT EXISTS words USING fts5(
  collection, text, content = 'records', content_rowid = 'key', tokenize = 'porter unicode61'
);
CREATE VIRTUAL TABLE IF NOT EXISTS vectors USING vec0(
  key INTEGER PRIMARY KEY, collection TEXT PARTITION KEY, embedding FLOAT[384] distance_metric = cosine,
  chunk_size = 256
);
"""
_ADD_RECORD = "INSERT INTO records (collection, id, ts_ms, text) VALUES (?, ?, ?, ?)"
_ADD_WORDS = "INSERT INTO words (rowid, collection, text) VALUES (?, ?, ?)"
_ADD_VECTOR = "INSERT INTO vectors (key, collection, embedding) VALUES (?, ?, ?)"
_BY_WORDS = "SELECT rowid FROM words WHERE words MATCH ? ORDER BY bm25(words, 0.0, 1.0) LIMIT ?"
_BY_MEANING = "SELECT key FROM vectors WHERE embedding MATCH ? AND collection = ? AND k = ? ORDER BY distance"
_RECORD = "SELECT id, ts_ms, text FROM records WHERE key = ?"


class Fts5Store:
    def __init__(self, folder: Path) -> None:
        connection = apsw.Connection(str(folder / "records.db"))
        connection.enable_load_extension(True)
        connection.load_extension(sqlite_vec.loadable_path())
        connection.enable_load_extension(False)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA cache_size = -65536")
        connection.execute(_SCHEMA)
        self._connection = connection

    def load(self, records: Sequence[Record], vectors: Vectors) -> None:
        with self._connection:
            for record, vector in zip(records, vectors, strict=True):
                self._insert(record, vector)

    def store(self, record: Record, vector: Vectors) -> None:
        with self._connection:
            self._insert(record, vector)

    def settle(self) -> None:
        """Nothing waits here."""

    def search(self, question: Question, vector: Vectors) -> int:
        by_words = self._keys(_BY_WORDS, (_match(question), CANDIDATES_PER_LANE))
        by_meaning = self._keys(_BY_MEANING, (vector.tobytes(), question.collection, CANDIDATES_PER_LANE))
        best = _fuse(by_words, by_meaning)[:HITS]
        return len([self._connection.execute(_RECORD, (key,)).fetchone() for key in best])

    def close(self) -> None:
        self._connection.close()

    def _insert(self, record: Record, vector: Vectors) -> None:
        run = self._connection.execute
        run(_ADD_RECORD, (record.collection, record.id, record.ts_ms, record.text))
        key = self._connection.last_insert_rowid()
        run(_ADD_WORDS, (key, record.collection, record.text))
        run(_ADD_VECTOR, (key, record.collection, vector.tobytes()))

    def _keys(self, query: str, values: tuple[object, ...]) -> list[int]:
        return [key for (key,) in self._connection.execute(query, values)]


def open_store(folder: Path) -> Fts5Store:
    return Fts5Store(folder)


def _match(question: Question) -> str:
    words = [word for word in re.findall(r"\w+", question.text.lower()) if word not in STOP_WORDS]
    any_word = " OR ".join(f'"{word}"' for word in words)
    return f'collection : "{question.collection}" AND text : ({any_word})'


def _fuse(*lanes: Sequence[int]) -> list[int]:
    """Reciprocal rank fusion."""
    scores: dict[int, float] = {}
    for lane in lanes:
        for rank, key in enumerate(lane, 1):
            scores[key] = scores.get(key, 0.0) + 1.0 / (RANK_OFFSET + rank)
    return sorted(scores, key=lambda key: -scores[key])
