import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import test from 'node:test';
import { modulePath, reading } from '../support/program.ts';
import { long } from '../support/store/thoroughness.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const library = modulePath('src/double/index.ts');
const count = long ? 1000 : 300;

/** In a process of its own, so that all there is in it is the doubles'. */
const text = `
  import { existsSync, readdirSync } from 'node:fs';
  import { startDouble } from ${JSON.stringify(library)};
  const round = async (count) => {
    for (let at = 0; at < count; at += 1) {
      const double = await startDouble({ users: ['ann'], https: at % 4 === 0 });
      const reply = await double.as('ann').fetch('/articles');
      if (reply.status !== 200) throw new Error('answered ' + reply.status);
      await double.close();
    }
    // The system lets go of a port at the end of its turn.
    for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    gc();
    const handles = process.getActiveResourcesInfo().length;
    const files = existsSync('/proc/self/fd') ? readdirSync('/proc/self/fd').length : 0;
    return { handles, files, heap: process.memoryUsage().heapUsed };
  };
  await round(100);
  const before = await round(100);
  const after = await round(${count});
  const growth = Object.keys(before).map((name) => [name, after[name] - before[name]]);
  console.log(JSON.stringify(Object.fromEntries(growth)));`;

test('hundreds of doubles one after the other leave no handle, no file and no memory behind', (t) => {
  const cwd = temporaryDirectory(t);
  const args = ['--expose-gc', ...reading, '--input-type=module', '-e', text];
  const env = { ...process.env, NODE_OPTIONS: '', NODE_V8_COVERAGE: '' };
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd, env, encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  const { handles, files, heap } = JSON.parse(stdout);
  t.diagnostic(`the heap grew by ${heap} bytes`);
  assert.deepEqual({ handles, files, written: readdirSync(cwd) }, { handles: 0, files: 0, written: [] });
  // A double that is held has some 200 KB; what V8 compiles and caches meanwhile is up to 2 MB.
  assert.ok(heap < 4_000_000, `the heap grew by ${heap} bytes`);
});
