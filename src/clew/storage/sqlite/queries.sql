-- name: find_collection
-- The key of a collection and whether it holds raw history.
SELECT key, raw FROM collections WHERE name = ?;

-- name: add_collection
-- A collection begins above every number that one which was purged has given out.
INSERT INTO collections (name, raw, next_seq)
VALUES (?, ?, coalesce((SELECT CAST(value AS INTEGER) FROM settings WHERE name = 'sequence_floor'), 1))
RETURNING key, next_seq;

-- name: raise_floor
INSERT INTO settings (name, value) SELECT 'sequence_floor', next_seq FROM collections WHERE key = ?
ON CONFLICT (name) DO UPDATE SET value = max(CAST(value AS INTEGER), CAST(excluded.value AS INTEGER));

-- name: next_seq
-- Takes the next number of a collection's sequence.
UPDATE collections SET next_seq = next_seq + 1 WHERE key = ? RETURNING next_seq - 1;

-- name: last_seq
SELECT key, next_seq - 1 FROM collections WHERE name = ?;

-- name: all_collections
SELECT name, (SELECT count(*) FROM members WHERE members.key BETWEEN c.key << 32 AND (c.key << 32) | 0xffffffff)
FROM collections AS c ORDER BY name;

-- name: add_record
INSERT INTO records (raw, ts_ms, role, provenance, trust, stability, tokens, row_hash, terms, text, metadata, marks)
VALUES (:raw, :ts_ms, :role, :provenance, :trust, :stability, :tokens, :row_hash, :terms, :text, :metadata, :marks)
RETURNING key;

-- name: seal_record
-- After every change of a record that its seal covers.
UPDATE records SET
  seal = seal(key, raw, ts_ms, role, provenance, trust, stability, tokens, text, metadata, marks) WHERE key = ?;

-- name: seal_terms
UPDATE records SET terms_seal = seal(key, ts_ms, terms) WHERE key = ?;

-- name: record_columns
-- The columns of a record's seal, and the seal.
SELECT raw, ts_ms, role, provenance, trust, stability, tokens, text, metadata, marks, seal FROM records WHERE key = ?;

-- name: set_aside
SELECT what, key FROM set_aside ORDER BY what, key;

-- name: drop_tasks_aside
-- Work on a damaged record would wait for good.
DELETE FROM queue WHERE record IN (SELECT key FROM set_aside WHERE what = 'record');

-- name: add_aside
INSERT INTO set_aside (what, key) VALUES (?, ?) ON CONFLICT DO NOTHING;

-- name: add_member
INSERT INTO members (key, id, record, version, seal) VALUES (?1, ?2, ?3, ?4, seal(?1, ?2, ?3, ?4));

-- name: find_member
-- The member of a collection by id, with what decides whether a write changes it.
SELECT members.key, members.record, members.version, records.raw, records.provenance, records.role, records.text,
       records.metadata, records.marks
FROM members JOIN records ON records.key = members.record
WHERE members.key >> 32 = ? AND members.id = ?;

-- name: record_at
-- Without its text, which may be damaged.
SELECT record FROM members WHERE key >> 32 = ? AND id = ?;

-- name: set_version
UPDATE members SET version = ?1, seal = seal(key, id, record, ?1) WHERE record = ?2 AND version <> ?1;

-- name: delete_member
DELETE FROM members WHERE key = ?;

-- name: members_of_collection
SELECT members.key, members.id, members.record, records.raw, records.provenance
FROM members JOIN records ON records.key = members.record WHERE members.key BETWEEN ? AND ?;

-- name: members_of_record
SELECT collections.name, members.id, members.version, members.key, members.seal, members.record
FROM members JOIN collections ON collections.key = members.key >> 32
WHERE members.record = ? ORDER BY collections.name, members.id;

-- name: collection_size
SELECT count(*) FROM members WHERE key BETWEEN ? AND ?;

-- name: delete_changes
DELETE FROM changes WHERE key BETWEEN ? AND ?;

-- name: orphan_record
-- A record that no collection shows and that is not a raw turn.
SELECT 1 FROM records WHERE key = ? AND NOT raw AND NOT EXISTS (SELECT 1 FROM members WHERE record = records.key);

-- name: delete_record
DELETE FROM records WHERE key = ?;

-- name: delete_vector
DELETE FROM vectors WHERE record = ?;

-- name: delete_vectors
DELETE FROM vectors;

-- name: delete_uses
DELETE FROM uses WHERE record = ?;

-- name: delete_tasks_of_record
DELETE FROM queue WHERE record = ?;

-- name: move_uses
UPDATE uses SET record = ? WHERE record = ?;

-- name: add_change
INSERT INTO changes (key, kind, target) VALUES (?, ?, ?);

-- name: add_task
INSERT INTO queue (record, task) VALUES (?, ?) ON CONFLICT DO NOTHING;

-- name: find_task
SELECT record FROM queue WHERE seq = ?;

-- name: delete_task
DELETE FROM queue WHERE seq = ?;

-- name: add_uses
-- One use of each member whose id is in a JSON array.
INSERT INTO uses (record, access_count, last_used_ms)
SELECT record, 1, ?3 FROM members WHERE key >> 32 = ?1 AND id IN (SELECT value FROM json_each(?2))
ON CONFLICT (record) DO UPDATE SET access_count = access_count + 1, last_used_ms = max(last_used_ms, excluded.last_used_ms);

-- name: set_uses
INSERT INTO uses (record, access_count, last_used_ms) VALUES (?, ?, ?)
ON CONFLICT (record) DO UPDATE SET access_count = excluded.access_count, last_used_ms = excluded.last_used_ms;

-- name: set_vector
-- A vector of a record that still exists.
INSERT INTO vectors (record, model, vector, seal)
SELECT ?1, ?2, ?3, seal(?1, ?2, ?3) WHERE EXISTS (SELECT 1 FROM records WHERE key = ?1)
ON CONFLICT (record) DO UPDATE SET model = excluded.model, vector = excluded.vector, seal = excluded.seal;

-- name: member_by_id
SELECT members.key, members.id, members.version, r.ts_ms, r.role, r.provenance, r.trust, r.stability, r.tokens,
       r.text, r.metadata, r.marks, coalesce(uses.access_count, 0), uses.last_used_ms,
       members.record, members.seal, r.raw, r.seal
FROM members LEFT JOIN records AS r ON r.key = members.record LEFT JOIN uses ON uses.record = r.key
WHERE members.key >> 32 = ? AND members.id = ?;

-- name: sum_listed
-- What the index lists, to compare with what the table gives: how many members, and the sum of their keys.
SELECT count(*), coalesce(sum(key), 0) FROM members INDEXED BY members_by_id WHERE key >> 32 = ?;

-- name: listed_ids
-- The ids that the index lists, in its order, in one piece.
SELECT CAST(coalesce(group_concat(id, ''), '') AS BLOB) FROM members INDEXED BY members_by_id WHERE key >> 32 = ?;

-- name: members_in_range
SELECT key, id FROM members WHERE key > ? AND key <= ? ORDER BY key;

-- name: last_seq_of
SELECT next_seq - 1 FROM collections WHERE key = ?;

-- name: lost_vectors
-- Of the records in a JSON array, those that have no whole vector of the model, and do not wait for one.
SELECT key FROM records
WHERE key IN (SELECT value FROM json_each(?))
  AND NOT EXISTS (SELECT 1 FROM vectors WHERE vectors.record = records.key AND model = ? AND length(vector) = ?)
  AND NOT EXISTS (SELECT 1 FROM queue WHERE queue.record = records.key AND queue.task = 'embed')
  AND NOT EXISTS (SELECT 1 FROM set_aside WHERE what = 'record' AND set_aside.key = records.key);

-- name: lacks_vector
-- Whether a record has no whole vector of the model, though it may wait for one.
SELECT 1 FROM records
WHERE key = ? AND NOT EXISTS (SELECT 1 FROM vectors WHERE vectors.record = records.key AND model = ? AND length(vector) = ?)
  AND NOT EXISTS (SELECT 1 FROM set_aside WHERE what = 'record' AND set_aside.key = records.key);

-- name: find_unlisted
-- Members that the index may have lost, of the ids in a JSON array.
SELECT id FROM members NOT INDEXED WHERE key BETWEEN ? AND ? AND id IN (SELECT value FROM json_each(?));

-- name: member_keys_by_ids
-- The ids are in a JSON array. The index knows them and their keys; the table is asked whether it agrees.
SELECT listed.id, listed.key, held.record
FROM members AS listed INDEXED BY members_by_id CROSS JOIN members AS held NOT INDEXED
WHERE listed.key >> 32 = ? AND listed.id IN (SELECT value FROM json_each(?))
  AND held.key = listed.key AND held.id = listed.id;

-- name: members_by_keys
-- The members whose keys are in a JSON array.
SELECT members.key, members.id, members.version, r.ts_ms, r.role, r.provenance, r.trust, r.stability, r.tokens,
       r.text, r.metadata, r.marks, coalesce(uses.access_count, 0), uses.last_used_ms,
       members.record, members.seal, r.raw, r.seal
FROM members LEFT JOIN records AS r ON r.key = members.record LEFT JOIN uses ON uses.record = r.key
WHERE members.key IN (SELECT value FROM json_each(?));

-- name: members_after
SELECT members.key, members.id, members.version, r.ts_ms, r.role, r.provenance, r.trust, r.stability, r.tokens,
       r.text, r.metadata, r.marks, coalesce(uses.access_count, 0), uses.last_used_ms,
       members.record, members.seal, r.raw, r.seal
FROM members LEFT JOIN records AS r ON r.key = members.record LEFT JOIN uses ON uses.record = r.key
WHERE members.key > ? AND members.key <= ? ORDER BY members.key LIMIT ?;

-- name: members_before
SELECT members.key, members.id, members.version, r.ts_ms, r.role, r.provenance, r.trust, r.stability, r.tokens,
       r.text, r.metadata, r.marks, coalesce(uses.access_count, 0), uses.last_used_ms,
       members.record, members.seal, r.raw, r.seal
FROM members LEFT JOIN records AS r ON r.key = members.record LEFT JOIN uses ON uses.record = r.key
WHERE members.key >= ? AND members.key < ? ORDER BY members.key DESC LIMIT ?;

-- name: feed_rows
-- What an index keeps of the members in a range, and their seals.
SELECT members.key, r.ts_ms, r.terms, vectors.vector, members.record, members.id,
       members.version, members.seal, r.terms_seal, vectors.model, vectors.seal, vectors.record
FROM members LEFT JOIN records AS r ON r.key = members.record LEFT JOIN vectors ON vectors.record = r.key
WHERE members.key > ? AND members.key <= ? ORDER BY members.key;

-- name: feed_changes
SELECT kind, target FROM changes WHERE key > ? AND key <= ? ORDER BY key;

-- name: member_vector
SELECT vectors.vector, vectors.record, vectors.seal FROM members
JOIN vectors ON vectors.record = members.record AND vectors.model = ? AND length(vectors.vector) = ?
WHERE members.key = ?;

-- name: queued
SELECT queue.seq, r.key, r.raw, r.ts_ms, r.role, r.provenance, r.trust, r.stability, r.tokens, r.terms,
       r.text, r.metadata, r.marks, r.seal, vectors.vector, vectors.model, vectors.seal
FROM queue JOIN records AS r ON r.key = queue.record
LEFT JOIN vectors ON vectors.record = r.key AND vectors.model = ? AND length(vectors.vector) = ?
WHERE queue.task = ? ORDER BY queue.seq;

-- name: pending
SELECT count(*) FROM queue WHERE task = ?;

-- name: counts
SELECT (SELECT count(*) FROM records),
       (SELECT count(*) FROM members WHERE key >> 32 IN (SELECT key FROM collections WHERE name GLOB 'turns:*')),
       (SELECT count(*) FROM members WHERE key >> 32 IN (SELECT key FROM collections WHERE name GLOB 'user:*')),
       (SELECT count(*) FROM journal),
       (SELECT count(*) FROM queue),
       (SELECT page_count * page_size FROM pragma_page_count, pragma_page_size),
       (SELECT count(*) FROM records WHERE trust = 'quarantined');

-- name: add_model
INSERT INTO models (family, dimensions, normalised, weights_hash) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING;

-- name: find_model
SELECT key FROM models WHERE family = ? AND dimensions = ? AND normalised = ? AND weights_hash = ?;

-- name: current_model
SELECT models.key, family, dimensions, normalised, weights_hash
FROM settings JOIN models ON models.key = CAST(settings.value AS INTEGER) WHERE settings.name = 'model';

-- name: get_setting
SELECT value FROM settings WHERE name = ?;

-- name: set_setting
INSERT INTO settings (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value;

-- name: note_analyser
-- A new store's rows will all carry terms of the present analyser.
INSERT INTO settings (name, value) VALUES ('analyser', ?) ON CONFLICT DO NOTHING;

-- name: queue_missing_vectors
-- Queues what has no whole vector of the model and is not queued yet. A record that is set aside would wait for good.
INSERT INTO queue (record, task)
SELECT r.key, 'embed' FROM records AS r
WHERE NOT EXISTS (SELECT 1 FROM vectors WHERE vectors.record = r.key AND vectors.model = ? AND length(vector) = ?)
  AND NOT EXISTS (SELECT 1 FROM set_aside WHERE what = 'record' AND set_aside.key = r.key)
  AND NOT EXISTS (SELECT 1 FROM queue WHERE queue.record = r.key AND queue.task = 'embed')
ORDER BY r.key;

-- name: collection_keys
SELECT key FROM collections;

-- name: named_collections
SELECT key, name FROM collections;

-- name: records_after
SELECT r.key, r.raw, r.ts_ms, r.role, r.provenance, r.trust, r.stability, r.tokens, r.terms, r.text, r.metadata, r.marks,
       r.seal, coalesce(uses.access_count, 0), uses.last_used_ms
FROM records AS r LEFT JOIN uses ON uses.record = r.key WHERE r.key > ? ORDER BY r.key LIMIT ?;

-- name: set_terms
UPDATE records SET terms = ?1, terms_seal = seal(key, ts_ms, ?1) WHERE key = ?2;

-- name: void_terms
-- Terms that no text has, under a seal that does not fit them.
UPDATE records SET terms = x'ff', terms_seal = -1 WHERE key = ?;

-- name: add_hint
INSERT INTO journal (ts_ms, hook, session_id, details) VALUES (?, ?, ?, ?);

-- name: trim_journal
DELETE FROM journal WHERE seq <= (SELECT max(seq) FROM journal) - ?;

-- name: hints
SELECT seq, ts_ms, hook, session_id, details FROM journal
WHERE ?1 IS NULL OR session_id = ?1 ORDER BY seq DESC LIMIT ?2;

-- name: record_keys
SELECT key FROM records ORDER BY key;

-- name: member_keys
SELECT key FROM members ORDER BY key;

-- name: count_records
SELECT count(*) FROM records;

-- name: count_members
SELECT count(*) FROM members;

-- name: check_hash
-- A record's hash, its seal, and what the seal covers.
SELECT row_hash, seal, key, raw, ts_ms, role, provenance, trust, stability, tokens, text, metadata, marks
FROM records WHERE key = ?;

-- name: check_member
SELECT seal, key, id, record, version FROM members WHERE key = ?;

-- name: scan_record
-- All that a record's seals cover. It is looked for in every row: a damaged page may give a row under another's key.
SELECT terms_seal, ts_ms, terms,
       seal, key, raw, ts_ms, role, provenance, trust, stability, tokens, text, metadata, marks
FROM records NOT INDEXED WHERE +key = ?;

-- name: scan_member
-- The same for a member.
SELECT seal, key, id, record, version FROM members NOT INDEXED WHERE +key = ?;

-- name: records_with_bytes
-- Records that hold some bytes as a text.
SELECT key FROM records
WHERE ?1 IN (CAST(text AS BLOB), CAST(metadata AS BLOB), CAST(marks AS BLOB), CAST(role AS BLOB),
             CAST(provenance AS BLOB), CAST(trust AS BLOB));

-- name: members_with_bytes
SELECT key FROM members WHERE CAST(id AS BLOB) = ?;

-- name: check_terms
SELECT key, terms_seal, ts_ms, terms FROM records ORDER BY key;

-- name: check_vector_seals
SELECT seal, record, model, vector FROM vectors ORDER BY record;

-- name: check_vector_seal
SELECT seal, record, model, vector FROM vectors WHERE record = ?;

-- name: check_names
PRAGMA integrity_check(collections);

-- name: check_lost_records
-- Records that no collection shows.
SELECT key FROM records WHERE NOT EXISTS (SELECT 1 FROM members WHERE record = records.key) LIMIT 20;

-- name: check_dangling_members
-- Members whose record or collection is missing.
SELECT key FROM members
WHERE NOT EXISTS (SELECT 1 FROM records WHERE records.key = members.record)
   OR NOT EXISTS (SELECT 1 FROM collections WHERE collections.key = members.key >> 32) LIMIT 20;

-- name: check_raw_membership
-- Raw turns that no raw history shows.
SELECT r.key FROM records AS r WHERE r.raw AND NOT EXISTS (
  SELECT 1 FROM members JOIN collections AS c ON c.key = members.key >> 32 WHERE members.record = r.key AND c.raw
) LIMIT 20;

-- name: check_sequences
-- Collections whose counter is behind what it has given out.
SELECT c.name FROM collections AS c
WHERE c.next_seq <= coalesce((SELECT max(key & 0xffffffff) FROM members
  WHERE key BETWEEN c.key << 32 AND (c.key << 32) | 0xffffffff), 0)
   OR c.next_seq <= coalesce((SELECT max(key & 0xffffffff) FROM changes
  WHERE key BETWEEN c.key << 32 AND (c.key << 32) | 0xffffffff), 0) LIMIT 20;

-- name: check_vectors
-- Vectors of no record.
SELECT record FROM vectors WHERE NOT EXISTS (SELECT 1 FROM records WHERE records.key = vectors.record) LIMIT 20;

-- name: check_missing_vectors
-- Records that have neither a whole vector of the current model nor a place in the queue. Records in
-- internal collections alone are never searched, and need none.
SELECT r.key FROM records AS r
WHERE NOT EXISTS (SELECT 1 FROM vectors WHERE vectors.record = r.key AND vectors.model = ? AND length(vector) = ?)
  AND NOT EXISTS (SELECT 1 FROM queue WHERE queue.record = r.key AND queue.task = 'embed')
  AND NOT EXISTS (SELECT 1 FROM set_aside WHERE what = 'record' AND set_aside.key = r.key)
  AND EXISTS (SELECT 1 FROM members JOIN collections ON collections.key = members.key >> 32
              WHERE members.record = r.key AND collections.name NOT GLOB '_*') LIMIT 20;

-- name: check_dangling_tasks
SELECT seq FROM queue WHERE NOT EXISTS (SELECT 1 FROM records WHERE records.key = queue.record) LIMIT 20;

-- name: record_marks
SELECT marks FROM records WHERE key = ?;

-- name: set_marks
UPDATE records SET marks = ? WHERE key = ?;

-- name: set_trust
UPDATE records SET trust = ? WHERE key = ?;

-- name: withheld
-- From the few that are quarantined to their places, whatever the planner thinks of their number.
SELECT members.key & 0xffffffff FROM records CROSS JOIN members ON members.record = records.key
WHERE records.trust = 'quarantined' AND members.key BETWEEN ? AND ?;

-- name: records_of_trust
SELECT r.key, r.raw, r.ts_ms, r.role, r.provenance, r.trust, r.stability, r.tokens, r.terms, r.text, r.metadata, r.marks,
       r.seal, coalesce(uses.access_count, 0), uses.last_used_ms
FROM records AS r LEFT JOIN uses ON uses.record = r.key WHERE r.trust = ? AND r.key > ? ORDER BY r.key LIMIT ?;

-- name: add_trace
INSERT INTO traces (id, ts_ms, user_id, session_id, body) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (id) DO UPDATE SET ts_ms = excluded.ts_ms, body = excluded.body;

-- name: trim_traces
DELETE FROM traces WHERE seq <= (SELECT max(seq) FROM traces) - ?;

-- name: newest_traces
SELECT id, ts_ms, user_id, session_id, body FROM traces ORDER BY seq DESC LIMIT ?;

-- name: find_trace
SELECT id, ts_ms, user_id, session_id, body FROM traces WHERE id = ?;

-- name: delete_trace
DELETE FROM traces WHERE id = ?;

-- name: doom_record
INSERT INTO purging (record) VALUES (?) ON CONFLICT DO NOTHING;

-- name: doom_collections
-- Every record of the collections whose names are in a JSON array, up to a key.
INSERT INTO purging (record)
SELECT record FROM members
WHERE key >> 32 IN (SELECT key FROM collections WHERE name IN (SELECT value FROM json_each(?))) AND record <= ?
ON CONFLICT DO NOTHING;

-- name: extent
-- How far the store reaches. None of these numbers is ever given again.
SELECT (SELECT coalesce(max(key), 0) FROM records),
       (SELECT coalesce(max(seq), 0) FROM journal),
       (SELECT coalesce(max(seq), 0) FROM traces);

-- name: records_from_outside
-- The address of each record that has one; of metadata that a flipped bit has made unreadable, all of it.
SELECT key, CASE WHEN json_valid(metadata) THEN json_extract(metadata, '$.sourceUrl') END AS address,
       CASE WHEN NOT json_valid(metadata) THEN CAST(metadata AS BLOB) END AS unreadable
FROM records WHERE address IS NOT NULL OR unreadable IS NOT NULL;

-- name: linking_marks
-- Records that stay and whose marks lead to others. Marks that a flipped bit has made unreadable lead nowhere.
SELECT key, CAST(marks AS BLOB) FROM records
WHERE marks <> '{}' AND key NOT IN (SELECT record FROM purging)
  AND CASE WHEN json_valid(marks) THEN coalesce(
    marks ->> '$.superseded_by', marks ->> '$.contradicts', marks ->> '$.merged', marks ->> '$.plan_state',
    marks ->> '$.guidance'
  ) END IS NOT NULL;

-- name: delete_setting
DELETE FROM settings WHERE name = ?;

-- name: advance_setting
-- Unless somebody else has changed it meanwhile.
UPDATE settings SET value = ? WHERE name = ? AND value = ?;

-- name: drop_setting
-- Unless somebody else has changed it meanwhile.
DELETE FROM settings WHERE name = ? AND value = ?;

-- name: doomed_places
SELECT members.record, collections.name, members.id
FROM purging JOIN members ON members.record = purging.record JOIN collections ON collections.key = members.key >> 32;

-- name: doomed_counts
SELECT count(*), coalesce(sum(r.raw), 0), coalesce(sum(r.provenance = 'summary'), 0),
       (SELECT count(*) FROM vectors WHERE record IN (SELECT record FROM purging))
FROM purging JOIN records AS r ON r.key = purging.record;

-- name: doomed_artifacts
SELECT DISTINCT CASE WHEN json_valid(metadata) THEN json_extract(metadata, '$.artifact') END AS artifact FROM records
WHERE key IN (SELECT record FROM purging) AND artifact IS NOT NULL;

-- name: kept_artifacts
SELECT DISTINCT CASE WHEN json_valid(metadata) THEN json_extract(metadata, '$.artifact') END AS artifact FROM records
WHERE key NOT IN (SELECT record FROM purging) AND artifact IS NOT NULL;

-- name: speakers_of_session
-- The collections of users' turns that show a turn of a raw history.
SELECT DISTINCT collections.name FROM members AS own
JOIN members AS other ON other.record = own.record JOIN collections ON collections.key = other.key >> 32
WHERE own.key BETWEEN ? AND ?
  AND (collections.name GLOB 'turns:*' OR collections.name GLOB 'replies:*' OR collections.name GLOB '_owned:*');

-- name: undoomed_member
SELECT 1 FROM members WHERE key BETWEEN ? AND ? AND record NOT IN (SELECT record FROM purging) LIMIT 1;

-- name: records_of_collection
SELECT members.id, members.record, CAST(records.metadata AS BLOB)
FROM members JOIN records ON records.key = members.record WHERE members.key BETWEEN ? AND ?;

-- name: collections_of_doomed
SELECT DISTINCT members.key >> 32 FROM purging JOIN members ON members.record = purging.record;

-- name: delete_doomed_members
DELETE FROM members WHERE record IN (SELECT record FROM purging);

-- name: delete_doomed_vectors
DELETE FROM vectors WHERE record IN (SELECT record FROM purging);

-- name: delete_doomed_uses
DELETE FROM uses WHERE record IN (SELECT record FROM purging);

-- name: delete_doomed_tasks
DELETE FROM queue WHERE record IN (SELECT record FROM purging);

-- name: delete_doomed_records
DELETE FROM records WHERE key IN (SELECT record FROM purging);

-- name: forget_doomed
DELETE FROM purging;

-- name: delete_collection
DELETE FROM collections WHERE key = ?;

-- name: delete_hints
-- Notes about the sessions of a JSON array, up to one.
DELETE FROM journal WHERE session_id IN (SELECT value FROM json_each(?)) AND seq <= ?;

-- name: delete_unnamed_hints
-- Notes that name no session.
DELETE FROM journal WHERE session_id IS NULL AND seq <= ?;

-- name: delete_stray_hints
-- Notes about sessions without a history.
DELETE FROM journal
WHERE NOT EXISTS (SELECT 1 FROM collections WHERE name = 'session_raw:' || journal.session_id) AND seq <= ?;

-- name: all_traces
SELECT seq, id, user_id, session_id, CAST(body AS BLOB) FROM traces;

-- name: add_purge
INSERT INTO purges (id, ts_ms, kind, digest, target, counts) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING;

-- name: purges
SELECT id, ts_ms, kind, digest, target, counts FROM purges ORDER BY ts_ms, id;

-- name: purge_counts
SELECT counts FROM purges WHERE id = ?;

-- name: ordered_purges
SELECT value FROM settings WHERE name GLOB 'purge:*' ORDER BY name;

-- name: finish_purge
UPDATE purges SET target = NULL, counts = ? WHERE id = ?;

-- name: record_trust
SELECT trust FROM records WHERE key = ?;

-- name: find_entity
SELECT key FROM entities WHERE name = ? AND kind = ? AND owner = ?;

-- name: add_entity
INSERT INTO entities (name, kind, owner) VALUES (?, ?, ?) RETURNING key;

-- name: add_sighting
INSERT INTO sightings (record, entity, standing, title) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING;

-- name: add_edge
INSERT INTO edges (record, source, target, kind, weight, standing) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING;

-- name: delete_sightings_of_record
DELETE FROM sightings WHERE record = ?;

-- name: delete_edges_of_record
DELETE FROM edges WHERE record = ?;

-- name: delete_edges
DELETE FROM edges;

-- name: delete_sightings
DELETE FROM sightings;

-- name: delete_entities
DELETE FROM entities;

-- name: queue_links
INSERT INTO queue (record, task)
SELECT key, 'link' FROM records
WHERE NOT EXISTS (SELECT 1 FROM queue WHERE queue.record = records.key AND queue.task = 'link') ORDER BY key;

-- name: entities_of_record
SELECT e.key, e.kind, e.name, e.owner, sightings.title
FROM sightings JOIN entities AS e ON e.key = sightings.entity WHERE sightings.record = ?;

-- name: edges_of_record
SELECT source, target, kind, weight FROM edges WHERE record = ?;

-- name: entities_named
-- Names and owners are in JSON arrays.
SELECT key, kind, name, owner FROM entities
WHERE name IN (SELECT value FROM json_each(?1)) AND owner IN (SELECT value FROM json_each(?2))
  AND EXISTS (SELECT 1 FROM sightings WHERE entity = entities.key AND standing <= ?3)
ORDER BY key;

-- name: entities_by_keys
SELECT key, kind, name, owner FROM entities WHERE key IN (SELECT value FROM json_each(?)) ORDER BY key;

-- name: entities_after
-- Owners and kinds are in JSON arrays.
SELECT key, kind, name, owner FROM entities
WHERE key > ?1 AND owner IN (SELECT value FROM json_each(?2)) AND kind IN (SELECT value FROM json_each(?3))
  AND EXISTS (SELECT 1 FROM sightings WHERE entity = entities.key AND standing <= ?4)
ORDER BY key LIMIT ?5;

-- name: entities_seen
SELECT e.key, e.kind, e.name, e.owner
FROM members JOIN sightings ON sightings.record = members.record JOIN entities AS e ON e.key = sightings.entity
WHERE members.key >> 32 = ?1 AND members.id = ?2 AND sightings.standing <= ?3
  AND e.owner IN (SELECT value FROM json_each(?4))
ORDER BY e.key;

-- name: title_of_entity
SELECT title FROM sightings WHERE entity = ? AND standing <= ? ORDER BY standing, record LIMIT 1;

-- name: records_naming
SELECT record FROM sightings WHERE entity = ? AND standing <= ? ORDER BY standing, record DESC LIMIT ?;

-- name: count_namings
SELECT count(*) FROM (SELECT 1 FROM sightings WHERE entity = ? AND standing <= ? LIMIT ?);

-- name: edges_out
SELECT source, target, kind, weight, record FROM edges
WHERE source = ? AND standing = ? ORDER BY weight DESC, record DESC, target, kind LIMIT ?;

-- name: edges_in
SELECT source, target, kind, weight, record FROM edges
WHERE target = ? AND standing = ? ORDER BY weight DESC, record DESC, source, kind LIMIT ?;

-- name: graph_counts
SELECT (SELECT count(*) FROM entities), (SELECT count(*) FROM edges),
       (SELECT count(*) FROM queue WHERE task = 'link');

-- name: graph_counts_of
-- Owners are in a JSON array.
SELECT count(*), coalesce(sum((SELECT count(*) FROM edges WHERE source = entities.key)), 0),
       (SELECT count(*) FROM queue WHERE task = 'link')
FROM entities WHERE owner IN (SELECT value FROM json_each(?));

-- name: check_graph
-- Edges whose record does not name both of their ends.
SELECT DISTINCT record FROM edges
WHERE NOT EXISTS (SELECT 1 FROM sightings AS s WHERE s.record = edges.record AND s.entity = edges.source)
   OR NOT EXISTS (SELECT 1 FROM sightings AS s WHERE s.record = edges.record AND s.entity = edges.target) LIMIT 20;

-- name: check_unnamed_entities
SELECT key FROM entities WHERE NOT EXISTS (SELECT 1 FROM sightings WHERE entity = entities.key) LIMIT 20;
