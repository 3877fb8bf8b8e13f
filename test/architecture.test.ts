import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import test from 'node:test';

const root = join(import.meta.dirname, '..');

/** A source file: its path from the root, its text and its imports. */
interface SourceFile {
  readonly path: string;
  readonly text: string;
  /** `node:http`, or a path from the root. */
  readonly imports: readonly string[];
}

/** A row of a table in ARCHITECTURE.md. */
interface Folder {
  readonly layer: number;
  /** `src/http`, `src/clock.ts`. */
  readonly path: string;
  /** Folders that it may import, as paths. */
  readonly imports: readonly string[];
}

const files: SourceFile[] = ['src', 'bench', 'scripts'].flatMap((tree) =>
  readdirSync(join(root, tree), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(ts|mjs|cjs)$/.test(name) && !name.includes('node_modules'))
    .map((name) => {
      const path = join(tree, name);
      const text = readFileSync(join(root, path), 'utf8');
      return { path, text, imports: listImports(path, text) };
    }),
);
const sources = files.filter(({ path }) => path.startsWith('src/'));
const table = parseFolders(readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8'));
/** The layer of modules that every folder may import. */
const lowest = 11;

function listImports(path: string, text: string): string[] {
  const found = text.matchAll(/(?:\bfrom\s+|\b(?:import|require)\s*\(?\s*)'([^'\s]+)'/g);
  return Array.from(found, ([, specifier = '']) =>
    specifier.startsWith('.') ? relative(root, join(root, dirname(path), specifier)) : specifier,
  );
}

/** Reads the rows `| layer | folders | contents | imports |`; folders without a tree are in `src/`. */
function parseFolders(page: string): Folder[] {
  return Array.from(page.matchAll(/^\| (\d+) \| (.+?) \| .+? \| (.*?) ?\|$/gm)).flatMap(
    ([, layer, names = '', imports = '']) =>
      namesIn(names).map((name) => {
        const tree = name.startsWith('bench/') ? 'bench' : 'src';
        return {
          layer: Number(layer),
          path: name.startsWith('bench/') ? name : `src/${name}`,
          imports: namesIn(imports).map((imported) => placed(tree, imported)),
        };
      }),
  );
}

function namesIn(cell: string): string[] {
  return Array.from(cell.matchAll(/`([^`]+?)\/?`/g), ([, name = '']) => name);
}

/** The path of an imported folder. */
function placed(tree: string, name: string): string {
  return `${tree}/${name}`;
}

/** The folder of a path, or the file itself directly in `src/` or `bench/`: `src/http`, `src/clock.ts`. */
function parseFolder(path: string): string {
  return path.split('/').slice(0, 2).join('/');
}

const isOurs = (imported: string): boolean => /^(src|bench|scripts|test)\//.test(imported);
const isIn =
  (...folders: string[]) =>
  (path: string): boolean =>
    folders.some((folder) => path === folder || path.startsWith(`${folder}/`));

/** Lists every import from a file that `from` accepts of something that `to` accepts, as `file → import`. */
function arrows(
  from: (path: string) => boolean,
  to: (imported: string, path: string) => boolean,
  among: readonly SourceFile[] = sources,
): string[] {
  return among
    .filter(({ path }) => from(path))
    .flatMap(({ path, imports }) =>
      imports.filter((imported) => to(imported, path)).map((imported) => `${path} → ${imported}`),
    );
}

test('the scan finds files, imports and the tables of ARCHITECTURE.md', () => {
  const imports = (path: string): readonly string[] =>
    files.find((file) => file.path === path)?.imports ?? [];
  assert.ok(sources.length > 250, `only ${sources.length} files in src/`);
  assert.ok(files.filter(({ path }) => path.startsWith('bench/')).length > 80);
  assert.ok(files.some(({ path }) => path === 'scripts/test.mjs'));
  assert.ok(imports('src/pipeline/decide.ts').includes('src/http/message.ts'));
  assert.ok(
    imports('src/cli/main.ts').includes('src/cli/commands/serve.ts'),
    'dynamic imports are not found',
  );
  assert.ok(imports('src/net/listener.ts').includes('node:http'));
  assert.ok(sources.flatMap((file) => file.imports).filter(isOurs).length > 1000);
  const layers = new Set(table.map(({ layer }) => layer));
  assert.deepEqual(
    [...layers].sort((one, other) => one - other),
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11],
  );
  assert.ok(table.find(({ path }) => path === 'src/double')?.imports.includes('src/attack'));
  assert.ok(table.find(({ path }) => path === 'bench/store')?.imports.includes('bench/load'));
});

test('the tables of ARCHITECTURE.md list all folders and no others', () => {
  for (const tree of ['src', 'bench']) {
    const present = files
      .filter(({ path }) => path.startsWith(`${tree}/`))
      .map(({ path }) => parseFolder(path))
      .filter((folder) => !/^bench\/[^/]+\.bench\.ts$/.test(folder));
    const listed = table.filter(({ path }) => path.startsWith(`${tree}/`)).map(({ path }) => path);
    assert.deepEqual(listed.sort(), [...new Set(present)].sort());
  }
});

test('a row lists folders of lower layers only, or of its own layer if that is the lowest', () => {
  const layers = new Map(table.map(({ path, layer }) => [path, layer]));
  const upward = table.flatMap(({ path, layer, imports }) =>
    imports
      .filter((imported) => !((layers.get(imported) ?? 0) > (layer === lowest ? lowest - 1 : layer)))
      .map((imported) => `${path} → ${imported}`),
  );
  assert.deepEqual(upward, []);
});

for (const { path: folder, layer, imports } of table) {
  test(`${folder} imports only what its row lists`, () => {
    const modules = table
      .filter((each) => each.layer === lowest && each.path.endsWith('.ts'))
      .map(({ path }) => path);
    const allowed = layer === lowest ? [folder, ...imports] : [folder, ...imports, ...modules];
    // A benchmark measures the server, and its files `*.bench.ts` put together what the folders have.
    const others = folder.startsWith('bench/') ? ['src', 'test/support'] : [];
    assert.deepEqual(
      arrows(
        (path) => isIn(folder)(path),
        (imported) => isOurs(imported) && !isIn(...allowed, ...others)(imported),
        files,
      ),
      [],
    );
  });
}

test('scripts import neither src nor bench', () => {
  assert.deepEqual(arrows(isIn('scripts'), isIn('src', 'bench', 'test'), files), []);
});

test('no imports are circular', () => {
  const importsOfFile = new Map(files.map(({ path, imports }) => [path, imports.filter(isOurs)]));
  const settled = new Set<string>();
  const circles: string[] = [];
  const walk = (path: string, way: readonly string[]): void => {
    if (way.includes(path)) circles.push([...way.slice(way.indexOf(path)), path].join(' → '));
    else if (!settled.has(path)) {
      for (const imported of importsOfFile.get(path) ?? []) walk(imported, [...way, path]);
      settled.add(path);
    }
  };
  for (const { path } of files) walk(path, []);
  assert.deepEqual(circles, []);
});

test('node:http is imported in net only', () => {
  assert.deepEqual(
    arrows(
      (path) => !isIn('src/net')(path),
      (imported) => /^(node:)?https?$/.test(imported),
    ),
    [],
  );
});

test('node:fs is imported only in store, accounts, net/tls, cli, options and two files of double', () => {
  assert.deepEqual(
    arrows(
      (path) =>
        !isIn('src/store', 'src/accounts', 'src/net/tls', 'src/cli', 'src/options')(path) &&
        path !== 'src/double/control/console-files.ts' &&
        path !== 'src/double/partner/document-file.ts',
      (imported) => /^(node:)?fs(\/promises)?$/.test(imported),
    ),
    [],
  );
});

test('the time is read in clock.ts only', () => {
  const reading = sources.filter(
    ({ path, text }) =>
      path !== 'src/clock.ts' && /\bDate\.now\b|\bnew Date\(\)|\bperformance\.now\b/.test(text),
  );
  assert.deepEqual(
    reading.map(({ path }) => path),
    [],
  );
});

test('no random number comes from Math.random', () => {
  assert.deepEqual(
    sources.filter(({ text }) => text.includes('Math.random')).map(({ path }) => path),
    [],
  );
});

test('http imports nothing else, xml only the error class, and the clock only durations', () => {
  for (const folder of ['src/http', 'src/xml', 'src/clock.ts']) {
    const further = new Map([
      ['src/xml', 'src/countersign-error.ts'],
      ['src/clock.ts', 'src/duration.ts'],
    ]);
    const allowed = [folder, ...[further.get(folder)].filter((each) => each !== undefined)];
    assert.deepEqual(
      arrows(isIn(folder), (imported) => isOurs(imported) && !isIn(...allowed)(imported)),
      [],
    );
  }
});

test('the schemes import neither the store nor the router nor resources', () => {
  assert.deepEqual(arrows(isIn('src/schemes'), isIn('src/store', 'src/pipeline', 'src/collections')), []);
});

test('no authentication scheme imports another', () => {
  const schemes = ['hmac', 'basic', 'bearer', 'api-key', 'aws4', 'declared', 'rfc9421'];
  const findScheme = (path: string): string | undefined =>
    schemes.find((scheme) => isIn(`src/schemes/${scheme}`, `src/schemes/${scheme}.ts`)(path));
  assert.ok(schemes.every((scheme) => sources.some(({ path }) => findScheme(path) === scheme)));
  assert.deepEqual(
    arrows(
      (path) => findScheme(path) !== undefined,
      (imported, path) => findScheme(imported) !== undefined && findScheme(imported) !== findScheme(path),
    ),
    [],
  );
});

test('the store imports neither http nor schemes', () => {
  assert.deepEqual(arrows(isIn('src/store'), isIn('src/http', 'src/schemes')), []);
});

test('the resources of collections import neither schemes nor each other', () => {
  const resources = ['collection', 'item', 'own-resources'].map((name) => `src/collections/${name}.ts`);
  assert.ok(resources.every((path) => sources.some((file) => file.path === path)));
  assert.deepEqual(arrows(isIn(...resources), isIn('src/schemes', ...resources)), []);
});

test('decide names no concrete scheme, store or format', () => {
  const decide = sources.filter(({ path }) => path === 'src/pipeline/decide.ts');
  assert.equal(decide.length, 1);
  const concrete = /^src\/(schemes\/(?!authenticate\.ts)|store\/|xml\/|collections\/)/;
  assert.deepEqual(
    arrows(
      () => true,
      (imported) => concrete.test(imported),
      decide,
    ),
    [],
  );
  assert.doesNotMatch(decide[0]?.text ?? '', /\b(hmac|basic|bearer|oauth|xml|json|sqlite)\b/i);
});

test('nothing outside double imports double, except two modules of the command', () => {
  const control = 'src/cli/serve/control.ts';
  const partner = 'src/cli/serve/partner.ts';
  assert.deepEqual(
    arrows((path) => path !== control && path !== partner && !isIn('src/double')(path), isIn('src/double')),
    [],
  );
  // They are loaded on demand: with a control port or a document of a partner.
  const loading = sources.map(({ path, text }) => ({ path, imports: listImports(path, withoutLazy(text)) }));
  const importers = (imported: string): string[] =>
    loading.filter(({ imports }) => imports.includes(imported)).map(({ path }) => path);
  assert.deepEqual(importers(control), []);
  assert.deepEqual(importers(partner), []);
  assert.deepEqual(importers('src/double/partner/partner.ts'), [partner]);
  assert.deepEqual(importers('src/double/control/control.ts'), [control]);
});

/** A module without its imports of types and its dynamic imports. */
function withoutLazy(text: string): string {
  return text.replace(/^(?:import|export) type [^;]*;$/gm, '').replace(/\bimport\(/g, '(');
}

test('the sources import only their own files and modules of Node.js', () => {
  assert.deepEqual(
    arrows(
      () => true,
      (imported) => !isOurs(imported) && !imported.startsWith('node:'),
    ),
    [],
  );
});

test('no file has a generic name such as utils.ts or helpers.ts', () => {
  const empty = /(^|\/)(utils?|helpers?|common|types|misc|manager)\.ts$/;
  assert.deepEqual(
    sources.filter(({ path }) => empty.test(path)).map(({ path }) => path),
    [],
  );
});

test('timers come from timers.ts only', () => {
  // The fake timers of a test framework replace the globals and both modules, which would stop everything that waits for them.
  const names = [
    'setTimeout',
    'setInterval',
    'setImmediate',
    'clearTimeout',
    'clearInterval',
    'clearImmediate',
  ];
  const call = new RegExp(`(?<![.#\\w])(?:(?:globalThis|global)\\.)?(${names.join('|')})\\b`, 'g');
  const module = (imported: string): boolean => /^(node:)?timers(\/promises)?$/.test(imported);
  assert.deepEqual(
    arrows((path) => path !== 'src/timers.ts', module),
    [],
  );
  const borrowed = sources
    .filter(({ path }) => path !== 'src/timers.ts')
    .flatMap(({ path, text }) => {
      const imported = /import \{([^}]*)\} from '[./]*\/timers\.ts'/.exec(text)?.[1] ?? '';
      const code = text.replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');
      const used = new Set(Array.from(code.matchAll(call), ([, name = '']) => name));
      return [...used].filter((name) => !imported.includes(name)).map((name) => `${path}: ${name}`);
    });
  assert.deepEqual(borrowed, []);
});

/** Returns the paths that a page names in code, each with the folders that it may be relative to. */
function listNamedPaths(page: string): { readonly name: string; readonly within: readonly string[] }[] {
  return page.split('\n').flatMap((line) => {
    const [, cell = ''] = /^\| \d+ \| (.+?) \|/.exec(line) ?? [];
    const within = ['.', 'src', ...namesIn(cell).map((folder) => join('src', folder))];
    return Array.from(line.matchAll(/`([^`\s*]+)`/g), ([, name = '']) => ({ name, within })).filter(
      ({ name }) => /^[\w./-]+$/.test(name) && /\/|\.ts$/.test(name) && !name.startsWith('countersign/'),
    );
  });
}

test('every path that ARCHITECTURE.md names exists', () => {
  const names = new Set(files.map(({ path }) => basename(path)));
  const missing = listNamedPaths(readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8')).filter(
    ({ name, within }) =>
      !within.some((folder) => existsSync(join(root, folder, name))) &&
      // A file beside one that the same sentence names with its folder.
      !names.has(name),
  );
  assert.deepEqual(
    missing.map(({ name }) => name),
    [],
  );
});
