// Starts the PostgreSQL of the host in a temporary directory, on a Unix socket of its own. Nothing else can use it.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import {
  chownSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { PostgresClient, PostgresRow } from '../../../src/postgres/index.ts';
import { keepSecret } from '../transcript.ts';

const execute = promisify(execFile);
const tests = fileURLToPath(new URL('../..', import.meta.url));
/** Where Debian installs the versions of PostgreSQL. */
const versions = '/usr/lib/postgresql';
/** The password of every user of the servers. */
export const password = 'kR7-wombat-lantern';

/** A pool of connections, as `pg` has it. */
export interface Pool extends PostgresClient {
  connect(): Promise<Connection>;
  end(): Promise<void>;
}

/** A connection, of a pool or alone. */
export interface Connection extends PostgresClient {
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

/** The newest installed version's programs; undefined if there is none. */
function programs(): string | undefined {
  if (!existsSync(versions)) return undefined;
  const [newest] = readdirSync(versions)
    .filter((name) => existsSync(join(versions, name, 'bin', 'initdb')))
    .sort((one, other) => Number(other) - Number(one));
  return newest === undefined ? undefined : join(versions, newest, 'bin');
}

/** Why tests with PostgreSQL are skipped; false if they run. */
export const missingPostgres: string | false =
  programs() === undefined
    ? 'PostgreSQL is not installed'
    : existsSync(join(tests, 'node_modules', 'pg'))
      ? false
      : 'pg is not installed: npm ci --prefix test';

/** The user that runs the server, because PostgreSQL refuses to run as root; none for any other user. */
function unprivileged(): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {};
  const users = readFileSync('/etc/passwd', 'utf8').split('\n');
  for (const name of ['postgres', 'nobody']) {
    const [, , uid, gid] = users.find((line) => line.startsWith(`${name}:`))?.split(':') ?? [];
    if (uid !== undefined && gid !== undefined) return { uid: Number(uid), gid: Number(gid) };
  }
  throw new Error('there is neither a user postgres nor a user nobody');
}

/** A running server. */
export interface Server {
  /** The directory of its socket. */
  readonly directory: string;
  /** Creates a pool, which is ended after the tests unless it was before. */
  pool(options?: PoolOptions): Pool;
  /** Creates a client without a connection. */
  client(options?: PoolOptions): Connection;
  /** Executes a statement as the owner of the server. */
  query(text: string, values?: unknown[]): Promise<readonly PostgresRow[]>;
  start(): Promise<void>;
  /** Stops the server without waiting for anything, as a crash would. */
  crash(): Promise<void>;
  /** Ends the connections of a pool that has this application name. */
  terminate(applicationName: string): Promise<void>;
  /** Returns the name of a new schema. */
  schema(): string;
}

/** Starts a server, which is stopped and removed after the tests of the file. */
export async function startServer(): Promise<Server> {
  const bin = programs();
  assert.ok(bin !== undefined);
  const directory = mkdtempSync(join(tmpdir(), 'countersign-pg-'));
  const identity = unprivileged();
  if (identity.uid !== undefined && identity.gid !== undefined)
    chownSync(directory, identity.uid, identity.gid);
  const data = join(directory, 'data');
  const secret = join(directory, 'password');
  writeFileSync(secret, password);
  if (identity.uid !== undefined && identity.gid !== undefined) chownSync(secret, identity.uid, identity.gid);
  keepSecret(password);
  const options = { ...identity, cwd: directory, env: { ...process.env, HOME: directory, LC_ALL: 'C' } };
  const run = async (program: string, ...args: string[]): Promise<void> => {
    await execute(join(bin, program), args, options);
  };
  const settings = `-k ${directory} -c listen_addresses= -c shared_buffers=32MB -c max_connections=60`;
  const start = (): Promise<void> =>
    run('pg_ctl', '-D', data, '-l', join(directory, 'log'), '-w', '-o', settings, 'start');
  const stop = (mode: string): Promise<void> => run('pg_ctl', '-D', data, '-m', mode, '-w', 'stop');
  const pools = new Set<{ end(): Promise<void> }>();
  let schemas = 0;

  const driver: Driver = createRequire(join(tests, 'package.json'))('pg');
  const parameters = (given: PoolOptions = {}): object => ({
    ...{ host: directory, port: 5432, user: 'countersign', database: 'postgres', password },
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
  let owner: Pool | undefined;
  const query: Server['query'] = async (text, values = []) => {
    if (owner === undefined) {
      owner = pool({ max: 2 });
      owner.on?.('error', () => {});
    }
    return (await owner.query(text, values)).rows;
  };

  after(async () => {
    await Promise.allSettled([...pools].map((each) => each.end()));
    await stop('immediate').catch(() => {});
    rmSync(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  });
  await run(
    'initdb',
    '-D',
    data,
    '-U',
    'countersign',
    '-A',
    'scram-sha-256',
    '--pwfile',
    secret,
    '-E',
    'UTF8',
    '-N',
  );
  await start();
  return {
    directory,
    pool,
    client: (given) => opened(new driver.Client(parameters(given))),
    query,
    start,
    crash: () => stop('immediate'),
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
