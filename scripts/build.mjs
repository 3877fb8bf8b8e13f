// Builds dist: the command as one script, the library (the server and its test double) as another, because a start that
// reads some 140 modules takes twice as long as one that reads one, and the loader of ES modules costs 5 ms itself. The
// client and the parser are modules as they were written, for who puts them into something else. As one script the library
// is also the same one to who imports it and to who requires it.
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
import { get } from 'node:http';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, posix, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Script } from 'node:vm';

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

const requirePattern = /\brequire\((["'])(\.[^"']+)\1\)/g;
const importPattern = /\b(?:from|import)\s*\(?\s*(["'])(\.[^"']+)\1/g;

/** The modules of a folder that these lead to, themselves among them; nothing is followed to `without`. */
function reachable(folder, entries, pattern, without = []) {
  const names = new Set(entries);
  for (const name of names) {
    for (const [, , specifier] of readFileSync(join(folder, name), 'utf8').matchAll(pattern)) {
      const led = posix.join(posix.dirname(name), specifier);
      if (!without.includes(led)) names.add(led);
    }
  }
  return names;
}

function modulesOf(folder) {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => name.split(sep).join('/'))
    .filter((name) => name.endsWith('.js'));
}

/** What is loaded only where it is asked for, so that no other start reads it. */
const controlEntry = 'cli/control.js';

/**
 * The command as two scripts of CommonJS modules, each in a function that is called when something of it is first used: what
 * every start reads, and what steers a server beside it.
 */
function writeCommand(folder) {
  const all = reachable(folder, ['cli/main.js'], requirePattern);
  const usual = reachable(folder, ['cli/main.js'], requirePattern, [controlEntry]);
  const steering = [...all].filter((name) => !usual.has(name));
  if (!steering.includes(controlEntry)) throw new Error(`${controlEntry} is not found`);
  const rest = `'use strict';\nmodule.exports = {\n${modulesText(folder, steering)}};\n`;
  writeFileSync(join(dist, 'command-control.js'), rest);
  writeFileSync(join(dist, 'command.js'), commandText(modulesText(folder, usual)));
}

/**
 * A module's text in ASCII: with a single typographic quote in it V8 would hold all of a script in two bytes a character,
 * and be half as fast at reading it. Such characters stand in strings and patterns alone, where an escape means the same.
 */
function textOf(folder, name) {
  return readFileSync(join(folder, name), 'utf8').replaceAll(
    /[^\0-\x7f]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

function modulesText(folder, names) {
  return [...lazily(folder, names).values()].join('');
}

function commandText(modules) {
  return `(function (require) {
'use strict';
const loaded = new Map();
let modules = {
${modules}};
return function load(name) {
  if (name.startsWith('node:')) return require(name);
  if (name === '${controlEntry}') modules = { ...modules, ...require('./command-control.js') };
  const before = loaded.get(name);
  if (before !== undefined) return before;
  const exports = {};
  loaded.set(name, exports);
  modules[name](exports, load);
  return exports;
};
})
`;
}

/**
 * The library as two scripts: what starting a double and asking it something takes, and all else, which is read when it is
 * first needed.
 */
async function writeLibrary(folder) {
  const all = lazily(folder, reachable(folder, libraryEntries, requirePattern));
  const used = await usedAtStart(all);
  const part = (of) =>
    `{\n${[...all]
      .filter(([name]) => used.has(name) === of)
      .map(([, text]) => text)
      .join('')}}`;
  writeFileSync(join(dist, 'modules-rest.js'), `'use strict';\nmodule.exports = ${part(false)};\n`);
  writeFileSync(join(dist, 'modules.js'), libraryText(part(true), "require('./modules-rest.js')"));
}

function libraryText(modules, rest) {
  return `'use strict';
const loaded = new Map();
let rest;
const modules = ${modules};
function load(name) {
  const before = loaded.get(name);
  if (before !== undefined) return before;
  if (name.startsWith('node:')) return require(name);
  const exports = {};
  loaded.set(name, exports);
  (modules[name] ?? (rest ??= ${rest})[name])(exports, load);
  return exports;
}
module.exports = load;
`;
}

/**
 * Each module by its name, as a method. What it imports it loads when something of that is used, so that a start costs what it
 * uses. That holds because no module does anything but define.
 */
function lazily(folder, names) {
  return new Map([...names].sort().map((name) => [name, lazyModule(name, textOf(folder, name))]));
}

function lazyModule(name, text) {
  let body = text.replaceAll(
    requirePattern,
    (_, _quote, specifier) => `require(${JSON.stringify(posix.join(posix.dirname(name), specifier))})`,
  );
  for (const [line, variable, specifier] of body.matchAll(/^const (\w+_1) = require\(("[^"]+")\);$/gm)) {
    body = body.replace(line, `let ${variable};`);
    body = body.replaceAll(new RegExp(`\\b${variable}\\.`, 'g'), `(${variable} ??= require(${specifier})).`);
  }
  return `${JSON.stringify(name)}(exports, require) {\n${body}},\n`;
}

/** The names of the modules that a double loads until it has answered. */
async function usedAtStart(all) {
  const used = new Set();
  const observed = `new Proxy({\n${[...all.values()].join('')}}, { get: (all, name) => (used.add(name), all[name]) })`;
  const module = { exports: undefined };
  const script = new Script(`(module, require, used) => {${libraryText(observed, 'undefined')}}`);
  script.runInThisContext()(module, createRequire(import.meta.url), used);
  const double = await module.exports('double/index.js').startDouble({ users: { ann: {} } });
  const reply = await double.as('ann').fetch('/articles');
  if (reply.status !== 200) throw new Error(`the library does not work: ${reply.status}`);
  await double.close();
  return used;
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
    `'use strict';\nconst load = require('${up}/../library.js');\nmodule.exports = load('${entry}');\n`,
  );
  const names = Object.keys(createRequire(import.meta.url)(required)).filter((name) => name !== '__esModule');
  const path = `${up}/../cjs/${entry}`;
  writeFileSync(
    join(dist, 'esm', entry),
    `import library from '${path}';\nexport const { ${names.join(', ')} } = library;\n`,
  );
}

/** Writes what V8 compiled of the command until it had started: in memory, in a directory that it knows and in a new one. */
function writeCommandCache() {
  const data = mkdtempSync(join(tmpdir(), 'countersign-build-'));
  const [known, fresh] = [join(data, 'known'), join(data, 'new')];
  const others = Object.entries(process.env).filter(([name]) => !name.startsWith('COUNTERSIGN_'));
  const env = Object.fromEntries(others);
  const start = (cache, ...directories) => {
    const args = [join(root, 'scripts', 'start-in.cjs'), join(dist, 'compiled.js'), cache, ...directories];
    const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', env });
    if (status !== 0) throw new Error(`the command does not start: ${stderr}`);
  };
  start('', known);
  start(join(dist, 'command.cache'), '', known, fresh);
  rmSync(data, { recursive: true });
}

/** What V8 compiled of the library until a double had answered, over HTTP and with HTTPS beside it, and was closed. */
async function compiledLibrary({ scriptOf }) {
  const script = scriptOf('modules', undefined, 'module, require');
  const module = { exports: undefined };
  script.runInThisContext()(module, createRequire(join(dist, 'modules.js')));
  const { startDouble } = module.exports('double/index.js');
  for (const https of [false, true]) {
    const double = await startDouble({ users: { ann: {} }, https });
    await new Promise((resolve, reject) =>
      get(`${double.url}/articles`, (reply) => reply.resume().on('end', resolve)).on('error', reject),
    );
    await double.close();
  }
  return script.createCachedData();
}

rmSync(dist, { recursive: true, force: true });
compile('tsconfig.build.json');
compile('tsconfig.cjs.json');
const parts = join(dist, 'parts');
compile('tsconfig.cjs.json', '--outDir', relative(root, parts), '--declaration', 'false', '--removeComments');
writeCommand(parts);
await writeLibrary(parts);
for (const [format, pattern] of [
  ['esm', importPattern],
  ['cjs', requirePattern],
])
  prune(format, pattern);
writeFileSync(join(dist, 'package.json'), '{ "type": "commonjs" }\n');
writeFileSync(join(dist, 'esm', 'package.json'), '{ "type": "module" }\n');
for (const [script, name] of [
  ['launch.cjs', 'server.js'],
  ['library.cjs', 'library.js'],
  ['compiled.cjs', 'compiled.js'],
])
  copyFileSync(join(root, 'scripts', script), join(dist, name));
for (const entry of libraryEntries) wrap(entry);
const compiled = createRequire(import.meta.url)(join(dist, 'compiled.js'));
writeCommandCache();
writeFileSync(join(dist, 'modules.cache'), await compiledLibrary(compiled));
writeFileSync(join(dist, 'node.build'), compiled.build());
chmodSync(join(dist, 'server.js'), 0o755);
rmSync(parts, { recursive: true });
