"""Integrity of the rows: checks a file, and lists what is wrong with it."""

from __future__ import annotations

from collections.abc import Iterator

import apsw

from clew.storage.protocol import Finding
from clew.storage.sqlite.rows import current_model, each, many, row_hash

MAX_PROBLEMS = 20


def findings(connection: apsw.Connection) -> Iterator[Finding]:
    yield _structure(connection)
    yield _hashes(connection)
    yield _check(connection, "membership", "every record is in a collection", "record", "check_lost_records")
    yield _check(connection, "members", "every member has its record", "member", "check_dangling_members")
    yield _check(connection, "raw history", "every raw turn is in a raw history", "record", "check_raw_membership")
    yield _check(connection, "sequences", "no collection gives a number twice", "collection", "check_sequences")
    yield _check(connection, "queue", "every task has its record", "task", "check_dangling_tasks")
    yield _check(connection, "graph", "every edge lies between entities of its record", "record", "check_graph")
    yield _check(connection, "entities", "every entity is named by a record", "entity", "check_unnamed_entities")
    yield _vectors(connection)


def _structure(connection: apsw.Connection) -> Finding:
    """Quick_check reads every page; the hashes show damage that it cannot see."""
    rows = [str(row[0]) for row in connection.execute("PRAGMA quick_check(20)")]
    broken = [f"foreign key of {row[0]} row {row[1]}" for row in connection.execute("PRAGMA foreign_key_check")]
    problems = tuple([row for row in rows if row != "ok"] + broken[:MAX_PROBLEMS])
    pages = connection.pragma("page_count")
    return Finding("structure", f"{pages} pages and all references are sound", problems)


def _hashes(connection: apsw.Connection) -> Finding:
    problems: list[str] = []
    count = 0
    for key, stored, ts_ms, role, provenance, text, metadata in each(connection, "check_hashes"):
        count += 1
        if row_hash(ts_ms, role, provenance, text, metadata) != stored and len(problems) < MAX_PROBLEMS:
            problems.append(f"record {key} is not what was written")
    return Finding("hashes", f"{count} records are what was written", tuple(problems))


def _check(connection: apsw.Connection, name: str, proof: str, what: str, statement: str) -> Finding:
    """A check whose statement lists the offenders."""
    problems = tuple(f"{what} {row[0]}" for row in many(connection, statement))
    return Finding(name, proof, problems)


def _vectors(connection: apsw.Connection) -> Finding:
    model = current_model(connection)
    if model == (0, 0):
        return Finding("vectors", "no embedding model has been used")
    lost = [f"vector of record {row[0]}" for row in many(connection, "check_vectors")]
    missing = [
        f"record {row[0]} has no whole vector and is not queued"
        for row in many(connection, "check_missing_vectors", model)
    ]
    return Finding("vectors", "every record has a whole vector or waits for one", tuple(lost + missing))
