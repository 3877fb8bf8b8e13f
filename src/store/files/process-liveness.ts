import { readFile } from 'node:fs/promises';
import { errorCode } from './disk.ts';

/** The highest possible process id. */
const maxPid = 0x7fffffff;

/** Identifies a process, also among those with the same id. `started` is missing if the host does not provide it. */
export interface ProcessIdentity {
  readonly pid: number;
  /** The start of the process: the boot id and the number of clock ticks since boot. */
  readonly started?: string;
}

/** Returns the id of the current boot of the host; undefined if the host does not provide one. */
export async function bootId(): Promise<string | undefined> {
  if (process.platform !== 'linux') return undefined;
  try {
    return (await readFile('/proc/sys/kernel/random/boot_id', 'latin1')).trim();
  } catch {
    return undefined;
  }
}

/** Returns the identity of this process. */
export async function readOwnProcess(): Promise<ProcessIdentity> {
  const status = await processStatus(process.pid);
  return status === undefined ? { pid: process.pid } : { pid: process.pid, started: status.started };
}

/** Returns whether a process is running, or may be. */
export async function isRunning({ pid, started }: ProcessIdentity): Promise<boolean> {
  if (!Number.isSafeInteger(pid) || pid < 1 || pid > maxPid || !exists(pid)) return false;
  const status = await processStatus(pid);
  if (status === undefined) return exists(pid);
  // A zombie has ended, and waits for its parent to read its status.
  if (status.state === 'Z' || status.state === 'X') return false;
  return started === undefined || started === status.started;
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errorCode(error) !== 'ESRCH';
  }
}

/** Returns the state of a process on Linux (proc(5): field 3) and its start (field 22, in clock ticks since boot). */
async function processStatus(pid: number): Promise<{ state: string; started: string } | undefined> {
  const boot = await bootId();
  if (boot === undefined) return undefined;
  try {
    const text = await readFile(`/proc/${pid}/stat`, 'latin1');
    // Field 2 is the command in parentheses. It may contain parentheses and spaces.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    const [state, ticks] = [fields[0], fields[19]];
    return state === undefined || ticks === undefined ? undefined : { state, started: `${boot}/${ticks}` };
  } catch {
    return undefined;
  }
}
