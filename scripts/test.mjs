// Runs the test files (all, or those whose path contains a word given) and exits non-zero on a failure. A complete run first
// builds dist, and checks types, format and lint (check.mjs). At the end, it searches the output of servers and commands for
// the secrets, passwords and signatures that they received.
//
//   node scripts/test.mjs [--built] [--long] [--quick] [--times] [--test-name-pattern PATTERN] [WORD …]
//
// --built  skips the checks, and tests dist/server.js as it was built. With a WORD and without this option, tests of the command
//          run the sources.
// --long   tries more: every state in place of some, and more random cases
// --quick  runs the files in quick.json alone: they execute 95 % of the code that all files execute
// --times  prints how long each process took, and the processor time of it and of the programs that it started
// --test-name-pattern  runs only the tests whose names match, as the option of Node.js does; repeatable
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { run } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { compile, compiled } from './compile.mjs';
import { createReporter } from './report.mjs';
import { findQuickFiles, findTestFiles, groupTestFiles } from './test-files.mjs';

const startedAt = Date.now();
const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const { values, positionals: words } = readArguments();
const seed = Number(process.env['SEED'] ?? process.hrtime()[1]);

if (findTestFiles(root, words).length === 0) {
  console.error(`no test file matches ${words.join(', ')}`);
  process.exit(1);
}
const patterns = values['test-name-pattern'];
const isComplete = words.length === 0 && patterns.length === 0 && !values.quick;
if (isComplete && !values.built) {
  const { status } = spawnSync(process.execPath, [join(root, 'scripts', 'check.mjs')], { stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}
await compile();
process.env['TEST_COMPILED'] = compiled;
process.env['SEED'] = `${seed}`;
// Release lines of Node.js from 22 on keep compiled code there. With it, coverage would be less exact.
if (process.env['NODE_V8_COVERAGE'] === undefined)
  process.env['NODE_COMPILE_CACHE'] ??= join(compiled, 'cache');
if (values.built || isComplete) process.env['TEST_COMMAND'] = 'dist/server.js';
if (values.long) process.env['TEST_LONG'] = '1';

const files = values.quick ? findQuickFiles(root, words) : findTestFiles(root, words);
process.exitCode = (await runFiles(files)) ? 0 : 1;

/** Reads the command line. Ends the process with one line if it is invalid. */
function readArguments() {
  try {
    return parseArgs({
      options: {
        built: { type: 'boolean', default: false },
        long: { type: 'boolean', default: false },
        quick: { type: 'boolean', default: false },
        times: { type: 'boolean', default: false },
        'test-name-pattern': { type: 'string', multiple: true, default: [] },
      },
      allowPositionals: true,
    });
  } catch (error) {
    console.error(error.message);
    process.exit(2);
  }
}

/** Runs compiled test files. Returns whether all passed. */
async function runFiles(files) {
  const transcript = mkdtempSync(join(tmpdir(), 'countersign-transcript-'));
  process.env['TEST_TRANSCRIPT'] = transcript;
  const processes = groupTestFiles(files, values.long ? 900_000 : 240_000);
  const scripts = processes.map(({ script }) => script);
  // Tests often wait for disks and processes, so one more process runs than there are processors.
  const stream = run({ files: scripts, concurrency: availableParallelism() + 1, testNamePatterns: patterns });
  let passed = true;
  stream.on('test:fail', ({ todo, skip }) => {
    if (todo === undefined && skip === undefined) passed = false;
  });
  const times = values.times ? measureProcesses() : undefined;
  const clear = process.stdout.isTTY === true;
  const report = createReporter({ root, processes, seed, clear, startedAt });
  for await (const text of stream.compose(report)) process.stdout.write(text);
  if (times !== undefined) printTimes(times);
  const isClean = await searchOutput(transcript);
  return passed && isClean;
}

/** Makes each process of tests write its times to a folder. Returns the path of the folder. */
function measureProcesses() {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-times-'));
  process.env['TEST_TIMES'] = folder;
  const module = pathToFileURL(join(root, 'scripts', 'measure-process.mjs'));
  process.env['NODE_OPTIONS'] = `${process.env['NODE_OPTIONS'] ?? ''} --import=${module}`;
  return folder;
}

/** Prints the times in a folder, and removes it. */
function printTimes(folder) {
  const times = readdirSync(folder).map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')));
  rmSync(folder, { recursive: true });
  const cpu = ({ own, programs }) => own + (programs ?? 0);
  const columns = (one) => [cpu(one), one.programs ?? 0, one.elapsed];
  const line = (one) =>
    `${columns(one)
      .map((seconds) => seconds.toFixed(1).padStart(9))
      .join('')}  ${one.name}`;
  const named = times.map((one) => ({ ...one, name: relative(compiled, one.script) }));
  console.log('      CPU programs  elapsed  (s)');
  for (const one of named.sort((a, b) => cpu(b) - cpu(a))) console.log(line(one));
  console.log(
    `${times
      .reduce((sum, one) => sum + cpu(one), 0)
      .toFixed(1)
      .padStart(9)}                    in all`,
  );
}

/** Searches what servers and commands have written for secrets. Returns whether there are none. */
async function searchOutput(transcript) {
  const { searchTranscript } = await import(
    pathToFileURL(join(compiled, 'test', 'support', 'transcript.js'))
  );
  const { secrets, characters, leaks } = searchTranscript(transcript);
  rmSync(transcript, { recursive: true });
  for (const leak of leaks) console.error(`leaked secret: ${leak}`);
  // In a complete run there must be both, otherwise the search is ineffective.
  const isEffective = !isComplete || (secrets > 0 && characters > 0);
  if (!isEffective)
    console.error(
      `found ${secrets} secrets in ${characters} characters of output: the search is ineffective`,
    );
  return leaks.length === 0 && isEffective;
}
