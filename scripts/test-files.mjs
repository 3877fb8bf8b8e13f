// Which test files there are, and which of them share a process.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { compiled } from './compile.mjs';

/**
 * The beginnings of the paths of files that have a process of their own. They take long, or they measure memory or processor
 * time, count what is open, or replace timers or other globals.
 */
const alone = [
  'attack/schemes',
  'schemes/aws4/cost',
  'accounts/rate-limit',
  'cli/commands/backup',
  'clients/',
  'documents/documents',
  'documents/several-hosts',
  'double/control/fuzz',
  'double/fake-timers',
  'double/faults/faults',
  'double/faults/wire',
  'double/thousand',
  'collections/formats/memory',
  'hosts/failures',
  'http/collected-bytes',
  'http/linear-time',
  'linear-expressions',
  'net/backpressure',
  'net/cluster',
  'net/fast-response',
  'net/observers',
  'net/over-tls',
  'postgres/',
  'schemes/aws4.test',
  'schemes/hints',
  'secrets',
  'service/pages',
  'store/durable.test',
  'store/nonces/file',
  'store/power-loss/compaction',
  'store/recovery/recovery',
];

/** The beginnings of the paths of files that share what takes long to prepare: a browser, or the installed package. */
const together = ['console/', 'package/'];

/**
 * The beginnings of the paths of the files that start first, in this order: those whose processes take longest. A long process
 * that started last would run alone at the end. `--times` prints how long each takes.
 */
const first = [
  'documents/documents',
  'console/',
  'documents/several-hosts',
  'attack/schemes',
  'packaging/',
  'linear-expressions',
  'package/',
  'net/over-tls',
  'service/',
  'attack/',
  'schemes/',
  'cli/',
  'hosts/failures',
  'double/',
  'oauth/',
  'store/',
  'options/',
  'redis/',
  'postgres/',
];

/** Returns the paths of the compiled test files that contain one of the words; all if there is no word. */
export function findTestFiles(root, words) {
  const isWanted = (name) => words.length === 0 || words.some((word) => name.includes(word));
  return readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' })
    .map((name) => join('test', name))
    .filter((name) => name.endsWith('.test.ts') && !name.includes('node_modules') && isWanted(name))
    .sort()
    .map((name) => join(compiled, name.replace(/\.ts$/, '.js')));
}

/**
 * Returns those of the files that quick.json lists.
 *
 * @throws {Error} If it lists a file that does not exist
 */
export function findQuickFiles(root, words) {
  const listed = JSON.parse(readFileSync(join(root, 'scripts', 'quick.json'), 'utf8'));
  const absent = listed.filter((name) => !existsSync(join(root, name)));
  if (absent.length > 0) throw new Error(`quick.json lists ${absent.join(', ')}: node scripts/quick.mjs`);
  const names = new Set(listed.map((name) => join(compiled, name.replace(/\.ts$/, '.js'))));
  return findTestFiles(root, words).filter((path) => names.has(path));
}

/** The number of files that share a process: each process takes most of a second of processor time to load modules. */
const groupSize = 30;

/**
 * Returns the processes of a run in the order in which they start: the script of each, and the test files in it. Files whose paths
 * follow each other share a process, in which modules are loaded once; a script that imports them is written for each group. A test
 * that takes longer than `limit` (ms) ends its process.
 */
export function groupTestFiles(files, limit) {
  const folder = join(compiled, 'groups');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const nameOf = (file) =>
    relative(join(compiled, 'test'), file)
      .replace(/\.test\.js$/, '')
      .replaceAll('/', '-');
  const writeScript = (paths) => {
    const others = paths.length === 1 ? '' : `-and-${paths.length - 1}`;
    const script = join(folder, `${nameOf(paths[0])}${others}.mjs`);
    writeFileSync(script, groupSource(paths, limit));
    return { script, files: paths };
  };
  const isAlone = (file) => alone.some((part) => file.includes(`/test/${part}`));
  const isTogether = (part) => (file) => file.includes(`/test/${part}`);
  const others = files.filter((file) => !isAlone(file));
  const groups = [
    ...files.filter(isAlone).map((file) => [file]),
    ...together.map((part) => others.filter(isTogether(part))).filter(({ length }) => length > 0),
    ...split(
      others.filter((file) => !together.some((part) => isTogether(part)(file))),
      groupSize,
    ),
  ];
  return groups.map(writeScript).sort((one, other) => rank(one) - rank(other));
}

/** Returns the members of a list in lists of at most so many. */
function split(list, size) {
  return Array.from({ length: Math.ceil(list.length / size) }, (_, at) =>
    list.slice(at * size, (at + 1) * size),
  );
}

/** Returns the place of a process in the order of starts. */
function rank({ files }) {
  const places = files.flatMap((file) => {
    const place = first.findIndex((part) => file.includes(`/test/${part}`));
    return place < 0 ? [] : [place];
  });
  return Math.min(first.length, ...places);
}

const testLimit = pathToFileURL(join(dirname(fileURLToPath(import.meta.url)), 'test-limit.mjs'));

/**
 * Returns a module that imports test files, one after the other. Its own test, which comes first, ends when all are imported:
 * if the first tests ended before, node:test would run the hooks that belong to the end of the process.
 */
function groupSource(paths, limit) {
  return `import { test } from 'node:test';
import { limitEachTest } from '${testLimit}';
limitEachTest(${limit});
async function importAll() {
  for (const path of ${JSON.stringify(paths)}) await import(path);
}
const imported = importAll();
test('import the test files', () => imported);
`;
}
