// Builds dist: the command as a few scripts, the library (the server and its test double) as some others, because a start
// that reads some 140 modules takes twice as long as one that reads one, and the loader of ES modules costs 5 ms itself. The
// client and the parser are modules as they were written, for who puts them into something else. The library is also the same
// one to who imports it and to who requires it.
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, posix, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import {
  firstScript,
  flatText,
  lastScript,
  observedText,
  otherScript,
  requirePattern,
  smaller,
} from './bundle.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const dist = join(root, 'dist');
const compiler = join(
  dirname(createRequire(import.meta.url).resolve('typescript/package.json')),
  'bin',
  'tsc',
);

function compile(...args) {
  const { status } = spawnSync(process.execPath, [compiler, '-p', ...args], { cwd: root, stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}

const importPattern = /\b(?:from|import)\s*\(?\s*(["'])(\.[^"']+)\1/g;

/** The modules of a folder that these lead to, themselves among them. */
function reachable(folder, entries, pattern) {
  const names = new Set(entries);
  for (const name of names) {
    for (const [, , specifier] of readFileSync(join(folder, name), 'utf8').matchAll(pattern)) {
      names.add(posix.join(posix.dirname(name), specifier));
    }
  }
  return names;
}

function modulesOf(folder) {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => name.split(sep).join('/'))
    .filter((name) => name.endsWith('.js'));
}

/** The paths of scripts, as the first one reads the others. */
function scriptsOf(program, ...others) {
  return [`./${program}.js`, ...others.map((other) => `./${program}-${other}.js`)];
}

/** What came of a start of the library or the command: see rehearse.cjs. */
function rehearse(what, kind, script) {
  const file = join(scratch, `${what}.json`);
  const args = [join(root, 'scripts', 'rehearse.cjs'), what, kind, script, scratch, file];
  const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`the ${kind} does not start: ${stderr}`);
  return JSON.parse(readFileSync(file, 'utf8'));
}

/** What is loaded with the first script, because it captures what may be replaced later: the timers. */
const captured = 'timers.js';

/**
 * Writes a program as a few scripts: one for what each step of its rehearsal takes, behind the first one those `apart` that are
 * not to be there as soon as it is loaded, and one for what is rarely needed.
 */
async function writeProgram(kind, paths, entries, ...apart) {
  const names = reachable(parts, entries, requirePattern);
  const observed = join(scratch, `${kind}.js`);
  writeFileSync(observed, observedText(parts, names));
  // What the first start in a directory made is there for the second one.
  rehearse('modules', kind, observed);
  const { loaded: steps, members } = rehearse('modules', kind, observed);
  const [started = [], ...later] = steps.map((step) => step.filter((name) => name !== captured));
  const others = apart.map((name) => [name]);
  const loaded = [[captured, ...started.filter((name) => !apart.includes(name))], ...others, ...later];
  const bodies = await Promise.all(
    loaded.map((own) => flatText(join(dist, 'esm'), { names: own, members, entries })),
  );
  const last = paths.at(-1);
  const rest = [...names].filter((name) => !loaded.flat().includes(name));
  writeFileSync(join(dist, last), await smaller(lastScript(parts, rest), true));
  for (const [at, body] of bodies.entries())
    if (at > 0) writeFileSync(join(dist, paths[at]), await smaller(otherScript(body, paths[0])));
  const places = loaded.map((own, at) => ({ path: paths[at], names: own })).slice(1);
  const first = join(dist, paths[0]);
  writeFileSync(first, await smaller(firstScript(bodies[0], places, last)));
  rehearse('caches', kind, first);
}

/** Writes what is started: with what loads the scripts in it, for each file that a start reads costs it half a millisecond. */
async function writeLauncher() {
  const entryPoints = [join(root, 'scripts', 'launch.cjs')];
  const outfile = join(dist, 'server.js');
  // Node.js 12 can parse this, and print that it is too old.
  await build({ entryPoints, outfile, bundle: true, format: 'cjs', platform: 'node', target: 'node12' });
}

/** What of the library is imported by itself, and what is one script. */
const moduleEntries = ['client/index.js', 'xml/index.js'];
const libraryEntries = ['index.js', 'double/index.js'];

/** Takes away what nobody can import: what is in the script, or of the command alone. */
function prune(format, pattern) {
  const folder = join(dist, format);
  const kept = reachable(folder, moduleEntries, pattern);
  for (const name of modulesOf(folder)) if (!kept.has(name)) rmSync(join(folder, name));
  rmSync(join(folder, 'cli'), { recursive: true });
}

/** Puts what the script has of an entry where it is imported and required from. */
function wrap(entry) {
  const up = posix.relative(posix.dirname(entry), '.') || '.';
  const required = join(dist, 'cjs', entry);
  // Not in one expression: Node.js would look for the names in all of the script.
  writeFileSync(
    required,
    `'use strict';\nconst { load } = require('${up}/../compiled.js');\nmodule.exports = load('./modules.js')('${entry}');\n`,
  );
  const names = Object.keys(createRequire(import.meta.url)(required)).filter((name) => name !== '__esModule');
  const path = `${up}/../cjs/${entry}`;
  writeFileSync(
    join(dist, 'esm', entry),
    `import library from '${path}';\nexport const { ${names.join(', ')} } = library;\n`,
  );
}

const scratch = mkdtempSync(join(tmpdir(), 'countersign-build-'));
process.once('exit', () => rmSync(scratch, { recursive: true, force: true }));
rmSync(dist, { recursive: true, force: true });
compile('tsconfig.build.json');
compile('tsconfig.cjs.json');
const parts = join(dist, 'parts');
compile('tsconfig.cjs.json', '--outDir', relative(root, parts), '--declaration', 'false', '--removeComments');
copyFileSync(join(root, 'scripts', 'compiled.cjs'), join(dist, 'compiled.js'));
await writeLauncher();
writeFileSync(join(dist, 'package.json'), '{ "type": "commonjs" }\n');
writeFileSync(join(dist, 'esm', 'package.json'), '{ "type": "module" }\n');
const scripts = scriptsOf('modules', 'incoming', 'secure', 'answer', 'fetch', 'import', 'rest');
// It takes node:http, which would be a fifth of loading the library.
await writeProgram('library', scripts, libraryEntries, 'net/incoming.js');
await writeProgram('command', scriptsOf('command', 'answer', 'kept', 'rest'), ['cli/main.js']);
for (const [format, pattern] of [
  ['esm', importPattern],
  ['cjs', requirePattern],
])
  prune(format, pattern);
for (const entry of libraryEntries) wrap(entry);
writeFileSync(join(dist, 'node.build'), createRequire(import.meta.url)(join(dist, 'compiled.js')).build());
chmodSync(join(dist, 'server.js'), 0o755);
rmSync(parts, { recursive: true });
