import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { createContext, runInContext, type Script } from 'node:vm';

const dist = join(import.meta.dirname, '..', 'dist');
const require = createRequire(import.meta.url);

interface Compiled {
  build(): string;
  load(path: string): unknown;
  cacheOf(name: string): Buffer | undefined;
  scriptOf(name: string, cache: Buffer | undefined): Script;
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

/** What the library and the command are. */
const scripts = readdirSync(dist).filter((name) => /^(modules|command)(-.*)?\.js$/.test(name));

test('what was compiled at build time is taken where it was built', { skip }, async (t) => {
  const folder = copied(t);
  const { cacheOf, scriptOf }: Compiled = require(join(folder, 'compiled.js'));
  for (const name of scripts.map((script) => script.slice(0, -'.js'.length))) {
    const cache = cacheOf(name);
    assert.notEqual(cache, undefined, name);
    assert.equal(scriptOf(name, cache).cachedDataRejected, false, name);
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
  const exports: Partial<Compiled> = {};
  const load = (name: string): unknown => {
    asked.push(name);
    return name.startsWith('node:') ? require(name) : 'of this world';
  };
  const text = readFileSync(join(dist, 'compiled.js'), 'utf8');
  const world = createContext({ process });
  const run: unknown = runInContext(`(function (exports, require, __dirname) {${text}\n})`, world);
  assert.ok(typeof run === 'function');
  Reflect.apply(run, undefined, [exports, load, dist]);
  assert.equal(exports.load?.('./modules.js'), 'of this world');
  assert.equal(asked.at(-1), './modules.js');
});

test('what is shipped is ASCII: V8 reads it in one byte a character', () => {
  for (const name of scripts) assert.match(readFileSync(join(dist, name), 'latin1'), /^[\0-\x7f]*$/, name);
  assert.ok(scripts.length > 0);
});
