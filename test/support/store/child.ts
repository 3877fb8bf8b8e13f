import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { modulePath, reading } from '../program.ts';

/** A process that runs a file of this directory. */
export interface Child {
  readonly pid: number;
  /** The next line it prints; undefined when it has ended. */
  line(): Promise<string | undefined>;
  send(line: string): void;
  /** Ends it as `kill -9` does; resolves when all it printed can be read. */
  kill(): Promise<void>;
}

/** Starts one with these arguments. */
export function startChild(file: string, ...args: string[]): Child {
  const child: ChildProcessByStdio<Writable, Readable, null> = spawn(
    process.execPath,
    [...reading, modulePath(`test/support/store/${file}`), ...args],
    { stdio: ['pipe', 'pipe', 'inherit'], env: { ...process.env, NODE_OPTIONS: '' } },
  );
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    pid: child.pid ?? 0,
    async line() {
      const { value, done } = await lines.next();
      return done ? undefined : String(value);
    },
    send: (line) => void child.stdin.write(`${line}\n`),
    async kill() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
}
