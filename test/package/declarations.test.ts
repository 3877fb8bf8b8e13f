import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { test } from 'node:test';
import ts from 'typescript';
import { onlyLong } from '../support/store/thoroughness.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { run } from './packed.ts';

const root = join(import.meta.dirname, '../..');
const {
  exports,
}: { exports: Record<string, { require: { types: string }; import: { types: string } } | string> } =
  JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const targets = Object.values(exports).filter((target) => typeof target !== 'string');

/** The statements of the declarations of an entry, each with its comment. */
function readDeclarations(
  path: string,
): readonly { readonly text: string; readonly statement: ts.Statement }[] {
  const text = readFileSync(join(root, path), 'utf8');
  const { statements } = ts.createSourceFile(path, text, ts.ScriptTarget.Latest);
  return statements.map((statement) => ({
    text: text.slice(statement.pos, statement.end).trim(),
    statement,
  }));
}

function isImportOrExport({ statement }: { readonly statement: ts.Statement }): boolean {
  return ts.isImportDeclaration(statement) || ts.isExportDeclaration(statement);
}

test('no declaration occurs in two entries', () => {
  const homes = new Map<string, string[]>();
  for (const { require } of targets) {
    for (const each of readDeclarations(require.types))
      if (!isImportOrExport(each)) homes.set(each.text, [...(homes.get(each.text) ?? []), require.types]);
  }
  assert.ok(homes.size > 100);
  assert.deepEqual(
    [...homes].filter(([, paths]) => paths.length > 1),
    [],
  );
});

test('the declarations for ES modules re-export those for CommonJS, and import the same entries', () => {
  for (const { import: module, require } of targets) {
    const statements = readDeclarations(module.types).map(({ text }) => text);
    const path = posix.relative(posix.dirname(module.types), require.types).replace(/\.d\.ts$/, '.js');
    const paths = readDeclarations(require.types).flatMap(
      ({ text }) => /^(?:import|export) \{.*from '(\..*)';$/.exec(text)?.[1] ?? [],
    );
    const loaded = [...new Set(paths)].map((other) => `import type {} from '${other}';`);
    assert.deepEqual(statements, [...loaded, `export * from '${path}';`], module.types);
  }
});

test('the declarations of functions and classes contain the comments of the sources, which editors show', () => {
  const documented = new Map<string, boolean>();
  for (const { statement, text } of targets.flatMap(({ require }) => readDeclarations(require.types))) {
    if (!ts.isFunctionDeclaration(statement) && !ts.isClassDeclaration(statement)) continue;
    const name = statement.name?.text ?? '';
    // The first overload has the comment.
    documented.set(name, documented.get(name) === true || text.startsWith('/**'));
  }
  assert.ok(documented.size > 30);
  assert.deepEqual(
    [...documented].filter(([, isDocumented]) => !isDocumented),
    [],
  );
  const source = readFileSync(join(root, 'src/double/double.ts'), 'utf8');
  const [comment = 'startDouble has no comment'] =
    /\/\*\*(?:(?!\*\/).)*\*\/(?=\nexport (?:async )?function startDouble)/s.exec(source) ?? [];
  const double = readFileSync(join(root, 'dist/cjs/double/index.d.ts'), 'utf8');
  assert.ok(
    double.includes(`${comment}
declare function startDouble`),
    comment,
  );
});

/** Code whose types TypeScript infers. They name types of other entries, and members of types that have no name for users. */
const inferred: Readonly<Record<string, string>> = {
  values: `
    import * as root from 'countersign';
    import * as attacks from 'countersign/attack';
    import * as client from 'countersign/client';
    import * as double from 'countersign/double';
    import * as matchers from 'countersign/matchers';
    import * as postgres from 'countersign/postgres';
    import * as redis from 'countersign/redis';
    import * as contract from 'countersign/store-contract';
    import * as xml from 'countersign/xml';
    export const all = { root, attacks, client, double, matchers, postgres, redis, contract, xml };
    export const members = {
      ...root, ...attacks, ...client, ...double, ...matchers, ...postgres, ...redis, ...contract, ...xml,
    };`,
  double: `
    import { type Double, type DoubleEventMap, type DoubleOptions, type Stub, startDouble } from 'countersign/double';
    export const addResource = (double: Double) => double.resource;
    export const open = async () => {
      const { auth, clock, faults, journal, oauth1, oauth2 } = await startDouble();
      return { auth, clock, faults, journal, oauth1, oauth2 };
    };
    export const membersOf = (double: Double, options: DoubleOptions) => ({ ...double, ...options });
    export const read = ({ faults, journal, oauth2, partner }: Double) => ({
      pending: faults.pending(),
      raw: journal.last().raw(),
      verification: { ...journal.last().auth },
      operations: partner.coverage().operations,
    });
    export const describe = ({ match, response }: Stub, events: DoubleEventMap) => ({ match, response, ...events });`,
  service: `
    import type * as root from 'countersign';
    export const membersOf = (service: root.Service, options: root.ServiceOptions) => ({ ...service, ...options });
    export const call = ({ principal, parameters }: root.Call) => ({ rights: principal?.lent, parameters });
    export const resource = (resource: root.Resource, reader: root.ContentReader) => ({ ...resource, ...reader });
    export const declared = (collection: root.CollectionDeclaration, schemes: root.SchemeDeclarations) => ({
      ...collection, ...schemes,
    });
    export const scheme = ({ parse, message, format }: root.SchemeDefinition) => ({ parse, message, format });`,
  stores: `
    import type { DurableStore, Store, StoreChange, StoredReceipt, TransferPart } from 'countersign';
    import type { PostgresStore } from 'countersign/postgres';
    export const apply = (store: PostgresStore) => ({ ...store, apply: store.apply });
    export const durable = (store: DurableStore) => ({ ...store, health: store.health });
    export const read = (store: Store, change: StoreChange, { receipt }: StoredReceipt, part: TransferPart) => ({
      ...store, ...change, receipt, part,
    });`,
};

for (const [version, compiler, ending, module, resolution] of [
  ['7', 'node_modules/@typescript/native/bin/tsc', 'ts', 'esnext', 'bundler'],
  ['7', 'node_modules/@typescript/native/bin/tsc', 'mts', 'nodenext', 'nodenext'],
  ['7', 'node_modules/@typescript/native/bin/tsc', 'cts', 'nodenext', 'nodenext'],
  ['5.9', 'test/node_modules/typescript/bin/tsc', 'ts', 'esnext', 'bundler'],
  ['5.9', 'test/node_modules/typescript/bin/tsc', 'mts', 'nodenext', 'nodenext'],
] as const) {
  const skip = !(version === '7' && ending === 'ts') && onlyLong;
  test(`TypeScript ${version} can name the types that it infers in a .${ending} file`, {
    skip,
  }, (context) => {
    if (!existsSync(join(root, compiler))) return context.skip(`TypeScript ${version} is not installed`);
    const folder = temporaryDirectory();
    mkdirSync(join(folder, 'node_modules/@types'), { recursive: true });
    symlinkSync(root, join(folder, 'node_modules/countersign'));
    symlinkSync(join(root, 'node_modules/@types/node'), join(folder, 'node_modules/@types/node'));
    for (const [name, text] of Object.entries(inferred)) {
      const file = `${name}.${ending}`;
      writeFileSync(join(folder, file), text);
      const compilerOptions = {
        module,
        moduleResolution: resolution,
        target: 'es2022',
        lib: ['es2022', 'esnext.disposable', 'dom'],
        types: ['node'],
        strict: true,
        // One file imports all declarations. The compiler needs seconds to check them.
        skipLibCheck: name !== 'values',
        declaration: true,
        emitDeclarationOnly: true,
        outDir: 'out',
      };
      writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: [file] }));
      run(process.execPath, [join(root, compiler), '-p', folder], folder);
    }
  });
}
