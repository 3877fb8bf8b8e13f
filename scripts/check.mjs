// Checks types, format and lint, and builds dist, all at the same time. Prints what each reports when it has ended, and exits
// non-zero if one of them fails.
import { spawn } from 'node:child_process';
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

const passed = await Promise.all(['build', 'check', 'lint'].map(run));
if (passed.includes(false)) process.exitCode = 1;
