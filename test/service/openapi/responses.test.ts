import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Double, type DoubleOptions, startDouble } from '../../../src/double/index.ts';
import { problemTypes } from '../../../src/http/problem-types.ts';
import { drawFields, drawRecord } from '../../support/collections/random-schema.ts';
import { type DocumentCheck, documentCheck } from '../../support/openapi/document.ts';
import { missingPackage } from '../../support/packages.ts';
import { seeded } from '../../support/seeded.ts';
import { configurations, everyType, everyValue } from './configurations.ts';
import { writeXml } from './xml.ts';

interface Sent {
  readonly fields?: Record<string, string>;
  readonly content?: unknown;
  readonly as?: string;
}

/** A double with a function that sends a request and checks the response against the document. */
async function opened(options: DoubleOptions) {
  const double = await startDouble({
    tls: 'required',
    users: { ann: { secret: 'ann-secret', password: 'pw' }, bob: {} },
    ...options,
  });
  const check = await documentCheck(await double.openapi());
  return {
    double,
    check,
    send: (method: string, target: string, sent: Sent = {}) => send(double, check, method, target, sent),
    [Symbol.asyncDispose]: () => double.close(),
  };
}

async function send(double: Double, check: DocumentCheck, method: string, target: string, sent: Sent) {
  const { fields, content, as } = sent;
  const type = content === undefined ? {} : { 'Content-Type': 'application/json' };
  const headers = { Accept: 'application/json', ...type, ...fields };
  const text = typeof content === 'string' ? content : JSON.stringify(content);
  const init = { method, headers, ...(content !== undefined && { body: text }) };
  const response = await (as === undefined ? double.fetch(target, init) : double.as(as).fetch(target, init));
  await check.response(method, target, response.clone());
  return response;
}

/** Credentials of the simple form, which are well-formed and wrong. */
const wrongDigest = `hmac ann:${'A'.repeat(43)}=`;

const tea = { title: 'Tea', price: { value: '3.50', currency: 'EUR' } };

describe('the document', {
  skip: missingPackage('ajv') || missingPackage('ajv-formats'),
}, () => {
  test('describes the responses to requests that succeed', async () => {
    await using service = await opened({ seed: { '/articles': [tea, tea, tea] } });
    const { send } = service;
    const status = async (...request: Parameters<typeof send>) => (await send(...request)).status;
    assert.equal(await status('GET', '/articles'), 200);
    const page = await send('GET', '/articles?limit=1');
    assert.match(page.headers.get('link') ?? '', /rel="next"/);
    const made = await send('POST', '/articles', { as: 'ann', content: tea });
    assert.equal(made.status, 201);
    const place = made.headers.get('location') ?? '';
    const read = await send('GET', place);
    assert.equal(read.status, 200);
    const etag = read.headers.get('etag') ?? '';
    assert.equal(await status('GET', place, { fields: { 'If-None-Match': etag } }), 304);
    const change = { title: 'Green tea' };
    assert.equal(
      await status('POST', place, { as: 'ann', content: change, fields: { 'If-Match': etag } }),
      200,
    );
    const minimal = { Prefer: 'return=minimal' };
    assert.equal(await status('POST', place, { as: 'ann', content: change, fields: minimal }), 204);
    assert.equal(await status('PUT', place, { as: 'ann', content: tea, fields: minimal }), 204);
    assert.equal(await status('PUT', place, { as: 'ann', content: tea }), 200);
    assert.equal(await status('PUT', '/articles/mine', { as: 'ann', content: tea }), 201);
    assert.equal(await status('DELETE', '/articles/mine', { as: 'ann' }), 204);
    assert.equal(await status('HEAD', place), 200);
    for (const path of ['/', '/problems', '/problems/not-found'])
      assert.equal(await status('GET', path), 200);
    assert.equal(await status('GET', '/users/ann/financialrecords', { as: 'ann' }), 200);
  });

  test('describes the responses to requests that are rejected', async () => {
    await using service = await opened({ seed: { '/articles': [tea] } });
    const { send } = service;
    const rejected: readonly (readonly [number, ...Parameters<typeof send>])[] = [
      [400, 'POST', '/articles', { as: 'ann', content: '{' }],
      [415, 'POST', '/articles', { as: 'ann' }],
      [400, 'GET', '/articles?limit=0'],
      [400, 'GET', '/articles?limits=1'],
      [400, 'GET', '/articles?limit=1&limit=1'],
      [400, 'GET', '/articles', { fields: { Authorization: 'hmac ann' } }],
      [400, 'GET', '/articles/1', { fields: { 'If-Match': 'x' } }],
      [400, 'PUT', '/articles/%2E%2E%2Fx', { as: 'ann', content: tea }],
      [400, 'PUT', '/articles/1', { as: 'ann', content: tea, fields: { 'Content-Range': 'bytes 0-1/2' } }],
      [
        400,
        'PUT',
        '/articles/1',
        { as: 'ann', content: tea, fields: { 'Content-MD5': 'AAAAAAAAAAAAAAAAAAAAAA==' } },
      ],
      [401, 'POST', '/articles', { content: tea }],
      [401, 'GET', '/articles', { fields: { Authorization: wrongDigest } }],
      [401, 'GET', '/articles', { fields: { Authorization: 'unknown x' } }],
      [403, 'GET', '/articles', { fields: { Authorization: 'Basic YW5uOnB3' } }],
      [403, 'GET', '/users/ann/financialrecords', { as: 'bob' }],
      [404, 'GET', '/articles/99'],
      [404, 'DELETE', '/articles/99', { as: 'ann' }],
      [404, 'POST', '/articles/99', { as: 'ann', content: {} }],
      [404, 'GET', '/problems/unknown'],
      [405, 'DELETE', '/articles', { as: 'ann' }],
      [406, 'GET', '/articles', { fields: { Accept: 'image/png' } }],
      [406, 'GET', '/articles/1', { fields: { Accept: 'image/png' } }],
      [412, 'PUT', '/articles/1', { as: 'ann', content: tea, fields: { 'If-Match': '"other"' } }],
      [412, 'PUT', '/articles/1', { as: 'ann', content: tea, fields: { 'If-None-Match': '*' } }],
      [
        412,
        'DELETE',
        '/articles/1',
        { as: 'ann', fields: { 'If-Unmodified-Since': 'Mon, 01 Jan 2001 00:00:00 GMT' } },
      ],
      [413, 'POST', '/articles', { as: 'ann', content: { title: 'x'.repeat(1_100_000) } }],
      [414, 'GET', `/articles?${'x'.repeat(9000)}`],
      [415, 'POST', '/articles', { as: 'ann', content: tea, fields: { 'Content-Type': 'text/plain' } }],
      [415, 'POST', '/articles', { as: 'ann', content: tea, fields: { 'Content-Encoding': 'br' } }],
      [
        415,
        'POST',
        '/articles',
        { as: 'ann', content: tea, fields: { 'Content-Type': 'application/json; charset=latin1' } },
      ],
      [422, 'POST', '/articles', { as: 'ann', content: { titel: 'x', price: 1 } }],
      [
        422,
        'PUT',
        '/articles/1',
        { as: 'ann', content: { ...tea, price: { value: '3.5', currency: 'EUR' } } },
      ],
      [422, 'POST', '/articles/1', { as: 'ann', content: { price: { value: '3.50' } } }],
    ];
    for (const [status, ...request] of rejected) {
      const response = await send(...request);
      assert.equal(response.status, status, `${request[0]} ${request[1]}: ${await response.text()}`);
    }
  });

  test('describes the responses if failures and requests are limited', async () => {
    const limits = { quota: '2/1h', maxAuthFailures: 1, requestId: true, health: { path: '/health' } };
    await using service = await opened({ ...limits, openapi: true });
    const { send } = service;
    const wrong = { fields: { Authorization: wrongDigest } };
    assert.equal((await send('GET', '/articles', wrong)).status, 401);
    assert.equal((await send('GET', '/articles', wrong)).status, 429);
    const statuses = [];
    for (let count = 0; count < 3; count += 1)
      statuses.push((await send('GET', '/articles', { as: 'bob' })).status);
    assert.equal(statuses.at(-1), 429);
    assert.equal((await send('GET', '/health')).status, 200);
  });

  test('describes the responses to a token without the scope, and of a closed server', async () => {
    await using service = await opened({ clients: { app: { redirectUris: ['https://client.example/cb'] } } });
    const { send, double } = service;
    const { accessToken } = await double.oauth2.issueToken({ client: 'app', user: 'ann', scope: ['read'] });
    const fields = { Authorization: `Bearer ${accessToken}` };
    const target = `${double.secureUrl}/articles`;
    assert.equal((await send('GET', target, { fields })).status, 200);
    assert.equal((await send('POST', target, { fields, content: tea })).status, 403);
    assert.equal((await send('GET', target, { fields: { Authorization: 'Bearer other' } })).status, 401);
    await double.close();
    assert.equal((await send('GET', '/articles')).status, 503);
  });

  test('describes the responses behind a proxy that removes a prefix', async () => {
    await using service = await opened(configurations['a proxy, quotas and health checks'] ?? {});
    assert.equal((await service.send('GET', '/articles/99')).status, 404);
  });

  test('describes the responses in other formats and those of AWS', async () => {
    await using service = await opened(configurations['every scheme'] ?? {});
    const { send } = service;
    for (const Accept of ['*/*', 'application/xml', 'text/xml'])
      for (const path of ['/others', '/others/99', '/']) await send('GET', path, { fields: { Accept } });
    const credential =
      'AWS4-HMAC-SHA256 Credential=x/20240101/eu-central-1/s3/aws4_request, SignedHeaders=host, Signature=00';
    await send('GET', '/others', { fields: { Authorization: credential } });
    await send('GET', '/others', { fields: { 'Signature-Input': 'a=("@method")', Signature: 'a=:AA==:' } });
    await send('GET', '/things', {
      fields: { 'X-Signature': 'a', 'X-User': 'ann', 'X-Time': '1', 'X-Nonce': 'n' },
    });
    await send('GET', '/others?sig=00');
  });

  test('describes the responses of resources in code', async () => {
    await using service = await opened(configurations['resources in code'] ?? {});
    const { send } = service;
    assert.equal((await send('GET', '/weather/Paris')).status, 200);
    assert.equal((await send('HEAD', '/weather/Paris')).status, 401);
    assert.equal((await send('PUT', '/upload', { as: 'ann', content: 'x' })).status, 204);
    assert.equal((await send('PUT', '/upload', { as: 'bob', content: 'x' })).status, 403);
    assert.equal((await send('POST', '/upload', { as: 'bob', content: 'x' })).status, 415);
  });

  test('describes items with every type of field, and its schema rejects the values that the server rejects', async () => {
    await using service = await opened(configurations['every type of field'] ?? {});
    const { send, check } = service;
    assert.equal((await send('GET', '/things')).status, 200);
    assert.equal((await send('POST', '/things', { as: 'ann', content: everyValue })).status, 201);
    assert.equal(check.matches('Thing', everyValue), undefined);
    const wrong: readonly object[] = [
      { code: 'AB-12x' },
      { code: 'AB' },
      { word: 'three' },
      { text: 'x'.repeat(21) },
      { count: 10 },
      { size: 3 },
      { rate: '3' },
      { flag: 'true' },
      { date: '2024-02-30' },
      { date: '24-1-1' },
      { time: '2024-01-01' },
      { currency: 'GBP' },
      { price: { value: '-0.00', currency: 'EUR' } },
      { price: '1.00' },
      { price: { value: '1.0', currency: 'EUR' } },
      { price: { value: '1.00', currency: 'EURO' } },
      { address: { city: 'Paris' } },
      { address: { kind: 'home' } },
      { tags: [1] },
      { rows: [['1']] },
      { notes: [] },
      { notes: { value: ['x'] } },
      { href: '/things/1' },
      { unknown: 1 },
      { text: null },
    ];
    for (const change of wrong) {
      const content = { ...everyValue, ...change };
      const response = await send('POST', '/things', { as: 'ann', content });
      assert.equal(response.status, 422, JSON.stringify(change));
      assert.notEqual(check.matches('Thing', content), undefined, JSON.stringify(change));
    }
  });

  test('describes the filter and sort parameters of a list', async () => {
    await using service = await opened(configurations['lists that can be searched'] ?? {});
    const { paths } = await service.double.openapi();
    const { parameters } = JSON.parse(JSON.stringify(paths['/things']?.['get']));
    const named = parameters.filter(({ name }: { name?: string }) => name !== undefined);
    const samples: Readonly<Record<string, string>> = {
      string: 'a',
      decimal: '1.5',
      integer: '1',
      boolean: 'true',
      date: '2024-01-01',
      'date-time': '2024-01-01T00:00:00Z',
    };
    for (const { name, schema } of named) {
      const value = schema.enum?.[0] ?? samples[schema.format ?? schema.type] ?? 'EUR';
      assert.equal((await service.send('GET', `/things?${name}=${value}`)).status, 200, name);
    }
    assert.deepEqual(
      named.map(({ name }: { name: string }) => name),
      [
        'text',
        'price',
        'price.min',
        'price.max',
        'price.currency',
        'price.net',
        'count',
        'count.min',
        'count.max',
        'flag',
        'date',
        'date.min',
        'date.max',
        'time',
        'time.min',
        'time.max',
        'currency',
        'sort',
      ],
    );
  });

  test('describes random collections, and the server accepts only items that match the schema', async () => {
    const seed = Number(process.env['SEED'] ?? process.hrtime()[1]);
    const random = seeded(seed);
    for (let round = 0; round < 15; round += 1) {
      const fields = drawFields(random, 2, ['href']);
      const declaration = { ...everyType, fields: JSON.parse(JSON.stringify(fields)) };
      await using service = await opened({ collections: { '/things': declaration }, https: false });
      const { send, check } = service;
      for (let count = 0; count < 4; count += 1) {
        const value = drawRecord(random, fields);
        const made = await send('POST', '/things', { as: 'ann', content: value });
        const where = `SEED=${seed}: ${JSON.stringify({ fields, value })}`;
        assert.equal(made.status, 201, where);
        assert.equal(check.matches('Thing', value), undefined, where);
        const changed = changedValue(value, random);
        const answer = await send('POST', '/things', { as: 'ann', content: changed });
        if (answer.status !== 201) continue;
        assert.equal(check.matches('Thing', changed), undefined, `${where} ${JSON.stringify(changed)}`);
      }
      assert.equal((await send('GET', '/things')).status, 200);
    }
  });
});

test('items and pages in XML have the elements and attributes that the document describes', async () => {
  const seed = Number(process.env['SEED'] ?? process.hrtime()[1]);
  const random = seeded(seed);
  for (let round = 0; round < 20; round += 1) {
    const fields = round === 0 ? everyType.fields : drawFields(random, 2, ['href']);
    const values = round === 0 ? [everyValue] : [drawRecord(random, fields), drawRecord(random, fields)];
    const declaration = { ...everyType, fields: JSON.parse(JSON.stringify(fields)) };
    const options = { collections: { '/things': declaration }, seed: { '/things': values }, https: false };
    await using double = await startDouble(options);
    const document = await double.openapi();
    const read = async (path: string, type: string): Promise<string> =>
      (await double.fetch(path, { headers: { Accept: `application/${type}` } })).text();
    for (const [path, schema] of [
      ['/things', 'Things'],
      ['/things/1', 'Thing'],
    ] as const) {
      const reference = { $ref: `#/components/schemas/${schema}` };
      const written = writeXml(document, reference, '', JSON.parse(await read(path, 'json')));
      assert.equal(await read(path, 'xml'), written, `SEED=${seed}`);
    }
  }
});

test('every problem type that a resource can return is in a document', async () => {
  const fields = { sku: { type: 'text', unique: true } } as const;
  const access = { write: 'authenticated' } as const;
  const products = { element: 'products', item: 'product', fields, access };
  const all: DoubleOptions[] = [
    ...Object.values(configurations),
    { quota: '1/1h', strictQuery: true },
    { collections: { '/products': products } },
  ];
  const known = new Set<string>();
  for (const options of all) {
    await using double = await startDouble(options);
    const text = JSON.stringify(await double.openapi());
    for (const [, name = ''] of text.matchAll(/"[^"]*\/problems\/([a-z0-9-]+)"/g)) known.add(name);
  }
  // Unknown methods are no operations, and the others are of the control interface and of a partner's document.
  const ofControl = ['memory-only', 'misdirected-request', 'malformed-content'];
  const others = ['method-not-implemented', 'operation-not-served', ...ofControl];
  assert.deepEqual(
    Object.keys(problemTypes).filter((name) => !known.has(name)),
    Object.keys(problemTypes).filter((name) => others.includes(name)),
  );
});

/** Returns a value with one part replaced or removed. */
function changedValue(value: unknown, random: ReturnType<typeof seeded>): unknown {
  if (Array.isArray(value) && value.length > 0 && random.below(4) > 0) {
    const at = random.below(value.length);
    return value.map((each, index) => (index === at ? changedValue(each, random) : each));
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    const entries = Object.entries(value);
    const at = random.below(entries.length + 1);
    if (at === entries.length) return { ...value, [random.pick(['a', 'value', 'more'])]: 'x' };
    if (random.below(3) === 0) return Object.fromEntries(entries.filter((_, index) => index !== at));
    return Object.fromEntries(
      entries.map(([name, each], index) => [name, index === at ? changedValue(each, random) : each]),
    );
  }
  return random.pick<unknown>(['', 'x', 0, 1.5, true, null, [], {}, '1.0', '-0', '2024-02-29']);
}
