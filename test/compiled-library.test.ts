import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { createContext, runInContext, type Script } from 'node:vm';

const dist = join(import.meta.dirname, '..', 'dist');
const require = createRequire(import.meta.url);

interface Compiled {
  build(): string;
  cacheOf(name: string): Buffer | undefined;
  scriptOf(name: string, cache: Buffer | undefined, parameters?: string): Script;
}

/** A copy of what was built, removed with the test. */
function copied(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-built-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  cpSync(dist, folder, { recursive: true });
  return folder;
}

/** What a double answers that is loaded from there. */
async function answer(folder: string): Promise<number> {
  const library: typeof import('../src/double/index.ts') = require(join(folder, 'cjs/double/index.js'));
  const double = await library.startDouble({ users: ['ann'] });
  const { status } = await double.as('ann').fetch('/articles');
  await double.close();
  return status;
}

const { build }: Compiled = require(join(dist, 'compiled.js'));
const elsewhere = readFileSync(join(dist, 'node.build'), 'utf8') !== build();
const skip = elsewhere ? 'dist was built by another Node.js' : false;

test('what was compiled at build time is taken where it was built', { skip }, async (t) => {
  const folder = copied(t);
  const { cacheOf, scriptOf }: Compiled = require(join(folder, 'compiled.js'));
  for (const [name, parameters] of [['command'], ['modules', 'module, require']] as const) {
    const cache = cacheOf(name);
    assert.notEqual(cache, undefined);
    assert.equal(scriptOf(name, cache, parameters).cachedDataRejected, false);
  }
  assert.equal(await answer(folder), 200);
  assert.equal(require.cache[join(folder, 'modules.js')], undefined);
});

test('another build of Node.js compiles by itself, and so does who has half of it', async (t) => {
  const [other, half] = [copied(t), copied(t)];
  writeFileSync(
    join(other, 'node.build'),
    readFileSync(join(other, 'node.build'), 'utf8').replace('"v8"', '"v9"'),
  );
  rmSync(join(half, 'modules.cache'));
  for (const folder of [other, half]) {
    const { cacheOf }: Compiled = require(join(folder, 'compiled.js'));
    assert.equal(cacheOf('modules'), undefined);
    assert.equal(await answer(folder), 200);
    assert.notEqual(require.cache[join(folder, 'modules.js')], undefined);
  }
});

test('in a world of its own the library is loaded as a module of that world', () => {
  const asked: string[] = [];
  const module = { exports: {} };
  const load = (name: string): unknown => {
    asked.push(name);
    return name === './compiled.js' ? require(join(dist, 'compiled.js')) : 'of this world';
  };
  const text = readFileSync(join(dist, 'library.js'), 'utf8');
  const run: unknown = runInContext(`(function (module, require) {${text}\n})`, createContext({}));
  assert.ok(typeof run === 'function');
  Reflect.apply(run, undefined, [module, load]);
  assert.deepEqual(asked, ['./compiled.js', './modules.js']);
  assert.equal(module.exports, 'of this world');
});

test('what is shipped is ASCII: V8 reads it in one byte a character', () => {
  for (const name of ['command.js', 'command-control.js', 'modules.js', 'modules-rest.js'])
    assert.match(readFileSync(join(dist, name), 'latin1'), /^[\0-\x7f]*$/, name);
});
