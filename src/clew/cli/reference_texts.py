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
name in the file that no setting has, or a value out of its bounds, is an error. `clew config` shows every
value that is in force and where it came from. Settings are read once, when a store or a daemon is opened.
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
- A line over `frame_limit_bytes` is skipped and answered with TooLarge; answers may be longer than that.
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

A client may have `max_inflight` requests under way, and four longest frames of bytes; after that the daemon
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
    "compact_session": "Lets summaries stand for the turns of a session outside its tail. Answers `{"
    '"didCompact", "clustersFormed", "clustersDeclined", "turnsRemoved", "meanConfidence", "tokensBefore", '
    '"tokensAfter", "shardsKept"}`, and `"summaryMethod"` where there is one.',
    "delete": 'Takes one record out of a collection. Answers `{"ok": true}`.',
    "expand_summary": "The turns a summary stands for; where the depth does not reach them, the summaries it does "
    'reach. Answers `{"results": [...]}`.',
    "export_memory": 'The memories of one user, or of all. Answers `{"records": [{"collection", "id", "text", '
    '"metadata"}]}`.',
    "flush_namespace": 'Deletes every memory of a user, who must be named. Answers `{"ok": true}`.',
    "gating_scalar": "The gate's parts under their short names. Answers `{"
    '"g", "t", "h", "r", "d", "inputFreq", "memSaturation", "p", "a", "dtech", "gconv", "gtech"}`.',
    "health": 'Answers `{"ok", "message"}`.',
    "insert_session_turn": "Keeps a turn. `role`, `ts` and `userId` are read from the metadata; a turn that names no "
    'role counts as the assistant\'s. Answers `{"ok": true}`.',
    "insert_text": 'Stores a record; the same id again replaces it. Answers `{"ok": true}`.',
    "list_by_meta": 'Records whose metadata holds the value under the key. Answers `{"results": [...]}`.',
    "list_collection": 'Every record of a collection. Answers `{"results": [...]}`.',
    "list_lifecycle_journal": 'The journal, newest first. Answers `{"results": [...]}`.',
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
Methods of `Memory` and of `Client`. Each builds one request and hands it to `call`; with `AsyncClient`, build the
request yourself: `await client.call(Search(text="keys", user_id="ana"))`, with the class from `clew.api`. What an
operation raises is a `ClewError`, and then nothing was changed; only after `DeadlineExceeded` and
`DaemonUnreachable` of a client may the work have been done all the same."""

PYTHON_NAMES: Mapping[str, str] = {"delete_batch": "delete"}
"""Operations whose name in Python is not the one on the wire."""

OPERATIONS: Mapping[str, str] = {
    "clear": "Takes every record out of a collection; raw history is refused.",
    "collections": "Every collection and how many records it holds.",
    "delete_batch": "Takes records out of a collection; raw history is refused. Unknown ids are passed over.",
    "ensure_collections": "Makes the collections exist, empty where they are new.",
    "export": "Records as JSONL in the order they were written, a page a call.",
    "gate": "Grades a text as if this user said it now. Nothing is kept.",
    "journal": "The hosts' notes about sessions, newest first.",
    "list": "The records of a collection, a page a call.",
    "status": "What the store holds and whether all of it works.",
    "verify": "Checks the store: rows, hashes, queue, vectors, search terms, indexes, histories. With `repair`, what "
    "is derived is made again first, and what fell out of a view is put back; texts are never changed.",
}
"""What operations do that have no docstring of their own."""

FIELDS: Mapping[str, str] = {
    "budgetTokens": "Size of the context, from 64; else the setting `budget_tokens`.",
    "clusterTurns": "Turns a summary; else, or where not positive, the setting `compact_cluster_turns`.",
    "collection": "Name of the collection.",
    "collections": "Names of collections.",
    "continuityMinTurns": "Turns to leave as they are; else the setting `tail_min_turns`.",
    "continuityPriorContextTokens": "How much of earlier summaries a summary is written in the light of.",
    "continuityTailBudgetTokens": "Size of the tail that is left as it is.",
    "cursor": "The cursor that the page before gave; 0 for the first.",
    "degraded": "Why this answer is not as good as it could be; empty when it is.",
    "details": "Free JSON, kept as it is.",
    "everything": "Compute all search terms and all vectors again, not only the vectors that are missing.",
    "excludeByCollection": "Ids to leave out, by collection.",
    "excludeIds": "Ids to leave out.",
    "force": "Compact all but the newest turns, however few there are.",
    "heartbeat": "A sign of life: answered, and not stored.",
    "hook": "What happened, such as `before_reset` or `session_end`.",
    "id": "Id of the record in its collection, 1 to 512 characters.",
    "ids": "Ids of records in the collection.",
    "ignoreCase": "Take capital and small letters as the same.",
    "k": "How many, 1 to 1,000.",
    "key": "A key of the metadata.",
    "limit": "How many at most.",
    "lines": "Lines that an export gave, at most 5,000.",
    "maxDepth": "Levels to go down, 1 to 64.",
    "message": "The turn.",
    "messages": "Turns, oldest first.",
    "metadata": "Free JSON, given back as it came. Gives no authority.",
    "minTurns": "Turns to leave as they are; else the setting `tail_min_turns`.",
    "ok": "Whether all is well.",
    "path": "An absolute path where no file is yet.",
    "pattern": "What to look for, 1 to 1,000 characters.",
    "pending": "How many texts wait.",
    "priorTokens": "How much of earlier summaries a summary is written in the light of; else 600.",
    "query": "What to recall for; else the newest turn of the user in the tail.",
    "regex": "Whether the pattern is a regular expression, in the syntax of RE2.",
    "repair": "Make what is derived again before the checks.",
    "role": "`user`, `assistant`, `system`, `tool_call` or `tool_result`; `tool` and `developer` are taken for such.",
    "sessionId": "The session.",
    "summaryId": "Id of the summary.",
    "tailTokens": "Size of the tail that is left as it is; else a share of the budget.",
    "targetSize": "Turns a summary; else the setting `compact_cluster_turns`.",
    "text": "The text, at most `max_text_bytes`.",
    "timeoutMs": "How long to wait; a daemon waits no longer than its deadline.",
    "tokens": "Likely number of tokens of the text.",
    "toolCallId": "The tool call this turn answers.",
    "toolCallIds": "The tool calls this turn makes.",
    "ts": "Milliseconds since 1970.",
    "updates": "What was used.",
    "userId": "The user.",
    "uses": "Ids by collection.",
    "value": "What the metadata must hold under the key; 1 and true are different.",
    "version": "1 when new; one more with every change.",
    "AuthoredDocument.hardNodes": "Nodes that are in every context.",
    "AuthoredDocument.hardTokens": "What they take, counted on the safe side.",
    "AuthoredDocument.loreNodes": "Nodes that are recalled when they fit.",
    "AuthoredDocument.name": "Its file name, with as much of its path as sets it apart.",
    "AuthoredDocument.softNodes": "Nodes that are in a context as far as they fit.",
    "AuthoredDocument.softTokens": "What they take, counted on the safe side.",
    "AuthoredReport.documents": "In the order of the settings, notes last.",
    "Check.name": "What was checked.",
    "Check.ok": "Whether it holds.",
    "Check.problems": "What was found wrong, at most 20 of each kind.",
    "CollectionList.collections": "By name; empty ones, too.",
    "CollectionView.count": "Records in it.",
    "CollectionView.name": "Its name.",
    "CompactReceipt.clustersFormed": "Clusters of turns that a summary stands for now.",
    "CompactReceipt.didCompact": "Whether the active view has become smaller.",
    "CompactReceipt.meanConfidence": "How well the summaries say what they stand for, from 0 to 1.",
    "CompactReceipt.shardsKept": "Turns kept word for word because they guide.",
    "CompactReceipt.tokensAfter": "Size of the active view now.",
    "CompactReceipt.tokensBefore": "Size of the active view before.",
    "Context.budgetTokens": "What it was allowed.",
    "Context.guidance": "The turns of the guidance, nearest first, with their scores.",
    "Context.messages": "The tail, word for word, oldest first.",
    "Context.recalled": "The records of the recall, best first, with their scores.",
    "Context.sections": "Where the budget went.",
    "Context.usedTokens": "What it takes, counted on the safe side.",
    "ContextMessage.id": "Id of the turn, where it has one.",
    "ContextMessage.text": "The text as it was given.",
    "Describe.id": "Id of a summary or of a turn.",
    "Expand.budgetTokens": "Most tokens of the framed text, 1 to 200,000; else 200,000.",
    "Expand.ids": "Ids of summaries, 1 to 100; a turn stands for itself.",
    "Expand.query": "What the turns are wanted for.",
    "Expansion.tokens": "Tokens of the framed text, counted on the safe side.",
    "Expansion.turns": "Word for word, in the order they were said.",
    "ExportPage.cursor": "Where the next page starts; absent on the last.",
    "Flushed.ok": "Whether nothing waits any more.",
    "GateScore.actions": "How much it says was decided, fixed, reached or set up.",
    "GateScore.artefacts": "How many concrete things it names for its length.",
    "GateScore.conversationalScore": "0.35 novelty + 0.40 repetition + 0.25 natural density.",
    "GateScore.gate": "The score: both views, mixed by `technical`.",
    "GateScore.inputFrequency": "How often the user said the like.",
    "GateScore.keep": "Whether the gate is at or above the threshold.",
    "GateScore.memorySaturation": "How well it is remembered already.",
    "GateScore.naturalDensity": "How much it says about wishes, people, dates, quantities, facts.",
    "GateScore.novelty": "How unlike it is to what is remembered.",
    "GateScore.repetition": "Said before, and not yet remembered.",
    "GateScore.technical": "How technical the text is.",
    "GateScore.technicalDensity": "How much it defines.",
    "GateScore.technicalScore": "0.40 artefacts + 0.35 actions + 0.25 technical density.",
    "GateScore.threshold": "The setting `gate_threshold`.",
    "Grep.cursor": "The cursor that the answer before gave; 0 for the beginning.",
    "GrepMatch.id": "Id of the turn.",
    "GrepMatch.lineNumber": "Which line of the turn, from 1.",
    "GrepResult.matches": "Oldest turn first.",
    "GuidanceItem.record": "The turn, word for word.",
    "GuidanceList.items": "Oldest first; the user's, then the session's.",
    "Hit.record": "What was found.",
    "Hit.scores": "Why it stands where it stands.",
    "ImportReceipt.stored": "Records that are new.",
    "ImportReceipt.unchanged": "Records that were there already.",
    "Ingest.sessionId": "The session. Two users must not share one.",
    "IngestBatch.sessionId": "The session. Two users must not share one.",
    "IngestBatchReceipt.receipts": "One for each message, in order.",
    "IngestReceipt.collections": "Where the turn stands.",
    "IngestReceipt.duplicate": "True for a turn that was there already.",
    "IngestReceipt.id": "Id of the turn in its session.",
    "Journal.entries": "Newest first.",
    "JournalEntry.seq": "Place in the journal.",
    "LeftOut.reason": "Why it is not in the context.",
    "LeftOut.ref": "Where it is stored, as `collection/id`.",
    "Message.id": "Your id of the turn in its session; else one is made.",
    "Node.compactedTs": "When the summary was made.",
    "Node.confidence": "How well a summary says what it stands for, from 0 to 1.",
    "Node.firstTs": "Time of the earliest turn it reaches.",
    "Node.id": "Its id in the session.",
    "Node.inView": "Whether it stands in the active view.",
    "Node.lastTs": "Time of the latest turn it reaches.",
    "Node.method": "How a summary was made: `extractive`, `extractive-short`, `fallback` or `abstractive`.",
    "Node.sourceIds": "What a summary stands for: turns, or summaries of the level below.",
    "Node.text": "The text; empty where nodes are only named.",
    "Node.trivial": "Whether a summary stands for a single turn.",
    "PutReceipt.changed": "False where equal text and metadata were there already.",
    "RecordView.accessCount": "How often it entered a context.",
    "RecordView.metadata": "What the client gave; of a memory, also its source and the parts of its gate score.",
    "RecordView.provenance": "Where the text came from: `user_turn`, `assistant_turn`, `system_turn`, `tool_output`, "
    "`memory`, `summary`, `authored` or `note`.",
    "RecordView.role": "Who spoke; absent for records that are no turns.",
    "RecordView.stability": "How lasting it is taken to be, from 0 to 1.",
    "RecordView.trust": "`trusted`, `unknown`, `untrusted` or `quarantined`; follows from the provenance.",
    "Records.records": "The records.",
    "Scores.dense": "Similarity of meaning.",
    "Scores.denseRank": "Place in that lane, from 1.",
    "Scores.lexical": "Match of words, as a share of a full match.",
    "Scores.lexicalRank": "Place in that lane, from 1.",
    "Scores.recency": "1 for now, falling with age.",
    "Scores.scope": "1.0 session, 0.6 user, 0.3 all else.",
    "Scores.score": "What the hits are ordered by: of a search, the weighted sum of similarity, recency and scope; in "
    "a context, similarity weighed by keywords and standing. Times quality.",
    "Scores.similarity": "Both lanes in one number.",
    "Search.text": "The question; its first 4,000 characters count.",
    "SearchResult.hits": "Best first.",
    "Section.budgetTokens": "What it was allowed.",
    "Section.items": "Turns or records in it.",
    "Section.leftOut": "What has no place in it, at most 50.",
    "Section.name": "`hard`, `soft`, `tail`, `guidance` or `recalled`.",
    "Section.usedTokens": "What it took.",
    "SessionView.dismissedCount": "Turns that were taken out of the active view by hand.",
    "SessionView.turnCount": "Turns of the raw history.",
    "Status.abstractiveReady": "Always false in this version.",
    "Status.dataDir": "The data folder.",
    "Status.gatingThreshold": "The setting `gate_threshold`.",
    "Status.indexBytes": "Memory of the loaded indexes.",
    "Status.lifecycleHintCount": "Entries of the journal.",
    "Status.message": "`ok`, or what is degraded.",
    "Status.recordCount": "Texts of all kinds, each counted once.",
    "Status.storeBytes": "Size of the database.",
    "Status.tokenCounter": "What counts tokens: a tokenizer's name, or `estimate`.",
    "Status.version": "Version of Clew.",
    "VerifyReport.checks": "Every check, in order.",
    "VerifyReport.ok": "Whether all of them hold.",
}
"""What fields mean that have no note in their class: by class and name, or by name wherever it stands."""

JSON_NAMES: Mapping[type[types.Type], str] = {
    types.AnyType: "any",
    types.BoolType: "boolean",
    types.FloatType: "number",
    types.IntType: "integer",
    types.NoneType: "null",
    types.StrType: "string",
}
