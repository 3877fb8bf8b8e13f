import type { Clock } from '../clock.ts';
import { numberIn } from './client.ts';
import type { Database } from './database.ts';
import type { NonceTable } from './nonces.ts';

/** The time (ms) between two deletions of expired rows, and the maximum number of rows of each kind per statement. */
const [sweepInterval, mostRows] = [10_000, 1000];
/** The time (ms) between two reports of a wrong clock. */
const reportInterval = 60_000;
/** The difference (ms) from the clock of the database that is not reported. */
const tolerance = 1000;

/** The options of the maintenance of a store. */
export interface MaintenanceOptions {
  readonly database: Database;
  /** The schema, as a quoted identifier. */
  readonly schema: string;
  readonly clock: Clock;
  readonly nonces: NonceTable;
  readonly onWarning: (line: string) => void;
}

/** Deletes expired rows and compares the clocks, while requests use the store. So no timer is needed. */
export class Maintenance {
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
