import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { isRunning, readOwnProcess } from '../../../src/store/files/process-liveness.ts';

const linux = process.platform === 'linux' ? false : 'only Linux tells';

describe('a process', () => {
  test('is running if it is this one, and is not running if it has ended', async () => {
    assert.equal(await isRunning(await readOwnProcess()), true);
    assert.equal(await isRunning({ pid: process.pid }), true);
    assert.equal(await isRunning({ pid: spawnSync(process.execPath, ['--version']).pid }), false);
  });

  test('is not running if its id is invalid', async () => {
    for (const pid of [0, -1, 1.5, Number.NaN, 2 ** 32 + process.pid]) {
      assert.equal(await isRunning({ pid }), false, String(pid));
    }
  });

  test('is not running if its id belongs to a process with another start time', { skip: linux }, async () => {
    assert.equal(await isRunning({ pid: process.pid, started: 'x/1' }), false);
  });

  test('is not running if it is a zombie', { skip: linux }, async () => {
    // The shell starts a process, prints its id and becomes one that never waits for it.
    const parent = spawn('sh', ['-c', 'cat <&3 & echo $!; exec sleep 60 3<&-'], {
      stdio: ['ignore', 'pipe', 'ignore', 'pipe'],
    });
    try {
      const [line] = await once(parent.stdout ?? assert.fail(), 'data');
      const pid = Number(String(line));
      while (readFileSync(`/proc/${parent.pid}/comm`, 'latin1') !== 'sleep\n');
      assert.equal(await isRunning({ pid }), true);
      parent.stdio[3]?.destroy();
      while (!/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'))) await setImmediate();
      assert.equal(await isRunning({ pid }), false);
    } finally {
      parent.kill();
    }
  });
});
