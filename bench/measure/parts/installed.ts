import { cpSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import type { Stage } from '../benchmark.ts';

/** Copies `dist`, as a tarball has all of it, to a place outside the repository; returns where it is. */
export function installed({ root, scratch }: Stage): string {
  const copy = join(scratch, 'dist');
  cpSync(realpathSync(join(root, 'dist')), copy, { recursive: true });
  return copy;
}
