-- What is known of a record beside its text, as JSON: kind, grade, retention, why it is (not) trusted.
ALTER TABLE records ADD COLUMN marks TEXT NOT NULL DEFAULT '{}';

CREATE INDEX records_quarantined ON records (key) WHERE trust = 'quarantined';

-- What packs searched, took and left out; without content.
CREATE TABLE traces (
  seq        INTEGER PRIMARY KEY AUTOINCREMENT,
  id         TEXT NOT NULL UNIQUE,
  ts_ms      INTEGER NOT NULL,
  user_id    TEXT,
  session_id TEXT,
  body       TEXT NOT NULL
) STRICT;

-- Every purge, without content: replayed on an older copy of the store.
-- `target` is kept only until the files beside the store are clean, too.
CREATE TABLE purges (
  id     TEXT PRIMARY KEY,
  ts_ms  INTEGER NOT NULL,
  kind   TEXT NOT NULL,
  digest TEXT NOT NULL,
  target TEXT,
  counts TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- The records a purge is about to remove, empty outside its transaction: the one way out of raw history.
CREATE TABLE purging (record INTEGER PRIMARY KEY) STRICT;

DROP TRIGGER raw_turns_do_not_leave;
CREATE TRIGGER raw_turns_do_not_leave
BEFORE DELETE ON records WHEN OLD.raw AND NOT EXISTS (SELECT 1 FROM purging WHERE record = OLD.key)
BEGIN SELECT RAISE(ABORT, 'raw turns are append-only'); END;

DROP TRIGGER raw_members_do_not_leave;
CREATE TRIGGER raw_members_do_not_leave
BEFORE DELETE ON members
WHEN (SELECT raw FROM collections WHERE key = OLD.key >> 32)
 AND NOT EXISTS (SELECT 1 FROM purging WHERE record = OLD.record)
BEGIN SELECT RAISE(ABORT, 'raw history is append-only'); END;

DROP TRIGGER raw_collections_do_not_leave;
CREATE TRIGGER raw_collections_do_not_leave
BEFORE DELETE ON collections
WHEN OLD.raw AND EXISTS (SELECT 1 FROM members WHERE key BETWEEN OLD.key << 32 AND (OLD.key << 32) | 0xffffffff)
BEGIN SELECT RAISE(ABORT, 'raw history is append-only'); END;
