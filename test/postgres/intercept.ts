import type { PostgresRow } from '../../src/postgres/client.ts';
import type { Pool } from '../support/postgres/server.ts';

type Result = PromiseLike<{ readonly rows: readonly PostgresRow[] }>;

/** What is done instead of what the connections of a pool do. */
interface Interception {
  /** Called instead of each query; `execute` executes it. */
  query(execute: () => Result, text: string): Result;
  /** Called before a connection is released. */
  release?(close: boolean | undefined): void;
}

/** Makes the queries of all connections that are taken from a pool pass a function. */
export function intercept(pool: Pool, { query, release }: Interception): Pool {
  const connect = pool.connect.bind(pool);
  pool.connect = async () => {
    const connection = await connect();
    return {
      release(close?: boolean) {
        release?.(close);
        connection.release(close);
      },
      connect: () => connection.connect(),
      end: () => connection.end(),
      query: (text: string, values: unknown[]) => query(() => connection.query(text, values), text),
    };
  };
  return pool;
}
