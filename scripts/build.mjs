// Builds dist: the library as ES modules and as CommonJS, and the command as one script, because a start that
// reads some 140 modules takes twice as long as one that reads one, and the loader of ES modules costs 5 ms itself.
import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
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

/** The CommonJS modules of a folder as one script, each in a function that is called when it is first required. */
function bundled(folder) {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => name.split(sep).join('/'))
    .filter((name) => name.endsWith('.js'));
  const modules = names.sort().map((name) => {
    const text = readFileSync(join(folder, name), 'utf8').replaceAll(
      /\brequire\((["'])(\.[^"']+)\1\)/g,
      (_, _quote, specifier) => `require(${JSON.stringify(posix.join(posix.dirname(name), specifier))})`,
    );
    return `${JSON.stringify(name)}(exports, require) {\n${text}},\n`;
  });
  return `(function (require) {
'use strict';
const loaded = new Map();
const modules = {
${modules.join('')}};
return function load(name) {
  if (!Object.hasOwn(modules, name)) return require(name);
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

/** What V8 compiled of the command once it was loaded and a service was composed, for scripts/launch.cjs. */
async function compiled(filename) {
  const script = new Script(readFileSync(filename, 'utf8'), { filename });
  const load = script.runInThisContext()(createRequire(import.meta.url));
  load('cli/main.js');
  load('cli/serve.js');
  const silent = { write() {} };
  await load('cli/check.js').check(
    ['--memory'],
    {},
    { stdin: process.stdin, stdout: silent, stderr: silent },
  );
  return script.createCachedData();
}

// Which Node.js this is; scripts/launch.cjs says why.
const build = JSON.stringify([process.versions, process.platform, process.arch, process.config]);

rmSync(dist, { recursive: true, force: true });
compile('tsconfig.build.json');
compile('tsconfig.cjs.json');
const parts = join(dist, 'parts');
compile('tsconfig.cjs.json', '--outDir', relative(root, parts), '--declaration', 'false', '--removeComments');
writeFileSync(join(dist, 'command.js'), bundled(parts));
writeFileSync(join(dist, 'command.build'), build);
writeFileSync(join(dist, 'command.cache'), await compiled(join(dist, 'command.js')));
copyFileSync(join(root, 'scripts', 'launch.cjs'), join(dist, 'server.js'));
chmodSync(join(dist, 'server.js'), 0o755);
writeFileSync(join(dist, 'package.json'), '{ "type": "commonjs" }\n');
writeFileSync(join(dist, 'esm', 'package.json'), '{ "type": "module" }\n');
rmSync(parts, { recursive: true });
for (const format of ['esm', 'cjs']) rmSync(join(dist, format, 'cli'), { recursive: true });
