import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import test from 'node:test';
import { gzipSync } from 'node:zlib';
import { type Stub, type StubResponse, startDouble } from '../../src/double/index.ts';
import { MatchedRequests } from '../../src/double/rules.ts';
import { createStubs } from '../../src/double/stubs/stubs.ts';
import { createRequest } from '../../src/http/message.ts';
import { createRouter } from '../../src/pipeline/router.ts';

const users = { ann: { secret: 's3cret of ann', password: 'pw of ann' }, bob: { secret: 's3cret of bob' } };
const json = { 'Content-Type': 'application/json' };

async function text(response: Promise<Response>): Promise<string> {
  return (await response).text();
}

test('a stub responds to its method and path after the credentials are verified', async () => {
  await using double = await startDouble({ users, https: false });
  const order = { id: 'ord_1', status: 'shipped', total: null, lines: [1, 2.5] };
  const stub = double.stub({ method: 'PATCH', path: '/v1/orders/{id}' }, { body: order });
  const sent = { method: 'PATCH', body: '{"status":"shipped"}', headers: json };
  assert.equal((await double.fetch('/v1/orders/ord_1', sent)).status, 401);
  assert.equal(stub.count, 0);
  const response = await double.as('ann').fetch('/v1/orders/ord_1', sent);
  assert.equal(response.status, 200);
  assert.equal(response.headers.get('content-type'), 'application/json');
  assert.deepEqual(await response.json(), order);
  assert.deepEqual([stub.count, stub.remaining], [1, Number.POSITIVE_INFINITY]);
  const real = await fetch(`${double.url}/v1/orders/ord_1`, {
    ...sent,
    headers: {
      ...json,
      ...(await double.as('ann').signRequest({ method: 'PATCH', url: '/v1/orders/ord_1' })),
    },
  });
  assert.equal(real.status, 200);
  assert.equal(double.journal.last()?.step, 16);
});

test('the function of a stub receives the decoded request, and its result is sent', async () => {
  await using double = await startDouble({ users, https: false });
  double.stub(
    { method: 'POST', path: '/v1/orders/{id}/lines' },
    ({ body, parameters, query, user, headers }) => ({
      status: 201,
      headers: { Location: `/v1/orders/${parameters['id']}/lines/2` },
      body: { ...body, user, note: headers.get('x-note'), page: query.get('page') },
    }),
  );
  const response = await double.as('bob').fetch('/v1/orders/%C3%A9/lines?page=2', {
    method: 'POST',
    body: '{"sku":"tea"}',
    headers: { 'Content-Type': 'application/vnd.api+json', 'X-Note': 'soon' },
  });
  assert.deepEqual([response.status, response.headers.get('location')], [201, '/v1/orders/é/lines/2']);
  assert.deepEqual(await response.json(), { sku: 'tea', user: 'bob', note: 'soon', page: '2' });
});

test('the last matching stub responds, and a removed stub no longer does', async () => {
  await using double = await startDouble({ https: false });
  const open = { access: 'anyone' } as const;
  const add = (path: `/${string}`, body: string) => double.stub({ method: 'GET', path }, { body }, open);
  add('/rates/eur', 'first');
  const general = add('/rates/{currency}', 'second');
  assert.equal(await text(double.fetch('/rates/eur')), 'second');
  const third = double.stub({ path: '/rates/{code}', query: { day: /^2/ } }, { body: 'third' }, open);
  const fourth = double.stub({ path: '/rates/{code}', headers: { 'X-Day': '1' } }, { body: 'fourth' }, open);
  assert.equal(await text(double.fetch('/rates/eur')), 'second');
  assert.equal(await text(double.fetch('/rates/eur?day=2')), 'third');
  assert.equal(await text(double.fetch('/rates/eur?day=2', { headers: { 'x-day': '1' } })), 'fourth');
  fourth.remove();
  third[Symbol.dispose]();
  general.remove();
  general.remove();
  assert.equal(await text(double.fetch('/rates/eur?day=2')), 'first');
  assert.equal((await double.fetch('/rates/usd')).status, 404);
  assert.equal(general.remaining, 0);
});

test('a stub with times responds to that number of requests, then the resource below it responds', async () => {
  await using double = await startDouble({ users, https: false });
  double.seed({ '/articles': [{ title: 'Tea', price: { value: '3.50', currency: 'EUR' } }] });
  const stub = double.stub({ method: 'GET', path: '/articles/{id}' }, { status: 503 }, { times: 2 });
  const status = async (): Promise<number> => (await double.as('ann').fetch('/articles/1')).status;
  assert.equal((await double.fetch('/articles/1')).status, 401, 'a refused request does not count');
  assert.deepEqual([stub.remaining, await status(), stub.remaining], [2, 503, 1]);
  assert.deepEqual([await status(), await status(), stub.count, stub.remaining], [503, 200, 2, 0]);
});

test('concurrent requests do not exceed the times of a stub', async () => {
  await using double = await startDouble({ users, https: false });
  const match = { method: 'POST', path: '/orders' } as const;
  double.stub(match, { status: 200 });
  const stub = double.stub(match, { status: 409 }, { times: 1 });
  const sent = { method: 'POST', body: '{}', headers: json };
  const statuses = await Promise.all([1, 2, 3].map(() => double.as('ann').fetch('/orders', sent)));
  assert.deepEqual(statuses.map(({ status }) => status).sort(), [200, 200, 409]);
  assert.equal(stub.count, 1);
});

test('a stub adds a method to a collection without changing its other methods', async () => {
  await using double = await startDouble({ users, https: false });
  double.seed({ '/articles': [{ title: 'Tea', price: { value: '3.50', currency: 'EUR' } }] });
  const patch = { method: 'PATCH', body: '{}', headers: json };
  assert.equal((await double.as('ann').fetch('/articles/1', patch)).status, 501);
  double.stub({ method: 'PATCH', path: '/articles/{id}' }, { status: 204 }, { access: ['bob'] });
  assert.equal((await double.as('bob').fetch('/articles/1', patch)).status, 204);
  assert.equal((await double.as('ann').fetch('/articles/1', patch)).status, 403);
  assert.equal((await double.as('ann').fetch('/articles/1')).status, 200);
  const allow = async (user: string): Promise<string | null> =>
    (await double.as(user).fetch('/articles/1', { method: 'OPTIONS' })).headers.get('allow');
  assert.equal(await allow('bob'), 'HEAD, GET, PUT, POST, PATCH, DELETE, OPTIONS');
  assert.equal(await allow('ann'), 'HEAD, GET, PUT, POST, DELETE, OPTIONS');
  const elsewhere = await double.as('ann').fetch('/articles', patch);
  assert.deepEqual(
    [elsewhere.status, elsewhere.headers.get('allow')],
    [405, 'HEAD, GET, POST, OPTIONS'],
    'the method is known now, but not here',
  );
  double.reset();
  assert.equal((await double.as('ann').fetch('/articles/1', patch)).status, 501);
});

test('any method can have a stub', async () => {
  await using double = await startDouble({ https: false });
  double.stub({ method: ['PROPFIND', 'M-SEARCH'], path: '/dav' }, { status: 207 }, { access: 'anyone' });
  assert.equal((await fetch(`${double.url}/dav`, { method: 'PROPFIND' })).status, 207);
  assert.equal((await double.fetch('/dav', { method: 'M-SEARCH' })).status, 207);
  const other = await double.fetch('/dav', { method: 'PUT' });
  assert.deepEqual([other.status, other.headers.get('allow')], [405, 'PROPFIND, M-SEARCH, OPTIONS']);
  assert.equal((await double.fetch('/dav', { method: 'MKCOL' })).status, 501);
  assert.match(await text(double.fetch('/dav', { method: 'MKCOL' })), /OPTIONS, PROPFIND and M-SEARCH/);
  assert.equal((await double.fetch('/dav', { method: 'propfind' })).status, 501);
  assert.match(String(double.journal.last()), /propfind was sent instead of PROPFIND/);
});

test('a stub without a method responds to all common methods, including HEAD', async () => {
  await using double = await startDouble({ https: false });
  double.stub({ path: '/echo' }, ({ method }) => ({ body: method }), { access: 'anyone' });
  for (const method of ['GET', 'PUT', 'POST', 'PATCH', 'DELETE'])
    assert.equal(await text(double.fetch('/echo', { method })), method);
  const head = await double.fetch('/echo', { method: 'HEAD' });
  assert.deepEqual([head.status, await head.text(), head.headers.get('content-length')], [200, '', '4']);
});

test('content is decoded by its type', async () => {
  await using double = await startDouble({ https: false });
  let body: unknown;
  const received = (request: { readonly body: unknown }) => {
    body = request.body;
    return { status: 204 };
  };
  double.stub<'/any', unknown>({ method: 'POST', path: '/any' }, received, { access: 'anyone' });
  const send = async (content: NonNullable<RequestInit['body']>, type?: string): Promise<unknown> => {
    const headers = { ...(type !== undefined && { 'Content-Type': type }) };
    const { status } = await double.fetch('/any', { method: 'POST', body: content, headers });
    assert.equal(status, 204);
    return body;
  };
  assert.deepEqual(await send('[1,{"a":null}]', 'application/json; charset=utf-8'), [1, { a: null }]);
  assert.equal(await send('"x"', 'application/problem+json'), 'x');
  const form = await send(
    new URLSearchParams([
      ['a', '1 2'],
      ['a', 'é&'],
    ]),
  );
  assert.ok(form instanceof URLSearchParams);
  assert.deepEqual(
    [...form],
    [
      ['a', '1 2'],
      ['a', 'é&'],
    ],
  );
  const upload = new FormData();
  upload.set('name', 'Ann é');
  upload.set('file', new File([new Uint8Array([0, 255])], 'a.bin', { type: 'image/png' }));
  const parts = await send(upload);
  assert.ok(parts instanceof FormData);
  const file = parts.get('file');
  assert.ok(file instanceof File);
  assert.deepEqual([parts.get('name'), file.name, file.type, file.size], ['Ann é', 'a.bin', 'image/png', 2]);
  assert.equal(await send('plain é', 'text/plain'), 'plain é');
  assert.deepEqual(await send('<a/>', 'application/xml'), Buffer.from('<a/>'));
  assert.deepEqual(await send(new Uint8Array([1, 2])), Buffer.from([1, 2]));
  await double.fetch('/any', { method: 'POST', headers: { 'Content-Length': '0' } });
  assert.equal(body, undefined);
  await double.fetch('/any', { method: 'POST' });
  assert.equal(body, undefined);
});

const boundary = 'x-boundary';
const multipart = `multipart/form-data; boundary=${boundary}`;
const part = (head: string, content = '1') => `--${boundary}\r\n${head}\r\n\r\n${content}\r\n`;
const disposition = 'Content-Disposition: form-data; name="a"';
const end = `--${boundary}--\r\n`;

const undecodable: readonly [what: string, type: string, content: string | Uint8Array, problem: string][] = [
  ['a duplicate member', 'application/json', '{"a":1,"a":2}', 'json-malformed'],
  ['deep nesting', 'application/json', `${'['.repeat(40)}${']'.repeat(40)}`, 'json-malformed'],
  ['JSON that ends early', 'application/json', '{"a":', 'json-malformed'],
  ['JSON that is only white space', 'application/json', ' ', 'json-malformed'],
  ['an incomplete escape', 'application/x-www-form-urlencoded', 'a=%4', 'malformed-content'],
  ['a form that is not UTF-8', 'application/x-www-form-urlencoded', 'a=%ff', 'malformed-content'],
  ['too many parameters', 'application/x-www-form-urlencoded', 'a&'.repeat(1001), 'malformed-content'],
  ['text that is not UTF-8', 'text/plain', new Uint8Array([0xff]), 'malformed-content'],
  ['a multipart without a boundary', 'multipart/form-data', part(disposition) + end, 'malformed-content'],
  ['a multipart without its end', multipart, part(disposition), 'malformed-content'],
  ['a part without a name', multipart, part('Content-Disposition: form-data') + end, 'malformed-content'],
  ['a part without a disposition', multipart, part('X-Other: 1') + end, 'malformed-content'],
  ['bare line feeds', multipart, (part(disposition) + end).replaceAll('\r', ''), 'malformed-content'],
  ['too many parts', multipart, part(disposition).repeat(1001) + end, 'malformed-content'],
  [
    'a part that is not UTF-8',
    multipart,
    Buffer.concat([Buffer.from(part(disposition)), Buffer.from([0xff]), Buffer.from(end)]).subarray(),
    'malformed-content',
  ],
  ['a malformed type', 'json', '{}', 'malformed-field'],
];

test('content that cannot be decoded is rejected with 400 before the function runs', async (t) => {
  await using double = await startDouble({ https: false });
  let calls = 0;
  const count = () => {
    calls += 1;
    return { status: 204 };
  };
  double.stub({ method: 'POST', path: '/any' }, count, { access: 'anyone' });
  double.stub({ method: 'POST', path: '/fixed' }, { status: 204 }, { access: 'anyone' });
  for (const [what, type, body, problem] of undecodable)
    await t.test(what, async () => {
      for (const path of ['/any', '/fixed']) {
        const sent = { method: 'POST', body, headers: { 'Content-Type': type } };
        const response = await double.fetch(path, sent);
        assert.equal(response.status, 400, await response.text());
        assert.equal(double.journal.last()?.problem?.type, problem);
      }
    });
  assert.equal(calls, 0);
});

test('content above the limit is rejected with 413', async () => {
  await using double = await startDouble({ https: false, limits: { body: 10 } });
  double.stub({ method: 'POST', path: '/any' }, { status: 204 }, { access: 'anyone' });
  const sent = { method: 'POST', body: 'x'.repeat(11), headers: { 'Content-Type': 'text/plain' } };
  assert.equal((await double.fetch('/any', sent)).status, 413);
});

test('the body of a response is JSON, text or bytes, and headers can name another type', async () => {
  await using double = await startDouble({ https: false });
  let response: StubResponse = {};
  double.stub({ method: 'GET', path: '/any' }, () => response, { access: 'anyone' });
  const cases: readonly [body: unknown, type: string | null, sent: string][] = [
    [{ a: [1, null] }, 'application/json', '{"a":[1,null]}'],
    [[], 'application/json', '[]'],
    [0, 'application/json', '0'],
    [false, 'application/json', 'false'],
    [null, 'application/json', 'null'],
    ['', 'text/plain; charset=utf-8', ''],
    ['é', 'text/plain; charset=utf-8', 'é'],
    [Buffer.from('xy'), 'application/octet-stream', 'xy'],
    [new TextEncoder().encode('xy').buffer, 'application/octet-stream', 'xy'],
    [undefined, null, ''],
  ];
  for (const [body, type, sent] of cases) {
    response = { body };
    const answer = await double.fetch('/any');
    assert.deepEqual(
      [answer.status, answer.headers.get('content-type'), await answer.text()],
      [200, type, sent],
    );
  }
  response = {
    body: { a: 1 },
    headers: [
      ['content-type', 'application/hal+json'],
      ['Set-Cookie', 'a=1'],
      ['Set-Cookie', 'b=2'],
    ],
  };
  const named = await double.fetch('/any');
  assert.deepEqual(
    [named.headers.get('content-type'), await named.text()],
    ['application/hal+json', '{"a":1}'],
  );
  assert.deepEqual(named.headers.getSetCookie(), ['a=1', 'b=2']);
});

test('content that the stub has compressed is not compressed again', async () => {
  await using double = await startDouble({ https: false });
  const text = 'tea '.repeat(1000);
  const headers = { 'Content-Encoding': 'gzip', 'Content-Type': 'text/plain' };
  double.stub(
    { path: '/any' },
    { body: gzipSync(randomBytes(2000).toString('hex') + text), headers },
    { access: 'anyone' },
  );
  const response = await fetch(`${double.url}/any`);
  assert.equal(response.headers.get('content-encoding'), 'gzip');
  assert.ok((await response.text()).endsWith(text));
});

test('a response is sent as the stub returns it, regardless of Accept and preconditions', async () => {
  await using double = await startDouble({ https: false });
  double.stub({ path: '/any' }, { body: {}, headers: { ETag: '"1"' } }, { access: 'anyone' });
  const headers = { Accept: 'application/vnd.partner.v2', 'If-None-Match': '"1"', 'If-Match': '"2"' };
  for (const method of ['GET', 'PUT']) {
    const response = await double.fetch('/any', { method, headers });
    assert.deepEqual([response.status, response.headers.get('etag')], [200, '"1"']);
  }
});

test('problems of a stub are JSON unless the client asks for XML', async () => {
  await using double = await startDouble({ https: false });
  double.stub({ path: '/any' }, { body: {} });
  const problem = await double.fetch('/any');
  assert.deepEqual([problem.status, problem.headers.get('content-type')], [401, 'application/problem+json']);
  const xml = await double.fetch('/any', { headers: { Accept: 'application/xml' } });
  assert.match(xml.headers.get('content-type') ?? '', /xml/);
});

test('an error of the function or an invalid response results in 500 and is reported', async () => {
  const errors: string[] = [];
  const onError = (error: unknown) => errors.push(error instanceof Error ? error.message : String(error));
  await using double = await startDouble({ https: false, onError });
  const responses: readonly (() => object)[] = [
    () => {
      throw new TypeError('no orders today');
    },
    () => ({ statu: 200 }),
    () => ({ body: new Map() }),
    () => new Map([['status', 201]]),
    () => ({ body: Promise.resolve() }),
    () => ({ status: 204, body: {} }),
    () => ({ headers: { 'Content-Length': '1' } }),
    () => ({ body: Number.NaN }),
  ];
  for (const response of responses) {
    double.stub({ path: '/any' }, response, { access: 'anyone' });
    assert.equal((await double.fetch('/any')).status, 500);
  }
  assert.deepEqual(errors, [
    'no orders today',
    'the stub for any method /any: statu is not a member of the response of a stub; did you mean "status"?',
    'the stub for any method /any: body of the response of a stub must be JSON, text or bytes, is a Map',
    'the stub for any method /any: the response of a stub must be an object such as { status: 201, body: { id: 1 } }, or a Response, is a Map',
    'the stub for any method /any: body of the response of a stub must be JSON, text or bytes, is a Promise',
    'the stub for any method /any: a response with status 204 cannot have content',
    'the stub for any method /any: Content-Length is set by the server',
    'the stub for any method /any: body of the response of a stub must be JSON, text or bytes, is a number',
  ]);
});

test('an invalid stub is rejected with the reason', async () => {
  await using double = await startDouble({ users, https: false });
  const call = (...args: unknown[]) => Reflect.apply(double.stub, double, args);
  const cases: readonly [args: unknown[], told: RegExp][] = [
    [[{ path: '/x{id}' }, {}], /a parameter is a whole segment/],
    [[{ path: '/x', method: 'GTE' }, {}], /did you mean "GET"/],
    [[{ path: '/x', method: 'HEAD' }, {}], /HEAD is answered as GET/],
    [[{ path: '/x', method: 'OPTIONS' }, {}], /cannot have the method OPTIONS/],
    [[{ path: '/x' }, { status: 100 }], /from 200 to 599/],
    [[{ path: '/x' }, { headers: { 'X-A': 'a\nb' } }], /cannot be sent/],
    [[{ path: '/x' }, {}, { access: 'owner:user' }], /access rule/],
    [[{ path: '/x' }, {}, { schemes: ['hmca'] }], /there is no scheme "hmca"; did you mean "hmac"/],
    [[{ path: '/x' }, {}, { schemes: [] }], /at least one name/],
  ];
  for (const [args, told] of cases) assert.throws(() => call(...args), told, JSON.stringify(args));
  assert.equal((await double.fetch('/x')).status, 404);
  await assert.rejects(
    startDouble({
      https: false,
      stubs: [
        {
          match: { path: '/x' },
          respond: {},
        } as never,
      ],
    }),
    /respond is not a member of a stub/,
  );
});

test('stubs of the options are there from the start and after each reset; snapshots contain stubs', async () => {
  const stubs = [
    { match: { path: '/rates' }, response: { body: { rate: '1.08' } }, access: 'anyone', times: 2 },
  ] as const;
  await using double = await startDouble({ https: false, stubs });
  const status = async (path: string): Promise<number> => (await double.fetch(path)).status;
  assert.equal(await status('/rates'), 200);
  const more = double.stub({ path: '/more' }, { status: 204 }, { access: 'anyone' });
  const snapshot = double.snapshot();
  assert.deepEqual([await status('/rates'), await status('/rates'), await status('/more')], [200, 404, 204]);
  more.remove();
  double.restore(snapshot);
  assert.deepEqual([await status('/rates'), await status('/rates'), await status('/more')], [200, 404, 204]);
  double.reset();
  assert.deepEqual([await status('/rates'), await status('/rates'), await status('/more')], [200, 200, 404]);
});

test('a preflight permits the method of a stub to an origin of the option cors', async () => {
  await using double = await startDouble({ https: false, cors: { origins: ['https://app.example'] } });
  double.stub({ method: 'PATCH', path: '/articles/{id}' }, { status: 204 });
  const preflight = await double.fetch('/articles/1', {
    method: 'OPTIONS',
    headers: { Origin: 'https://app.example', 'Access-Control-Request-Method': 'PATCH' },
  });
  assert.equal(preflight.status, 200);
  assert.equal(
    preflight.headers.get('access-control-allow-methods'),
    'HEAD, GET, PUT, POST, PATCH, DELETE, OPTIONS',
  );
});

test('a stub behind a scheme accepts and refuses the same credentials as a collection', async () => {
  await using double = await startDouble({ users });
  const stub = double.stub({ method: 'PATCH', path: '/x' }, ({ user }) => ({ body: { user } }), {
    schemes: ['basic'],
  });
  double.collection('/notes', {
    element: 'notes',
    item: 'note',
    fields: { text: { type: 'text' } },
    access: { write: 'authenticated' },
    schemes: ['basic'],
  });
  const sent = { method: 'PATCH', body: '{"text":"x"}', headers: json, secure: true };
  const accepted = await double.as('ann', { scheme: 'basic' }).fetch('/x', sent);
  assert.deepEqual([accepted.status, await accepted.text()], [200, '{"user":"ann"}']);
  const wrong = double.as('ann', { scheme: 'basic', password: 'wrong' });
  const refused = await wrong.fetch('/x', sent);
  const { auth } = double.journal.last();
  const posted = await wrong.fetch('/notes', { ...sent, method: 'POST' });
  assert.deepEqual([refused.status, posted.status], [401, 401]);
  assert.deepEqual(auth?.failedAt, double.journal.last().auth?.failedAt);
  assert.equal(refused.headers.get('www-authenticate'), posted.headers.get('www-authenticate'));
  assert.equal((await double.fetch('/x', sent)).status, 401, 'without credentials');
  assert.equal((await double.as('ann').fetch('/x', sent)).status, 401, 'with those of another scheme');
  assert.equal(stub.count, 1);
});

test('stubs are in the OpenAPI document, also those that add a method to a collection', async () => {
  await using double = await startDouble({ users, https: false });
  double.stub({ method: 'PATCH', path: '/articles/{id}' }, { status: 204 });
  double.stub({ method: 'GET', path: '/rates/{currency}' }, { body: 1 }, { access: 'anyone' });
  double.stub({ method: 'PUT', path: '/rates/{currency}' }, { status: 204 });
  const { paths } = await double.openapi();
  const methodsAt = (path: string): string[] =>
    Object.keys(paths[path] ?? {}).filter((name) => name !== 'parameters');
  assert.deepEqual(methodsAt('/articles/{id}').sort(), ['delete', 'get', 'patch', 'post', 'put']);
  assert.deepEqual(methodsAt('/rates/{currency}').sort(), ['get', 'put']);
});

test('the Cache-Control of a stub is sent alone', async () => {
  await using double = await startDouble({ https: false });
  const headers = { 'Cache-Control': 'max-age=60' };
  double.stub({ path: '/rates' }, { headers, body: 1 }, { access: 'anyone' });
  assert.equal((await double.fetch('/rates')).headers.get('cache-control'), 'max-age=60');
});

/** Requests without credentials. */
const unnamed = {
  findUser: async () => undefined,
  findScheme: () => undefined,
  bodyLimit: 1000,
  maxDepth: 32,
};

test('a request costs as many steps among a thousand stubs as among ten', async () => {
  const steps = (count: number): number => {
    const stubs = Array.from({ length: count }, (_, index): Stub => {
      const path: `/${string}` =
        index % 2 === 0 ? `/v1/partners/p${index}/orders` : `/v1/partners/p${index}/orders/{id}`;
      return { match: { method: 'GET', path }, response: { body: index } };
    });
    const { layer } = createStubs({
      schemes: [],
      maxDepth: 32,
      requests: new MatchedRequests(unnamed),
      stubs,
    });
    let reads = 0;
    const counted = (text: string): string => {
      reads += 1;
      return text;
    };
    // Each step into the tree reads one segment.
    const segments = new Proxy(['v1', 'partners', 'p1', 'orders', '7'], {
      get: (target, name) =>
        typeof name === 'string' && /^\d+$/.test(name)
          ? counted(target[Number(name)] ?? '') || undefined
          : Reflect.get(target, name),
    });
    const request = createRequest({ method: 'GET', target: '/v1/partners/p1/orders/7' });
    const found = layer.find(segments, request, createRouter([]));
    assert.equal(found.length, 1);
    return reads;
  };
  assert.equal(steps(1000), steps(10));
});
