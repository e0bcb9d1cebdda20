-- What assistants said to a user stands apart from what tools did, so that it can be searched.
-- A client may have had a collection of that name; it keeps what it holds under another one.
UPDATE collections SET name = 'kept-' || name WHERE name GLOB 'replies:*';

INSERT INTO collections (name, raw, next_seq)
SELECT 'replies:' || substr(name, length('_owned:') + 1), 0, next_seq FROM collections WHERE name GLOB '_owned:*';

UPDATE members
SET key = ((SELECT replies.key
            FROM collections AS owned
            JOIN collections AS replies ON replies.name = 'replies:' || substr(owned.name, length('_owned:') + 1)
            WHERE owned.key = members.key >> 32) << 32) | (key & 0xffffffff)
WHERE key >> 32 IN (SELECT key FROM collections WHERE name GLOB '_owned:*')
  AND record IN (SELECT key FROM records WHERE role = 'assistant');
