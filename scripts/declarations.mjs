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
    const { owners, values } = findExports(entries, compiled);
    for (const entry of entries) {
      const { code: bundled, owners: loaded } = await bundle(entry, compiled, owners);
      const code = inlineInterfaces(exportTypes(bundled, values.get(entry)));
      write(root, `cjs/${entry}`, code);
      write(root, `esm/${entry}`, reexport(entry, loaded));
    }
  } finally {
    rmSync(compiled, { recursive: true });
  }
}

/**
 * Declares interfaces that are not exported as type aliases. TypeScript writes the members of an alias into an inferred type; an
 * interface it would have to name, which a user cannot (TS4023).
 */
function inlineInterfaces(code) {
  const file = ts.createSourceFile('entry.d.ts', code, ts.ScriptTarget.Latest);
  const exported = new Set(
    file.statements
      .filter((statement) => ts.isExportDeclaration(statement) && statement.exportClause !== undefined)
      .flatMap(({ exportClause }) => exportClause.elements.map(({ name }) => name.text)),
  );
  let inlined = '';
  let end = 0;
  for (const statement of file.statements) {
    if (!ts.isInterfaceDeclaration(statement) || exported.has(statement.name.text)) continue;
    const start = statement.getStart(file);
    const opening = code.indexOf(
      '{',
      statement.heritageClauses?.end ?? statement.typeParameters?.end ?? statement.name.end,
    );
    const parameters = statement.typeParameters?.map((each) => each.getText(file)).join(', ');
    const name = statement.name.text + (parameters === undefined ? '' : `<${parameters}>`);
    const extended = (statement.heritageClauses ?? []).flatMap(({ types }) =>
      types.map((type) => `${type.getText(file)} & `),
    );
    inlined += `${code.slice(end, start)}type ${name} = ${extended.join('')}${code.slice(opening, statement.end)};`;
    ({ end } = statement);
  }
  return inlined + code.slice(end);
}

/** Writes a declaration file for each module into a folder. */
async function compile(root, folder) {
  const compiler = join(dirname(require.resolve('@typescript/native/package.json')), 'bin', 'tsc');
  const args = [compiler, '-p', 'tsconfig.build.json', '--outDir', folder];
  const [status] = await once(spawn(process.execPath, args, { cwd: root, stdio: 'inherit' }), 'exit');
  if (status !== 0) throw new Error(`tsc exited with ${status}`);
}

/**
 * Returns the owner of each exported declaration, and the name that it exports, by `keyOf`; and the names that each entry does not
 * export as types only.
 */
function findExports(entries, folder) {
  const paths = entries.map((entry) => join(folder, `${entry}.d.ts`));
  const program = ts.createProgram(paths, { noLib: true, types: [], module: ts.ModuleKind.NodeNext });
  const checker = program.getTypeChecker();
  const owners = new Map();
  const values = new Map();
  for (const [at, entry] of entries.entries()) {
    const module = checker.getSymbolAtLocation(program.getSourceFile(paths[at]));
    const exports = checker.getExportsOfModule(module);
    values.set(entry, new Set(exports.filter((each) => !isTypeOnly(each)).map(({ name }) => name)));
    for (const exported of exports) {
      const isAlias = (exported.flags & ts.SymbolFlags.Alias) !== 0;
      const { name, declarations } = isAlias ? checker.getAliasedSymbol(exported) : exported;
      const key = keyOf(declarations[0].getSourceFile().fileName, name);
      if (!owners.has(key)) owners.set(key, { entry, name: exported.name });
    }
  }
  return { owners, values };
}

function isTypeOnly({ declarations: [declaration] }) {
  return ts.isExportSpecifier(declaration) && ts.isTypeOnlyExportDeclaration(declaration);
}

/** Exports classes as types if the entry does: the bundler exports every class as a value, which does not exist at run time. */
function exportTypes(code, values) {
  const types = [];
  const withValues = code.replace(/^export \{ (.*) \};$/m, (_, names) => {
    const [exported, others] = [[], []];
    for (const name of names.split(', ')) (values.has(name) ? exported : others).push(name);
    types.push(...others);
    return `export { ${exported.join(', ')} };`;
  });
  if (types.length === 0) return code;
  return withValues.replace(/^export type \{ (.*) \};$/m, (_, names) => {
    const all = [...names.split(', '), ...types].sort();
    return `export type { ${all.join(', ')} };`;
  });
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
