import { StoreError } from '../../store/errors.ts';
import { numberIn, textIn } from '../client.ts';
import type { Database } from '../database.ts';
import { QueryError } from '../error.ts';
import { formatChangeFunctions } from './change-functions.ts';
import { dollarQuote, type SchemaName } from './names.ts';
import { formatNonceFunctions } from './nonce-functions.ts';
import { formatReferenceFunctions } from './reference-functions.ts';
import { formatTables, functionHead, lockKeys } from './tables.ts';
import { formatUniqueFunctions } from './unique-functions.ts';

/** The migrations. The version of a schema is the number of those that were executed. */
const migrations: readonly ((schema: string) => string)[] = [
  (schema) =>
    [
      formatTables(schema),
      formatReadFunctions(schema),
      formatNonceFunctions(schema),
      formatDocumentFunctions(schema),
    ].join(';\n'),
  formatUniqueFunctions,
  (schema) => [formatReferenceFunctions(schema), formatChangeFunctions(schema)].join(';\n'),
];
const knownVersion = migrations.length;

/** The key of the advisory lock under which schemas are migrated: "countersign" as a checksum (CRC-32). */
const migrationLock = 0x803e_bda7;

/** The maximum time (ms) of a migration, with the wait for those of other processes. */
const migrationTime = 60_000;

/** The encodings whose texts PostgreSQL returns as they were sent. */
const encodings = ['UTF8', 'SQL_ASCII'];

/**
 * Creates the schema or migrates it to the known version, in one transaction, one process at a time. Returns the id of
 * the store. Throws StoreError; rejects with QueryError if the server cannot be reached.
 * @param newStoreId the id of the store if the schema is new
 */
export async function migrate(database: Database, schema: SchemaName, newStoreId: string): Promise<string> {
  await checkSettings(database);
  await database.queryOnce(formatMigration(schema, newStoreId), [], migrationTime);
  const [meta] = await database.queryOnce(`SELECT version, store_id FROM ${schema.identifier}.meta`, []);
  const version = numberIn(meta, 'version');
  if (version > knownVersion) {
    throw new StoreError(
      'newer',
      `the schema ${schema.identifier} has version ${version}, which a newer version of countersign created; this one supports version ${knownVersion}`,
    );
  }
  return textIn(meta, 'store_id');
}

/** Returns one statement for the whole migration, because a client may use another connection for the next one. */
function formatMigration(schema: SchemaName, storeId: string): string {
  const { identifier, name } = schema;
  const steps = migrations.map(
    (migration, index) => `
  IF found_version <= ${index} THEN
    EXECUTE ${dollarQuote(migration(identifier))};
  END IF;`,
  );
  return `DO ${dollarQuote(`
DECLARE
  found_version integer := 0;
BEGIN
  PERFORM pg_advisory_xact_lock(${migrationLock});
  IF to_regclass(${dollarQuote(`${identifier}.meta`)}) IS NOT NULL THEN
    SELECT version INTO STRICT found_version FROM ${identifier}.meta;
  ELSIF NOT EXISTS (SELECT 1 FROM pg_namespace WHERE nspname = ${dollarQuote(name)}) THEN
    CREATE SCHEMA ${identifier};
  END IF;
  IF found_version >= ${knownVersion} THEN RETURN; END IF;
  ${steps.join('')}
  IF found_version = 0 THEN
    INSERT INTO ${identifier}.meta (version, store_id) VALUES (${knownVersion}, ${dollarQuote(storeId)});
  ELSE
    UPDATE ${identifier}.meta SET version = ${knownVersion};
  END IF;
END
`)}`;
}

/** Throws StoreError if the database cannot hold all texts, or if its transactions see no changes of others. */
async function checkSettings(database: Database): Promise<void> {
  const [row] = await database.queryOnce(
    `SELECT current_setting('server_encoding') AS encoding, current_setting('transaction_isolation') AS isolation`,
    [],
  );
  const encoding = textIn(row, 'encoding');
  if (!encodings.includes(encoding)) {
    throw new StoreError('unsuitable', `the encoding of the database is ${encoding}, not UTF8`);
  }
  const isolation = textIn(row, 'isolation');
  if (isolation !== 'read committed') {
    throw new StoreError(
      'unsuitable',
      `the default transaction isolation is "${isolation}", not "read committed"`,
    );
  }
}

/** Returns the error that the opening of a store rejects with. */
export function toOpeningError(error: unknown): unknown {
  if (!(error instanceof QueryError)) return error;
  return new StoreError(error.kind === 'transient' ? 'unreachable' : 'refused', error.message);
}

/**
 * Returns the statement that creates `replace_document`, which replaces a document if it has the expected version (null:
 * if there is none). Returns whether the document has the new version, so a
 * repeated call returns the same. The lock makes concurrent creations of a document wait for each other.
 */
function formatDocumentFunctions(schema: string): string {
  return `${functionHead(
    schema,
    'replace_document(wanted text, content_base64 text, expected text, next text, wait integer) RETURNS boolean',
  )}${dollarQuote(`
BEGIN
  PERFORM set_config('lock_timeout', wait::text, true);
  PERFORM ${schema}.ensure_durable();
  PERFORM pg_advisory_xact_lock(${lockKeys(schema, 3)});
  IF EXISTS (SELECT 1 FROM ${schema}.documents WHERE name = wanted AND version = next) THEN RETURN true; END IF;
  IF expected IS NULL THEN
    INSERT INTO ${schema}.documents (name, version, content) VALUES (wanted, next, decode(content_base64, 'base64'))
      ON CONFLICT DO NOTHING;
  ELSE
    UPDATE ${schema}.documents SET version = next, content = decode(content_base64, 'base64')
      WHERE name = wanted AND version = expected;
  END IF;
  RETURN FOUND;
END
`)}`;
}

/**
 * Returns the statements that create the functions that read. Functions are used because their plans are cached.
 *
 * - `read_items` returns the items of pairs of a path and an id, with their positions from 1.
 * - `list_items` returns the state of the collection, with the number of items found, then the items of the page. If there
 *   is one item more than the limit, more follow.
 */
function formatReadFunctions(schema: string): string {
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
