import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Running } from '../load/client/load.ts';
import { startOurs } from '../load/server/countersign.ts';
import type { Stage } from '../measure/benchmark.ts';
import { startPart } from '../measure/parts/part.ts';

/** Creates a store with `count` articles in a separate process. Resolves to a text if its package is not installed. */
export async function fillStore(
  stage: Stage,
  name: string,
  directory: string,
  count: number,
): Promise<string | undefined> {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const node = ['--max-old-space-size=8192'];
  const part = await startPart(stage, 'store/part.ts', [name, directory, String(count)], { node });
  if (typeof part === 'string') return part;
  try {
    await part.ask('fill');
    return undefined;
  } catch (error) {
    // A package is loaded only when it is used, and its absence is detected only then.
    const text = error instanceof Error ? error.message : String(error);
    const absent = /Cannot find (module|package)|ERR_UNKNOWN_BUILTIN_MODULE|No such built-in module/.test(
      text,
    );
    if (absent) return 'not installed';
    throw error;
  } finally {
    await part.stop();
  }
}

/**
 * Starts the command with a store of `count` articles, which is synced before each response. A previous start has
 * created the other files of the data directory. Seeding as many articles would take long.
 */
export async function startOver(stage: Stage, count: number): Promise<Running> {
  const name = `of-${count}`;
  const directory = join(stage.scratch, name);
  const empty = { durability: 'fsync', count: 0 } as const;
  const first = await startOurs(stage, name, empty);
  await first.part.stop();
  for (const file of readdirSync(directory)) if (!file.startsWith('nonces')) rmSync(join(directory, file));
  await fillStore(stage, 'countersign', directory, count);
  return startOurs(stage, name, empty);
}
