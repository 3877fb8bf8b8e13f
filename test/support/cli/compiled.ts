import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { build } from 'esbuild';
import { temporaryDirectory } from '../temporary-directory.ts';
import { root } from './command.ts';
import { createNoticeText } from './notices.ts';

/** Bundles a file of this directory and all that it imports into one script, which starts sooner. Returns its path. */
export async function compiled(file: string): Promise<string> {
  const path = join(temporaryDirectory(), file.replace(/\.ts$/, '.cjs'));
  const entry = join(root, 'test', 'support', 'cli', file);
  await build({
    entryPoints: [entry],
    outfile: path,
    bundle: true,
    platform: 'node',
    format: 'cjs',
    logOverride: { 'empty-import-meta': 'silent' }, // of the files of the console, which no test of a bundle requests
  });
  return path;
}

/** A server that was started. */
export interface Server {
  readonly child: ChildProcess;
  /** Resolves when it is ready; rejects when it ends instead. */
  readonly ready: Promise<void>;
  readonly port: number;
  /** Its exit status; null when it was killed. */
  readonly ended: Promise<number | null>;
  /** What it said on standard error. */
  told(): string;
}

/** Starts a server that was compiled. */
export function startCompiled(path: string, ...args: readonly string[]): Server {
  const child = spawn(process.execPath, [path, ...args], { stdio: ['ignore', 'pipe', 'pipe'], env: {} });
  const ended = once(child, 'close').then(([status]): number | null => status);
  let [stdout, stderr, port] = ['', '', 0];
  const asText = createNoticeText();
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    stderr += asText(chunk);
  });
  const ready = new Promise<void>((resolve, reject) => {
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      stdout += chunk;
      port = Number(/^Countersign is ready: http:\/\/127\.0\.0\.1:([0-9]+)\n/.exec(stdout)?.[1] ?? 0);
      if (port > 0) resolve();
    });
    ended.then((status) => reject(new Error(`it ended with ${status}: ${stderr}`)));
  });
  ready.catch(() => {}); // whoever kills it does not wait for it
  return {
    child,
    ready,
    get port() {
      return port;
    },
    ended,
    told: () => stderr,
  };
}
