// Builds dist:
//   dist/server.js      the command
//   dist/cjs            the library as CommonJS: a script for each entry of package.json, and in chunks/ what they share
//   dist/esm            an ES module for each entry that exports what the CommonJS entry does, so that there is one copy of
//                       every class in a process
//   *.d.ts, *.js.map    declarations beside both, and source maps that contain the sources
// The scripts are bundled and not minified: reading one file for each of the 300 modules takes twice as long to start, and so
// does the loader of ES modules compared with `require`. What the sources load by `import()` is a chunk of its own.
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

/** The entries of the library, by their paths in src and in dist. */
const entries = ['index', 'double/index', 'attack/index', 'client/index', 'xml/index'];

/** Strips the types of a module. */
const typescript = {
  name: 'typescript',
  async transform(code, id) {
    return transform(code, { loader: 'ts', target: 'node20', sourcefile: id, sourcemap: true });
  },
  resolveImportMeta(property) {
    if (property === 'url') return "require('node:url').pathToFileURL(__filename).href";
    throw new Error(`import.meta.${property} has no counterpart in CommonJS`);
  },
};

/**
 * The chunks that are named here, each with the modules that it begins with: it contains them and what they import, except what
 * is in a chunk before it. Without these there would be a small chunk for every set of entries and commands that share a module,
 * and every file adds a third of a millisecond to a start.
 */
const chunks = {
  common: ['accounts/registration', 'duration', 'oauth/lifetimes'],
  signing: ['client/index'],
  writing: ['xml/writer', 'xml/names'],
  xml: ['xml/index'],
  command: [
    'cli/errors',
    'cli/accounts/no-account-files',
    'options/table',
    'options/flags',
    'accounts/account-file-path',
  ],
  service: ['service/service'],
  configuration: ['options/options', 'cli/accounts/credentials'],
};

/** Assigns a module to the first of the chunks that contains it; the bundler decides about the others. */
function chunkOf(id, { getModuleInfo }) {
  const contains = (modules) => imported(modules.map(source), getModuleInfo).has(id);
  return Object.keys(chunks).find((name) => contains(chunks[name]));
}

/** The modules with these paths and all that they import, except by `import()`. */
function imported(paths, getModuleInfo) {
  const found = new Set(paths);
  for (const path of found) {
    const module = getModuleInfo(path);
    if (module === null) throw new Error(`${path} is not part of the bundle`);
    for (const id of module.importedIds) found.add(id);
  }
  return found;
}

/** The path of a module in src. */
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

/** Writes the ES module that exports what an entry in CommonJS does. */
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

/** Writes the declarations. They are the same for both kinds of modules. */
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
chmodSync(join(dist, 'server.js'), 0o755);
