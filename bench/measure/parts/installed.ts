import { cpSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import type { Stage } from '../benchmark.ts';

/** Copies the files of the package to a directory outside the repository, as an installation does. Returns its path. */
export function installed({ root, scratch }: Stage): string {
  const copy = join(scratch, 'dist');
  cpSync(realpathSync(join(root, 'dist')), copy, { recursive: true });
  return copy;
}
