import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { mkdirSync, openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { withOutputErrors } from '../../src/cli/output-errors.ts';
import { findHolder } from '../../src/store/files/lock.ts';
import { command, root } from '../support/cli/command.ts';
import { begun, History } from '../support/store/history.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

/** A data directory whose export is larger than the buffer of a pipe. */
function largeDirectory(): string {
  const history = new History();
  const value = { title: 'x'.repeat(1000), price: { currency: 'EUR', value: '1.00' } };
  for (let count = 0; count < 1000; count++)
    history.add({ kind: 'create', collection: '/articles', value, at: begun });
  const data = join(temporaryDirectory(), 'data');
  mkdirSync(data, { mode: 0o700 });
  for (const [name, content] of history.files) writeFileSync(join(data, name), content, { mode: 0o600 });
  return data;
}

interface Ended {
  readonly status: number | null;
  readonly stderr: string;
}

/** Runs the command; its output is a file descriptor, or a pipe that is closed after the first chunk. */
async function runWith(args: readonly string[], output: number | 'pipe'): Promise<Ended> {
  const child = spawn(process.execPath, [...command, ...args], {
    cwd: root,
    stdio: ['ignore', output, 'pipe'],
  });
  child.stdout?.once('data', () => child.stdout?.destroy());
  let stderr = '';
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
    stderr += chunk;
  });
  const [status] = await once(child, 'close');
  return { status: typeof status === 'number' ? status : null, stderr };
}

describe('an error of standard output', () => {
  test('ends an export quietly, as SIGPIPE does, if the reader closes the pipe', async () => {
    const data = largeDirectory();
    assert.deepEqual(await runWith(['export', '--data', data], 'pipe'), { status: 141, stderr: '' });
    assert.equal(await findHolder(data), undefined, 'the lock is released');
  });

  const full = process.platform === 'linux' ? false : 'there is no /dev/full';
  for (const args of [['--help'], ['--version'], ['export', '--data', largeDirectory()]]) {
    test(`is reported in one line if the disk is full: ${args[0]}`, { skip: full }, async () => {
      assert.deepEqual(await runWith(args, openSync('/dev/full', 'w')), {
        status: 1,
        stderr: 'countersign: standard output cannot be written (ENOSPC)\n',
      });
    });
  }

  test('sets the exit status even if it is emitted after the command has ended', async () => {
    const written: string[] = [];
    const stderr = Object.assign(new EventEmitter(), { write: (text: string) => written.push(text) });
    const output: Parameters<typeof withOutputErrors>[0] = { stdout: new EventEmitter(), stderr };
    assert.equal(await withOutputErrors(output, async () => 0), 0);
    output.stdout.emit('error', Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }));
    assert.equal(output.exitCode, 141);
    stderr.emit('error', new Error('ignored'));
    assert.deepEqual(written, []);
  });

  test('takes precedence over the status of the command', async () => {
    const stderr = Object.assign(new EventEmitter(), { write: () => {} });
    const stdout = new EventEmitter();
    const status = await withOutputErrors({ stdout, stderr }, async () => {
      stdout.emit('error', Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }));
      return 1;
    });
    assert.equal(status, 141);
  });
});
