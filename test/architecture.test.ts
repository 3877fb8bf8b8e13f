import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import test from 'node:test';

const source = join(import.meta.dirname, '../src');

/** A file of the source: its path from `src/`, its room (the folder, or the file's own name), its text and imports. */
interface SourceFile {
  readonly path: string;
  readonly room: string;
  readonly text: string;
  /** `node:http`, or a path from `src/`. */
  readonly imports: readonly string[];
}

const files: SourceFile[] = readdirSync(source, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts'))
  .map((path) => {
    const text = readFileSync(join(source, path), 'utf8');
    return { path, room: roomOf(path), text, imports: importsOf(path, text) };
  });

function roomOf(path: string): string {
  return path.includes('/') ? path.slice(0, path.indexOf('/')) : path.replace(/\.ts$/, '');
}

function importsOf(path: string, text: string): string[] {
  const specifiers = [...text.matchAll(/\b(?:from|import)\s*\(?\s*'([^'\s]+)'/g)].map(
    (match) => match[1] ?? '',
  );
  return specifiers.map((specifier) =>
    specifier.startsWith('.') ? relative(source, join(source, dirname(path), specifier)) : specifier,
  );
}

/** Every import from a file that `from` fits to something that `to` fits, as `file → import`. */
function arrows(
  from: (file: SourceFile) => boolean,
  to: (imported: string, file: SourceFile) => boolean,
): string[] {
  return files
    .filter(from)
    .flatMap((file) =>
      file.imports.filter((imported) => to(imported, file)).map((imported) => `${file.path} → ${imported}`),
    );
}

const inRoom =
  (...rooms: string[]) =>
  (file: SourceFile): boolean =>
    rooms.includes(file.room);
const outside =
  (...rooms: string[]) =>
  (file: SourceFile): boolean =>
    !rooms.includes(file.room);
const isOurs = (imported: string): boolean => imported.endsWith('.ts');

test('the walk finds the rooms and their imports', () => {
  const rooms = new Set(files.map(({ room }) => room));
  const expected = ['auth', 'cli', 'client', 'clock', 'decide', 'http', 'net', 'options', 'representation'];
  for (const room of [
    ...expected,
    'resource',
    'resources',
    'router',
    'server',
    'service',
    'signature',
    'store',
    'xml',
  ]) {
    assert.ok(rooms.has(room), `${room} is not found`);
  }
  const decide = files.find(({ path }) => path === 'decide.ts');
  assert.ok(decide?.imports.includes('http/message.ts'));
  const listener = files.filter(({ imports }) => imports.includes('node:http'));
  assert.ok(listener.length > 0, 'nothing imports node:http');
  assert.ok(files.flatMap(({ imports }) => imports).filter(isOurs).length > 100);
  const lazily = files.find(({ path }) => path === 'cli/main.ts');
  assert.ok(lazily?.imports.includes('cli/commands/serve.ts'), 'dynamic imports are not found');
});

for (const room of ['http', 'xml', 'signature', 'clock']) {
  test(`${room} imports no other room`, () => {
    assert.deepEqual(
      arrows(inRoom(room), (imported) => isOurs(imported) && roomOf(imported) !== room),
      [],
    );
  });
}

test('node:http is imported in net alone', () => {
  assert.deepEqual(
    arrows(outside('net'), (imported) => /^(node:)?https?$/.test(imported)),
    [],
  );
});

test('node:fs is imported in store, cli, options and net/certificate alone', () => {
  const allowed = (file: SourceFile): boolean =>
    ['store', 'cli', 'options'].includes(file.room) || file.path === 'net/tls/certificate.ts';
  assert.deepEqual(
    arrows(
      (file) => !allowed(file),
      (imported) => /^(node:)?fs(\/promises)?$/.test(imported),
    ),
    [],
  );
});

test('the time is read from the clock alone', () => {
  const reading = files.filter(
    ({ path, text }) => path !== 'clock.ts' && /\bDate\.now\b|\bnew Date\(\)|\bperformance\.now\b/.test(text),
  );
  assert.deepEqual(
    reading.map(({ path }) => path),
    [],
  );
});

test('chance is not drawn from Math', () => {
  assert.deepEqual(
    files.filter(({ text }) => text.includes('Math.random')).map(({ path }) => path),
    [],
  );
});

test('auth imports neither store, router nor resource', () => {
  const banned = ['store', 'router', 'resource', 'resources'];
  assert.deepEqual(
    arrows(inRoom('auth'), (imported) => isOurs(imported) && banned.includes(roomOf(imported))),
    [],
  );
});

test('no authentication scheme imports another', () => {
  const schemes = ['hmac', 'basic', 'oauth1', 'bearer'];
  const schemeOf = (path: string): string | undefined =>
    schemes.find((scheme) => path.startsWith('auth/') && path.slice('auth/'.length).startsWith(scheme));
  assert.deepEqual(
    arrows(
      (file) => schemeOf(file.path) !== undefined,
      (imported, file) => schemeOf(imported) !== undefined && schemeOf(imported) !== schemeOf(file.path),
    ),
    [],
  );
});

test('store imports neither http nor auth', () => {
  assert.deepEqual(
    arrows(inRoom('store'), (imported) => ['http', 'auth'].includes(roomOf(imported))),
    [],
  );
});

test('oauth imports neither net, resources nor cli', () => {
  assert.deepEqual(
    arrows(
      inRoom('oauth'),
      (imported) => isOurs(imported) && ['net', 'resources', 'cli'].includes(roomOf(imported)),
    ),
    [],
  );
});

test('resources import neither auth nor each other', () => {
  assert.deepEqual(
    arrows(
      inRoom('resources'),
      (imported) => isOurs(imported) && ['auth', 'resources'].includes(roomOf(imported)),
    ),
    [],
  );
});

test('decide names no concrete scheme, store or format', () => {
  const concrete = /^(auth\/(?!authenticate\.ts)|store\/|representation\/|xml\/|signature\/|resources\/)/;
  assert.deepEqual(
    arrows(inRoom('decide'), (imported) => concrete.test(imported)),
    [],
  );
  const text = files.find(({ path }) => path === 'decide.ts')?.text ?? '';
  assert.doesNotMatch(text, /\b(hmac|basic|bearer|oauth|xml|json|sqlite)\b/i);
});

test('nothing outside double imports double, but for attack and the command’s control interface', () => {
  const importing = (file: SourceFile): boolean =>
    outside('double', 'attack')(file) && file.path !== 'cli/serve/control.ts';
  assert.deepEqual(
    arrows(importing, (imported) => roomOf(imported) === 'double'),
    [],
  );
  // It is loaded where it is asked for, and nowhere else.
  assert.deepEqual(
    files
      .filter(({ text }) =>
        /from '[^']*\/control\.ts'/.test(text.replace(/^(?:import|export) type [^;]*;$/gm, '')),
      )
      .map(({ path }) => path),
    ['cli/serve/control.ts'],
  );
});

test('nothing is imported that has to be installed', () => {
  assert.deepEqual(
    arrows(
      () => true,
      (imported) => !isOurs(imported) && !imported.startsWith('node:'),
    ),
    [],
  );
});

test('no files import each other in a circle', () => {
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

test('no file has a name that says nothing', () => {
  const empty = /(^|\/)(utils?|helpers?|common|types|misc|manager)\.ts$/;
  assert.deepEqual(
    files.filter(({ path }) => empty.test(path)).map(({ path }) => path),
    [],
  );
});

test('timers come from timers.ts alone', () => {
  // A framework's fake timers replace the globals and both modules, which would stop whatever waits on them.
  const names = [
    'setTimeout',
    'setInterval',
    'setImmediate',
    'clearTimeout',
    'clearInterval',
    'clearImmediate',
  ];
  const call = new RegExp(`(?<![.#\\w])(?:(?:globalThis|global)\\.)?(${names.join('|')})\\b`, 'g');
  const held = outside('timers');
  const module = (imported: string): boolean => /^(node:)?timers(\/promises)?$/.test(imported);
  assert.deepEqual(arrows(held, module), []);
  const borrowed = files.filter(held).flatMap(({ path, text }) => {
    const imported = /import \{([^}]*)\} from '[./]*\/timers\.ts'/.exec(text)?.[1] ?? '';
    const used = new Set(Array.from(withoutComments(text).matchAll(call), ([, name = '']) => name));
    return [...used].filter((name) => !imported.includes(name)).map((name) => `${path}: ${name}`);
  });
  assert.deepEqual(borrowed, []);
});

function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');
}
