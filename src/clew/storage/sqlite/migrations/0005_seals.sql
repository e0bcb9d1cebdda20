-- A seal is a checksum of a row, which shows damage where the row is read. `storage.sqlite.seals` makes them.
ALTER TABLE records ADD COLUMN seal INTEGER NOT NULL DEFAULT 0;
ALTER TABLE records ADD COLUMN terms_seal INTEGER NOT NULL DEFAULT 0;
ALTER TABLE members ADD COLUMN seal INTEGER NOT NULL DEFAULT 0;
ALTER TABLE vectors ADD COLUMN seal INTEGER NOT NULL DEFAULT 0;

UPDATE records SET
  seal = seal_record(row_hash, key, raw, ts_ms, role, provenance, trust, stability, tokens, text, metadata, marks),
  terms_seal = seal(key, ts_ms, terms);
UPDATE vectors SET seal = seal(record, model, vector);

DROP TRIGGER raw_members_do_not_change;
UPDATE members SET seal = seal(key, id, record, version);
CREATE TRIGGER raw_members_do_not_change
BEFORE UPDATE ON members WHEN (SELECT raw FROM collections WHERE key = OLD.key >> 32)
BEGIN SELECT RAISE(ABORT, 'raw history is append-only'); END;

-- Damaged rows that a repair has set aside: kept as they are, listed, and never served.
-- what 'record' or 'member', by its key.
CREATE TABLE set_aside (
  what  TEXT NOT NULL,
  key   INTEGER NOT NULL,
  PRIMARY KEY (what, key)
) STRICT, WITHOUT ROWID;

-- A key may be given again once its row is gone.
CREATE TRIGGER records_leave_aside AFTER DELETE ON records
BEGIN DELETE FROM set_aside WHERE what = 'record' AND key = OLD.key; END;
CREATE TRIGGER members_leave_aside AFTER DELETE ON members
BEGIN DELETE FROM set_aside WHERE what = 'member' AND key = OLD.key; END;
