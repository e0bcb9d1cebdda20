-- Texts, each stored once, whatever number of collections show it.
CREATE TABLE records (
  key          INTEGER PRIMARY KEY AUTOINCREMENT,
  raw          INTEGER NOT NULL,
  ts_ms        INTEGER NOT NULL,
  role         TEXT,
  provenance   TEXT NOT NULL,
  trust        TEXT NOT NULL,
  stability    REAL NOT NULL,
  tokens       INTEGER NOT NULL,
  row_hash     BLOB NOT NULL,
  terms        BLOB NOT NULL,
  text         TEXT NOT NULL,
  metadata     TEXT NOT NULL
) STRICT;

-- Named scopes. next_seq numbers every change of the collection.
CREATE TABLE collections (
  key      INTEGER PRIMARY KEY AUTOINCREMENT,
  name     TEXT NOT NULL UNIQUE,
  raw      INTEGER NOT NULL,
  next_seq INTEGER NOT NULL DEFAULT 1
) STRICT;

-- A record's place in a collection: key = collection << 32 | seq.
CREATE TABLE members (
  key     INTEGER PRIMARY KEY,
  id      TEXT NOT NULL,
  record  INTEGER NOT NULL REFERENCES records (key),
  version INTEGER NOT NULL DEFAULT 1
) STRICT;
CREATE UNIQUE INDEX members_by_id ON members (key >> 32, id);
CREATE INDEX members_by_record ON members (record);

-- What happened to members after they were added, in the same sequence.
-- kind 1: the member at seq `target` left; 2: its vector arrived; 3: forget all and load again.
CREATE TABLE changes (
  key    INTEGER PRIMARY KEY,
  kind   INTEGER NOT NULL,
  target INTEGER NOT NULL
) STRICT;

-- Embedders whose vectors the store holds or held.
CREATE TABLE models (
  key          INTEGER PRIMARY KEY,
  family       TEXT NOT NULL,
  dimensions   INTEGER NOT NULL,
  normalised   INTEGER NOT NULL,
  weights_hash TEXT NOT NULL,
  UNIQUE (family, dimensions, normalised, weights_hash)
) STRICT;

CREATE TABLE vectors (
  record INTEGER PRIMARY KEY REFERENCES records (key),
  model  INTEGER NOT NULL REFERENCES models (key),
  vector BLOB NOT NULL
) STRICT;

-- Work that waits behind acknowledged writes, oldest first.
CREATE TABLE queue (
  seq    INTEGER PRIMARY KEY AUTOINCREMENT,
  record INTEGER NOT NULL REFERENCES records (key),
  task   TEXT NOT NULL,
  UNIQUE (record, task)
) STRICT;

-- How often, and when last, a record entered a final context.
CREATE TABLE uses (
  record       INTEGER PRIMARY KEY REFERENCES records (key),
  access_count INTEGER NOT NULL,
  last_used_ms INTEGER NOT NULL
) STRICT;

CREATE TABLE journal (
  seq        INTEGER PRIMARY KEY AUTOINCREMENT,
  ts_ms      INTEGER NOT NULL,
  hook       TEXT NOT NULL,
  session_id TEXT,
  details    TEXT NOT NULL
) STRICT;

CREATE TABLE settings (
  name  TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Raw history is append-only, whoever writes and with whatever tool.
CREATE TRIGGER raw_turns_do_not_change
BEFORE UPDATE OF raw, ts_ms, role, provenance, text, metadata, row_hash ON records WHEN OLD.raw
BEGIN SELECT RAISE(ABORT, 'raw turns are append-only'); END;

CREATE TRIGGER raw_turns_do_not_leave
BEFORE DELETE ON records WHEN OLD.raw
BEGIN SELECT RAISE(ABORT, 'raw turns are append-only'); END;

CREATE TRIGGER raw_members_do_not_change
BEFORE UPDATE ON members WHEN (SELECT raw FROM collections WHERE key = OLD.key >> 32)
BEGIN SELECT RAISE(ABORT, 'raw history is append-only'); END;

CREATE TRIGGER raw_members_do_not_leave
BEFORE DELETE ON members WHEN (SELECT raw FROM collections WHERE key = OLD.key >> 32)
BEGIN SELECT RAISE(ABORT, 'raw history is append-only'); END;

CREATE TRIGGER raw_collections_do_not_change
BEFORE UPDATE OF raw, name ON collections WHEN OLD.raw
BEGIN SELECT RAISE(ABORT, 'raw history is append-only'); END;

CREATE TRIGGER raw_collections_do_not_leave
BEFORE DELETE ON collections WHEN OLD.raw
BEGIN SELECT RAISE(ABORT, 'raw history is append-only'); END;
