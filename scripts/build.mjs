// Builds dist:
//   dist/server.js      the command
//   dist/cjs            the library as CommonJS: a script for each entry of package.json, and shared code in chunks/
//   dist/esm            an ES module for each entry that re-exports the CommonJS entry, so that each class exists only once in
//                       a process
//   dist/console        the console, unchanged: a browser loads its modules from the control port
//   *.d.ts, *.js.map    declarations for both, and source maps that contain the sources
// The scripts are bundled but not minified. Loading 300 separate modules would double the time of a start, and so would the
// ES module loader compared with `require`. A module that is loaded with `import()` is in a separate chunk.
import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { transform } from 'esbuild';
import { rollup } from 'rollup';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const dist = join(root, 'dist');
const require = createRequire(import.meta.url);

/** The entries of the library, by their paths in src and dist. */
const entries = [
  ...['index', 'double/index', 'attack/index', 'client/index', 'xml/index'],
  ...['postgres/index', 'redis/index', 'store-contract/index'],
];

/** Strips the types of a module. */
const typescript = {
  name: 'typescript',
  async transform(code, id) {
    return transform(code, { loader: 'ts', target: 'node20', sourcefile: id, sourcemap: true });
  },
  // The path of --module is known only when the command runs, and the module is an ES module.
  renderDynamicImport({ moduleId, targetModuleId }) {
    const isUserModule = targetModuleId === null && moduleId === source('cli/module/load-module');
    return isUserModule ? { left: 'import(', right: ')' } : null;
  },
  resolveImportMeta(property) {
    if (property === 'url') return "require('node:url').pathToFileURL(__filename).href";
    throw new Error(`import.meta.${property} has no counterpart in CommonJS`);
  },
};

/**
 * The named chunks. Each contains the listed modules and their imports, except those in a previous chunk. Without them, there
 * would be a small chunk for each set of entries and commands that share a module, and each file adds a third of a
 * millisecond to a start.
 */
const chunks = {
  common: ['accounts/registration', 'duration', 'oauth/lifetimes'],
  signing: ['client/sign', 'client/redirect', 'client/fetch-target'],
  schemes: ['client/index'],
  writing: ['xml/writer', 'xml/names'],
  xml: ['xml/index'],
  command: [
    'cli/errors',
    'cli/accounts/no-account-files',
    'options/table',
    'options/flags',
    'accounts/account-file-path',
  ],
  service: [
    'service/service',
    'index',
    'client/oauth1',
    'client/basic',
    'http/field-lines',
    'net/tls/certificate',
  ],
  attack: ['attack/index'],
  double: ['double/double', 'double/permission-matrix'],
  configuration: ['options/options', 'cli/accounts/credentials'],
};

/** Returns the first chunk that contains a module; undefined leaves the choice to the bundler. */
function chunkOf(id, { getModuleInfo }) {
  const contains = (modules) => imported(modules.map(source), getModuleInfo).has(id);
  return Object.keys(chunks).find((name) => contains(chunks[name]));
}

/** Returns the modules with these paths and all their static imports. */
function imported(paths, getModuleInfo) {
  const found = new Set(paths);
  for (const path of found) {
    const module = getModuleInfo(path);
    if (module === null) throw new Error(`${path} is not part of the bundle`);
    for (const id of module.importedIds) found.add(id);
  }
  return found;
}

/** Returns the path of a module in src. */
function source(module) {
  return join(root, 'src', `${module}.ts`);
}

async function writeScripts() {
  const library = entries.map((entry) => [`cjs/${entry}`, source(entry)]);
  const bundle = await rollup({
    input: { server: source('server'), ...Object.fromEntries(library) },
    external: /^node:/,
    plugins: [typescript],
    treeshake: { moduleSideEffects: false },
    onwarn(warning) {
      throw new Error(warning.message);
    },
  });
  await bundle.write({
    dir: dist,
    format: 'cjs',
    entryFileNames: '[name].js',
    chunkFileNames: 'cjs/chunks/[name].js',
    sourcemap: true,
    exports: 'named',
    esModule: true,
    externalLiveBindings: false,
    freeze: false,
    hoistTransitiveImports: false,
    manualChunks: chunkOf,
    interop: 'default',
    dynamicImportInCjs: false, // Jest does not support import() in CommonJS
    generatedCode: { preset: 'es2015', symbols: false },
  });
  await bundle.close();
}

/** Writes the ES module that re-exports a CommonJS entry. */
function writeModule(entry) {
  const file = join(dist, 'esm', `${entry}.js`);
  const names = Object.keys(require(join(dist, 'cjs', `${entry}.js`)));
  const path = posix.relative(posix.dirname(`esm/${entry}`), `cjs/${entry}.js`);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(
    file,
    `import library from '${path}';\n\nexport const { ${names.sort().join(', ')} } = library;\n`,
  );
}

/** Writes the declarations, which are the same for both module formats. */
function writeDeclarations() {
  const compiler = join(dirname(require.resolve('typescript/package.json')), 'bin', 'tsc');
  const args = [compiler, '-p', 'tsconfig.build.json'];
  const { status } = spawnSync(process.execPath, args, { cwd: root, stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
  cpSync(join(dist, 'cjs'), join(dist, 'esm'), { recursive: true });
}

rmSync(dist, { recursive: true, force: true });
writeDeclarations();
writeFileSync(join(dist, 'package.json'), '{ "type": "commonjs" }\n');
writeFileSync(join(dist, 'esm', 'package.json'), '{ "type": "module" }\n');
await writeScripts();
for (const entry of entries) writeModule(entry);
cpSync(join(root, 'src', 'console'), join(dist, 'console'), { recursive: true });
chmodSync(join(dist, 'server.js'), 0o755);
