// One call of a function is one transaction. It locks the rows of the collections until it is committed, so sequences become
// visible in order and a list never skips an item. All locks are taken in one order: batch, collections by path.
import { dollarQuote } from './names.ts';
import { functionHead } from './tables.ts';

/**
 * Returns the statements that create the functions of changes.
 *
 * - `ensure_durable` waits for the disk at the end of the transaction, whatever the default is: otherwise, a crash of the
 *   server could undo changes that were read, and their revisions would be used again.
 * - `reserve` adds an id above the counter that a client chose. `next_free` returns the lowest free id from a number on.
 * - `apply_changes` makes the changes of a batch, or returns the result of an earlier call with the same batch. It waits for
 *   locks in a fixed order: the batch, the collections by path. So batches never wait for each other in a circle.
 */
export function formatChangeFunctions(schema: string): string {
  return [
    `${functionHead(schema, 'ensure_durable() RETURNS void')}${dollarQuote(`
BEGIN
  IF current_setting('synchronous_commit') = 'off' THEN
    PERFORM set_config('synchronous_commit', 'local', true);
  END IF;
END
`)}`,
    `${functionHead(schema, 'reserve(place integer, id bigint) RETURNS void')}${dollarQuote(`
DECLARE
  below ${schema}.chosen;
  above ${schema}.chosen;
BEGIN
  SELECT * INTO below FROM ${schema}.chosen WHERE collection = place AND first <= id ORDER BY first DESC LIMIT 1;
  IF below.last >= id THEN RETURN; END IF;
  DELETE FROM ${schema}.chosen WHERE collection = place AND first = id + 1 RETURNING * INTO above;
  IF below.last = id - 1 THEN
    UPDATE ${schema}.chosen SET last = coalesce(above.last, id) WHERE collection = place AND first = below.first;
  ELSE
    INSERT INTO ${schema}.chosen (collection, first, last) VALUES (place, id, coalesce(above.last, id));
  END IF;
END
`)}`,
    `${functionHead(schema, 'next_free(place integer, id bigint) RETURNS bigint')}${dollarQuote(`
DECLARE
  range ${schema}.chosen;
BEGIN
  SELECT * INTO range FROM ${schema}.chosen WHERE collection = place AND first <= id ORDER BY first DESC LIMIT 1;
  DELETE FROM ${schema}.chosen WHERE collection = place AND first <= id;
  RETURN greatest(id, range.last + 1);
END
`)}`,
    applyChanges(schema),
  ].join(';\n');
}

/**
 * `groups` are the changes by collection, in ascending order of the paths: `[{"p": path, "n": whether a change may create
 * the collection, "u": its unique rules, "f": its fields that refer, "b": the collections that may refer to a deleted item, if it has
 * any, "c": changes}]`. A group without changes is of a collection to which items of others refer. A change has a position `i` from 1, a kind `k`
 * (0: create, 1: put, 2: delete), an id `d`, an expected revision `e` (-1: absent, -2: present), a time `a`, a value `v`, the number of its id `m`, and a
 * receipt `r`.
 *
 * `wait` is the maximum time (ms) to wait for a lock: the caller does not wait longer, and the changes must not be made
 * after it has reported a failure.
 *
 * Returns the results in order: `[sequence, revision, modified]`, for a creation with the id, for a deletion with the value;
 * null for a change that does not apply; `{"r": rule, "d": id}` if another item has its unique values; `{"m": rule, "d": id}` if an
 * item to which it would refer is missing.
 */
function applyChanges(schema: string): string {
  return `${functionHead(
    schema,
    'apply_changes(batch text, batch_lock bigint, groups text, wait integer) RETURNS text',
  )}${dollarQuote(`
DECLARE
  results text[] := '{}';
  found_result text;
  part record;
  change record;
  place ${schema}.collections;
  item ${schema}.items;
  rules text;
  refs text;
  froms text;
  conflict text;
  done boolean;
BEGIN
  PERFORM set_config('lock_timeout', wait::text, true);
  PERFORM ${schema}.ensure_durable();
  PERFORM pg_advisory_xact_lock(batch_lock);
  SELECT result INTO found_result FROM ${schema}.batches WHERE id = batch;
  IF FOUND THEN RETURN found_result; END IF;
  FOR part IN SELECT * FROM json_to_recordset(groups::json) AS each(p text, n boolean, b text) LOOP
    froms := coalesce(part.b, froms);
    PERFORM 1 FROM ${schema}.collections WHERE path = part.p FOR NO KEY UPDATE;
    CONTINUE WHEN FOUND OR NOT part.n;
    INSERT INTO ${schema}.collections (path) VALUES (part.p) ON CONFLICT (path) DO NOTHING;
    PERFORM 1 FROM ${schema}.collections WHERE path = part.p FOR NO KEY UPDATE;
  END LOOP;
  IF froms IS NOT NULL AND NOT ${schema}.may_apply(groups, froms) THEN
    results := array_fill('null'::text, ARRAY[(SELECT sum(json_array_length(value->'c'))::integer FROM json_array_elements(groups::json))]);
    groups := '[]';
  END IF;
  FOR part IN SELECT * FROM json_to_recordset(groups::json) AS each(p text, u text, f text, c json) WHERE each.c IS NOT NULL LOOP
    SELECT * INTO place FROM ${schema}.collections WHERE path = part.p;
    rules := part.u;
    IF place.uniques IS DISTINCT FROM rules AND place.number IS NOT NULL THEN
      PERFORM ${schema}.index_items(place.number, rules);
    END IF;
    refs := part.f;
    IF refs IS NOT NULL AND place.refs IS DISTINCT FROM refs AND place.number IS NOT NULL THEN
      PERFORM ${schema}.index_references(place.number, refs);
      place.refs := refs;
    END IF;
    FOR change IN
      SELECT * FROM json_to_recordset(part.c) AS each(i integer, k integer, d text, e bigint, a bigint, v text, m bigint, r json)
    LOOP
      done := false;
      conflict := NULL;
      IF rules IS NOT NULL AND change.k < 2 THEN
        conflict := ${schema}.find_conflict(place.number, rules, change.v, change.d);
      END IF;
      IF refs IS NOT NULL AND change.k < 2 AND conflict IS NULL THEN
        conflict := ${schema}.find_missing(refs, change.v, place.path, change.d);
      END IF;
      IF change.r IS NOT NULL AND EXISTS (
        SELECT 1 FROM ${schema}.receipts WHERE key = decode(change.r->>'k', 'base64') AND until > change.a
      ) THEN
        conflict := NULL;
      ELSIF conflict IS NOT NULL THEN
        NULL;
      ELSIF change.k = 0 THEN
        place.counter := place.counter + 1;
        IF place.counter >= place.reserved THEN
          place.counter := ${schema}.next_free(place.number, place.counter);
          SELECT min(first) INTO place.reserved FROM ${schema}.chosen WHERE collection = place.number;
        END IF;
        place.sequence := place.sequence + 1;
        INSERT INTO ${schema}.items (collection, sequence, id, revision, modified, value)
          VALUES (place.number, place.sequence, place.counter::text, nextval(${dollarQuote(`${schema}.revisions`)}), change.a, change.v)
          RETURNING * INTO item;
        done := true;
      ELSIF change.k = 1 AND change.e = -1 THEN
        INSERT INTO ${schema}.items (collection, sequence, id, revision, modified, value)
          SELECT place.number, place.sequence + 1, change.d, nextval(${dollarQuote(`${schema}.revisions`)}), change.a, change.v
          WHERE NOT EXISTS (SELECT 1 FROM ${schema}.items WHERE collection = place.number AND id = change.d)
          RETURNING * INTO item;
        done := FOUND;
        IF done THEN
          place.sequence := item.sequence;
          IF change.m > place.counter THEN
            PERFORM ${schema}.reserve(place.number, change.m);
            place.reserved := least(place.reserved, change.m);
          END IF;
        END IF;
      ELSIF change.k = 1 THEN
        UPDATE ${schema}.items
          SET revision = nextval(${dollarQuote(`${schema}.revisions`)}), modified = greatest(modified, change.a), value = change.v
          WHERE collection = place.number AND id = change.d AND (change.e = -2 OR revision = change.e)
          RETURNING * INTO item;
        done := FOUND;
      ELSE
        DELETE FROM ${schema}.items WHERE collection = place.number AND id = change.d AND revision = change.e
          RETURNING * INTO item;
        done := FOUND;
      END IF;
      IF NOT done THEN
        results[change.i] := coalesce(conflict, 'null');
        CONTINUE;
      END IF;
      IF rules IS NOT NULL THEN
        DELETE FROM ${schema}.unique_keys WHERE collection = place.number AND sequence = item.sequence;
        INSERT INTO ${schema}.unique_keys (collection, rule, key, sequence)
          SELECT place.number, found.rule, found.key, item.sequence
          FROM ${schema}.list_keys(rules, item.value) AS found WHERE change.k < 2;
      END IF;
      IF place.refs IS NOT NULL THEN
        DELETE FROM ${schema}.item_references WHERE collection = place.number AND sequence = item.sequence;
        INSERT INTO ${schema}.item_references (key, collection, sequence)
          SELECT DISTINCT found.key, place.number, item.sequence
          FROM ${schema}.list_references(place.refs, item.value) AS found WHERE change.k < 2;
      END IF;
      place.revision := CASE change.k WHEN 2 THEN nextval(${dollarQuote(`${schema}.revisions`)}) ELSE item.revision END;
      place.modified := greatest(place.modified, change.a);
      results[change.i] := '[' || item.sequence || ',' || item.revision || ',' || item.modified ||
        CASE change.k WHEN 0 THEN ',' || item.id WHEN 2 THEN ',' || to_json(item.value)::text ELSE '' END || ']';
      IF change.r IS NOT NULL THEN
        INSERT INTO ${schema}.receipts AS former
          (key, name, owner, until, fingerprint, kind, created, collection, id, sequence, revision, modified, value)
          VALUES (decode(change.r->>'k', 'base64'), change.r->>'n', change.r->>'o', (change.r->>'u')::bigint,
            change.r->>'f', change.k, change.k = 0 OR change.e = -1, part.p, item.id, item.sequence, item.revision,
            item.modified, item.value)
          ON CONFLICT (key) DO UPDATE SET name = excluded.name, owner = excluded.owner, until = excluded.until,
            fingerprint = excluded.fingerprint, kind = excluded.kind, created = excluded.created,
            collection = excluded.collection, id = excluded.id, sequence = excluded.sequence,
            revision = excluded.revision, modified = excluded.modified, value = excluded.value
          WHERE former.until <= change.a;
        IF NOT FOUND THEN
          RAISE EXCEPTION 'another change has the same receipt' USING ERRCODE = 'serialization_failure';
        END IF;
      END IF;
    END LOOP;
    UPDATE ${schema}.collections SET counter = place.counter, sequence = place.sequence, revision = place.revision,
      modified = place.modified, reserved = place.reserved
      WHERE number = place.number AND place.revision > revision;
  END LOOP;
  found_result := '[' || array_to_string(results, ',') || ']';
  INSERT INTO ${schema}.batches (id, made, result) VALUES (batch, clock_timestamp(), found_result);
  RETURN found_result;
END
`)}`;
}
