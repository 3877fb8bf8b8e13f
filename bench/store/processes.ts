/** Starts servers over one PostgreSQL of the host, and measures what they use. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import {
  type Cluster,
  database,
  owner,
  password,
  postgresPrograms,
  startCluster,
} from '../../test/support/postgres/cluster.ts';
import type { Running } from '../load/client/load.ts';
import { startOurs } from '../load/server/countersign.ts';
import type { Sample, Stage } from '../measure/benchmark.ts';
import type { Part } from '../measure/parts/part.ts';

/** A PostgreSQL server that waits for the disk at each commit. */
export interface Postgres {
  /** The options of `pg.Pool` for it. */
  readonly pool: object;
  /** Returns the CPU time (ns) that its processes have used, including those that have ended. */
  cpu(): number;
}

/** Starts PostgreSQL. Resolves to a text if it or `pg` is not installed. */
export async function startPostgres(stage: Stage): Promise<Postgres | string> {
  if (postgresPrograms() === undefined) return 'PostgreSQL is not installed';
  if (driver() === undefined) return 'pg is not installed';
  const settings = ['listen_addresses=', 'shared_buffers=128MB', 'fsync=on', 'synchronous_commit=on'];
  const cluster = await startCluster(settings);
  stage.after(() => cluster.remove());
  const pool = { host: cluster.directory, port: 5432, user: owner, database, password };
  return { pool, cpu: () => cpuOf(cluster) };
}

function driver(): string | undefined {
  try {
    return createRequire(import.meta.url).resolve('pg');
  } catch {
    return undefined;
  }
}

/** The duration (ns) of a clock tick, which Linux uses in /proc (100 per second on all architectures). */
const tick = 1e7;

function cpuOf(cluster: Cluster): number {
  const server = cluster.pid();
  let ticks = 0;
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const fields = statOf(name);
    const [, parent, ...rest] = fields;
    if (Number(name) !== server && Number(parent) !== server) continue;
    // utime, stime, and those of processes that were waited for: fields 14 to 17 of proc(5).
    ticks += rest.slice(9, 13).reduce((sum, field) => sum + Number(field), 0);
  }
  return ticks * tick;
}

/** Returns the fields after the name of the program, from the state on; none if the process has ended. */
function statOf(pid: string): readonly string[] {
  try {
    const line = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return line.slice(line.lastIndexOf(')') + 2).split(' ');
  } catch {
    return [];
  }
}

/** Starts the command several times over one schema that has `count` articles. */
export async function startOverPostgres(
  stage: Stage,
  postgres: Postgres,
  processes: number,
  count: number,
): Promise<readonly Running[]> {
  const module = join(stage.scratch, 'store.mjs');
  const entry = pathToFileURL(join(stage.root, 'src/postgres/index.js')).href;
  writeFileSync(
    module,
    `import { createRequire } from 'node:module';
import { openPostgresStore } from ${JSON.stringify(entry)};
const pg = createRequire(${JSON.stringify(import.meta.url)})('pg');
const pool = ${JSON.stringify(postgres.pool)};
export default async () => ({ store: await openPostgresStore(new pg.Pool(pool)) });
`,
  );
  const started: Running[] = [];
  // One after the other, because the first one stores the articles.
  for (let number = 1; number <= processes; number += 1)
    started.push(await startOurs(stage, `process-${number}`, { module, count: number === 1 ? count : 0 }));
  return started;
}

/** Combines servers to one: connections are spread over them, and their costs are added. */
export function together(servers: readonly Running[]): Running {
  const parts = servers.map(({ part }) => part);
  const part: Part = {
    pid: parts[0]?.pid ?? 0,
    ask: async (...order) => sumOf(await Promise.all(parts.map((each) => each.ask(...order)))),
    // The system distributes them and the processes of the database, which have no core of their own either.
    keepTo: () => {},
    stop: async () => {
      await Promise.all(parts.map((each) => each.stop()));
    },
  };
  const ports = servers.map(({ port }) => port);
  return { part, port: ports[0] ?? 0, ports };
}

function sumOf(samples: readonly Sample[]): Sample {
  const sum: Record<string, number> = {};
  for (const sample of samples)
    for (const [key, value] of Object.entries(sample)) sum[key] = (sum[key] ?? 0) + value;
  return sum;
}
