// Loaded into each process of a run with --times: writes what the process took to the folder TEST_TIMES when it ends.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const folder = process.env['TEST_TIMES'];
// Programs that the tests start inherit the options of Node.js, but not this variable.
delete process.env['TEST_TIMES'];
if (folder !== undefined && process.env['NODE_TEST_CONTEXT'] !== undefined) {
  const startedAt = performance.now();
  process.on('exit', () => {
    const { user, system } = process.cpuUsage();
    const times = {
      script: process.argv[1],
      own: (user + system) / 1e6,
      programs: readTimeOfPrograms(),
      elapsed: (performance.now() - startedAt) / 1000,
    };
    writeFileSync(join(folder, `${process.pid}.json`), JSON.stringify(times));
  });
}

/** Returns the processor time (s) of the programs that this process started and that ended; undefined outside of Linux. */
function readTimeOfPrograms() {
  try {
    const text = readFileSync('/proc/self/stat', 'latin1');
    // After the name: cutime and cstime, in hundredths of a second (proc_pid_stat(5)).
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[13]) + Number(fields[14])) / 100;
  } catch {
    return undefined;
  }
}
