// Loaded before a command: kills its process at the change to the file system whose number is KILL_AT.
import promises from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';

let left = Number(process.env['KILL_AT'] ?? 0);

function countDown(): void {
  left -= 1;
  if (left === 0) process.kill(process.pid, 'SIGKILL');
}

for (const name of ['rename', 'rm', 'rmdir', 'unlink', 'mkdir', 'link'] as const) {
  const before = promises[name];
  Reflect.set(promises, name, (...given: unknown[]) => {
    countDown();
    return Reflect.apply(before, promises, given);
  });
}
syncBuiltinESMExports();
