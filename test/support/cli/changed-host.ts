// Loaded before the server: makes its host one whose clock is ahead, or whose disk fails, as a file says. Reads it again
// at SIGUSR2, and says so.
import fs, { readFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';

const path = process.env['CHANGED_HOST'] ?? '';
let { ahead, failing } = { ahead: 0, failing: false };

function look(): void {
  ({ ahead, failing } = JSON.parse(readFileSync(path, 'utf8')));
}

function failIfItDoes(): void {
  if (failing) throw Object.assign(new Error('EIO: made to fail'), { code: 'EIO' });
}

look();
process.on('SIGUSR2', () => {
  look();
  process.stderr.write(`changed ${JSON.stringify({ ahead, failing })}\n`);
});

const { now } = Date;
Date.now = () => now() + ahead;

const handle = await open(path);
const prototype = Object.getPrototypeOf(handle);
await handle.close();
for (const name of ['sync', 'datasync']) {
  const before = prototype[name];
  prototype[name] = async function (...given: unknown[]): Promise<void> {
    failIfItDoes();
    await before.apply(this, given);
  };
}
const { fdatasync, fdatasyncSync } = fs;
fs.fdatasync = Object.assign((descriptor: number, done: fs.NoParamCallback) => {
  try {
    failIfItDoes();
  } catch (error) {
    done(error instanceof Error ? error : new Error(String(error)));
    return;
  }
  fdatasync(descriptor, done);
}, fdatasync);
fs.fdatasyncSync = (descriptor) => {
  failIfItDoes();
  fdatasyncSync(descriptor);
};
syncBuiltinESMExports();
