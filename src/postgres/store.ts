import { randomBytes } from 'node:crypto';
import { type Clock, systemClock } from '../clock.ts';
import type { DocumentStore } from '../store/documents.ts';
import type { NonceStore } from '../store/nonces/nonces.ts';
import { createRefusal } from '../store/nonces/nonces.ts';
import type {
  ReceiptCount,
  Store,
  StoreChange,
  StoredItem,
  StoredPage,
  StoredReceipt,
  StoreResult,
  TransferPart,
} from '../store/store.ts';
import { ChangeQueue } from './change-queue.ts';
import { type PostgresClient, readPoolSize } from './client.ts';
import { Database } from './database.ts';
import { DocumentTable } from './documents.ts';
import { Maintenance } from './maintenance.ts';
import { NonceTable, type PostgresNonces } from './nonces.ts';
import { Reads } from './reads.ts';
import { migrate, toOpeningError } from './schema/migrate.ts';
import { type SchemaName, schemaName } from './schema/names.ts';
import { exportFrom, importInto } from './transfer.ts';

/** The options of a store on PostgreSQL. */
export interface PostgresStoreOptions {
  /** The name of the schema, up to 63 bytes. Default: `countersign`. */
  readonly schema?: string | undefined;
  /** The clock of this host. It is compared with that of the database. Default: the system's. */
  readonly clock?: Clock | undefined;
  /** Returns random bytes, for ids that are never repeated. Default: those of `node:crypto`. */
  readonly random?: ((bytes: number) => Uint8Array) | undefined;
  /**
   * Called with one line when PostgreSQL cannot be reached and when it can again, and when its clock differs by more than a
   * second. Default: `process.emitWarning`.
   */
  readonly onWarning?: ((line: string) => void) | undefined;
  /** Whether `close` also calls `end` of the client, so that the process can end. Default: true. */
  readonly endClient?: boolean | undefined;
}

/**
 * A store on PostgreSQL, which several processes can use. Everything rejects with StoreError if PostgreSQL cannot be reached for
 * two seconds. If it was lost while a change was made, the change may have been made although `apply` rejects; it was
 * not acknowledged. Ids and paths of collections may have up to 2,000 bytes.
 */
export interface PostgresStore extends Required<Omit<Store, 'watch'>>, AsyncDisposable {
  read(collection: string, id: string): Promise<StoredItem | undefined>;
  list(collection: string, after: number, limit: number, bytes?: number): Promise<StoredPage>;
  receipt(key: string, now: number): Promise<StoredReceipt | undefined>;
  /** The nonces of all processes. */
  readonly nonces: Required<Omit<NonceStore, 'window'>>;
  /** Users, clients, consumers and keys, which all processes share. */
  readonly documents: DocumentStore;
}

/**
 * Opens a store on PostgreSQL 12 or newer. Creates its tables in the schema, or migrates them. A client that is not a pool
 * cannot connect again if it loses its connection.
 *
 * Rejects with StoreError `unreachable`, `newer`, `unsuitable` or `refused`, and with RangeError for an invalid schema name.
 *
 * @example
 * await using store = await openPostgresStore(new pg.Pool({ connectionString: process.env.DATABASE_URL }));
 */
export async function openPostgresStore(
  client: PostgresClient,
  options: PostgresStoreOptions = {},
): Promise<PostgresStore> {
  const { clock = systemClock, random = randomBytes, onWarning = emitWarning, endClient = true } = options;
  const schema = schemaName(options.schema ?? 'countersign');
  const database = new Database(client, onWarning);
  const newStoreId = Buffer.from(random(4)).toString('hex');
  try {
    const storeId = await database.open(() => migrate(database, schema, newStoreId));
    const nonces = new NonceTable({
      database,
      schema: schema.identifier,
      random,
      onUse: () => maintenance.consider(),
    });
    const maintenance: Maintenance = new Maintenance({
      database,
      schema: schema.identifier,
      clock,
      nonces,
      onWarning,
    });
    await maintenance.compareClocks();
    const listens = database.isPool && readPoolSize(client) > 1;
    const documents = new DocumentTable(database, schema, random, listens);
    const changes = new ChangeQueue({
      database,
      schema: schema.identifier,
      random,
      onStored: (nonce) => nonces.storedWithChange(nonce),
      onUncertain: (nonce) => nonces.perhapsStoredWithChange(nonce),
      findRefusal: async (until) => createRefusal(await nonces.findRefusal(until)),
    });
    const reads = new Reads(database, schema.identifier);
    const close = async (): Promise<void> => {
      await Promise.all([changes.close(), reads.settled(), nonces.settled(), documents.close()]);
      await maintenance.close();
      await database.close(endClient);
    };
    return new OpenStore({
      database,
      schema,
      clock,
      storeId,
      changes,
      reads,
      nonces,
      documents,
      maintenance,
      close,
    });
  } catch (error) {
    await database.close(endClient).catch(() => {});
    throw toOpeningError(error);
  }
}

function emitWarning(line: string): void {
  process.emitWarning(line, 'CountersignWarning');
}

/** The parts of an open store. */
interface Parts {
  readonly database: Database;
  readonly schema: SchemaName;
  readonly clock: Clock;
  readonly storeId: string;
  readonly changes: ChangeQueue;
  readonly reads: Reads;
  readonly nonces: NonceTable;
  readonly documents: DocumentTable;
  readonly maintenance: Maintenance;
  close(): Promise<void>;
}

class OpenStore implements PostgresStore {
  #storeId: string;
  readonly nonces: PostgresNonces;
  readonly documents: DocumentStore;
  readonly #parts: Parts;
  #closing: Promise<void> | undefined;

  constructor(parts: Parts) {
    this.#storeId = parts.storeId;
    this.nonces = parts.nonces;
    this.documents = parts.documents;
    this.#parts = parts;
  }

  get storeId(): string {
    return this.#storeId;
  }

  read(collection: string, id: string): Promise<StoredItem | undefined> {
    this.#parts.maintenance.consider();
    return this.#parts.reads.read(collection, id);
  }

  list(collection: string, after: number, limit: number, bytes?: number): Promise<StoredPage> {
    this.#parts.maintenance.consider();
    return this.#parts.reads.list(collection, after, limit, bytes);
  }

  apply(change: StoreChange): Promise<StoreResult> {
    this.#parts.maintenance.consider();
    return this.#parts.changes.apply(change);
  }

  receipt(key: string, now: number): Promise<StoredReceipt | undefined> {
    return this.#parts.reads.receipt(key, now);
  }

  receiptsOf(user: string, now: number): Promise<ReceiptCount> {
    return this.#parts.reads.receiptsOf(user, now);
  }

  exportState(): AsyncIterable<TransferPart> {
    return exportFrom(this.#parts.database, this.#parts.schema, this.#storeId, this.#parts.clock.now());
  }

  async importState(parts: AsyncIterable<TransferPart>, noncesUntil: number): Promise<boolean> {
    const store = await importInto(this.#parts.database, this.#parts.schema, parts, noncesUntil);
    this.#storeId = store?.storeId ?? this.#storeId;
    return store !== undefined;
  }

  close(): Promise<void> {
    this.#closing ??= this.#parts.close();
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
