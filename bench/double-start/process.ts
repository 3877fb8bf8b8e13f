import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Sample } from '../measure/benchmark.ts';

/** Runs a script with `node -e`. Returns the figures that it prints, and the duration of the process as `wall` (ns). */
export async function runScript(root: string, script: string): Promise<Sample> {
  const begun = performance.now();
  const { stdout } = await promisify(execFile)(process.execPath, ['-e', script], {
    cwd: join(root, 'bench'),
  });
  return { wall: (performance.now() - begun) * 1e6, ...JSON.parse(stdout) };
}
