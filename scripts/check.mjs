// Checks types, format and lint, and builds dist unless it is newer than its sources, all at the same time. Prints what each
// reports when it has ended, and exits non-zero if one of them fails.
import { spawn } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';

/** Runs a script of package.json. Returns whether it succeeded. */
function run(script) {
  const child = spawn(npm, ['run', '--silent', script], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
    shell: process.platform === 'win32',
  });
  const output = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => output.push(chunk));
  return new Promise((resolve) => {
    child.on('close', (status) => {
      process.stdout.write(Buffer.concat(output));
      console.log(`${script}: ${status === 0 ? 'passed' : 'FAILED'}`);
      resolve(status === 0);
    });
  });
}

/** Returns whether dist was built after every change of what it is built from; `npm ci` builds it. */
function isBuilt() {
  const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' }).map((name) =>
    join('src', name),
  );
  const others = [
    'src',
    'package.json',
    'package-lock.json',
    'scripts/build.mjs',
    'scripts/declarations.mjs',
    'tsconfig.json',
    'tsconfig.build.json',
  ];
  const changedAt = (name) => statSync(join(root, name), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const last = Math.max(...[...sources, ...others].map(changedAt));
  return ['dist/server.js', 'dist/esm/index.d.ts', 'dist/cjs/index.d.ts'].every(
    (name) => changedAt(name) > last,
  );
}

const steps = isBuilt() ? ['check', 'lint'] : ['build', 'check', 'lint'];
const passed = await Promise.all(steps.map(run));
if (passed.includes(false)) process.exitCode = 1;
