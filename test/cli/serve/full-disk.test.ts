import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { command, root } from '../../support/cli/command.ts';

/** The exit status by which the script says that it cannot do this here. */
const skipped = 77;

for (const [kind, what] of [
  ['tmpfs', 'a file system without room'],
  ['ulimit', 'a file that may not grow'],
]) {
  test(`${what} causes 507 responses to changes, reads succeed, and nothing is lost`, async (context) => {
    const env = { ...process.env, NODE_OPTIONS: '', COMMAND: [process.execPath, ...command].join(' ') };
    const script = join(root, 'scripts', 'full-disk.sh');
    const { status, said } = await new Promise<{ status: number; said: string }>((resolve) => {
      execFile('sh', [script, kind ?? ''], { env }, (error, stdout, stderr) => {
        resolve({ status: error === null ? 0 : Number(error.code), said: stdout + stderr });
      });
    });
    if (status === skipped) context.skip(said);
    else assert.equal(status, 0, said);
  });
}
