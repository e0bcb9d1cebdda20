"""What the reference pages say that cannot be read off the code: introductions, and shapes without a type."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import inspect as types

CLI_INTRODUCTION = """\
Every verb prints tables for people, and one JSON object on standard output with `--json`. Where a daemon
serves the data folder, verbs go through it; where none does, they open the store themselves.
"""

SETTINGS_INTRODUCTION = """\
Later sources win: the defaults below, `clew.toml` in the data folder, the environment, arguments (of the
command line or of `Memory.open`). In `clew.toml` a setting is one line, such as `gate_threshold = 0.5`. A
name in the file that no setting has, or a value out of its bounds, is an error; a name that was a setting in an
earlier version is ignored with a warning. `clew config` shows every value that is in force and where it came from.
Settings are read once, when a store or a daemon is opened.
"""

SETTINGS_ELSEWHERE = """\
`data_dir` is named by `--data` or `CLEW_HOME`, never in the file it holds; without either it is
`$XDG_DATA_HOME/clew`, or `~/.local/share/clew`.

## Other variables

| variable | meaning |
|---|---|
| `CLEW_TOKEN` | Token of a daemon on TCP, for both sides; else the file `token` in the data folder. |
| `CLEW_PACKS` | Folder of the model packs; else `$XDG_DATA_HOME/clew/packs`, or `~/.local/share/clew/packs`. |
| `XDG_CACHE_HOME` | Where downloads of `clew model install` are kept, in `clew/downloads`; else `~/.cache`. |
| `NO_COLOR` | Any value turns colours off. |"""

WIRE_INTRODUCTION = """\
JSON-RPC 2.0 over a stream socket: `unix:PATH` (by default `clew.sock` in the data folder) or
`tcp:127.0.0.1:PORT`; `localhost` and `[::1]` are taken, other hosts are refused. Port 0 lets the system
choose; `clew up` prints the real endpoint, and the second line of `daemon.lock` in the data folder holds it.

## Frames

A request is one JSON object on one line of UTF-8, ended by a line feed; so is an answer. Empty lines are
passed over.

```
{{"jsonrpc":"2.0","id":1,"method":"get","params":{{"collection":"global","ids":["dates"]}}}}
{{"jsonrpc":"2.0","id":1,"result":{{"records":[],"cursor":null}}}}
{{"jsonrpc":"2.0","id":2,"error":{{"code":-32601,"message":"there is no method 'foo'"}}}}
```

- `params` is an object, and may be left out. Names are camelCase.
- `id` is a number or a string, and comes back as it was. A request without one is carried out and not answered.
- Answers come in the order in which they are ready, not in the order of the requests. What one connection writes is
  written in the order it was sent.
- Batches (arrays) are refused. So are lines that are no JSON or no UTF-8, numbers outside 64 bits as parameters,
  and more than {max_depth} arrays and objects inside each other. Of two equal keys the last one counts.
- A line over 1 MiB, or over `max_text_bytes` where that is more, is skipped and answered with TooLarge; answers may be
  longer than that.
- A bad frame costs one error. The connection goes on.

## Authentication

On a Unix socket the kernel names the process at the other end: it must belong to the daemon's user or to
root. On TCP the first request is `authenticate` with the daemon's token, from `CLEW_TOKEN` or from the file
`token` in the data folder; until then a line has at most {sign_in_bytes:,} bytes. After {sign_in_attempts} failures, or
{sign_in_s:g} seconds without success, the daemon hangs up. A Unix socket takes `authenticate` too and needs none.

```
{{"jsonrpc":"2.0","id":1,"method":"authenticate","params":{{"token":"..."}}}}
{{"jsonrpc":"2.0","id":1,"result":{{"ok":true}}}}
```

## Limits

A client may have {inflight} requests under way, and four longest frames of bytes; after that the daemon
reads no further from it until one is done. Work that is not done within `deadline_ms` is answered with
DeadlineExceeded and may still take effect. Beyond `max_connections` a client is told Busy, and the connection
is closed. Told to stop (SIGTERM or SIGINT), the daemon finishes and answers what is under way, for at most
{drain_s:g} seconds.
"""

WIRE_ERRORS: Mapping[str, str] = {
    "ParseError": "the line is no JSON, or nests too deep",
    "InvalidRequest": "the line is JSON, and no request",
    "MethodNotFound": "no method has this name",
    "InternalError": "a fault of the daemon, whose log has the details",
}

METHODS_INTRODUCTION = """\
Clew's own methods. Unknown parameters are refused with InvalidInput, except where the method says otherwise.
Times are milliseconds since 1970."""

COMPAT_INTRODUCTION = """\
For existing clients of an older protocol. Unknown parameters are ignored. A *result* is
`{"id", "score", "text", "metadata", "version"}`, where the score is the similarity alone and the metadata is the
client's own, with what Clew knows added under keys the client did not use. `delete_batch`, `ensure_collections`,
`status` and `flush` of the list above belong to this group, too."""

COMPAT_ANSWERS: Mapping[str, str] = {
    "bump_access_counts": 'Counts one use of each record. Answers `{"ok": true}`.',
    "compact_session": "Replaces turns of a session outside its tail by summaries in the active view. Answers `{"
    '"didCompact", "clustersFormed", "clustersDeclined", "turnsRemoved", "meanConfidence", "tokensBefore", '
    '"tokensAfter", "shardsKept"}`, and `"summaryMethod"` where there is one.',
    "delete_authored_document": "Takes out what `ingest_markdown_document` has taken in of a document. Files that the "
    'settings name as authored are not touched. Answers `{"ok": true}`.',
    "delete": 'Takes one record out of a collection. Answers `{"ok": true}`.',
    "expand_summary": "The turns a summary covers; where the depth does not reach them, the summaries it does "
    'reach. Answers `{"results": [...]}`.',
    "export_memory": 'The memories of one user, or of all. Answers `{"records": [{"collection", "id", "text", '
    '"metadata"}]}`.',
    "flush_namespace": 'Deletes every memory of a user, who must be named. Answers `{"ok": true}`.',
    "gating_scalar": "The gate's parts under their short names. Answers `{"
    '"g", "t", "h", "r", "d", "inputFreq", "memSaturation", "p", "a", "dtech", "gconv", "gtech"}`.',
    "health": 'Answers `{"ok", "message"}`.',
    "ingest_markdown_document": "Takes a Markdown document in: each of its blocks is a record of `global`, in place of "
    "those it had. It is knowledge and never a rule, also where `coreDoc` is true: rules come from the files that "
    "the settings name as authored, and `insert_text` cannot write among them either. Answers `"
    '{"ok": true}`.',
    "insert_session_turn": "Keeps a turn. `role`, `ts` and `userId` are read from the metadata; a turn that names no "
    'role counts as the assistant\'s. Answers `{"ok": true}`.',
    "insert_text": 'Stores a record; the same id again replaces it. Answers `{"ok": true}`.',
    "list_by_meta": 'Records whose metadata holds the value under the key. Answers `{"results": [...]}`.',
    "list_collection": 'Every record of a collection. Answers `{"results": [...]}`.',
    "list_lifecycle_journal": 'The journal, newest first. Answers `{"results": [...]}`.',
    "promote_dream_entries": "Makes entries of a diary memories of a user, in place of those it had, as the "
    "assistant's words. Promoted is what has 16 bytes or more, a score of 0.6 or more, and was recalled twice or more "
    'by two queries or more. Answers `{"promoted", "rejected"}`.',
    "query_raw_session": 'Searches the raw history of a session. Answers `{"results": [...]}`.',
    "search_text": 'Searches one collection. Answers `{"results": [...]}`.',
    "search_text_collections": 'Searches several collections. Answers `{"results": [...]}`.',
    "session_lifecycle_hint": 'Adds to the journal. Answers `{"ok": true, "hook", "sessionId", "reason"}`.',
}

PYTHON_INTRODUCTION = """\
`from clew import Memory, Client, AsyncClient, Config, Message, ClewError, connect`. `Memory` is a store opened in
this process, `Client` a daemon; both have all of the operations below. Answers are frozen objects whose fields are
those of the [wire protocol](wire.md#objects) in snake_case.
"""

OPERATIONS_INTRODUCTION = """\
Methods of `Memory` and of `Client`, and of `AsyncClient` to await. Each builds one request of `clew.api` and hands it
to `call`. What an operation raises is a `ClewError`, and then nothing was changed; only after `DeadlineExceeded` and
`DaemonUnreachable` of a client may the work have been done all the same."""

JSON_NAMES: Mapping[type[types.Type], str] = {
    types.AnyType: "any",
    types.BoolType: "boolean",
    types.FloatType: "number",
    types.IntType: "integer",
    types.NoneType: "null",
    types.StrType: "string",
}
