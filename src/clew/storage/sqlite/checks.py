"""Integrity of the rows: checks a file, and lists what is wrong with it."""

from __future__ import annotations

from collections.abc import Iterator

import apsw

from clew.storage.protocol import Finding
from clew.storage.sqlite.rows import current_model, each, many, only, row_hash
from clew.storage.sqlite.seals import MEMBER, RECORD, Damage, seal, sound_rows

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
    yield _terms(connection)
    yield _vectors(connection)


def _structure(connection: apsw.Connection) -> Finding:
    """Reads every page and compares every index with its rows; the hashes show damage that it cannot see."""
    rows = [str(row[0]) for row in connection.execute("PRAGMA integrity_check(20)")]
    broken = [f"foreign key of {row[0]} row {row[1]}" for row in connection.execute("PRAGMA foreign_key_check")]
    problems = tuple([row for row in rows if row != "ok"] + broken[:MAX_PROBLEMS])
    pages = connection.pragma("page_count")
    return Finding("structure", f"{pages} pages and all references are sound", problems)


def _hashes(connection: apsw.Connection) -> Finding:
    problems = [f"{what} {key} is not what was written" for what, key in damaged_rows(connection, Damage())]
    records, members = (only(connection, name)[0] for name in ("count_records", "count_members"))
    proof = f"{records} records and {members} members are what was written"
    aside = len(many(connection, "set_aside"))
    return Finding("hashes", f"{proof}; {aside} are set aside" if aside else proof, tuple(problems[:MAX_PROBLEMS]))


def damaged_rows(connection: apsw.Connection, unreadable: Damage) -> Iterator[tuple[str, int]]:
    """Records and members that are not what was written and that no repair has set aside."""
    aside = set(many(connection, "set_aside"))
    for (key,) in many(connection, "record_keys"):
        if (RECORD, key) not in aside and not _is_whole(connection, key):
            yield RECORD, key
    for (key,) in many(connection, "member_keys"):
        row = next(sound_rows(connection, "check_member", (key,), unreadable), None)
        if (MEMBER, key) not in aside and (row is None or row[0] != seal(*row[1:])):
            yield MEMBER, key


def _is_whole(connection: apsw.Connection, key: int) -> bool:
    row = next(sound_rows(connection, "check_hash", (key,), Damage()), None)
    if row is None:
        return False
    stored, sealed, *columns = row
    _, _, ts_ms, role, provenance, _, _, _, text, metadata, _ = columns
    return (sealed, stored) == (seal(*columns), row_hash(ts_ms, role, provenance, text, metadata))


def damaged_terms(connection: apsw.Connection) -> list[int]:
    """Records that are set aside keep theirs."""
    aside = set(many(connection, "set_aside"))
    return [
        key
        for key, sealed, ts_ms, terms in each(connection, "check_terms")
        if sealed != seal(key, ts_ms, terms) and (RECORD, key) not in aside
    ]


def damaged_vectors(connection: apsw.Connection) -> list[int]:
    return [row[1] for row in each(connection, "check_vector_seals") if row[0] != seal(*row[1:])]


def _check(connection: apsw.Connection, name: str, proof: str, what: str, statement: str) -> Finding:
    """A check whose statement lists the offenders."""
    problems = tuple(f"{what} {row[0]}" for row in many(connection, statement))
    return Finding(name, proof, problems)


def _terms(connection: apsw.Connection) -> Finding:
    problems = [f"the terms of record {record} are not what was written" for record in damaged_terms(connection)]
    return Finding("terms", "the terms of every record are what was written", tuple(problems[:MAX_PROBLEMS]))


def _vectors(connection: apsw.Connection) -> Finding:
    problems = [f"vector of record {row[0]}" for row in many(connection, "check_vectors")]
    problems += [f"the vector of record {record} is not what was written" for record in damaged_vectors(connection)]
    model = current_model(connection)
    proof = "no embedding model has been used"
    if model != (0, 0):
        proof = "every record has a whole vector or waits for one"
        waiting = many(connection, "check_missing_vectors", model)
        problems += [f"record {row[0]} has no whole vector and is not queued" for row in waiting]
    return Finding("vectors", proof, tuple(problems[:MAX_PROBLEMS]))
