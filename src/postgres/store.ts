import { randomBytes } from 'node:crypto';
import { type Clock, systemClock } from '../clock.ts';
import { membersOf, read } from '../shape/shape.ts';
import type { DocumentStore } from '../store/documents.ts';
import { emitWarning } from '../store/errors.ts';
import type { NonceStore } from '../store/nonces/nonces.ts';
import type { Store, StoredItem, StoredPage, StoredReceipt } from '../store/store.ts';
import { createStoreId } from '../store/store-id.ts';
import { ChangeQueue } from './change-queue.ts';
import { numberIn, type PostgresClient } from './client.ts';
import { Database, type PostgresParts } from './database.ts';
import { DocumentTable } from './documents.ts';
import { NonceTable } from './nonces.ts';
import { Reads } from './reads.ts';
import { migrate, toOpeningError } from './schema/migrate.ts';
import { schemaName } from './schema/names.ts';
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

/** The names of the options. The type checks that the list is complete. */
const optionNames: Readonly<Record<keyof PostgresStoreOptions, true>> = {
  schema: true,
  clock: true,
  random: true,
  onWarning: true,
  endClient: true,
};

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
  readonly nonces: Required<Omit<NonceStore, 'window' | 'limits'>>;
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
  read(membersOf(Object.keys(optionNames)), options, { optionsOf: 'a store on PostgreSQL' });
  const { clock = systemClock, random = randomBytes, onWarning = emitWarning, endClient = true } = options;
  const schema = schemaName(options.schema ?? 'countersign');
  const database = new Database(client, onWarning);
  const newStoreId = createStoreId(random);
  try {
    let storeId = await database.open(() => migrate(database, schema, newStoreId));
    const parts = { database, schema: schema.identifier, random };
    const nonces = new NonceTable(parts, () => maintenance.consider());
    const maintenance: Maintenance = new Maintenance({ ...parts, clock, nonces, onWarning });
    await maintenance.compareClocks();
    const documents = new DocumentTable(database, schema, random);
    const changes = new ChangeQueue(parts);
    const reads = new Reads(database, schema.identifier);
    let closing: Promise<void> | undefined;
    const closeAll = async (): Promise<void> => {
      await Promise.all([changes.close(), reads.settled(), nonces.settled(), documents.close()]);
      await maintenance.close();
      await database.close(endClient);
    };
    const close = (): Promise<void> => {
      closing ??= closeAll();
      return closing;
    };
    return {
      checksUnique: true,
      get storeId() {
        return storeId;
      },
      nonces,
      documents,
      read(collection, id) {
        maintenance.consider();
        return reads.read(collection, id);
      },
      list(collection, after, limit, bytes) {
        maintenance.consider();
        return reads.list(collection, after, limit, bytes);
      },
      referrers: (...target) => reads.referrers(...target),
      apply(change) {
        maintenance.consider();
        return changes.apply(change);
      },
      receipt: (key, now) => reads.receipt(key, now),
      receiptsOf: (user, now) => reads.receiptsOf(user, now),
      exportState: () => exportFrom(database, schema, storeId, clock.now()),
      async importState(parts, noncesUntil) {
        const imported = await importInto(database, schema, parts, noncesUntil);
        storeId = imported?.storeId ?? storeId;
        return imported !== undefined;
      },
      close,
      [Symbol.asyncDispose]: close,
    };
  } catch (error) {
    await database.close(endClient).catch(() => {});
    throw toOpeningError(error);
  }
}

/** The time (ms) between two deletions of expired rows, and the maximum number of rows of each kind per statement. */
const [sweepInterval, mostRows] = [10_000, 1000];
/** The time (ms) between two reports of a wrong clock. */
const reportInterval = 60_000;
/** The difference (ms) from the clock of the database that is not reported. */
const tolerance = 1000;

/** The options of the maintenance of a store. */
interface MaintenanceOptions extends PostgresParts {
  readonly clock: Clock;
  readonly nonces: NonceTable;
  readonly onWarning: (line: string) => void;
}

/** Deletes expired rows and compares the clocks, while requests use the store. So no timer is needed. */
class Maintenance {
  readonly #options: MaintenanceOptions;
  #next = Number.NEGATIVE_INFINITY;
  #nextReport = Number.NEGATIVE_INFINITY;
  #running: Promise<void> | undefined;
  #closed = false;

  constructor(options: MaintenanceOptions) {
    this.#options = options;
  }

  /** Starts the maintenance if it is due. Called with each use of the store. */
  consider(): void {
    const now = this.#options.clock.steady();
    if (now < this.#next || this.#running !== undefined || this.#closed) return;
    this.#next = now + sweepInterval;
    this.#running = this.#run()
      .catch(() => {}) // the next one tries again, and the requests report what is wrong
      .finally(() => {
        this.#running = undefined;
      });
  }

  /** Compares the clock with that of the database. Reports a difference above one second, at most once a minute. */
  async compareClocks(): Promise<void> {
    const { database, schema, clock, onWarning } = this.#options;
    const before = clock.now();
    const [row] = await database.queryOnce(
      `SELECT ${schema}.now_ms() AS now, reltuples AS nonces FROM pg_class WHERE oid = $1::regclass`,
      [`${schema}.nonces`],
    );
    const after = clock.now();
    const now = numberIn(row, 'now');
    this.#options.nonces.size = Math.max(0, numberIn(row, 'nonces'));
    // The database read its clock in between.
    const ahead = before > now ? before - now : Math.min(0, after - now);
    if (Math.abs(ahead) <= tolerance || clock.steady() < this.#nextReport) return;
    this.#nextReport = clock.steady() + reportInterval;
    const seconds = (Math.abs(ahead) / 1000).toFixed(1);
    onWarning(
      `the clock of this host is ${seconds} s ${ahead > 0 ? 'ahead of' : 'behind'} that of PostgreSQL; dates of requests are compared with the clock of this host`,
    );
  }

  /** Waits for the current maintenance, and starts no other. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#running;
  }

  async #run(): Promise<void> {
    const { database, schema, clock } = this.#options;
    await this.compareClocks();
    await database.queryOnce(`SELECT ${schema}.advance_mark($1)`, [Math.floor(clock.now())]);
    for (let more = true; more && !this.#closed; ) {
      const [row] = await database.queryOnce(`SELECT ${schema}.sweep($1, $2) AS more`, [
        Math.floor(clock.now()),
        mostRows,
      ]);
      more = row?.['more'] === true;
    }
  }
}
