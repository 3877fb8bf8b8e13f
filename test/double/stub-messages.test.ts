import assert from 'node:assert/strict';
import test from 'node:test';
import { defaultCollections } from '../../src/collections/declaration.ts';
import { type DoubleOptions, startDouble } from '../../src/double/index.ts';
import { action, readBytes } from '../../src/index.ts';
import { createConsole } from '../support/double/control-client.ts';

const open = { access: 'anyone' } as const;

/** A document with operations at one path, whose content has the type that the test names. */
function documentOf(methods: readonly string[], type: string, required: boolean): DoubleOptions {
  const operation = {
    requestBody: { required, content: { [type]: { schema: { type: 'object' } } } },
    responses: { 204: { description: 'done' } },
  };
  const paths = { '/any': Object.fromEntries(methods.map((name) => [name.toLowerCase(), operation])) };
  return { partner: { openapi: '3.1.0', paths } };
}

test('a path with a trailing slash or an empty segment is a path of its own', async () => {
  const cases: readonly [template: `/${string}`, fits: readonly string[], differs: readonly string[]][] = [
    ['/hook/', ['/hook/', '/hook/?a=1'], ['/hook', '/hook//']],
    ['/bucket//media/x', ['/bucket//media/x'], ['/bucket/media/x', '/bucket///media/x']],
    ['/{tenant}/orders/', ['/a/orders/'], ['/a/orders', '//orders/']],
    ['/a//', ['/a//'], ['/a/', '/a']],
    ['//a', ['//a'], ['/a']],
    ['/v1/{id}/{part}', ['/v1/1/2'], ['/v1/1/', '/v1//2']],
    ['/', ['/'], ['//', '/a']],
    ['//', ['//'], ['/', '///']],
  ];
  for (const [template, fits, differs] of cases) {
    const asStub = await startDouble({ https: false, collections: {} });
    asStub.stub({ path: template }, { status: 204 }, open);
    const asResource = await startDouble({
      https: false,
      collections: {},
      resources: { [template]: { GET: action('anyone', () => ({ status: 204 })) } },
    });
    for (const double of [asStub, asResource]) {
      for (const path of fits)
        assert.equal((await fetch(`${double.url}${path}`)).status, 204, `${template}: ${path}`);
      for (const path of differs)
        assert.notEqual((await fetch(`${double.url}${path}`)).status, 204, `${template}: ${path}`);
      await double.close();
    }
  }
  await using double = await startDouble({ https: false, collections: {} });
  for (const template of ['/a b', '/a/{', '/{a}{b}', '/{a}/{a}/', 'a/', ''] as const)
    assert.throws(() => Reflect.apply(double.stub, double, [{ path: template }, {}, open]), RangeError);
});

test('a Content-Type without content is accepted where content is optional', async () => {
  const methods = ['POST', 'PUT', 'PATCH', 'DELETE'] as const;
  for (const type of ['application/json', 'application/vnd.api+json', 'multipart/form-data; boundary=a']) {
    const [essence = ''] = type.split(';');
    const received = { bodyOptional: true, reads: [{ ...readBytes, type: essence }] };
    const bodies: unknown[] = [];
    const note = ({ body }: { readonly body: unknown }) => {
      bodies.push(body);
      return { status: 204 };
    };
    await using double = await startDouble({
      https: false,
      ...documentOf(methods, essence, false),
      resources: {
        '/resource': Object.fromEntries(methods.map((name) => [name, action('anyone', note, received)])),
      },
    });
    double.stub<'/stub', unknown>({ path: '/stub' }, note, open);
    const headers = { 'Content-Type': type };
    for (const path of ['/stub', '/resource', '/any'])
      for (const method of methods) {
        const body = new ReadableStream({ start: (controller) => controller.close() });
        const statuses = [
          (await fetch(double.url + path, { method, headers })).status,
          (await double.fetch(path, { method, headers })).status,
          (await fetch(double.url + path, { method, headers, body, duplex: 'half' })).status,
        ];
        assert.deepEqual(statuses, [204, 204, 204], `${path}, ${method}, ${type} ${double.journal}`);
      }
    assert.deepEqual([...new Set(bodies)], [undefined]);
  }
  await using required = await startDouble({
    https: false,
    ...documentOf(['POST'], 'application/json', true),
  });
  const init = { method: 'POST', headers: { 'Content-Type': 'application/json' } };
  assert.equal((await required.fetch('/any', init)).status, 400);
  assert.equal(required.journal.last().problem?.type, 'content-missing');
});

test('content in a charset other than UTF-8 reaches a stub as bytes', async () => {
  const umlaut = Buffer.from([0x4a, 0xfc, 0x72, 0x67]);
  const cases: readonly [type: string, sent: Buffer, expected: unknown][] = [
    ['application/x-www-form-urlencoded; charset=windows-1252', Buffer.from('a=%FC'), Buffer.from('a=%FC')],
    ['application/x-www-form-urlencoded; charset=KOI8-R', Buffer.from('a=b'), Buffer.from('a=b')],
    ['text/xml; charset=iso-8859-1', umlaut, umlaut],
    ['text/plain; charset="Windows-1252"', umlaut, umlaut],
    ['text/plain; charset=no-such-charset', umlaut, umlaut],
    ['application/xml; charset=utf-16', umlaut, umlaut],
    ['text/plain; charset=us-ascii', Buffer.from('Juerg'), 'Juerg'],
    ['text/plain; charset=UTF8', Buffer.from('Jürg'), 'Jürg'],
    ['application/json; charset=iso-8859-1', Buffer.from('{"a":1}'), { a: 1 }],
    ['application/json; charset=iso-8859-1', umlaut, umlaut],
  ];
  const secret = 'the secret of the webhook';
  await using double = await startDouble({
    https: false,
    schemes: { hook: { preset: 'github', user: 'hook' } },
    users: { hook: { secret } },
  });
  let body: unknown;
  for (const path of ['/open', '/signed'] as const)
    double.stub<typeof path, unknown>(
      { method: 'POST', path },
      (request) => {
        body = request.body;
        return { body: 'VERIFIED' };
      },
      path === '/open' ? open : { schemes: ['hook'] },
    );
  for (const [type, content, expected] of cases) {
    const sent = { method: 'POST', headers: { 'Content-Type': type }, body: content };
    assert.equal((await fetch(`${double.url}/open`, sent)).status, 200, type);
    assert.deepEqual(body, expected, type);
    body = undefined;
    const signed = await double.as('hook', { scheme: 'hook' }).fetch('/signed', sent);
    assert.equal(signed.status, 200, `${type}: ${String(double.journal.last())}`);
    assert.deepEqual(body, expected, type);
  }
  const headers = { 'Content-Type': 'application/json; charset=iso-8859-1' };
  await using authenticated = await startDouble({ users: ['ann'], https: false });
  const posted = await authenticated.as('ann').fetch('/articles', { method: 'POST', headers, body: '{}' });
  assert.equal(posted.status, 415, 'a collection reads UTF-8');
});

test('a stub and a document accept a PUT with Content-Range, a collection does not', async () => {
  const content = { 'application/octet-stream': {} };
  const put = { requestBody: { content }, responses: { 202: { description: 'received' } } };
  const parameters = [{ name: 'id', in: 'path', required: true, schema: {} }];
  await using double = await startDouble({
    https: false,
    users: ['ann'],
    collections: defaultCollections(),
    seed: { '/articles': [{ title: 'Tea', price: { value: '1.00', currency: 'EUR' } }] },
    partner: { openapi: '3.1.0', paths: { '/uploads/{id}': { put, parameters } } },
    stubs: [{ match: { method: 'PUT', path: '/stub' }, response: { status: 308 }, access: 'anyone' }],
  });
  const sent = {
    method: 'PUT',
    headers: { 'Content-Type': 'application/octet-stream', 'Content-Range': 'bytes 0-2/10' },
    body: 'abc',
    redirect: 'manual',
  } as const;
  assert.equal((await double.fetch('/uploads/1', sent)).status, 202);
  assert.equal((await double.fetch('/stub', sent)).status, 308);
  const article = { ...sent, headers: { ...sent.headers, 'Content-Type': 'application/json' }, body: '{}' };
  assert.equal((await double.as('ann').fetch('/articles/1', article)).status, 400);
  assert.equal(double.journal.last().problem?.type, 'content-range-on-put');
});

test('a list of values is sent as several lines, wherever a response has headers', async () => {
  const cookies = ['a=1; Path=/', 'b=2'];
  const headers = { 'Set-Cookie': cookies, Link: ['</a>', '</b>'], 'X-One': '1' };
  const document = {
    openapi: '3.1.0',
    paths: { '/documented': { get: { operationId: 'get', responses: { 200: { description: 'ok' } } } } },
  };
  await using double = await startDouble({
    https: false,
    partner: document,
    resources: { '/action': { GET: action('anyone', () => ({ status: 200, headers })) } },
  });
  const control = createConsole(await double.openControl());
  double.stub({ path: '/fixed' }, { headers, body: 'x' }, open);
  double.stub({ path: '/function' }, () => ({ headers, body: 'x' }), open);
  double.partner.respond('get', { headers });
  await control.send('POST', '/stubs', {
    match: { path: '/controlled' },
    response: { headers },
    access: 'anyone',
  });
  double.faults.next({ path: '/fault' }, { status: 503, headers });
  const fault = { match: { path: '/controlled-fault' }, fault: { status: 503, headers } };
  await control.send('POST', '/faults', fault);
  const always = ['/fixed', '/function', '/documented', '/action', '/controlled'];
  for (const [send, paths] of [
    [double.fetch, always],
    [fetch, [...always, '/fault', '/controlled-fault']],
  ] as const)
    for (const path of paths) {
      const response = await send(double.url + path);
      const fields = ['link', 'x-one'].map((name) => response.headers.get(name));
      assert.deepEqual([response.headers.getSetCookie(), ...fields], [cookies, '</a>, </b>', '1'], path);
      const recorded = double.journal.last().response?.headers.filter(([name]) => name === 'Set-Cookie');
      assert.equal(recorded?.length, 2, path);
    }
  await control.send('POST', '/partner/respond', { operationId: 'get', response: { headers } });
  assert.deepEqual((await double.fetch('/documented')).headers.getSetCookie(), cookies);
  for (const wrong of [{}, null, true, 5, [null], [{}], ['a', 1], 'a\nb']) {
    const given = { headers: { 'X-Wrong': wrong } };
    const calls: readonly (() => unknown)[] = [
      () => Reflect.apply(double.stub, double, [{ path: '/x' }, given]),
      () => Reflect.apply(double.partner.respond, undefined, ['get', given]),
      () => Reflect.apply(double.faults.next, undefined, [{}, { status: 503, ...given }]),
    ];
    for (const call of calls) assert.throws(call, /the value of X-Wrong/, JSON.stringify(wrong));
  }
});

test('the function of a stub and an action can return a Response of the platform', async () => {
  await using double = await startDouble({ https: false });
  const cookies = new Headers([
    ['Set-Cookie', 'a=1'],
    ['Set-Cookie', 'b=2'],
    ['X-One', '1'],
  ]);
  const bytes = new Uint8Array([0, 255, 10]);
  const cases: readonly [
    create: () => Response | Promise<Response>,
    status: number,
    type: string | null,
    body: Uint8Array,
  ][] = [
    [
      () => new Response('tea', { status: 201, headers: cookies }),
      201,
      'text/plain;charset=UTF-8',
      Buffer.from('tea'),
    ],
    [() => Response.json({ a: 1 }, { headers: cookies }), 200, 'application/json', Buffer.from('{"a":1}')],
    [() => new Response(bytes, { headers: cookies }), 200, 'application/octet-stream', bytes],
    [
      () =>
        new Response(new Blob(['<a/>'], { type: 'text/xml' }).stream(), {
          headers: [...cookies, ['Content-Type', 'text/xml']],
        }),
      200,
      'text/xml',
      Buffer.from('<a/>'),
    ],
    [() => new Response(null, { status: 204, headers: cookies }), 204, null, new Uint8Array()],
    [
      async () => new Response('', { headers: [...cookies, ['Content-Length', '9'], ['Date', 'x']] }),
      200,
      'text/plain;charset=UTF-8',
      new Uint8Array(),
    ],
  ];
  for (const [create, status, type, body] of cases) {
    using _stub = double.stub({ path: '/r' }, create, open);
    double.resource('/a', { GET: action('anyone', create) });
    for (const [send, path] of [
      [fetch, '/r'],
      [double.fetch, '/r'],
      [fetch, '/a'],
    ] as const) {
      const response = await send(double.url + path);
      assert.deepEqual([response.status, response.headers.get('content-type')], [status, type]);
      assert.deepEqual(response.headers.getSetCookie(), ['a=1', 'b=2']);
      assert.equal(response.headers.get('x-one'), '1');
      assert.deepEqual(Buffer.from(await response.arrayBuffer()), Buffer.from(body));
    }
  }
  const errors: unknown[] = [];
  await using strict = await startDouble({ https: false, onError: (error) => errors.push(error) });
  const used = new Response('once');
  await used.text();
  strict.stub({ path: '/used' }, () => used, open);
  strict.stub({ path: '/error' }, () => Response.error(), open);
  strict.stub({ path: '/forwarded' }, () => fetch(`${double.url}/long`), open);
  assert.equal((await strict.fetch('/used')).status, 500);
  assert.match(String(errors[0]), /the stub for any method \/used: .*was read before/);
  assert.equal((await strict.fetch('/error')).status, 500);
  assert.match(String(errors[1]), /status/);
  double.stub({ path: '/long' }, { body: Array.from({ length: 1000 }, () => 'tea') }, open);
  const forwarded = await fetch(`${strict.url}/forwarded`);
  assert.deepEqual([forwarded.status, (await forwarded.text()).length], [200, 6001]);
  assert.throws(
    () => Reflect.apply(strict.stub, strict, [{ path: '/x' }, new Response('x')]),
    /from a function/,
  );
});

test('the journal says why a response is 500, without secrets, and the client does not see it', async () => {
  const errors: unknown[] = [];
  await using double = await startDouble({
    users: { ann: { secret: 's3cret of ann' } },
    https: false,
    onError: (error) => void errors.push(error),
  });
  const fail = (error: unknown) => () => {
    throw error;
  };
  const cases: readonly (readonly [thrown: unknown, told: RegExp])[] = [
    [new Error('no such customer'), /internal-error.*: no such customer/],
    [new RangeError('too many'), /: RangeError: too many/],
    ['plain text', /: plain text/],
    [null, /: null/],
    [{ code: 7 }, /: \{ code: 7 \}/],
    [Object.create(null), /: what was thrown cannot be written as text/],
    [new Error('key s3cret of ann'), /: key \[redacted\]/],
  ];
  for (const [thrown, told] of cases) {
    double.stub({ method: 'GET', path: '/stub' }, fail(thrown), { access: 'anyone' });
    double.resource('/resource', { GET: action('anyone', fail(thrown)) });
    for (const path of ['/stub', '/resource']) {
      const response = await double.fetch(path);
      assert.equal(response.status, 500);
      assert.doesNotMatch(await response.text(), /customer|too many|plain|s3cret|null|code|thrown/);
      const entry = double.journal.last();
      assert.match(String(entry), told);
      assert.match(`: ${entry.problem?.hint}`, new RegExp(told.source.replace(/^.*: (?=no such)/, ': ')));
      assert.equal(errors.pop(), thrown);
    }
  }
});
