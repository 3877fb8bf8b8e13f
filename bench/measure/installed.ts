import { cpSync, realpathSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Stage } from './benchmark.ts';

/** Copies `dist` as a tarball has it, without what is of use to the build of Node.js alone that made it; gives where it is. */
export function installed({ root, scratch }: Stage): string {
  const copy = join(scratch, 'dist');
  cpSync(realpathSync(join(root, 'dist')), copy, { recursive: true });
  for (const name of ['node.build', 'modules.cache', 'command.cache'])
    rmSync(join(copy, name), { force: true });
  return copy;
}
