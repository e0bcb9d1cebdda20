/** Maps that cannot grow without end. */
const KEYS_KNOWN = 256;

/** Keeps a value under its key, and the newest keys only. */
export function remember(map, key, value) {
  map.delete(key);
  map.set(key, value);
  if (map.size > KEYS_KNOWN) map.delete(map.keys().next().value);
  return value;
}
