import { readFile } from 'node:fs/promises';
import { errorCode } from './disk.ts';

/** The highest process id any system gives. */
const highestPid = 0x7fffffff;

/** Tells a process from any other that ever had its id; without `started` where the host does not say. */
export interface ProcessIdentity {
  readonly pid: number;
  /** When it was started: the boot's id and the clock ticks since. */
  readonly started?: string;
}

/** What names the time from one start of the host to the next; undefined where the host does not say. */
export async function bootId(): Promise<string | undefined> {
  if (process.platform !== 'linux') return undefined;
  try {
    return (await readFile('/proc/sys/kernel/random/boot_id', 'latin1')).trim();
  } catch {
    return undefined;
  }
}

/** The mark of this process. */
export async function ownProcess(): Promise<ProcessIdentity> {
  const status = await processStatus(process.pid);
  return status === undefined ? { pid: process.pid } : { pid: process.pid, started: status.started };
}

/** Whether a process still runs. Where that cannot be told it is taken to. */
export async function isRunning({ pid, started }: ProcessIdentity): Promise<boolean> {
  if (!Number.isSafeInteger(pid) || pid < 1 || pid > highestPid || !exists(pid)) return false;
  const status = await processStatus(pid);
  if (status === undefined) return exists(pid);
  // A zombie has ended and holds nothing; it only waits for its parent to look.
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

/** What Linux tells of a process (proc(5)): field 3 is its state, field 22 the ticks from boot to its start. */
async function processStatus(pid: number): Promise<{ state: string; started: string } | undefined> {
  const boot = await bootId();
  if (boot === undefined) return undefined;
  try {
    const text = await readFile(`/proc/${pid}/stat`, 'latin1');
    // Field 2 is the command in brackets and may hold brackets and spaces itself.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    const [state, ticks] = [fields[0], fields[19]];
    return state === undefined || ticks === undefined ? undefined : { state, started: `${boot}/${ticks}` };
  } catch {
    return undefined;
  }
}
