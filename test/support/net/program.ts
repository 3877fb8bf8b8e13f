import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { TestContext } from 'node:test';

/** What a test says when it is skipped because this program is not installed; false when it is. */
export function missing(program: string): string | false {
  const folders = process.env['PATH']?.split(delimiter) ?? [];
  const isInstalled = folders.some((folder) => existsSync(join(folder, program)));
  return isInstalled ? false : `${program} is not installed`;
}

/** A program that serves until it is stopped. */
export interface Program {
  readonly program: string;
  readonly args: readonly string[];
  /** What it reports when it is ready. */
  readonly ready: RegExp;
}

/** nginx with the file nginx.conf of its folder. */
export const nginx: Program = {
  program: 'nginx',
  args: ['-p', '.', '-c', 'nginx.conf', '-g', 'daemon off; error_log stderr notice;'],
  ready: /start worker process /,
};

/** Starts a program in a folder and waits until it is ready. It is stopped after the test. */
export async function startProgram(
  context: TestContext,
  { program, args, ready }: Program,
  folder: string,
): Promise<void> {
  const env = { ...process.env, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder };
  const child = spawn(program, args, { cwd: folder, env, stdio: ['ignore', 'ignore', 'pipe'] });
  context.after(async () => {
    child.kill();
    if (child.exitCode === null) await once(child, 'exit');
  });
  let output = '';
  for await (const chunk of child.stderr.setEncoding('utf8').iterator({ destroyOnReturn: false })) {
    output += chunk;
    if (ready.test(output)) {
      child.stderr.resume();
      return;
    }
  }
  assert.fail(`${program} ended: ${output}`);
}
