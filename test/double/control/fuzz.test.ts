import assert from 'node:assert/strict';
import test from 'node:test';
import { startDouble } from '../../../src/double/index.ts';
import { createConsole } from '../../support/double/control-client.ts';
import { seeded } from '../../support/seeded.ts';
import { long } from '../../support/store/thoroughness.ts';

type Json = unknown;

const words = [
  '',
  'ann',
  '/articles',
  '/articles/{id}',
  'GET',
  '11m',
  '-5m',
  '1e9d',
  'always',
  'before',
  'anyone',
  'owner:id',
  '2026-03-01T12:00:00Z',
  '+275760-09-13T00:00:00Z',
  'hmac',
  'basic',
  'bearer',
  'oauth1',
  'access',
  'app',
  'read',
  '__proto__',
  'constructor',
  'toString',
  'https://partner.example/x',
  'a\r\nb: c',
  '\u0000',
  '\ud800',
  'é',
  '{',
  '/{',
  '/{a}/{a}',
  'x'.repeat(300),
];
const numbers =
  '0 -0 1 -1 2 0.5 99 200 204 304 599 600 2147483648 9007199254740992 1e15 8.64e15 1e300 -1e300 1e-9'
    .split(' ')
    .map(Number);

/** Draws values of JSON that fit a schema more often than not. */
function drawing() {
  const { seed, below } = seeded();
  const pick = <T>(list: readonly T[]): T | undefined => list[below(list.length)];
  const any = (depth: number): Json => {
    const kind = below(depth > 3 ? 4 : 7);
    if (kind < 2) return pick(words);
    if (kind === 2) return pick(numbers);
    if (kind === 3) return pick([true, false, null]);
    if (kind === 4) return Array.from({ length: below(3) }, () => any(depth + 1));
    return Object.fromEntries(Array.from({ length: below(4) }, () => [pick(words) ?? '', any(depth + 1)]));
  };
  const fitting = (schema: Record<string, Json>, depth: number): Json => {
    if (below(12) === 0) return any(depth);
    const alternatives = schema['anyOf'];
    if (Array.isArray(alternatives)) return fitting(Object(pick(alternatives)), depth);
    if (Array.isArray(schema['enum'])) return pick(schema['enum']);
    const { type, properties, required = [], additionalProperties, items } = schema;
    if (type === 'string') return pick(words);
    if (type === 'integer' || type === 'number') return pick(numbers);
    if (type === 'boolean') return below(2) === 0;
    if (type === 'array') return Array.from({ length: below(3) }, () => fitting(Object(items), depth + 1));
    if (type !== 'object') return any(depth);
    const wanted = new Set(Array.isArray(required) ? required : []);
    const known = Object.entries(Object(properties)).filter(([name]) => wanted.has(name) || below(3) === 0);
    const more =
      typeof additionalProperties === 'object' ? [[pick(words), additionalProperties] as const] : [];
    return Object.fromEntries(
      [...known, ...more].map(([name, each]) => [name, fitting(Object(each), depth + 1)]),
    );
  };
  return { seed, below, fitting, any };
}

test('the control interface and the double respond to random requests without an internal error', async () => {
  const { seed, below, fitting, any } = drawing();
  const faults: unknown[] = [];
  const fault = (error: unknown): void => void faults.push(error);
  await using double = await startDouble({
    users: ['ann', 'bob'],
    clients: { app: { redirectUris: ['https://client.example/cb'] } },
    consumers: { printer: { secret: 'a-secret-of-the-printer', callbacks: ['oob'] } },
    onError: fault,
  });
  const control = createConsole(await double.openControl({ onError: fault }));
  const { paths } = await control.send('GET', '/openapi.json');
  const all = Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(Object(item))
      .filter(([method]) => ['post', 'put', 'delete', 'get'].includes(method))
      .map(([method, told]) => ({ path, method: method.toUpperCase(), told: Object(told) })),
  );
  const operations = all.filter(({ told }) => !told.tags.includes('problems'));
  for (let round = 0; round < (long ? 1500 : 400); round += 1) {
    const { path, method, told } = operations[below(operations.length)] ?? {
      path: '/',
      method: 'GET',
      told: {},
    };
    const schema = told.requestBody?.content['application/json'].schema;
    // What waits would take its time.
    const content = schema === undefined ? undefined : quick(path, fitting(schema, 0));
    const place = path.replace(
      '{name}',
      encodeURIComponent(String(any(4)).replace(/[\ud800-\udfff]/g, '')) || 'x',
    );
    const { status, value } = await control.exchange(method, place, content);
    const message = `seed ${seed}, round ${round}: ${method} ${place} ${JSON.stringify(content)} was answered ${status} ${JSON.stringify(value)}`;
    assert.ok(status < 500, message);
    assert.deepEqual(faults, [], message);
    const planned = double.faults.pending().length;
    if (planned > 0) {
      await fetch(`${double.url}/articles`, { signal: AbortSignal.timeout(200) })
        .then((reply) => reply.text())
        .catch(() => {});
      double.faults.clear();
    }
    const seen = await fetch(`${double.url}/problems`);
    await seen.text();
    assert.equal(seen.status, 200, `${message}; then the double answered ${seen.status}`);
    assert.deepEqual(faults, [], `then, ${message}`);
  }
});

function quick(path: string, content: Json): Json {
  const plain = typeof content === 'object' && content !== null && !Array.isArray(content);
  return plain && path.endsWith('/wait') ? { ...content, timeout: 1 } : content;
}

const hostile: readonly (readonly [name: string, body: string, status: number])[] = [
  ['no JSON', '{', 400],
  ['nothing', '', 400],
  ['a name twice', '{"by":1,"by":2}', 400],
  ['lists nested a hundred thousand times', '['.repeat(100_000), 400],
  ['objects nested a hundred thousand times', '{"by":'.repeat(100_000), 400],
  ['a document of 17 MB', `"${'x'.repeat(17 * 1024 * 1024)}"`, 413],
  ['a long text where none belongs', `{"by":"${'9'.repeat(1_000_000)}"}`, 422],
  ['a number beyond the range of a double', '{"by":1e999}', 422],
  ['a list', '[1]', 422],
  ['a text with half of a pair', '{"by":"\\ud800"}', 422],
];
for (const [name, body, status] of hostile) {
  test(`${name} is rejected with ${status}`, async () => {
    await using double = await startDouble({ now: 0, https: false });
    const control = createConsole(await double.openControl());
    const reply = await control.raw('POST', '/clock/advance', body);
    assert.equal(reply.status, status, await reply.text());
    assert.equal(double.clock.now(), 0);
    assert.equal((await control.exchange('GET', '/clock')).status, 200);
  });
}
