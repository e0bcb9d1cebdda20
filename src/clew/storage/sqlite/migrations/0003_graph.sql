-- What records name: an entity of one owner, by its kind and its name in the form in which names are compared.
CREATE TABLE entities (
  key   INTEGER PRIMARY KEY AUTOINCREMENT,
  name  TEXT NOT NULL,
  kind  TEXT NOT NULL,
  owner TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX entities_by_name ON entities (name, kind, owner);
CREATE INDEX entities_by_owner ON entities (owner, kind);

-- Which record names which entity, and how it writes it.
-- standing 0: the record may be relied on; 1: it is untrusted; 2: it is quarantined.
CREATE TABLE sightings (
  record   INTEGER NOT NULL REFERENCES records (key) ON DELETE CASCADE,
  entity   INTEGER NOT NULL REFERENCES entities (key),
  standing INTEGER NOT NULL,
  title    TEXT NOT NULL,
  PRIMARY KEY (record, entity)
) STRICT, WITHOUT ROWID;
CREATE INDEX sightings_by_entity ON sightings (entity, standing);

-- What a record says of two entities that it names.
CREATE TABLE edges (
  record   INTEGER NOT NULL REFERENCES records (key) ON DELETE CASCADE,
  source   INTEGER NOT NULL REFERENCES entities (key) ON DELETE CASCADE,
  target   INTEGER NOT NULL REFERENCES entities (key) ON DELETE CASCADE,
  kind     TEXT NOT NULL,
  weight   REAL NOT NULL,
  standing INTEGER NOT NULL,
  PRIMARY KEY (record, source, target, kind)
) STRICT, WITHOUT ROWID;
CREATE INDEX edges_by_source ON edges (source, standing, weight DESC, record DESC);
CREATE INDEX edges_by_target ON edges (target, standing, weight DESC, record DESC);

-- An entity that no record names any more leaves.
CREATE TRIGGER unnamed_entities_leave
AFTER DELETE ON sightings WHEN NOT EXISTS (SELECT 1 FROM sightings WHERE entity = OLD.entity)
BEGIN DELETE FROM entities WHERE key = OLD.entity; END;

-- What a record says is trusted as the record is.
CREATE TRIGGER the_graph_follows_trust
AFTER UPDATE OF trust ON records WHEN OLD.trust <> NEW.trust
BEGIN
  UPDATE sightings SET standing = CASE NEW.trust WHEN 'untrusted' THEN 1 WHEN 'quarantined' THEN 2 ELSE 0 END
  WHERE record = NEW.key;
  UPDATE edges SET standing = CASE NEW.trust WHEN 'untrusted' THEN 1 WHEN 'quarantined' THEN 2 ELSE 0 END
  WHERE record = NEW.key;
END;

-- What was stored before there was a graph is read for it once.
INSERT INTO queue (record, task) SELECT key, 'link' FROM records ORDER BY key;
