import { spawnSync } from 'node:child_process';

/** Whether a program is installed: what a test says when it is skipped for the lack of it, else false. */
export function missing(program: string, ...args: readonly string[]): string | false {
  const { error, status } = spawnSync(program, args.length > 0 ? args : ['--version'], { stdio: 'ignore' });
  return error !== undefined || status !== 0 ? `${program} is not installed` : false;
}
