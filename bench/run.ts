/** Runs benchmarks one after the other: `npm run bench`, or `npm run bench -- NAME…`. See bench/README.md. */
import { existsSync, readdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { ArgumentError, readArguments, usage, type Wish } from './measure/arguments.ts';
import type { Benchmark } from './measure/benchmark.ts';
import { type CompiledTree, compileTree } from './measure/parts/compiled-tree.ts';
import { build, checkOut, type Worktree } from './measure/parts/worktree.ts';
import { progressOn } from './measure/progress.ts';
import { compareTrees } from './measure/results/against.ts';
import { headlines, topics } from './measure/results/headlines.ts';
import { keepResult, publish, readResults } from './measure/results/publish.ts';
import { reportText } from './measure/results/report.ts';
import { asText } from './measure/results/table.ts';
import { runBenchmark, type Setting } from './measure/run-benchmark.ts';

const bench = import.meta.dirname;
const root = join(bench, '..');
const ending = '.bench.ts';

/** The order of the benchmarks on the page; others come last. */
const order = ['load/', 'growth/', 'in-process', 'start', 'signature', 'nonces', 'refusals'];

const all = readdirSync(bench, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith(ending) && !path.includes('node_modules'))
  .map((path) => path.slice(0, -ending.length))
  .sort((one, other) => placeOf(one) - placeOf(other) || (one < other ? -1 : 1));

function placeOf(name: string): number {
  const place = order.findIndex((start) => name.startsWith(start));
  return place < 0 ? order.length : place;
}

// With this variable, each process reads certificate authorities at its start, which takes longer than the rest of the
// start.
delete process.env['NODE_EXTRA_CA_CERTS'];
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));
try {
  await main(readArguments(process.argv.slice(2)));
} catch (error) {
  if (!(error instanceof ArgumentError)) throw error;
  console.error(`${error.message}\n\n${usage}`);
  process.exitCode = 2;
}

async function main(wish: Wish): Promise<void> {
  if (wish.help) return console.log(usage);
  const names = all.filter((name) => wish.names.length === 0 || wish.names.some((word) => fits(name, word)));
  if (names.length === 0) throw new ArgumentError(`no benchmark matches ${wish.names.join(', ')}`);
  if (wish.list) return console.log(listWithDurations(names));
  if (wish.against !== undefined) return compare(names, wish, wish.against);
  if (wish.publish) return publish(bench, { names: all, headlines, topics });
  const tree = compileTree(root);
  for (const name of names) {
    // An error is reported, and the remaining benchmarks run.
    await run(name, settingOf(name, wish, tree)).catch((error: unknown) => {
      console.error(`\n${name} failed:`, error);
      process.exitCode = 1;
    });
  }
  tree.remove();
}

/** Returns the names, with the duration of the last run of each that has one. */
function listWithDurations(names: readonly string[]): string {
  const directory = join(bench, 'results');
  const results = existsSync(directory) ? readResults(directory, names) : [];
  const seconds = new Map(results.map((result) => [result.name, result.seconds]));
  const width = Math.max(...names.map(({ length }) => length));
  const lines = names.map((name) => {
    const last = seconds.get(name);
    return last === undefined ? name : `${name.padEnd(width)}  ${last} s`;
  });
  return lines.join('\n');
}

/** A complete name selects one benchmark, a part of a name all that contain it. */
function fits(name: string, word: string): boolean {
  return all.includes(word) ? name === word : name.includes(word);
}

async function run(name: string, setting: Setting): Promise<void> {
  const benchmark = await loaded(name);
  const result = await runBenchmark(benchmark, setting);
  if (typeof result === 'string') return console.log(`\n${name}: nothing is measured: ${result}`);
  const chart = keepResult(join(bench, 'results'), result);
  console.log(`\n${reportText(result)}\n\nchart: ${relative(process.cwd(), chart)}`);
  if (result.verdicts.some(({ met }) => !met)) process.exitCode = 1;
}

function settingOf(name: string, { full, rounds }: Wish, tree: CompiledTree): Setting {
  return { name, root: tree.root, full, rounds, progress: progressOn(process.stderr) };
}

async function loaded(name: string): Promise<Benchmark> {
  const { benchmark }: { benchmark: Benchmark } = await import(`./${name}${ending}`);
  return benchmark;
}

/** Compiles a commit with this `bench/`; with its own one if its modules have other names than those that this one imports. */
function compileOther(other: Worktree): CompiledTree {
  try {
    return compileTree(other.root, { check: true });
  } catch {
    console.log(`${other.commit} is measured with its own bench/: this one does not compile there.`);
    other.takeOwnBench();
    return compileTree(other.root);
  }
}

async function compare(names: readonly string[], wish: Wish, ref: string): Promise<void> {
  const other = checkOut(root, ref);
  process.once('exit', other.remove);
  try {
    if (names.some((name) => name.endsWith('start'))) for (const tree of [other.root, root]) build(tree);
    const [before, now] = [compileOther(other), compileTree(root)];
    const moved: string[] = [];
    for (const name of names) {
      const found = await compareTrees(await loaded(name), settingOf(name, wish, now), before.root);
      if (typeof found === 'string') console.log(`\n${name}: nothing is measured: ${found}`);
      else if (found.table.rows.length > 0) {
        console.log(`\n${name}: the working tree beside ${other.commit}\n\n${asText(found.table)}`);
        moved.push(...found.moved.map((line) => `  ${name}: ${line}`));
      }
    }
    console.log(
      moved.length === 0
        ? '\nNothing moved beyond the noise.'
        : `\nMoved beyond the noise:\n${moved.join('\n')}`,
    );
    for (const tree of [before, now]) tree.remove();
  } finally {
    process.removeListener('exit', other.remove);
    other.remove();
  }
}

if (!existsSync(join(bench, 'node_modules'))) {
  console.log('\nPeers are not installed, and left out: npm ci --prefix bench installs them.');
}
