import { dollarQuote } from './names.ts';
import { functionHead } from './tables.ts';

/**
 * Returns the statements that create the functions that read. Functions are used because their plans are cached.
 *
 * - `read_items` returns the items of pairs of a path and an id, with their positions from 1.
 * - `list_items` returns the state of the collection, with the number of items found, then the items of the page. If there
 *   is one item more than the limit, more follow.
 */
export function formatReadFunctions(schema: string): string {
  return [
    `${functionHead(schema, 'now_ms() RETURNS bigint')}${dollarQuote(`
BEGIN
  RETURN (extract(epoch FROM clock_timestamp()) * 1000)::bigint;
END
`)}`,
    `${functionHead(
      schema,
      'read_items(keys text) RETURNS TABLE (ord bigint, sequence bigint, revision bigint, modified bigint, value text)',
      'STABLE ROWS 1',
    )}${dollarQuote(`
BEGIN
  RETURN QUERY
    SELECT each.ord, found.sequence, found.revision, found.modified, found.value
    FROM json_array_elements(keys::json) WITH ORDINALITY AS each(key, ord)
    CROSS JOIN LATERAL (
      SELECT collections.number FROM ${schema}.collections WHERE collections.path = each.key->>0 LIMIT 1
    ) AS collection
    CROSS JOIN LATERAL (
      SELECT items.sequence, items.revision, items.modified, items.value FROM ${schema}.items
      WHERE items.collection = collection.number AND items.id = each.key->>1 LIMIT 1
    ) AS found;
END
`)}`,
    `${functionHead(
      schema,
      'list_items(wanted text, after bigint, most bigint, bytes bigint) RETURNS TABLE (id text, sequence bigint, revision bigint, modified bigint, value text)',
      'STABLE ROWS 50',
    )}${dollarQuote(`
DECLARE
  collection ${schema}.collections;
BEGIN
  SELECT * INTO collection FROM ${schema}.collections WHERE collections.path = wanted;
  IF NOT FOUND THEN RETURN; END IF;
  RETURN QUERY
    WITH found AS MATERIALIZED (
      SELECT each.*, row_number() OVER page AS place,
        sum(octet_length(each.value)) OVER page - octet_length(each.value) AS before
      FROM (
        SELECT items.id, items.sequence, items.revision, items.modified, items.value FROM ${schema}.items
        WHERE items.collection = collection.number AND items.sequence > after
        ORDER BY items.sequence LIMIT most + 1
      ) AS each
      WINDOW page AS (ORDER BY each.sequence ROWS UNBOUNDED PRECEDING)
    )
    SELECT NULL::text, (SELECT count(*) FROM found), collection.revision, collection.modified, NULL::text
    UNION ALL (
      SELECT found.id, found.sequence, found.revision, found.modified, found.value FROM found
      WHERE found.place <= most AND found.before < bytes ORDER BY found.sequence
    );
END
`)}`,
  ].join(';\n');
}
