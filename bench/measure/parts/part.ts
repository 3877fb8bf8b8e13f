/**
 * A part of a benchmark in a process of its own: `part` of a file answers orders as long as it is asked. Run by `startPart`.
 */
import { type ChildProcess, type StdioOptions, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import type { Contestant, Sample, Stage } from '../benchmark.ts';

/** Answers an order: a line of words, with numbers. */
export type Answer = (...order: string[]) => Sample | Promise<Sample>;

/** What a file exports as `part`. Throws what `require` does where a package is not installed. */
export type PartOf = (...words: string[]) => Answer | Promise<Answer>;

/** A part that runs. */
export interface Part {
  readonly pid: number;
  /** Rejects with the part's own error. */
  ask(...order: string[]): Promise<Sample>;
  /** Keeps it to a core from now on, where there are two and `taskset`. */
  keepTo(core: number): void;
  stop(): Promise<void>;
}

/** What a part says of itself. */
export type Message =
  | { readonly sample: Sample }
  | { readonly absent: string }
  | { readonly failure: string };

/** How a part is run. */
export interface PartOptions {
  /** Options of Node itself. */
  readonly node?: readonly string[];
}

/** Where a file of `bench/` stands in a tree that was compiled. */
const compiled = (root: string, file: string): string => join(root, 'bench', file.replace(/\.ts$/, '.js'));
const canPin = availableParallelism() > 1 && spawnSync('taskset', ['-V']).error === undefined;

/** A command that is kept to a core, where there are two and `taskset`. */
export function keptTo(core: number, command: readonly string[]): readonly string[] {
  return canPin ? ['taskset', '-c', String(core), ...command] : command;
}

/**
 * Starts a part of the tree that is measured; `file` is its path there, from `bench/`. It is stopped with the stage.
 * Resolves with a text when its package is not installed.
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

/** One order after the other, also where several are given at once. */
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
  return message ?? { failure: 'it said nothing' };
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}

/** What a part is started with. */
export interface Work extends PartOptions {
  /** Its path from `bench/`. */
  readonly file: string;
  readonly words: readonly string[];
}

/** Who somebody is among the contestants. */
export type Name = Pick<Contestant, 'name' | 'ours' | 'size'>;

/**
 * Makes contestants that share one part, which is started when it is first needed; the rounds of each are one order. What gives
 * no figures does not do this.
 */
export function sharedPart(stage: Stage, work: Work): (name: Name, order: readonly string[]) => Contestant {
  let running: Promise<Part | string> | undefined;
  return (name, order) => ({
    ...name,
    warmsUp: 'beside others',
    async measure() {
      running ??= startPart(stage, work.file, work.words, work);
      const part = await running;
      return typeof part === 'string' ? part : told(await part.ask(...order));
    },
  });
}

/** A contestant with a fresh process for every round, for what only the first time shows. */
export function freshPart(stage: Stage, work: Work, name: Name, order: readonly string[]): Contestant {
  return {
    ...name,
    warmsUp: 'never',
    async measure() {
      const part = await startPart(stage, work.file, work.words, work);
      if (typeof part === 'string') return part;
      const sample = await part.ask(...order);
      await part.stop();
      return told(sample);
    },
  };
}

function told(sample: Sample): Sample | string {
  return Object.keys(sample).length === 0 ? 'it does not do this' : sample;
}
