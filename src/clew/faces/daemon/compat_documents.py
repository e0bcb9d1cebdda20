"""Documents and diaries of an existing client, kept as records that it can replace.

Such a document is knowledge and no rule. Rules come from the files that the operator names in the settings, and nothing
that comes over the wire can join them.
"""

from __future__ import annotations

from collections.abc import Sequence

from clew.api import Delete, Get, JsonObject, MemoryApi, Put
from clew.core.collections import GLOBAL, Collection
from clew.errors import InvalidInput
from clew.faces.daemon.compat_params import DreamEntry, MarkdownDocument, OneDocument, PromoteDreams
from clew.features.authored.rules import Kind, Node, parse

MOST_PARTS = 100_000

LEAST_SCORE = 0.6
LEAST_RECALLS = 2
LEAST_QUERIES = 2
LEAST_BYTES = 16
"""What an entry needs before its client expects it to be promoted."""

_DOCUMENT = "document"
_DREAM = "dream_promotion"
_SAYS_NOTHING = frozenset({Kind.HEADING, Kind.RULE, Kind.OTHER})
_OF_ITS_FILE = {
    "sourceRoot": "source_root",
    "sourcePath": "source_path",
    "sourceKind": "source_kind",
    "fileHash": "file_hash",
    "sourceSize": "source_size",
    "sourceMtimeMs": "source_mtime_ms",
    "ingestVersion": "ingest_version",
    "hashBackend": "hash_backend",
}

Piece = tuple[str, JsonObject]
"""A text and its metadata."""


def ingest_document(memory: MemoryApi, given: MarkdownDocument) -> JsonObject:
    """Makes the blocks of a document records of `global`, in place of its earlier ones."""
    name = given.source_doc.replace("\\", "/").rpartition("/")[2]
    about = _rename_fields(given.source_meta) | {"core_doc": given.core_doc}
    nodes = [node for node in parse(given.text).nodes if node.text.strip() and node.kind not in _SAYS_NOTHING]
    _replace(memory, GLOBAL, _DOCUMENT, _check_name(given.source_doc), [_block(node, name, about) for node in nodes])
    return {"ok": True}


def delete_document(memory: MemoryApi, given: OneDocument) -> JsonObject:
    """Deletes the records that came over the wire, and nothing from files of the operator."""
    _replace(memory, GLOBAL, _DOCUMENT, _check_name(given.source_doc), [])
    return {"ok": True}


def promote_dreams(memory: MemoryApi, given: PromoteDreams) -> JsonObject:
    """Makes diary entries with enough recalls memories of the user, in place of the diary's earlier ones.

    A model wrote them, so they are the assistant's words.
    """
    source = _check_name(given.source_doc)
    ripe = [entry for entry in given.entries if _is_ripe(entry)]
    about = {name: value for name in _OF_ITS_FILE.values() if (value := getattr(given, name)) is not None}
    if ripe:
        _replace(
            memory, Collection.memories(given.user_id), _DREAM, source, [_promotion(entry, about) for entry in ripe]
        )
    return {"promoted": len(ripe), "rejected": len(given.entries) - len(ripe)}


def _block(node: Node, name: str, about: JsonObject) -> Piece:
    speaker = f"{name} › {node.heading}" if node.heading else name
    return node.text, about | {"speaker": speaker, "kind": node.kind.value, "hop_targets": list(node.links)}


def _is_ripe(entry: DreamEntry) -> bool:
    is_used = entry.recall_count >= LEAST_RECALLS and entry.unique_queries >= LEAST_QUERIES
    return is_used and entry.score >= LEAST_SCORE and len(entry.text.strip().encode("utf-8")) >= LEAST_BYTES


def _promotion(entry: DreamEntry, about: JsonObject) -> Piece:
    counted = {
        "dream_score": entry.score,
        "dream_recall_count": entry.recall_count,
        "dream_unique_queries": entry.unique_queries,
        "dream_section": entry.section,
        "dream_line": entry.source_line or entry.line,
    }
    return entry.text, {**entry.metadata, **about, **counted, "source_type": "dream", "role": "assistant"}


def _replace(memory: MemoryApi, collection: str, kind: str, source: str, pieces: Sequence[Piece]) -> None:
    """Replaces the parts of a document. The first part always counts at least the parts that exist, so that an
    interrupted run leaves nothing that the next cannot find."""
    if len(pieces) > MOST_PARTS:
        raise InvalidInput(f"{source} has {len(pieces):,} parts; the most is {MOST_PARTS:,}")
    had = _count(memory, collection, kind, source)
    gone = tuple(_id(kind, source, place) for place in range(len(pieces), had))
    if gone:
        memory.call(Delete(collection=collection, ids=gone))
    for place, (text, about) in enumerate(pieces):
        known = {"type": kind, "source_doc": source, "ordinal": place}
        counted = {} if place else {"parts": len(pieces)}
        memory.call(
            Put(collection=collection, id=_id(kind, source, place), text=text, metadata=about | known | counted)
        )


def _count(memory: MemoryApi, collection: str, kind: str, source: str) -> int:
    """The number of parts of a document, from its first part."""
    found = memory.call(Get(collection=collection, ids=(_id(kind, source, 0),))).records
    parts = found[0].metadata.get("parts") if found else None
    return min(parts, MOST_PARTS) if isinstance(parts, int) and not isinstance(parts, bool) else 0


def _id(kind: str, source: str, place: int) -> str:
    return f"{source}#{place}" if kind == _DOCUMENT else f"{source}#dream#{place}"


def _check_name(source: str) -> str:
    if not source.strip():
        raise InvalidInput("sourceDoc must name the document")
    return source


def _rename_fields(fields: JsonObject) -> JsonObject:
    """Gives the fields of a file the names that its client reads, and leaves the others."""
    return {_OF_ITS_FILE.get(name, name): value for name, value in fields.items()}
