/** Runs the PostgreSQL of the host in a temporary directory, on a Unix socket of its own. Nothing else can use it. */
import { execFile } from 'node:child_process';
import {
  chownSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';

const execute = promisify(execFile);
/** Where Debian installs the versions of PostgreSQL. */
const versions = '/usr/lib/postgresql';
/** The password of every user of the servers. */
export const password = 'kR7-wombat-lantern';
/** The only user, and a database that each server has. */
export const [owner, database] = ['countersign', 'postgres'];

/** Returns the directory of the newest installed version's programs; undefined if there is none. */
export function postgresPrograms(): string | undefined {
  if (!existsSync(versions)) return undefined;
  const [newest] = readdirSync(versions)
    .filter((name) => existsSync(join(versions, name, 'bin', 'initdb')))
    .sort((one, other) => Number(other) - Number(one));
  return newest === undefined ? undefined : join(versions, newest, 'bin');
}

/** A PostgreSQL server that can be stopped and started. */
export interface Cluster {
  /** The directory of its socket. */
  readonly directory: string;
  start(): Promise<void>;
  /** Stops the server without waiting for anything, as a crash would. */
  crash(): Promise<void>;
  /** Returns the process id of the running server. */
  pid(): number;
  /** Stops the server and removes its files. */
  remove(): Promise<void>;
}

/** Returns the user that runs the server, because PostgreSQL refuses to run as root; none for any other user. */
function unprivileged(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const users = readFileSync('/etc/passwd', 'utf8').split('\n');
  for (const name of ['postgres', 'nobody']) {
    const [, , uid, gid] = users.find((line) => line.startsWith(`${name}:`))?.split(':') ?? [];
    if (uid !== undefined && gid !== undefined) return { uid: Number(uid), gid: Number(gid) };
  }
  throw new Error('there is neither a user postgres nor a user nobody');
}

/** The folder of the compiled modules, which stays from run to run; undefined outside of a run of tests. */
const compiled = process.env['TEST_COMPILED'];

/** Copies the files of a new cluster, which the first call creates in `template`: creating them takes longer than most tests. */
async function copyInitialized(
  template: string,
  initialize: (path: string) => Promise<void>,
  data: string,
): Promise<void> {
  if (!existsSync(template)) {
    const made = `${data}-made`;
    await initialize(made);
    // Complete before it has its name, and of one of the processes that make it at the same time.
    const copy = `${template}-${process.pid}`;
    await execute('cp', ['-a', made, copy]);
    try {
      renameSync(copy, template);
    } catch (error) {
      rmSync(copy, { recursive: true });
      if (!existsSync(template)) throw error;
    }
  }
  await execute('cp', ['-a', template, data]);
}

/** Creates and starts a server with these settings, in the form of `-c` of `postgres`. */
export async function startCluster(settings: readonly string[]): Promise<Cluster> {
  const bin = postgresPrograms();
  if (bin === undefined) throw new Error('PostgreSQL is not installed');
  const directory = mkdtempSync(join(tmpdir(), 'countersign-pg-'));
  const data = join(directory, 'data');
  const secret = join(directory, 'password');
  const identity = unprivileged();
  writeFileSync(secret, password);
  if (identity !== undefined)
    for (const path of [directory, secret]) chownSync(path, identity.uid, identity.gid);
  const options = { ...identity, cwd: directory, env: { ...process.env, HOME: directory, LC_ALL: 'C' } };
  const run = async (program: string, words: string): Promise<void> => {
    await execute(join(bin, program), words.split(' '), options);
  };
  const given = [`-k ${directory}`, ...settings.map((setting) => `-c ${setting}`)].join(' ');
  const control = (words: string, more: readonly string[] = []): Promise<unknown> =>
    execute(join(bin, 'pg_ctl'), ['-D', data, '-w', ...words.split(' '), ...more], options);
  const cluster: Cluster = {
    directory,
    async start() {
      await control(`start -l ${join(directory, 'log')}`, ['-o', given]);
    },
    async crash() {
      await control('stop -m immediate');
    },
    pid: () => Number(readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n')[0]),
    async remove() {
      await cluster.crash().catch(() => {});
      rmSync(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
    },
  };
  const initialize = (path: string): Promise<void> =>
    run('initdb', `-D ${path} -U ${owner} -A scram-sha-256 --pwfile ${secret} -E UTF8 -N`);
  try {
    if (compiled === undefined) await initialize(data);
    else await copyInitialized(join(compiled, `postgres-${basename(dirname(bin))}`), initialize, data);
    await cluster.start();
    return cluster;
  } catch (error) {
    await cluster.remove();
    throw error;
  }
}
