import { dollarQuote } from './names.ts';
import { functionHead } from './tables.ts';

/**
 * Returns the statements that create the table of references and its functions, of schema version 3. The paths and ids in JSON are
 * escaped as those of items, so that they are compared as they are written.
 *
 * - `collections.refs`: the fields of the last change with references, and the collections to which they refer, as JSON:
 *   `[["product", "/products"]]`.
 * - `item_references`: the items that refer to an item, by the digest of its path and id.
 * - `list_references` returns the references of a value. It reads no U+0000, which an id cannot contain.
 * - `index_items` of the unique values has its counterpart in `index_references`, and `refresh_references` calls it for all referring
 *   collections: `[["^/orders$", "[[\"product\",\"/products\"]]"]]`.
 * - `find_missing` returns the first reference of a value to a missing item other than itself.
 * - `find_referrers` returns items that refer to an item.
 * - `may_apply` returns whether all changes of a batch can be made, and no other item refers to one that they delete.
 */
export function formatReferenceFunctions(schema: string): string {
  return [
    `ALTER TABLE ${schema}.collections ADD COLUMN refs text`,
    `CREATE TABLE ${schema}.item_references (
  key bytea NOT NULL,
  collection integer NOT NULL,
  sequence bigint NOT NULL,
  PRIMARY KEY (key, collection, sequence)
)`,
    `CREATE INDEX ON ${schema}.item_references (collection, sequence)`,
    `${functionHead(schema, 'reference_key(target text, id text) RETURNS bytea', 'IMMUTABLE')}${dollarQuote(`
BEGIN
  RETURN sha256(convert_to(target || '"' || id, getdatabaseencoding()::name));
END
`)}`,
    `${functionHead(
      schema,
      'list_references(refs text, item_value text) RETURNS TABLE (rule integer, target text, id text, key bytea)',
      'STABLE ROWS 1',
    )}${dollarQuote(`
DECLARE
  fields json := replace(item_value, ${dollarQuote('\\u0000')}, ${dollarQuote('\\u0001')})::json;
BEGIN
  RETURN QUERY
    SELECT each.ord::integer, each.rule->>1, sent.id, ${schema}.reference_key(each.rule->>1, sent.id)
    FROM json_array_elements(refs::json) WITH ORDINALITY AS each(rule, ord)
    CROSS JOIN LATERAL (
      SELECT substr(written.text, 2, length(written.text) - 2) AS id
      FROM (SELECT (fields->(each.rule->>0))::text AS text) AS written
      WHERE left(written.text, 1) = '"'
    ) AS sent;
END
`)}`,
    `${functionHead(schema, 'index_references(place integer, rules text) RETURNS void')}${dollarQuote(`
BEGIN
  DELETE FROM ${schema}.item_references WHERE collection = place;
  UPDATE ${schema}.collections SET refs = rules WHERE number = place;
  INSERT INTO ${schema}.item_references (key, collection, sequence)
    SELECT DISTINCT found.key, place, items.sequence
    FROM ${schema}.items CROSS JOIN LATERAL ${schema}.list_references(rules, items.value) AS found
    WHERE items.collection = place;
END
`)}`,
    `${functionHead(schema, 'refresh_references(froms text) RETURNS void')}${dollarQuote(`
DECLARE
  stale record;
BEGIN
  FOR stale IN
    SELECT collections.number, each.source->>1 AS rules
    FROM ${schema}.collections JOIN json_array_elements(froms::json) AS each(source) ON collections.path ~ (each.source->>0)
    WHERE collections.refs IS DISTINCT FROM (each.source->>1)
    ORDER BY collections.path FOR NO KEY UPDATE OF collections
  LOOP
    PERFORM ${schema}.index_references(stale.number, stale.rules);
  END LOOP;
END
`)}`,
    `${functionHead(
      schema,
      'find_missing(refs text, item_value text, own_path text, own text) RETURNS text',
      'STABLE',
    )}${dollarQuote(`
BEGIN
  RETURN (
    SELECT json_build_object('m', wanted.rule, 'd', wanted.id)::text
    FROM ${schema}.list_references(refs, item_value) AS wanted
    WHERE (wanted.target, wanted.id) IS DISTINCT FROM (own_path, own) AND NOT EXISTS (
      SELECT 1 FROM ${schema}.collections JOIN ${schema}.items ON items.collection = collections.number
      WHERE collections.path = wanted.target AND items.id = wanted.id
    )
    ORDER BY wanted.rule LIMIT 1
  );
END
`)}`,
    `${functionHead(
      schema,
      'find_referrers(froms text, target text, own text, most integer) RETURNS TABLE (path text, id text, sequence bigint, revision bigint, modified bigint, value text)',
      'VOLATILE ROWS 10',
    )}${dollarQuote(`
BEGIN
  PERFORM ${schema}.refresh_references(froms);
  RETURN QUERY
    SELECT collections.path, items.id, items.sequence, items.revision, items.modified, items.value
    FROM ${schema}.item_references AS held
    JOIN ${schema}.collections ON collections.number = held.collection
    JOIN ${schema}.items ON items.collection = held.collection AND items.sequence = held.sequence
    WHERE held.key = ${schema}.reference_key(target, own)
      AND EXISTS (SELECT 1 FROM json_array_elements(froms::json) AS each(source) WHERE collections.path ~ (each.source->>0))
    LIMIT most;
END
`)}`,
    `${functionHead(schema, 'may_apply(groups text, froms text) RETURNS boolean')}${dollarQuote(`
BEGIN
  PERFORM ${schema}.refresh_references(froms);
  RETURN NOT EXISTS (
    WITH changes AS (
      SELECT part->>'p' AS path, change->>'d' AS id, (change->>'e')::bigint AS expected, change->>'k' = '2' AS deletes,
        change->'r' AS receipt, (change->>'a')::bigint AS at
      FROM json_array_elements(groups::json) AS parts(part) CROSS JOIN json_array_elements(part->'c') AS each(change)
    ), found AS (
      SELECT changes.*, items.collection, items.sequence, items.revision FROM changes
      LEFT JOIN ${schema}.collections ON collections.path = changes.path
      LEFT JOIN ${schema}.items ON items.collection = collections.number AND items.id = changes.id
    )
    SELECT 1 FROM found WHERE found.revision IS DISTINCT FROM found.expected
      OR EXISTS (
        SELECT 1 FROM ${schema}.receipts
        WHERE receipts.key = decode(found.receipt->>'k', 'base64') AND receipts.until > found.at
      )
      OR found.deletes AND EXISTS (
        SELECT 1 FROM ${schema}.item_references AS held
        JOIN ${schema}.collections ON collections.number = held.collection
        JOIN json_array_elements(froms::json) AS each(source) ON collections.path ~ (each.source->>0)
        WHERE held.key = ${schema}.reference_key(found.path, found.id)
          AND (held.collection, held.sequence) NOT IN (SELECT other.collection, other.sequence FROM found AS other)
      )
  );
END
`)}`,
  ].join(';\n');
}
