// Builds dist: ES modules for the library, CommonJS beside them for the package's entry points, and the command as
// one file, because a start that reads some 140 files takes twice as long as one that reads one.
import { spawnSync } from 'node:child_process';
import { chmodSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, posix, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

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

/** Puts the CommonJS modules of a folder into one ES module, each in a function, called when it is first required. */
function bundle(folder, entry, target) {
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
  const [head = '', body = ''] = entry.split("import { main } from './cli/main.js';\n");
  if (!body.includes('main(')) throw new Error('server.ts is not what the bundle expects');
  const loader = `import { createRequire } from 'node:module';
const builtin = createRequire(import.meta.url);
const loaded = new Map();
function load(name) {
  if (!Object.hasOwn(modules, name)) return builtin(name);
  const before = loaded.get(name);
  if (before !== undefined) return before;
  const exports = {};
  loaded.set(name, exports);
  modules[name](exports, load);
  return exports;
}
const modules = {
${modules.join('')}};
const { main } = load('cli/main.js');
`;
  writeFileSync(target, head + loader + body);
}

rmSync(dist, { recursive: true, force: true });
compile('tsconfig.build.json');
compile('tsconfig.cjs.json');
writeFileSync(join(dist, 'cjs', 'package.json'), '{ "type": "commonjs" }\n');

const parts = join(dist, 'parts');
compile('tsconfig.cjs.json', '--outDir', relative(root, parts), '--declaration', 'false', '--removeComments');
bundle(parts, readFileSync(join(dist, 'server.js'), 'utf8'), join(dist, 'server.js'));
rmSync(parts, { recursive: true });
rmSync(join(dist, 'cli'), { recursive: true });
rmSync(join(dist, 'cjs', 'cli'), { recursive: true });
chmodSync(join(dist, 'server.js'), 0o755);
