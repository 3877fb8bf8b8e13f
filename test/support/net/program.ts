import { spawnSync } from 'node:child_process';

/** What a test says when it is skipped because this program is not installed; false when it is. */
export function missing(program: string): string | false {
  const { error } = spawnSync(program, ['--version'], { stdio: 'ignore' });
  return error === undefined ? false : `${program} is not installed`;
}
