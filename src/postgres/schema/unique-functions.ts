import { dollarQuote } from './names.ts';
import { functionHead } from './tables.ts';

/**
 * Returns the statements that create the table of unique values and its functions, of schema version 2.
 *
 * - `collections.uniques`: the unique rules of the last change, as JSON: `[["sku"], ["name", "shop"]]`.
 * - `unique_keys`: the digests of the values that no two items of a collection may share, by rule. `copy` is 0, except in items that
 *   were stored when the rule was not declared.
 * - `list_keys` returns the keys of a value. It reads no U+0000, which a text cannot contain.
 * - `index_items` replaces the keys of a collection, when its rules have changed.
 * - `find_conflict` returns the first rule that a value would break, from 1, with the id of the other item.
 */
export function formatUniqueFunctions(schema: string): string {
  return [
    `ALTER TABLE ${schema}.collections ADD COLUMN uniques text`,
    `CREATE TABLE ${schema}.unique_keys (
  collection integer NOT NULL,
  rule integer NOT NULL,
  key bytea NOT NULL,
  copy bigint NOT NULL DEFAULT 0,
  sequence bigint NOT NULL,
  PRIMARY KEY (collection, rule, key, copy)
)`,
    `CREATE INDEX ON ${schema}.unique_keys (collection, sequence)`,
    `${functionHead(
      schema,
      'list_keys(uniques text, item_value text) RETURNS TABLE (rule integer, key bytea)',
      'STABLE ROWS 1',
    )}${dollarQuote(`
DECLARE
  fields json := replace(item_value, ${dollarQuote('\\u0000')}, ${dollarQuote('\\u0001')})::json;
BEGIN
  RETURN QUERY
    SELECT rules.ord::integer, sha256(convert_to(found.texts, getdatabaseencoding()::name))
    FROM json_array_elements(uniques::json) WITH ORDINALITY AS rules(names, ord)
    CROSS JOIN LATERAL (
      SELECT string_agg((fields->each.name)::text, ',' ORDER BY each.ord) AS texts,
        bool_and(fields->each.name IS NOT NULL) AS complete
      FROM json_array_elements_text(rules.names) WITH ORDINALITY AS each(name, ord)
    ) AS found
    WHERE found.complete;
END
`)}`,
    `${functionHead(schema, 'index_items(place integer, rules text) RETURNS void')}${dollarQuote(`
BEGIN
  DELETE FROM ${schema}.unique_keys WHERE collection = place;
  UPDATE ${schema}.collections SET uniques = rules WHERE number = place;
  IF rules IS NULL THEN RETURN; END IF;
  INSERT INTO ${schema}.unique_keys (collection, rule, key, copy, sequence)
    SELECT place, found.rule, found.key,
      row_number() OVER (PARTITION BY found.rule, found.key ORDER BY items.sequence) - 1, items.sequence
    FROM ${schema}.items CROSS JOIN LATERAL ${schema}.list_keys(rules, items.value) AS found
    WHERE items.collection = place;
END
`)}`,
    `${functionHead(
      schema,
      'find_conflict(place integer, rules text, item_value text, own text) RETURNS text',
      'STABLE',
    )}${dollarQuote(`
BEGIN
  RETURN (
    SELECT json_build_object('r', wanted.rule, 'd', items.id)::text
    FROM ${schema}.list_keys(rules, item_value) AS wanted
    JOIN ${schema}.unique_keys AS held
      ON held.collection = place AND held.rule = wanted.rule AND held.key = wanted.key
    JOIN ${schema}.items ON items.collection = place AND items.sequence = held.sequence
    WHERE items.id IS DISTINCT FROM own
    ORDER BY wanted.rule, held.copy LIMIT 1
  );
END
`)}`,
  ].join(';\n');
}
