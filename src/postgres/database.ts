import { StoreError } from '../store/errors.ts';
import { clearTimeout, delay, setTimeout } from '../timers.ts';
import { isPooled, type PostgresClient, type PostgresConnection, type PostgresRow } from './client.ts';
import { deadlineFromNow, patience, shortPatience, timeUntil } from './deadline.ts';
import { QueryError, timeoutError, toQueryError } from './error.ts';

/** The pauses (ms) before a query is repeated: the first one, and the longest one. */
const [firstPause, longestPause] = [10, 200];

/** The time (ms) by which a wait for a lock ends before the query must have been answered. */
const lockMargin = 100;

/** The maximum time (ms) of a statement of a transaction, whose client waits for a whole export or import. */
const statementTime = 60_000;

/** What the parts of a store on PostgreSQL have in common. */
export interface PostgresParts {
  readonly database: Database;
  /** The schema, as a quoted identifier. */
  readonly schema: string;
  readonly random: (bytes: number) => Uint8Array;
}

/** A transaction on a connection of its own. */
export interface Transaction {
  /** Executes a statement. Rejects with StoreError. */
  query(text: string, values?: unknown[]): Promise<readonly PostgresRow[]>;
  /** Commits or rolls back, and returns the connection to the pool. Rejects with StoreError. */
  end(commit: boolean): Promise<void>;
}

/** Executes queries, and repeats them if the connection is lost. */
export class Database {
  readonly #client: PostgresClient;
  readonly #onWarning: (line: string) => void;
  #pooled = false;
  #unreachable = false;

  constructor(client: PostgresClient, onWarning: (line: string) => void) {
    this.#client = client;
    this.#onWarning = onWarning;
    // An idle connection that is lost makes a pool emit this event. The pool has already removed the connection.
    client.on?.('error', ignore);
  }

  /** Whether the last query failed because PostgreSQL cannot be reached or does not answer. */
  get isUnreachable(): boolean {
    return this.#unreachable;
  }

  /**
   * Connects for the first time, determines whether the client is a pool, and prepares the database, again if the
   * connection is lost. Rejects with QueryError.
   */
  open<T>(prepare: () => Promise<T>): Promise<T> {
    return this.#repeat(deadlineFromNow(), async () => {
      this.#pooled = await this.#connectsToPool();
      await this.queryOnce('SELECT 1', []);
      return prepare();
    });
  }

  /** Returns a connection of the pool. Rejects with QueryError; with undefined there is no pool. */
  async connect(within = patience): Promise<PostgresConnection | undefined> {
    if (!this.#pooled || this.#client.connect === undefined) return undefined;
    const { connect } = this.#client;
    const connecting = wrapErrors(() => connect.call(this.#client));
    const connection = await rejectLate(connecting, within).catch((error: unknown) => {
      connecting.then(releaseUnused, () => {});
      throw error;
    });
    if (!isPooled(connection)) return undefined;
    connection.on?.('error', ignore);
    return connection;
  }

  /** Returns a connection to the pool, or closes it. */
  release(connection: PostgresConnection, close: boolean): void {
    // A connection that is closed may still fail. The pool listens to those that it keeps.
    if (!close) connection.removeListener?.('error', ignore);
    connection.release(close);
  }

  /** Executes a query once, for at most `within` ms. Rejects with QueryError. */
  async queryOnce(text: string, values: unknown[], within = patience): Promise<readonly PostgresRow[]> {
    const deadline = deadlineFromNow(within);
    const connection = await this.connect(within);
    const executing = wrapErrors(() => (connection ?? this.#client).query(text, values));
    try {
      const { rows } = await rejectLate(executing, Math.max(1, timeUntil(deadline)));
      if (connection !== undefined) this.release(connection, false);
      return rows;
    } catch (error) {
      // The state of the connection is unknown, or its server may not be the right one any more.
      const close = error instanceof QueryError && error.kind === 'transient';
      if (connection !== undefined) this.release(connection, close);
      throw error;
    }
  }

  /**
   * Executes a query, again if the connection is lost. So it must have the same effect if it is executed twice. While
   * PostgreSQL cannot be reached, it is repeated for a short time only. Rejects with StoreError.
   * @param values the parameters, or a function that returns them for each attempt, from 0, with the maximum time (ms) to
   *   wait for a lock
   */
  async query(
    text: string,
    values: unknown[] | ((attempt: number, wait: number) => unknown[]),
    deadline = deadlineFromNow(),
  ): Promise<readonly PostgresRow[]> {
    try {
      const rows = await this.#repeat(deadline, (attempt) => {
        const within = Math.max(1, timeUntil(deadline));
        const wait = Math.max(1, Math.floor(within - lockMargin));
        return this.queryOnce(text, typeof values === 'function' ? values(attempt, wait) : values, within);
      });
      if (this.#unreachable) this.#onWarning('PostgreSQL can be reached again');
      this.#unreachable = false;
      return rows;
    } catch (error) {
      throw this.#toFailure(error);
    }
  }

  /** Begins a transaction with this mode. Rejects with StoreError; without a pool always. */
  async begin(mode: string): Promise<Transaction> {
    const connection = await this.connect().catch((error: unknown) => {
      throw this.#toFailure(error);
    });
    if (connection === undefined) throw new StoreError('failed', 'a transaction needs a pool of connections');
    const query: Transaction['query'] = async (text, values = []) => {
      try {
        return (
          await rejectLate(
            wrapErrors(() => connection.query(text, values)),
            statementTime,
          )
        ).rows;
      } catch (error) {
        throw this.#toFailure(error);
      }
    };
    const end = async (commit: boolean): Promise<void> => {
      let ended = false;
      try {
        await query(commit ? 'COMMIT' : 'ROLLBACK');
        ended = true;
      } catch (error) {
        if (commit) throw error;
      } finally {
        this.release(connection, !ended);
      }
    };
    try {
      await query(`BEGIN ${mode}`);
    } catch (error) {
      this.release(connection, true);
      throw error;
    }
    return { query, end };
  }

  /** Detaches from the client. With `endClient`, also closes its connections. */
  async close(endClient: boolean): Promise<void> {
    if (endClient) await this.#client.end?.();
    else this.#client.removeListener?.('error', ignore);
  }

  async #connectsToPool(): Promise<boolean> {
    if (this.#client.connect === undefined) return false;
    try {
      const { connect } = this.#client;
      const connection = await rejectLate(
        wrapErrors(() => connect.call(this.#client)),
        patience,
      );
      releaseUnused(connection);
      return isPooled(connection);
    } catch {
      // A single client that is connected already rejects a second `connect`. If there is no connection, the next query fails.
      return false;
    }
  }

  async #repeat<T>(deadline: number, work: (attempt: number) => Promise<T>): Promise<T> {
    const early = Math.min(deadline, deadlineFromNow(shortPatience));
    for (let attempt = 0; ; attempt += 1) {
      try {
        return await work(attempt);
      } catch (error) {
        const pause = Math.min(longestPause, firstPause * 2 ** attempt);
        const isTransient = error instanceof QueryError && error.kind === 'transient';
        if (!isTransient || pause >= timeUntil(this.#unreachable ? early : deadline)) throw error;
        await delay(pause);
      }
    }
  }

  /** Returns the error for a caller of the store. */
  #toFailure(error: unknown): unknown {
    if (!(error instanceof QueryError)) return error;
    const { kind, message } = error;
    const code = kind === 'full' ? 'full' : 'failed';
    if (kind === 'permanent') return new StoreError(code, message);
    if (!this.#unreachable) this.#onWarning(`${message}; requests get 503 until it can be used again`);
    this.#unreachable = true;
    return new StoreError(code, message, { reported: true });
  }
}

function ignore(): void {}

/** Converts what a client rejects with to a QueryError, which contains nothing confidential. */
async function wrapErrors<T>(work: () => PromiseLike<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw toQueryError(error);
  }
}

function releaseUnused(connection: unknown): void {
  if (isPooled(connection)) connection.release();
}

/** Rejects if a promise has not settled in time (ms). */
function rejectLate<T>(promise: Promise<T>, within: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(timeoutError()), within);
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
