import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { signRequest } from '../../src/client/index.ts';
import { systemClock } from '../../src/clock.ts';
import { command, type Running, root, startProcess } from '../support/cli/command.ts';
import {
  type Answer,
  type Asked,
  buildMessage,
  clients,
  type Sending,
  toAnswer,
  users,
} from '../support/oauth/server.ts';
import {
  missingPostgres,
  password,
  type Server,
  startServer as startPostgres,
} from '../support/postgres/server.ts';
import { modulePath } from '../support/program.ts';
import { long } from '../support/store/thoroughness.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

/** Options of tests that need a cluster. */
export const withPostgres = { skip: missingPostgres, timeout: long ? 600_000 : 120_000 };

/** A process of a cluster. */
export interface Host extends Asked {
  readonly running: Running;
}

/** A request that any host can receive, because a signature does not cover the host. */
interface Sent {
  readonly method: string;
  readonly path: string;
  readonly sending: Sending;
}

/** Server processes over one database. */
interface Cluster {
  /** The processes by their number. A number without a process is undefined. */
  readonly hosts: readonly (Host | undefined)[];
  /** Returns all running processes. */
  running(): readonly Host[];
  /** Starts the process with a number, which must not be running. */
  start(number: number): Promise<Host>;
  /** Ends a process with a signal. Resolves when it has ended. */
  end(number: number, signal: 'SIGTERM' | 'SIGKILL'): Promise<number | null>;
  /** Stops the database without waiting for anything, and starts it again. */
  crashDatabase(): Promise<void>;
  /** Ends all connections of the hosts to the database. */
  cutConnections(): Promise<void>;
  /** Resolves when the database executes no statement of a host, also of one that was killed. */
  idle(): Promise<void>;
}

const args = [
  '--port',
  '0',
  '--tls-port',
  '0',
  '--log',
  'off',
  '--max-auth-failures',
  '0',
  '--trust-proxy',
  '127.0.0.1/32',
  '--public-url',
  'https://localhost',
];

/** The name under which the hosts connect to the database. */
const applicationName = 'countersign-host';

/** Writes the module and the configuration of a cluster to a directory. Returns the options that select them. */
function writeFiles({ directory: host }: Server, directory: string, further: object): readonly string[] {
  const [configuration, store] = [join(directory, 'config.json'), join(directory, 'store.mjs')];
  const app = new Map(Object.entries(clients)).get('app');
  writeFileSync(configuration, JSON.stringify({ users: users(), clients: { app }, ...further }), {
    mode: 0o600,
  });
  const built = command.some((part) => part.endsWith('dist/server.js'));
  const entry = built ? join(root, 'dist/esm/postgres/index.js') : modulePath('src/postgres/index.ts');
  const driver = join(root, 'test/node_modules/pg/lib/index.js');
  const connection = { host, user: 'countersign', database: 'postgres', application_name: applicationName };
  writeFileSync(
    store,
    `import pg from ${JSON.stringify(pathToFileURL(driver))};
import { openPostgresStore } from ${JSON.stringify(pathToFileURL(entry))};
export default async () => {
  const pool = new pg.Pool({ ...${JSON.stringify(connection)}, password: process.env.PGPASSWORD, max: 8 });
  pool.on('error', () => {});
  const onWarning = (line) => console.error(line);
  return { store: await openPostgresStore(pool, { onWarning }) };
};
`,
  );
  return ['--config', configuration, '--module', store];
}

/** Starts a cluster with the users and the OAuth 2.0 clients of the tests of OAuth. It is stopped after the tests of the file. */
export async function startCluster(count = 3, configuration: object = {}): Promise<Cluster> {
  if (missingPostgres !== false) throw new Error(missingPostgres);
  const postgres = await startPostgres();
  const directory = temporaryDirectory();
  const files = writeFiles(postgres, directory, configuration);
  const hosts: (Host | undefined)[] = Array.from({ length: count }, () => undefined);
  const start = async (number: number): Promise<Host> => {
    const running = await startProcess([...args, ...files, '--data', join(directory, `host-${number}`)], {
      environment: { PGPASSWORD: password },
    });
    const host = { running, clock: systemClock, ask: askOver(running.url) };
    hosts[number] = host;
    return host;
  };
  const end = async (number: number, signal: 'SIGTERM' | 'SIGKILL'): Promise<number | null> => {
    const host = hosts[number];
    if (host === undefined) return null;
    hosts[number] = undefined;
    process.kill(host.running.pid, signal);
    return (await host.running.ended).status;
  };
  // The first one creates the tables; the others start at the same time.
  await Promise.all(hosts.map((_, number) => start(number)));
  const isIdle = async (): Promise<boolean> => {
    const active = `SELECT FROM pg_stat_activity WHERE application_name = $1 AND state <> 'idle'`;
    return (await postgres.query(active, [applicationName])).length === 0;
  };
  return {
    hosts,
    async crashDatabase() {
      await postgres.crash();
      await postgres.start();
    },
    cutConnections: () => postgres.terminate(applicationName),
    async idle() {
      while (!(await isIdle()));
    },
    running: () => hosts.flatMap((host) => host ?? []),
    start,
    end,
  };
}

/** Returns a function that sends requests as a proxy on this host does which terminates TLS. */
function askOver(url: string): Asked['ask'] {
  return async (method, target, sending = {}): Promise<Answer> => {
    const { fields, content } = buildMessage(sending);
    const proxied: [string, string] = ['Forwarded', 'for=192.0.2.7;proto=https'];
    const response = await fetch(`${url}${target}`, {
      method,
      headers: [...fields, proxied],
      redirect: 'manual',
      ...(content !== undefined && { body: content }),
    });
    return toAnswer({
      status: response.status,
      headers: [...response.headers],
      body: Buffer.from(await response.arrayBuffer()),
    });
  };
}

/** Returns an article whose title is `mark`. */
export function formatArticle(mark: string): string {
  return JSON.stringify({ title: mark, price: { value: `${mark.length}.25`, currency: 'EUR' } });
}

/** Returns a request of the user `ann`, signed with its own nonce. */
export function signed(
  method: string,
  path: string,
  { content, fields = [] }: { content?: string; fields?: readonly (readonly [string, string])[] } = {},
): Sent {
  const url = `http://localhost${path}`;
  const credentials = { method, url, user: 'ann', secret: users()['ann']?.secret ?? '' };
  const signature = signRequest(content === undefined ? credentials : { ...credentials, body: content });
  const type = content === undefined ? [] : [['Content-Type', 'application/json'] as const];
  const accept = [['Accept', 'application/json'] as const];
  const all = [...Object.entries(signature), ...type, ...accept, ...fields];
  return { method, path, sending: content === undefined ? { fields: all } : { fields: all, content } };
}

/** Sends a request to a host. */
export function send({ ask }: Asked, { method, path, sending }: Sent): Promise<Answer> {
  return ask(method, path, sending);
}

/** Stands for the cluster in tests that are skipped. */
export const noCluster: Cluster = {
  hosts: [],
  running: () => [],
  start: () => Promise.reject(new Error('there is no database')),
  end: async () => null,
  async cutConnections() {},
  async crashDatabase() {},
  async idle() {},
};
