import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Stage } from '../benchmark.ts';

/** Calls `work` with a stage for a tree, and cleans it up afterwards, even after an error. */
export async function onStage<T>(
  root: string,
  full: boolean,
  work: (stage: Stage) => Promise<T>,
): Promise<T> {
  const scratch = mkdtempSync(join(tmpdir(), 'countersign-bench-'));
  const clear = (): void => rmSync(scratch, { recursive: true, force: true });
  // On a signal, only the temporary files are removed; child processes end with this one.
  process.once('exit', clear);
  const endings: (() => unknown)[] = [clear, () => process.removeListener('exit', clear)];
  try {
    return await work({ root, scratch, full, after: (ending) => endings.push(ending) });
  } finally {
    for (const ending of endings.reverse()) await ending();
  }
}
