// Measures which places of the sources each test file executes, for mutate.mjs and quick.mjs.
import { spawn } from 'node:child_process';
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { compiled } from './compile.mjs';
import { findTestFiles } from './test-files.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');

/** Where the compiled modules are copied to: one copy for each process that runs at the same time. */
const folder = join(root, 'coverage', 'mutation');

/** Test files that do not execute the compiled sources in their own process, or take too long to run them once per change. */
const excluded = [
  'architecture',
  'bench/',
  'console/',
  'documents/',
  'hosts/',
  'http/linear-time',
  'package/',
  'packaging/',
];

/** Returns the path of a copy of the compiled modules. */
export const copy = (job) => join(folder, `${job}`);

/** Copies the compiled modules once for each process. */
export function createCopies(jobs) {
  for (let job = 0; job < jobs; job += 1) {
    rmSync(copy(job), { recursive: true, force: true });
    cpSync(compiled, copy(job), { recursive: true });
  }
}

/** Returns the names of the test files that can be measured and contain one of the words; all if there is no word. */
export function findMeasuredFiles(words) {
  return findTestFiles(root, words)
    .map((path) => relative(compiled, path))
    .filter((name) => !excluded.some((part) => name.startsWith(join('test', part))));
}

/** Runs a test file of a copy. Returns whether it passed in time. */
export function runFile(tree, file, timeout, environment = {}) {
  const env = { ...process.env, SEED: '1', TEST_COMPILED: tree, ...environment };
  const child = spawn(process.execPath, [join(tree, file)], {
    env,
    cwd: root,
    stdio: 'ignore',
    timeout,
    killSignal: 'SIGKILL',
  });
  return new Promise((resolve) => child.once('close', (status) => resolve(status === 0)));
}

/**
 * Measures what each test file executes: the covered places of each module as pairs of offsets, and the time that it takes (ms).
 * A file that fails is reported, and has `passed: false`. A measurement is used again until a source or a test has changed.
 */
export async function measureCoverage(names, jobs) {
  const stored = join(folder, 'coverage.json');
  const state = modulesIn('src')
    .concat(modulesIn('test'))
    .map((name) => readFileSync(join(compiled, name), 'utf8').length);
  const known = existsSync(stored) ? JSON.parse(readFileSync(stored, 'utf8')) : {};
  const isCurrent = JSON.stringify(known.state) === JSON.stringify(state);
  const measured = isCurrent ? known.files : {};
  const missing = names.filter((name) => measured[name] === undefined);
  const measure = async (job) => {
    for (let name = missing.shift(); name !== undefined; name = missing.shift()) {
      const raw = join(folder, `raw-${job}`);
      rmSync(raw, { recursive: true, force: true });
      const begun = Date.now();
      const passed = await runFile(copy(job), name, 240_000, { NODE_V8_COVERAGE: raw });
      if (!passed) console.log(`${name} fails without a change, and is not used`);
      measured[name] = {
        passed,
        duration: Date.now() - begun,
        covered: passed ? readCoverage(raw, copy(job)) : {},
      };
      rmSync(raw, { recursive: true, force: true });
      writeFileSync(stored, JSON.stringify({ state, files: measured }));
    }
  };
  await Promise.all(Array.from({ length: jobs }, (_, job) => measure(job)));
  return measured;
}

/** Reads what V8 has written: the covered places of each module of the sources, of all processes together. */
function readCoverage(raw, tree) {
  const painted = new Map();
  const prefix = pathToFileURL(join(tree, '/')).href;
  for (const name of readdirSync(raw))
    for (const { url, functions } of readResult(join(raw, name))) {
      const module = url.startsWith(prefix) ? url.slice(prefix.length) : '';
      if (!module.startsWith('src/')) continue;
      const ranges = functions.flatMap((each) => each.ranges);
      // The innermost range of a place counts.
      ranges.sort((one, other) => other.endOffset - other.startOffset - (one.endOffset - one.startOffset));
      const paint = new Uint8Array(ranges[0]?.endOffset ?? 0);
      for (const { startOffset, endOffset, count } of ranges)
        paint.fill(count > 0 ? 1 : 0, startOffset, endOffset);
      const before = painted.get(module);
      painted.set(module, before === undefined ? paint : paint.map((value, at) => value | (before[at] ?? 0)));
    }
  return Object.fromEntries([...painted].map(([module, paint]) => [module, pairsOf(paint)]));
}

/** Reads a file of V8. One that a killed process has written in part counts as empty. */
function readResult(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8')).result;
  } catch (error) {
    if (error instanceof SyntaxError) return [];
    throw error;
  }
}

function pairsOf(paint) {
  const pairs = [];
  for (let at = 0; at < paint.length; at += 1)
    if (paint[at] === 1 && paint[at - 1] !== 1) pairs.push([at, paint.length]);
    else if (paint[at] === 0 && paint[at - 1] === 1) pairs[pairs.length - 1][1] = at;
  return pairs;
}

/** Returns the paths of the modules in a folder of the compiled modules, relative to these. */
export function modulesIn(path) {
  return readdirSync(join(compiled, path), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.js'))
    .map((name) => join(path, name))
    .sort();
}
