import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { before, test } from 'node:test';
import { run } from '../support/packed.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const root = join(import.meta.dirname, '../..');
/** The declarations of each module. Those in dist are bundled, and do not show what a module exports. */
const declarations = temporaryDirectory();
const entries = [
  'index',
  'double/index',
  'matchers/index',
  'attack/index',
  'client/index',
  'xml/index',
  'postgres/index',
  'redis/index',
  'store-contract/index',
];

before(() => {
  const compiler = join(root, 'node_modules/@typescript/native/bin/tsc');
  run(process.execPath, [compiler, '-p', 'tsconfig.build.json', '--outDir', declarations], root);
});

/** Where a name comes from: the file that declares it, and its name there. */
interface Origin {
  readonly file: string;
  readonly name: string;
}

/** A declaration file as the compiler writes it. */
interface Module {
  /** The text of what is declared, by its name. Interfaces, functions and their overloads may have several parts. */
  readonly declared: ReadonlyMap<string, string>;
  /** The same with its comments. */
  readonly documented: ReadonlyMap<string, string>;
  /** What is imported, by the local name. */
  readonly imported: ReadonlyMap<string, Origin>;
  /** What is exported from other files, by the exported name. */
  readonly forwarded: ReadonlyMap<string, Origin>;
}

const modules = new Map<string, Module>();

/** Reads a declaration file. Every statement begins in the first column. */
function moduleOf(file: string): Module {
  const before = modules.get(file);
  if (before !== undefined) return before;
  const declared = new Map<string, string>();
  const imported = new Map<string, Origin>();
  const forwarded = new Map<string, Origin>();
  const documented = new Map<string, string>();
  let comment = '';
  for (const part of readFileSync(file, 'utf8').split(/\n(?=\/\*\*|[a-z])/)) {
    if (part.startsWith('/**')) {
      comment = part;
      continue;
    }
    const statement = part.replace(/\/\*.*?\*\/|\/\/.*$/gms, '');
    const [, kind, names, path] =
      /^(import|export)\s+(?:type\s+)?\{(.*?)\}\s+from\s+'(.*?)'/s.exec(statement) ?? [];
    if (kind !== undefined && names !== undefined && path !== undefined) {
      if (!path.startsWith('.')) continue;
      const from = join(dirname(file), path.replace(/\.[jt]s$/, '.d.ts'));
      for (const [name, as] of namesIn(names))
        (kind === 'import' ? imported : forwarded).set(as, { file: from, name });
      continue;
    }
    const name = /^(?:export )?(?:declare )?(?:abstract )?(?:class|interface|type|function|const) (\w+)/.exec(
      statement,
    )?.[1];
    if (name === undefined) continue;
    declared.set(name, `${declared.get(name) ?? ''}\n${statement}`);
    documented.set(name, `${documented.get(name) ?? ''}\n${comment}\n${part}`);
    comment = '';
  }
  const module = { declared, documented, imported, forwarded };
  modules.set(file, module);
  return module;
}

/** The names of an import or export clause, each with the one that it gets. */
function namesIn(clause: string): [name: string, as: string][] {
  const names = clause.split(',').map((each) => each.trim().replace(/^type /, ''));
  return names
    .filter((each) => each !== '')
    .map((each) => {
      const [name = '', as = name] = each.split(' as ');
      return [name, as];
    });
}

/** The place where a name that a file has is declared. */
function originOf({ file, name }: Origin): Origin {
  const { declared, imported, forwarded } = moduleOf(file);
  const alias = /^export type \w+ = (\w+);$/m.exec(declared.get(name) ?? '')?.[1];
  if (alias !== undefined && imported.has(alias)) return originOf({ file, name: alias });
  const elsewhere = forwarded.get(name) ?? (declared.has(name) ? undefined : imported.get(name));
  return elsewhere === undefined ? { file, name } : originOf(elsewhere);
}

/** The names in the text of a declaration, without those of members and of its own type parameters. */
function namedIn(origin: Origin, within: readonly string[] = []): Origin[] {
  const { declared, imported } = moduleOf(origin.file);
  const statement = declared.get(origin.name) ?? '';
  const text = statement
    .replace(/'(?:[^'\\]|\\.)*'/g, '')
    .replace(/^.*?\b(?:class|interface|type|function|const) \w+/gm, '');
  const words = new Set(text.match(/(?<![\w.])[A-Z]\w*(?!\??:|\w|\()/g));
  return [...words].flatMap((name) => {
    if (within.includes(name) || !(declared.has(name) || imported.has(name))) return [];
    const named = originOf({ file: origin.file, name });
    // What its own file does not export, and what an interface extends, is a part of the declaration that names it.
    const isPart = !isExported(named) || heritageOf(statement).includes(name);
    return isPart ? namedIn(named, [...within, name]) : [named];
  });
}

/** What stands between `extends` and the members of an interface or a class. */
function heritageOf(statement: string): string {
  return (
    /^export (?:declare )?(?:class|interface) \w+[^{]*? extends ([^{]*)\{/.exec(statement.trim())?.[1] ?? ''
  );
}

function isExported({ file, name }: Origin): boolean {
  return /^\s*export /.test(moduleOf(file).declared.get(name) ?? '');
}

function keyOf({ file, name }: Origin): string {
  return `${relative(declarations, file).replace(/\.d\.ts$/, '')}: ${name}`;
}

/** What an entry exports. */
function exportedFrom(entry: string): Origin[] {
  const file = join(declarations, `${entry}.d.ts`);
  return [...moduleOf(file).forwarded.values()].map(originOf);
}

for (const entry of entries) {
  test(`every type in a signature that ${entry} exports is exported from an entry`, () => {
    const exported = exportedFrom(entry);
    const keys = new Set(entries.flatMap(exportedFrom).map(keyOf));
    const missing = new Set<string>();
    for (const origin of exported) {
      for (const named of namedIn(origin))
        if (!keys.has(keyOf(named))) missing.add(`${keyOf(named)}, named by ${origin.name}`);
    }
    assert.ok(exported.length > 0);
    assert.deepEqual([...missing].sort(), []);
  });
}

/** The classes of errors that the library has. */
function errorClasses(): ReadonlySet<string> {
  const files = readdirSync(declarations, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.d.ts'),
  );
  const texts = files.map((name) => readFileSync(join(declarations, name), 'utf8'));
  return new Set(
    texts
      .flatMap((text) => [...text.matchAll(/^export declare class (\w+) extends \w*Error\b/gm)])
      .map(([, name = '']) => name),
  );
}

for (const entry of entries) {
  test(`every error that the documentation of what ${entry} exports mentions is exported from an entry`, () => {
    const errors = errorClasses();
    const exported = exportedFrom(entry);
    const names = new Set(entries.flatMap(exportedFrom).map(({ name }) => name));
    const texts = exported.map(({ file, name }) => moduleOf(file).documented.get(name) ?? '');
    const mentioned = new Set(texts.flatMap((text) => text.match(/\b[A-Z]\w*\b/g) ?? []));
    assert.ok(errors.size > 0);
    assert.deepEqual(
      [...errors].filter((name) => mentioned.has(name) && !names.has(name)),
      [],
    );
  });
}
