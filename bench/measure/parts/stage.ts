import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Stage } from '../benchmark.ts';

/** Gives work a stage over a tree, and clears it away afterwards, whatever comes of the work. */
export async function onStage<T>(
  root: string,
  full: boolean,
  work: (stage: Stage) => Promise<T>,
): Promise<T> {
  const scratch = mkdtempSync(join(tmpdir(), 'countersign-bench-'));
  const clear = (): void => rmSync(scratch, { recursive: true, force: true });
  // Who is interrupted waits for nothing; the processes it started end with it.
  process.once('exit', clear);
  const endings: (() => unknown)[] = [clear, () => process.removeListener('exit', clear)];
  try {
    return await work({ root, scratch, full, after: (ending) => endings.push(ending) });
  } finally {
    for (const ending of endings.reverse()) await ending();
  }
}
