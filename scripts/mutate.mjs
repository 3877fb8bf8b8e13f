// Changes the sources in small ways, one at a time, and reports the changes that no test notices. Exits non-zero if there are any.
//
//   node scripts/mutate.mjs [--count 100] [--seed N] [--jobs N] [WORD …]
//
// A change turns a comparison, moves a constant by one, removes a check or a call, or empties a branch. For each one, only the
// test files run that execute the changed place, until one fails. Which files those are is measured once, and again when a
// source has changed. With a WORD, only test files whose path contains it are used, and only what they execute is changed.
import { readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { parseAst } from 'rollup/parseAst';
import { compile, compiled } from './compile.mjs';
import { copy, createCopies, findMeasuredFiles, measureCoverage, modulesIn, runFile } from './coverage.mjs';
import { createPositions } from './report.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const { values, positionals: words } = parseArgs({
  options: {
    count: { type: 'string', default: '100' },
    seed: { type: 'string', default: `${process.hrtime()[1]}` },
    jobs: { type: 'string', default: `${availableParallelism()}` },
  },
  allowPositionals: true,
});

/** The folders whose modules are changed, but not the checks of an interface, which are tests themselves. */
const areas = ['schemes', 'accounts', 'store', 'pipeline', 'net'];
const checks = join('src', 'store', 'contract');

/** What a comparison and a logical operator become. */
const turned = {
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '===': '!==',
  '!==': '===',
  '&&': '||',
  '||': '&&',
};

await compile();
const { createRandom } = await import(pathToFileURL(join(compiled, 'src', 'store', 'contract', 'random.js')));
const jobs = Number(values.jobs);
createCopies(jobs);
const files = findMeasuredFiles(words);
const coverage = await measureCoverage(files, jobs);
const all = areas
  .flatMap((area) => modulesIn(join('src', area)))
  .filter((name) => !name.startsWith(checks))
  .flatMap(findMutants);
const candidates = words.length === 0 ? all : all.filter((mutant) => filesThatReach(mutant).length > 0);
const mutants = pick(candidates, Number(values.count));
console.log(`${mutants.length} changes, --seed ${values.seed}, ${files.length} test files`);

const position = createPositions(root);
const found = { noticed: 0, unnoticed: 0, unreached: 0 };
const waiting = [...mutants];
await Promise.all(Array.from({ length: jobs }, (_, job) => work(job)));
console.log(
  `${found.noticed} noticed, ${found.unnoticed} not noticed, ${found.unreached} not executed by any test`,
);
if (found.unnoticed + found.unreached > 0) process.exitCode = 1;

/** Tries one change after the other in a copy. */
async function work(job) {
  for (let mutant = waiting.shift(); mutant !== undefined; mutant = waiting.shift()) {
    const reached = filesThatReach(mutant);
    const result = reached.length === 0 ? 'unreached' : await attempt(job, mutant, reached);
    found[result] += 1;
    if (result !== 'noticed') console.log(describe(mutant, result, reached.length));
  }
}

/** Runs test files with a change until one fails. */
async function attempt(job, { name, start, end, replacement }, reached) {
  const path = join(copy(job), name);
  const original = readFileSync(path, 'utf8');
  writeFileSync(path, original.slice(0, start) + replacement + original.slice(end));
  try {
    for (const { file, duration } of reached) {
      const passed = await runFile(copy(job), file, 10_000 + 10 * duration);
      if (!passed) return 'noticed';
    }
    return 'unnoticed';
  } finally {
    writeFileSync(path, original);
  }
}

function describe({ name, start, end, replacement }, result, count) {
  const text = readFileSync(join(compiled, name), 'utf8');
  const before = text.slice(0, start).split('\n');
  const place = position(join(compiled, name), before.length, (before.at(-1)?.length ?? 0) + 1);
  const shorten = (code) => code.replace(/\s+/g, ' ').slice(0, 80);
  const change = `${shorten(text.slice(start, end))}  →  ${shorten(replacement) || 'removed'}`;
  return `${place}: ${change} (${result === 'unreached' ? 'not executed' : `passes ${count} test files`})`;
}

/** Returns the test files that execute the place of a change: those of its folder first, then the quickest. */
function filesThatReach({ name, start }) {
  const area = name.split('/')[1];
  const isOther = ({ file }) => (file.startsWith(`test/${area}/`) ? 0 : 1);
  return files
    .map((file) => ({ file, ...coverage[file] }))
    .filter(({ covered }) => covered[name]?.some(([from, to]) => from <= start && start < to))
    .sort((one, other) => isOther(one) - isOther(other) || one.duration - other.duration);
}

function pick(candidates, count) {
  const random = createRandom(Number(values.seed));
  const left = [...candidates];
  return Array.from(
    { length: Math.min(count, candidates.length) },
    () => left.splice(random.below(left.length), 1)[0],
  );
}

/** Returns all changes of a module: the place, and what is written there instead. */
function findMutants(name) {
  const text = readFileSync(join(compiled, name), 'utf8');
  const mutants = [];
  const add = ({ start, end }, replacement) => mutants.push({ name, start, end, replacement });
  visit(parseAst(text), (node) => {
    const code = ({ start, end }) => text.slice(start, end);
    if (node.type === 'BinaryExpression' || node.type === 'LogicalExpression') {
      const operator = turned[node.operator];
      const between = { start: node.left.end, end: node.right.start };
      if (operator !== undefined) add(between, code(between).replace(node.operator, operator));
    } else if (node.type === 'Literal' && typeof node.value === 'number') add(node, `${node.value + 1}`);
    // The compiled form of undefined, which stays the same with any operand.
    else if (node.type === 'UnaryExpression' && node.operator === 'void') return false;
    else if (node.type === 'UnaryExpression' && node.operator === '!') add(node, code(node.argument));
    else if (node.type === 'IfStatement') {
      add(node.test, 'false');
      add(node.consequent, '{}');
      if (node.alternate) add(node.alternate, '{}');
    } else if (node.type === 'ConditionalExpression') add(node.test, 'false');
    else if (node.type === 'ExpressionStatement' && /^(Call|Await)Expression$/.test(node.expression.type))
      add(node, '');
  });
  return mutants;
}

/** Calls a function with each node of a syntax tree. */
function visit(node, see) {
  if (see(node) === false) return;
  for (const value of Object.values(node))
    for (const child of Array.isArray(value) ? value : [value])
      if (typeof child?.type === 'string') visit(child, see);
}
