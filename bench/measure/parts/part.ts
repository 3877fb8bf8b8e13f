/** A part of a benchmark in its own process: the `part` of a file answers orders. Started by `startPart`. */
import { type ChildProcess, type StdioOptions, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import type { Contestant, Sample, Stage } from '../benchmark.ts';

/** Answers an order, a line of words, with numbers. */
export type Answer = (...order: string[]) => Sample | Promise<Sample>;

/** The `part` that a file exports. Throws the error of `require` if a package is not installed. */
export type PartOf = (...words: string[]) => Answer | Promise<Answer>;

/** A running part. */
export interface Part {
  readonly pid: number;
  /** Sends an order. Rejects with the error of the part. */
  ask(...order: string[]): Promise<Sample>;
  /** Binds the process to a core, if there are two cores and `taskset`. */
  keepTo(core: number): void;
  stop(): Promise<void>;
}

/** A message of a part. */
export type Message =
  | { readonly sample: Sample }
  | { readonly absent: string }
  | { readonly failure: string };

/** Options of a part's process. */
export interface PartOptions {
  /** Options of Node.js. */
  readonly node?: readonly string[];
}

/** Returns the path of a file of `bench/` in a compiled tree. */
const compiled = (root: string, file: string): string => join(root, 'bench', file.replace(/\.ts$/, '.js'));
const canPin = availableParallelism() > 1 && spawnSync('taskset', ['-V']).error === undefined;

/**
 * Starts a part of the measured tree; `file` is its path in `bench/`. The part stops when the stage is closed. Resolves
 * to a text if its package is not installed.
 */
export async function startPart(
  stage: Stage,
  file: string,
  words: readonly string[],
  { node = [] }: PartOptions = {},
): Promise<Part | string> {
  const files = ['measure/parts/hold-part.ts', file].map((each) => compiled(stage.root, each));
  const args = ['--expose-gc', '--no-deprecation', ...node, ...files, ...words];
  const stdio: StdioOptions = ['ignore', 'ignore', 'inherit', 'ipc'];
  const child = spawn(process.execPath, args, { stdio, cwd: stage.root });
  const pid = child.pid ?? 0;
  const keepTo = (core: number): void => {
    if (canPin) spawnSync('taskset', ['-a', '-c', '-p', String(core), String(pid)]);
  };
  const part = { pid, ask: asker(child), keepTo, stop: () => stop(child) };
  stage.after(part.stop);
  const message = await answerOf(child);
  if ('absent' in message) return message.absent;
  if ('failure' in message) throw new Error(`${file} ${words.join(' ')}: ${message.failure}`);
  return part;
}

/** Runs orders one after the other, even if several are given at once. */
function asker(child: ChildProcess): Part['ask'] {
  const ask = async (order: readonly string[]): Promise<Sample> => {
    const answer = answerOf(child);
    child.send(order);
    const message = await answer;
    if ('sample' in message) return message.sample;
    throw new Error('failure' in message ? message.failure : message.absent);
  };
  let before: Promise<unknown> = Promise.resolve();
  return (...order) => {
    const asked = before.then(() => ask(order));
    before = asked.catch(() => undefined);
    return asked;
  };
}

async function answerOf(child: ChildProcess): Promise<Message> {
  const settled = new AbortController();
  const { signal } = settled;
  const ended = once(child, 'exit', { signal }).then(([code]): [Message] => [
    { failure: `its process ended with ${code}` },
  ]);
  const answered: Promise<Message[]> = once(child, 'message', { signal });
  for (const each of [ended, answered]) each.catch(() => undefined);
  const [message] = await Promise.race([answered, ended]);
  settled.abort();
  return message ?? { failure: 'the process ended without a message' };
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}

/** The description of a part. */
export interface Work extends PartOptions {
  /** Its path in `bench/`. */
  readonly file: string;
  readonly words: readonly string[];
}

/** The identity of a contestant. */
export type Name = Pick<Contestant, 'name' | 'ours' | 'size'>;

/**
 * Creates contestants that share one part, which is started when it is first used. The rounds of each contestant are
 * one order. A contestant without figures is skipped.
 */
export function sharedPart(stage: Stage, work: Work): (name: Name, order: readonly string[]) => Contestant {
  let running: Promise<Part | string> | undefined;
  return (name, order) => ({
    ...name,
    warmsUp: 'beside others',
    async measure() {
      running ??= startPart(stage, work.file, work.words, work);
      const part = await running;
      return typeof part === 'string' ? part : resultOf(await part.ask(...order));
    },
  });
}

/** Creates a contestant with a new process for each round, to measure first runs. */
export function freshPart(stage: Stage, work: Work, name: Name, order: readonly string[]): Contestant {
  return {
    ...name,
    warmsUp: 'never',
    async measure() {
      const part = await startPart(stage, work.file, work.words, work);
      if (typeof part === 'string') return part;
      const sample = await part.ask(...order);
      await part.stop();
      return resultOf(sample);
    },
  };
}

function resultOf(sample: Sample): Sample | string {
  return Object.keys(sample).length === 0 ? 'it does not do this' : sample;
}
