// Writes the declarations of the library: one file for each entry of package.json, with everything that its names need.
//   dist/cjs/ENTRY.d.ts   the declarations
//   dist/esm/ENTRY.d.ts   exports the same names to ES modules
// The compiler writes a declaration file for each module, and rollup-plugin-dts bundles those of an entry; it keeps the
// comments, which editors show. A type that several entries need is declared by one of them, its owner, and the others import
// it from there. Declared twice, it would be two types, of which classes are incompatible, and TypeScript could infer types
// that a user cannot write (TS2883). For the same reason, the declarations for ES modules repeat nothing.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, posix } from 'node:path';
import { rollup } from 'rollup';
import { dts } from 'rollup-plugin-dts';
import ts from 'typescript';

const require = createRequire(import.meta.url);

/** Writes the declarations of the entries. If several export a name, the first of them owns it. */
export async function writeDeclarations(root, entries) {
  const compiled = mkdtempSync(join(tmpdir(), 'declarations-'));
  try {
    await compile(root, compiled);
    const owners = findOwners(entries, compiled);
    for (const entry of entries) {
      const { code, owners: loaded } = await bundle(entry, compiled, owners);
      write(root, `cjs/${entry}`, code);
      write(root, `esm/${entry}`, reexport(entry, loaded));
    }
  } finally {
    rmSync(compiled, { recursive: true });
  }
}

/** Writes a declaration file for each module into a folder. */
async function compile(root, folder) {
  const compiler = join(dirname(require.resolve('@typescript/native/package.json')), 'bin', 'tsc');
  const args = [compiler, '-p', 'tsconfig.build.json', '--outDir', folder];
  const [status] = await once(spawn(process.execPath, args, { cwd: root, stdio: 'inherit' }), 'exit');
  if (status !== 0) throw new Error(`tsc exited with ${status}`);
}

/** Returns the owner of each exported declaration, and the name that it exports, by `keyOf`. */
function findOwners(entries, folder) {
  const paths = entries.map((entry) => join(folder, `${entry}.d.ts`));
  const program = ts.createProgram(paths, { noLib: true, types: [], module: ts.ModuleKind.NodeNext });
  const checker = program.getTypeChecker();
  const owners = new Map();
  for (const [at, entry] of entries.entries()) {
    const module = checker.getSymbolAtLocation(program.getSourceFile(paths[at]));
    for (const exported of checker.getExportsOfModule(module)) {
      const isAlias = (exported.flags & ts.SymbolFlags.Alias) !== 0;
      const { name, declarations } = isAlias ? checker.getAliasedSymbol(exported) : exported;
      const key = keyOf(declarations[0].getSourceFile().fileName, name);
      if (!owners.has(key)) owners.set(key, { entry, name: exported.name });
    }
  }
  return owners;
}

function keyOf(file, name) {
  return `${name} ${file}`;
}

/** Returns the declarations of an entry, and the relative paths of the entries that they import. */
async function bundle(entry, folder, owners) {
  const scheme = 'entry:';
  const importOwned = {
    name: 'import-owned',
    resolveId: (id) => (id.startsWith(scheme) ? { id, external: true } : null),
    load: (id) => (id.startsWith(folder) ? importOwnedElsewhere(id, entry, owners, scheme) : null),
  };
  const bundled = await rollup({
    input: join(folder, `${entry}.d.ts`),
    external: /^node:/,
    plugins: [importOwned, dts({ tsconfig: false })],
    onwarn: ({ code, message }) => {
      // A module of which only some names are needed imports all that another entry owns.
      if (code === 'UNUSED_EXTERNAL_IMPORT') return;
      throw new Error(`${entry}: ${message}`);
    },
  });
  const paths = (id) => (id.startsWith(scheme) ? relative(entry, id.slice(scheme.length)) : id);
  const { output } = await bundled.generate({ format: 'es', paths });
  const [{ code, imports }] = output;
  return { code, owners: imports.filter((path) => path.startsWith('.')) };
}

/** Returns a declaration file in which imports replace the declarations that other entries own. */
function importOwnedElsewhere(file, entry, owners, scheme) {
  const text = readFileSync(file, 'utf8');
  const kept = [];
  const imports = new Set();
  for (const statement of ts.createSourceFile(file, text, ts.ScriptTarget.Latest).statements) {
    const declared = statement.name ?? statement.declarationList?.declarations[0].name;
    const owner = declared === undefined ? undefined : owners.get(keyOf(file, declared.text));
    if (owner === undefined || owner.entry === entry) kept.push(text.slice(statement.pos, statement.end));
    else {
      imports.add(`import { ${owner.name} as ${declared.text} } from '${scheme}${owner.entry}';`);
      imports.add(`export { ${declared.text} };`);
    }
  }
  return [...imports, ...kept].join('\n');
}

/** Returns the declarations for ES modules. They load those of the owners, so that TypeScript can name inferred types. */
function reexport(entry, owners) {
  const loaded = owners.map((owner) => `import type {} from '${owner}';\n`);
  const path = posix.relative(posix.dirname(`esm/${entry}`), `cjs/${entry}.js`);
  return `${loaded.join('')}export * from '${path}';\n`;
}

/** Returns the path of an entry from another one. */
function relative(from, to) {
  const path = posix.relative(posix.dirname(from), `${to}.js`);
  return path.startsWith('.') ? path : `./${path}`;
}

function write(root, name, text) {
  const file = join(root, 'dist', `${name}.d.ts`);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}
