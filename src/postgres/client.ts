/** A row of a result, by the names of its columns. */
export interface PostgresRow {
  readonly [column: string]: unknown;
}

/**
 * A client or a pool of clients for one PostgreSQL database. `pg.Pool` and `pg.Client` are such. A client that loses its
 * connection must connect again by itself, as a pool does.
 */
export interface PostgresClient {
  /** Executes a statement with parameters `$1`, `$2`, …, all of which are strings, numbers, booleans or null. */
  query(text: string, values: unknown[]): PromiseLike<{ readonly rows: readonly PostgresRow[] }>;
  /** Returns a connection of a pool: see PostgresConnection. */
  connect?(): PromiseLike<unknown>;
  /** Adds a listener for errors of idle connections, which would otherwise end the process. */
  on?(event: 'error', listener: (error: Error) => void): unknown;
  /** Removes a listener that `on` added. */
  removeListener?(event: 'error', listener: (error: Error) => void): unknown;
  /** Closes all connections. */
  end?(): PromiseLike<unknown>;
}

/** A connection that was taken from a pool. */
export interface PostgresConnection {
  query(text: string, values: unknown[]): PromiseLike<{ readonly rows: readonly PostgresRow[] }>;
  /** Returns the connection to the pool; with `true`, closes it. */
  release(close?: boolean): void;
  on?(event: string, listener: () => void): unknown;
  removeListener?(event: string, listener: () => void): unknown;
}

/** Returns whether this is a connection of a pool. */
export function isPooled(value: unknown): value is PostgresConnection {
  return (
    typeof value === 'object' &&
    value !== null &&
    typeof Reflect.get(value, 'query') === 'function' &&
    typeof Reflect.get(value, 'release') === 'function'
  );
}

/** Returns a column as text. Throws TypeError if it is not. */
export function textIn(row: PostgresRow | undefined, column: string): string {
  const value = row?.[column];
  if (typeof value !== 'string') throw new TypeError(`PostgreSQL returned no text for ${column}`);
  return value;
}

/** Returns a column as a number. Most clients return a bigint as text. Throws TypeError if it is none. */
export function numberIn(row: PostgresRow | undefined, column: string): number {
  const value = row?.[column];
  const number = typeof value === 'number' ? value : Number(value ?? Number.NaN);
  if (!Number.isFinite(number)) throw new TypeError(`PostgreSQL returned no number for ${column}`);
  return number;
}
