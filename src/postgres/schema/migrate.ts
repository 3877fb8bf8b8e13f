import { StoreError } from '../../store/errors.ts';
import { numberIn, textIn } from '../client.ts';
import type { Database } from '../database.ts';
import { QueryError } from '../error.ts';
import { formatChangeFunctions } from './change-functions.ts';
import { formatDocumentFunctions } from './document-functions.ts';
import { dollarQuote, type SchemaName } from './names.ts';
import { formatNonceFunctions } from './nonce-functions.ts';
import { formatReadFunctions } from './read-functions.ts';
import { formatTables } from './tables.ts';

/** The migrations. The version of a schema is the number of those that were executed. */
const migrations: readonly ((schema: SchemaName) => string)[] = [firstVersion];
const knownVersion = migrations.length;

/** The key of the advisory lock under which schemas are migrated: "countersign" as a checksum (CRC-32). */
const migrationLock = 0x803e_bda7;

/** The maximum time (ms) of a migration, with the wait for those of other processes. */
const migrationTime = 60_000;

/** The encodings whose texts PostgreSQL returns as they were sent. */
const encodings = ['UTF8', 'SQL_ASCII'];

function firstVersion({ identifier, channel }: SchemaName): string {
  return [
    formatTables(identifier),
    formatReadFunctions(identifier),
    formatChangeFunctions(identifier),
    formatNonceFunctions(identifier),
    formatDocumentFunctions(identifier, channel),
  ].join(';\n');
}

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
    EXECUTE ${dollarQuote(migration(schema))};
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
