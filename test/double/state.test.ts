import assert from 'node:assert/strict';
import test from 'node:test';
import { type Double, startDouble } from '../../src/double/index.ts';
import { action, xml } from '../../src/index.ts';
import { seeded } from '../support/seeded.ts';

const tea = { title: 'Tea', price: { value: '3.50', currency: 'EUR' } };
const milk = { title: 'Milk', price: { value: '1.20', currency: 'EUR' } };
const options = { users: ['ann'], seed: { '/articles': [tea] }, now: '2026-03-01T12:00:00Z', https: false };
const article = (title: string): string =>
  `<article><title>${title}</title><price currency="EUR">1.00</price></article>`;

/** What the double has, as somebody sees it who asks: items with their tags and dates. */
async function shown(double: Double): Promise<unknown> {
  const paths = ['/articles', '/articles/1', '/articles/2', '/articles/3', '/articles/tea'];
  return Promise.all(
    paths.map(async (path) => {
      const reply = await double.fetch(path);
      const { headers } = reply;
      return [path, reply.status, headers.get('etag'), headers.get('last-modified'), await reply.text()];
    }),
  );
}

test('seed adds to the existing items, or rejects the whole seed and adds nothing', async () => {
  await using double = await startDouble(options);
  double.seed({ '/articles': [milk, tea] });
  const list = await (await double.fetch('/articles')).text();
  assert.deepEqual(list.match(/<title>\w+/g), ['<title>Tea', '<title>Milk', '<title>Tea']);
  const bad = { '/articles': [milk, { ...tea, price: { value: '3.5', currency: 'EUR' } }] };
  assert.throws(() => double.seed(bad), /seed\.\/articles\[1\]\.price/);
  assert.throws(
    () => double.seed({ '/artciles': [] }),
    /seed\.\/artciles: is not the path of a collection; did you mean "\/articles"\?/,
  );
  assert.throws(
    () => double.seed({ '/users/{username}/financialrecords': [] }),
    /is not the path of a collection/,
  );
  assert.equal(await (await double.fetch('/articles')).text(), list);
});

test('a restore remembers nonces used before the snapshot, and releases later ones', async () => {
  await using double = await startDouble(options);
  const sign = (): Promise<Record<string, string>> =>
    double.as('ann').signRequest({ url: `${double.url}/articles` });
  const status = async (headers: Record<string, string>): Promise<number> =>
    (await double.fetch('/articles', { headers })).status;
  const [before, after] = [await sign(), await sign()];
  assert.equal(await status(before), 200);
  const snapshot = double.snapshot();
  assert.equal(await status(after), 200);
  assert.equal(await status(after), 401);
  double.restore(snapshot);
  assert.deepEqual([await status(before), await status(after), await status(after)], [401, 200, 401]);
});

test('ids chosen by clients are skipped after a restore too', async () => {
  await using double = await startDouble(options);
  const ann = double.as('ann');
  await ann.fetch('/articles/3', { method: 'PUT', body: article('Three') });
  const snapshot = double.snapshot();
  await ann.fetch('/articles/2', { method: 'PUT', body: article('Two') });
  double.restore(snapshot);
  const post = async (): Promise<string | null> =>
    (await ann.fetch('/articles', { method: 'POST', body: article('New') })).headers.get('location');
  assert.deepEqual([await post(), await post()], ['/articles/2', '/articles/4']);
});

test('a restore also resets the random numbers', async () => {
  await using double = await startDouble(options);
  const draw = async (): Promise<unknown> => [
    await double.as('ann').signRequest({ url: `${double.url}/articles` }),
    double.auth.setUser('bob'),
  ];
  const snapshot = double.snapshot();
  const first = await draw();
  assert.notDeepEqual(await draw(), first);
  double.restore(snapshot);
  assert.deepEqual(await draw(), first);
});

test('a restore also resets users, the clock, its skew, added resources and planned faults', async () => {
  await using double = await startDouble(options);
  const { secret } = double.auth.credentials('ann');
  const snapshot = double.snapshot();
  double.auth.rotateSecret('ann');
  double.auth.setUser('bob');
  double.clock.advance('1h');
  double.clock.skewServerDate('1h');
  double.resource('/weather', { GET: action('anyone', async () => xml('<weather/>')) });
  double.faults.always({}, { status: 503 });
  double.restore(snapshot);
  assert.equal(double.auth.credentials('ann').secret, secret);
  assert.throws(() => double.auth.credentials('bob'), RangeError);
  const reply = await double.as('ann').fetch('/articles');
  assert.deepEqual([reply.status, reply.headers.get('date')], [200, 'Sun, 01 Mar 2026 12:00:00 GMT']);
  assert.equal((await double.fetch('/weather')).status, 404);
});

test('reset restores the items, users and clock of the start, and clears the journal', async () => {
  await using double = await startDouble(options);
  const before = await shown(double);
  await double.as('ann').fetch('/articles/1', { method: 'PUT', body: article('Changed') });
  double.seed({ '/articles': [milk] });
  double.clock.set('2030-01-01');
  double.auth.removeUser('ann');
  double.reset();
  assert.equal(double.journal.length, 0);
  assert.deepEqual(await shown(double), before);
  assert.equal((await double.as('ann').fetch('/articles')).status, 200);
});

test('refused authentications are not counted any more after a reset', async () => {
  await using double = await startDouble({ ...options, maxAuthFailures: 2, now: '2026-03-01T12:00:00Z' });
  const status = async (): Promise<number> =>
    (await double.as('ann', { secret: 'another' }).fetch('/articles')).status;
  assert.deepEqual([await status(), await status(), await status()], [401, 401, 429]);
  double.reset();
  assert.equal(await status(), 401);
});

test('restore throws a TypeError for a snapshot of another double', async () => {
  await using one = await startDouble(options);
  await using other = await startDouble(options);
  assert.throws(() => one.restore(other.snapshot()), TypeError);
});

test('the same seed generates the same ids, secrets, nonces and tags, and another seed generates others', async () => {
  const seen = async (randomSeed: string | number): Promise<unknown> => {
    await using double = await startDouble({ ...options, randomSeed });
    const signed = await double.as('ann').signRequest({ url: 'http://localhost/articles' });
    const made = await double.as('ann').fetch('/articles', { method: 'POST', body: article('Two') });
    return [double.auth.credentials('ann'), signed, made.headers.get('location'), await shown(double)];
  };
  assert.deepEqual(await seen(7), await seen('7'));
  assert.notDeepEqual(await seen(7), await seen(8));
  await using double = await startDouble(options);
  await using again = await startDouble({ ...options, randomSeed: double.randomSeed });
  assert.deepEqual(again.auth.credentials('ann'), double.auth.credentials('ann'));
});

test('restore returns to the exact state of a snapshot after random changes', async () => {
  const { seed, pick, below } = seeded();
  await using double = await startDouble(options);
  const ann = double.as('ann');
  const change = async (): Promise<void> => {
    const path = `/articles/${pick(['1', '2', '3', '4', 'tea', 'milk'])}`;
    const body = article(`T${below(1000)}`);
    await pick([
      () => ann.fetch(path, { method: 'PUT', body }),
      () => ann.fetch(path, { method: 'DELETE' }),
      () => ann.fetch('/articles', { method: 'POST', body }),
      async () => double.seed({ '/articles': [milk] }),
      async () => double.clock.advance(below(100_000)),
    ])();
  };
  const kept: { readonly snapshot: ReturnType<Double['snapshot']>; readonly seen: unknown }[] = [];
  for (let round = 0; round < 60; round += 1) {
    await change();
    if (below(4) === 0) kept.push({ snapshot: double.snapshot(), seen: await shown(double) });
    if (below(4) !== 0 || kept.length === 0) continue;
    const { snapshot, seen } = pick(kept);
    double.restore(snapshot);
    assert.deepEqual(await shown(double), seen, `seed ${seed}`);
  }
});

test('a double rejects a password with more than 30 combining marks, and leaves its users unchanged', async () => {
  const password = `p${'\u0301'.repeat(31)}`;
  const refusal = { name: 'RangeError', message: /more than 30 (combining|consecutive)/ };
  await assert.rejects(startDouble({ ...options, users: { ann: { secret: 's', password } } }), refusal);
  await using double = await startDouble({ ...options, users: { ann: { secret: 's', password: 'pw' } } });
  assert.throws(() => double.auth.setUser('ann', { secret: 't', password }), refusal);
  assert.deepEqual(double.auth.credentials('ann'), { secret: 's', password: 'pw' });
});

test('an entity tag from before a restore or reset never identifies other content', async () => {
  await using double = await startDouble(options);
  const ann = double.as('ann');
  const seen = new Map<string, string>();
  const look = async (): Promise<void> => {
    for (const path of ['/articles', '/articles/1', '/articles/2', '/articles/tea']) {
      const response = await double.fetch(path);
      const [tag, content] = [response.headers.get('etag'), await response.text()];
      if (response.status !== 200 || tag === null) continue;
      assert.equal(seen.get(`${path} ${tag}`) ?? content, content, `${path} ${tag}`);
      seen.set(`${path} ${tag}`, content);
    }
  };
  const put = (title: string): Promise<Response> =>
    ann.fetch('/articles/tea', { method: 'PUT', body: article(title) });
  const snapshot = double.snapshot();
  for (const title of ['Green tea', 'Black tea', 'White tea']) {
    await put(title);
    await look();
    await put(`${title}, again`);
    await look();
    double.restore(snapshot);
    await look();
    double.reset();
    double.seed({ '/articles': [{ ...milk, title }] });
    await look();
    double.reset();
  }
  double.seed({ '/articles': [milk] });
  const former = (await double.fetch('/articles/2')).headers.get('etag') ?? '';
  double.reset();
  double.seed({ '/articles': [{ ...milk, title: 'Oat milk' }] });
  const response = await double.fetch('/articles/2', { headers: { 'if-none-match': former } });
  assert.equal(response.status, 200);
  assert.match(await response.text(), /Oat milk/);
});

test('the same changes after a reset generate the same entity tags', async () => {
  await using double = await startDouble(options);
  const seeded = async (): Promise<unknown> => {
    double.reset();
    double.seed({ '/articles': [milk, tea] });
    return shown(double);
  };
  const first = await seeded();
  double.reset();
  double.seed({ '/articles': [tea] });
  assert.deepEqual(await seeded(), first);
});

test('a closed double rejects openControl with the code closed', async () => {
  const double = await startDouble(options);
  const opening = double.openControl();
  await double.close();
  await assert.rejects(double.openControl(), {
    name: 'DoubleError',
    code: 'closed',
    message: 'the double is closed',
  });
  await assert.rejects(opening, { name: 'DoubleError', code: 'closed', message: 'the double is closed' });
});
