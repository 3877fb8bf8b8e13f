// Starts the PostgreSQL of the host in a temporary directory, on a Unix socket of its own. Nothing else can use it.
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { after } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { PostgresRow } from '../../../src/postgres/client.ts';
import type { PostgresClient } from '../../../src/postgres/index.ts';
import { keepSecret } from '../transcript.ts';
import { type Cluster, database, owner, password, postgresPrograms, startCluster } from './cluster.ts';

export { password } from './cluster.ts';

const tests = fileURLToPath(new URL('../..', import.meta.url));

/** A pool of connections, as `pg` has it. */
export interface Pool extends PostgresClient {
  connect(): Promise<Connection>;
  end(): Promise<void>;
}

/** A connection, of a pool or alone. */
interface Connection extends PostgresClient {
  connect(): Promise<unknown>;
  release(close?: boolean): void;
  end(): Promise<void>;
}

interface PoolOptions {
  readonly max?: number;
  readonly user?: string;
  readonly password?: string;
  readonly host?: string;
  readonly application_name?: string;
  readonly options?: string;
  readonly database?: string;
  readonly connectionString?: string;
}

interface Driver {
  readonly Pool: new (options: object) => Pool;
  readonly Client: new (options: object) => Connection;
}

/** Why tests with PostgreSQL are skipped; false if they run. */
export const missingPostgres: string | false =
  postgresPrograms() === undefined
    ? 'PostgreSQL is not installed'
    : existsSync(join(tests, 'node_modules', 'pg'))
      ? false
      : 'pg is not installed: npm ci --prefix test';

/** A running server. */
export interface Server extends Pick<Cluster, 'directory' | 'start' | 'crash'> {
  /** Creates a pool, which is ended after the tests unless it was before. */
  pool(options?: PoolOptions): Pool;
  /** Creates a client without a connection. */
  client(options?: PoolOptions): Connection;
  /** Executes a statement as the owner of the server. */
  query(text: string, values?: unknown[]): Promise<readonly PostgresRow[]>;
  /** Ends the connections of a pool that has this application name. */
  terminate(applicationName: string): Promise<void>;
  /** Returns the name of a new schema. */
  schema(): string;
}

/** Starts a server, which is stopped and removed after the tests of the file. */
export async function startServer(): Promise<Server> {
  const cluster = await startCluster(['listen_addresses=', 'shared_buffers=32MB', 'max_connections=60']);
  const { directory, start, crash } = cluster;
  keepSecret(password);
  const pools = new Set<{ end(): Promise<void> }>();
  let schemas = 0;

  const driver: Driver = createRequire(join(tests, 'package.json'))('pg');
  const parameters = (given: PoolOptions = {}): object => ({
    host: directory,
    port: 5432,
    user: owner,
    database,
    password,
    ...given,
  });
  const opened = <T extends { end(): Promise<void> }>(made: T): T => {
    const end = made.end.bind(made);
    let ending: Promise<void> | undefined;
    made.end = () => {
      ending ??= end();
      return ending;
    };
    pools.add(made);
    return made;
  };
  const pool = (given?: PoolOptions): Pool => opened(new driver.Pool(parameters(given)));
  let queries: Pool | undefined;
  const query: Server['query'] = async (text, values = []) => {
    if (queries === undefined) {
      queries = pool({ max: 2 });
      queries.on?.('error', () => {});
    }
    return (await queries.query(text, values)).rows;
  };

  after(async () => {
    await Promise.allSettled([...pools].map((each) => each.end()));
    await cluster.remove();
  });
  return {
    directory,
    pool,
    client: (given) => opened(new driver.Client(parameters(given))),
    query,
    start,
    crash,
    async terminate(applicationName) {
      await query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1', [
        applicationName,
      ]);
    },
    schema() {
      schemas += 1;
      return `test_${schemas}`;
    },
  };
}
