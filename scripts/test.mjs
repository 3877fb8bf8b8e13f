// Runs the test files (all, or those whose path contains a word given) and exits non-zero on a failure. Then searches the output
// of servers and commands for the secrets, passwords and signatures that they were given.
//
//   node scripts/test.mjs [--built] [--brief] [WORD …]
//
// With --brief, files whose subject does not depend on the release line of Node.js are left out (see `independent`).
// With --built, tests of the command run dist/server.js, which starts faster. Without it they run the sources, so
// that no build is needed.
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { compile, compiled } from './compile.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const { values, positionals: words } = parseArgs({
  options: { built: { type: 'boolean', default: false }, brief: { type: 'boolean', default: false } },
  allowPositionals: true,
});

/** The files that take longest. They start first, so that no processor is idle at the end. */
const longest = [
  ...['http/linear-time', 'store/power-loss', 'net/over-tls', 'documents/', 'package/', 'cli/serve/'],
  ...['store/nonces/file', 'store/durable', 'store/recovery', 'net/lifetime', 'double/control/fuzz', 'xml/'],
];

/** The files that --brief leaves out: they take long and test rules of ours, other programs or documents. */
const independent = [
  ...[
    'attack/',
    'cli/accounts/',
    'cli/commands/',
    'cli/module/',
    'documents/',
    'double/control/fuzz',
    'double/journal/',
    'hosts/',
    'http/linear-time',
    'oauth/',
  ],
  ...['options/', 'package/typescript', 'packaging/', 'postgres/', 'redis/', 'schema/', 'service/intrusion/'],
  ...['store/power-loss', 'xml/'],
].map((part) => `/test/${part}`);

/** Returns the position in the order of the longest files. */
function rank(file) {
  const at = longest.findIndex((part) => file.includes(part));
  return at < 0 ? longest.length : at;
}

const files = readdirSync(join(root, 'test'), { recursive: true })
  .filter((name) => name.endsWith('.test.ts') && !name.includes('node_modules'))
  .map((name) => join(compiled, 'test', name.replace(/\.ts$/, '.js')))
  .filter((name) => !values.brief || !independent.some((part) => name.includes(part)))
  .filter((name) => words.length === 0 || words.some((word) => name.includes(word)))
  .sort()
  .sort((one, other) => rank(one) - rank(other));

if (files.length === 0) {
  console.error(`no test file matches ${words.join(', ')}`);
  process.exit(1);
}
compile();
process.env['TEST_COMPILED'] = compiled;
if (values.built) process.env['TEST_COMMAND'] = 'dist/server.js';
process.env['NODE_OPTIONS'] = `${process.env['NODE_OPTIONS'] ?? ''} --enable-source-maps`.trim();
const transcript = mkdtempSync(join(tmpdir(), 'countersign-transcript-'));
process.env['TEST_TRANSCRIPT'] = transcript;
// Tests often wait for disks and processes, so one more file runs than there are processors. A file that hangs fails.
const stream = run({ files, concurrency: availableParallelism() + 1, timeout: 900_000 });
stream.on('test:fail', ({ todo, skip }) => {
  if (todo === undefined && skip === undefined) process.exitCode = 1;
});
stream.once('end', async () => {
  const { searchTranscript } = await import(join(compiled, 'test', 'support', 'transcript.js'));
  const { secrets, characters, leaks } = searchTranscript(transcript);
  rmSync(transcript, { recursive: true });
  console.log(`found ${leaks.length} of ${secrets} secrets in ${characters} characters of output`);
  for (const leak of leaks) console.error(`leaked secret: ${leak}`);
  // In a complete run there must be both, otherwise the search is ineffective.
  const empty = words.length === 0 && (secrets === 0 || characters === 0);
  if (leaks.length > 0 || empty) process.exitCode = 1;
});
stream.compose(spec).pipe(process.stdout);
