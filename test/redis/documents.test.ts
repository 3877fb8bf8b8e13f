import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { readPage, root } from '../support/documents/markdown.ts';
import { freePort, libraries, redisMissing, startRedis } from '../support/redis/server.ts';
import { installedFolder } from '../support/schemes/clients/declared.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const skip = redisMissing();

test('the scripts of docs/redis.md run in order with the built package', { skip }, async (context) => {
  const folder = temporaryDirectory(context);
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(root, join(folder, 'node_modules/countersign'));
  for (const name of libraries) symlinkSync(installedFolder(name), join(folder, 'node_modules', name));
  const port = await freePort();
  await startRedis(context, '--port', String(port));
  const outputs: string[] = [];
  const scripts = readPage('docs/redis.md').blocks.filter(({ language }) => language === 'ts');
  for (const [at, { text: script }] of scripts.entries()) {
    const file = join(folder, `${at}.mjs`);
    writeFileSync(file, script);
    const env = { ...process.env, NODE_OPTIONS: '', REDIS_URL: `redis://127.0.0.1:${port}` };
    const child = spawn(process.execPath, [file], {
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
      timeout: 240_000,
    });
    outputs.push((await text(child.stdout)).replace(/\d{4,5}(?=\n)/, 'PORT'));
  }
  assert.deepEqual(outputs, ['true\n', 'http://127.0.0.1:PORT\n', 'fresh\nseen\n']);
});
