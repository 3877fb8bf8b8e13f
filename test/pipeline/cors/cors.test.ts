import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { describe, test } from 'node:test';
import { startDouble } from '../../../src/double/index.ts';
import { createRequest } from '../../../src/http/message.ts';
import { action, type Resource, text } from '../../../src/index.ts';
import { type Answer, article, type OpenedService, openService } from '../../support/service/open-service.ts';

const app = 'https://app.example';
const other = 'https://other.example';

/** Sends a request from a page of another origin. */
function from(
  testService: OpenedService,
  origin: string,
  method: string,
  target: string,
  asking: Parameters<OpenedService['ask']>[2] = {},
): Promise<Answer> {
  return testService.ask(method, target, { ...asking, fields: { Origin: origin, ...asking.fields } });
}

/** Sends the preflight of a request with a method and further fields. */
function preflight(
  testService: OpenedService,
  origin: string,
  target: string,
  method: string,
  names?: string,
): Promise<Answer> {
  const fields = {
    'Access-Control-Request-Method': method,
    ...(names === undefined ? {} : { 'Access-Control-Request-Headers': names }),
  };
  return from(testService, origin, 'OPTIONS', target, { fields });
}

/** Returns the fields of the protocol in a response, by name without `Access-Control-`. */
function corsFields(answer: Answer): Record<string, string> {
  const names = [
    ...['Allow-Origin', 'Allow-Credentials', 'Allow-Methods', 'Allow-Headers', 'Max-Age'],
    'Expose-Headers',
  ];
  const present = names.map((name) => [name, answer.field(`Access-Control-${name}`)] as const);
  return Object.fromEntries(present.filter(([, value]) => value !== ''));
}

function variesByOrigin(answer: Answer): boolean {
  return answer.field('Vary').split(', ').includes('Origin');
}

/** The declaration of a collection that anyone can read. */
const note = {
  element: 'notes',
  item: 'note',
  fields: { text: { type: 'text' } },
  access: { read: 'anyone' },
} as const;

const testService = openService({ cors: [app, 'http://localhost:3000'] });

test('a response to a listed origin is shared with that origin alone', async () => {
  for (const origin of [app, 'http://localhost:3000']) {
    const answer = await from(testService, origin, 'GET', '/articles');
    assert.equal(answer.status, 200);
    assert.equal(answer.field('Access-Control-Allow-Origin'), origin);
    assert.equal(answer.field('Access-Control-Allow-Credentials'), '');
    assert.ok(variesByOrigin(answer));
  }
});

describe('a response to an unlisted origin has no CORS fields, but varies by Origin', () => {
  const origins = [
    other,
    'http://app.example',
    'https://app.example:8443',
    'https://app.example.',
    'https://app.example/',
    'HTTPS://app.example',
    'https://sub.app.example',
    'https://app.example.evil.example',
    `${app}, ${app}`,
    `${app} ${app}`,
    'null',
    '*',
    '',
  ];
  for (const origin of origins)
    test(JSON.stringify(origin), async () => {
      for (const answer of [
        await from(testService, origin, 'GET', '/articles'),
        await preflight(testService, origin, '/articles/1', 'PUT'),
      ]) {
        assert.equal(answer.status, 200);
        assert.deepEqual(corsFields(answer), {});
        assert.ok(variesByOrigin(answer));
      }
    });
});

test('a response to a request with two Origin fields has no CORS fields', async () => {
  const fields: [string, string][] = [
    ['Origin', app],
    ['Origin', app],
  ];
  const { headers: sent } = await testService.service.respond(
    createRequest({ method: 'GET', target: '/articles', headers: fields }),
  );
  assert.deepEqual(
    sent.filter(([name]) => name.startsWith('Access-Control')),
    [],
  );
});

test('a response to a request without Origin has no CORS fields, but varies by Origin', async () => {
  const answer = await testService.ask('GET', '/articles');
  assert.deepEqual(corsFields(answer), {});
  assert.ok(variesByOrigin(answer));
});

test('without cors, no response has CORS fields or varies by Origin', async () => {
  const plain = openService();
  for (const answer of [
    await from(plain, app, 'GET', '/articles'),
    await from(plain, app, 'GET', '/nothing'),
    await preflight(plain, app, '/articles/1', 'PUT'),
  ]) {
    assert.deepEqual(corsFields(answer), {});
    assert.ok(!variesByOrigin(answer));
  }
});

test('a response is shared with the origin null if it is listed, but not with NULL', async () => {
  const sandbox = openService({ cors: ['null'] });
  assert.equal(
    (await from(sandbox, 'null', 'GET', '/articles')).field('Access-Control-Allow-Origin'),
    'null',
  );
  assert.deepEqual(corsFields(await from(sandbox, 'NULL', 'GET', '/articles')), {});
});

test('with *, every response is shared, even without Origin, and none varies by Origin', async () => {
  const open = openService({ cors: ['*'] });
  for (const answer of [await from(open, other, 'GET', '/articles'), await open.ask('GET', '/articles')]) {
    assert.equal(answer.field('Access-Control-Allow-Origin'), '*');
    assert.match(answer.field('Access-Control-Expose-Headers'), /\bETag\b|\bLink\b/);
    assert.ok(!variesByOrigin(answer));
  }
  const answer = await preflight(open, other, '/articles/1', 'PUT', 'authorization');
  assert.equal(answer.field('Access-Control-Allow-Origin'), '*');
  // The wildcard does not include Authorization (Fetch §2.2.2).
  assert.equal(answer.field('Access-Control-Allow-Headers'), 'authorization');
});

test('credentials: true permits browser credentials for listed origins only', async () => {
  const trusting = openService({ cors: { origins: [app], credentials: true } });
  for (const answer of [
    await from(trusting, app, 'GET', '/articles'),
    await preflight(trusting, app, '/articles', 'POST'),
  ])
    assert.equal(answer.field('Access-Control-Allow-Credentials'), 'true');
  assert.equal(
    (await from(trusting, other, 'GET', '/articles')).field('Access-Control-Allow-Credentials'),
    '',
  );
});

describe('a preflight', () => {
  test('permits the methods that the resource implements for any user, with a maximum age', async () => {
    const answer = await preflight(testService, app, '/articles/1', 'PUT');
    assert.equal(answer.status, 200);
    assert.deepEqual(corsFields(answer), {
      'Allow-Origin': app,
      'Allow-Methods': 'HEAD, GET, PUT, POST, DELETE, OPTIONS',
      'Max-Age': '600',
    });
    const collection = await preflight(testService, app, '/articles', 'POST');
    assert.equal(collection.field('Access-Control-Allow-Methods'), 'HEAD, GET, POST, OPTIONS');
    const own = await preflight(testService, app, '/users/ann/financialrecords', 'GET');
    assert.equal(own.field('Access-Control-Allow-Methods'), 'HEAD, GET, OPTIONS');
  });

  test('has the Allow field and the content of an OPTIONS request without credentials', async () => {
    const answer = await preflight(testService, app, '/articles/1', 'PUT');
    const plain = await testService.ask('OPTIONS', '/articles/1');
    assert.equal(answer.field('Allow'), 'HEAD, GET, OPTIONS');
    assert.equal(answer.field('Allow'), plain.field('Allow'));
    assert.equal(answer.text, plain.text);
    const byOrigin = await from(testService, app, 'OPTIONS', '/articles/1');
    assert.equal(byOrigin.field('Access-Control-Allow-Methods'), '');
    const signed = await from(testService, app, 'OPTIONS', '/articles/1', { user: 'ann' });
    assert.equal(signed.field('Allow'), 'HEAD, GET, PUT, POST, DELETE, OPTIONS');
  });

  test('permits the requested fields that the server reads, and no others', async () => {
    const names = 'authentication,authorization,content-type,if-match,x-custom,x-date';
    const answer = await preflight(testService, app, '/articles/1', 'PUT', names);
    assert.equal(
      answer.field('Access-Control-Allow-Headers'),
      'authentication, authorization, content-type, if-match, x-date',
    );
    const all =
      'Accept,PREFER,If-None-Match,If-Modified-Since,If-Unmodified-Since,Content-Digest,Content-MD5';
    assert.equal(
      (await preflight(testService, app, '/articles', 'POST', all)).field('Access-Control-Allow-Headers'),
      all.toLowerCase().replaceAll(',', ', '),
    );
    const unknown = await preflight(testService, app, '/articles', 'POST', 'x-a, x-b,,"');
    assert.equal(unknown.field('Access-Control-Allow-Headers'), '');
  });

  test('ignores credentials in its target', async () => {
    const limited = openService({
      cors: [app],
      maxAuthFailures: 1,
      schemes: { aws4: { region: 'eu', service: 'x' } },
    });
    const target = '/articles?X-Amz-Signature=wrong';
    for (let count = 0; count < 3; count += 1)
      assert.equal((await preflight(limited, app, target, 'GET')).status, 200);
    assert.equal((await limited.ask('OPTIONS', target)).status, 400);
    const plain = openService({ schemes: { aws4: { region: 'eu', service: 'x' } } });
    assert.equal((await preflight(plain, app, target, 'GET')).status, 400);
  });

  test('fails with 404 for an unknown resource, and permits no methods', async () => {
    const answer = await preflight(testService, app, '/nothing/here', 'PUT');
    assert.equal(answer.status, 404);
    assert.equal(answer.field('Access-Control-Allow-Methods'), '');
    assert.equal(answer.field('Access-Control-Max-Age'), '');
  });

  test('has the configured maxAge as its Access-Control-Max-Age', async () => {
    const brief = openService({ cors: { origins: [app], maxAge: 0 } });
    assert.equal((await preflight(brief, app, '/articles', 'POST')).field('Access-Control-Max-Age'), '0');
  });
});

test('a preflight permits the fields of the configured schemes that the resource accepts', async () => {
  const schemes = {
    aws4: { region: 'eu', service: 'x' },
    key: { user: { field: 'X-Key-Id' }, secret: { field: 'X-Key-Secret' } },
    partner: {
      message: '{timestamp}.{nonce}.{field:X-Tenant}.{body}',
      signature: { field: 'X-Signature' },
      user: { field: 'X-User' },
      timestamp: { field: 'X-Timestamp' },
      nonce: { field: 'X-Nonce' },
    },
    'message-signatures': { components: ['@method', '@path', 'x-covered'] },
  };
  const only = (names: readonly string[]): Resource => ({
    GET: action('authenticated', () => text('')),
    schemes: names,
  });
  const configured = openService({
    cors: [app],
    schemes,
    resources: {
      '/all': { GET: action('authenticated', () => text('')) },
      '/aws4': only(['aws4']),
      '/key': only(['key']),
      '/partner': only(['partner']),
      '/basic': only(['basic']),
      '/signed': only(['message-signatures']),
    },
  });
  const fieldsOf: Record<string, string> = {
    '/aws4': 'authorization, x-amz-content-sha256, x-amz-date, x-amz-security-token',
    '/key': 'x-key-id, x-key-secret',
    '/partner': 'x-nonce, x-signature, x-tenant, x-timestamp, x-user',
    '/basic': 'authorization',
    '/signed': 'signature, signature-input, x-covered',
  };
  const everything = [
    ...new Set([...Object.values(fieldsOf).join(', ').split(', '), 'authentication', 'x-date']),
  ];
  const requested = everything.toSorted().join(',');
  for (const [path, permitted] of Object.entries(fieldsOf)) {
    const answer = await preflight(configured, app, path, 'GET', requested);
    assert.equal(answer.field('Access-Control-Allow-Headers'), permitted, path);
  }
  const all = await preflight(configured, app, '/all', 'GET', requested);
  assert.equal(all.field('Access-Control-Allow-Headers'), requested.replaceAll(',', ', '));
  const without = await preflight(testService, app, '/articles', 'GET', requested);
  assert.equal(without.field('Access-Control-Allow-Headers'), 'authentication, authorization, x-date');
});

test('a preflight permits the requestHeaders of a resource in code, and no method with the access nobody', async () => {
  const service = openService({
    cors: [app],
    resources: {
      '/own': {
        GET: action('anyone', () => text('')),
        PUT: action('nobody', () => text('')),
        DELETE: action([], () => text('')),
        POST: action(['ann'], () => text('')),
        headAccess: 'nobody',
        requestHeaders: ['X-Trace'],
      },
    },
  });
  const answer = await preflight(service, app, '/own', 'POST', 'content-digest,x-other,x-trace');
  assert.equal(answer.field('Access-Control-Allow-Methods'), 'GET, POST, OPTIONS');
  assert.equal(answer.field('Access-Control-Allow-Headers'), 'x-trace');
});

describe('every response is shared, and exposes exactly its fields that are neither safelisted nor forbidden', () => {
  const safelisted = new Set(
    'Cache-Control Content-Language Content-Length Content-Type Expires Last-Modified Pragma'.split(' '),
  );
  const service = openService({
    cors: [app],
    maxAuthFailures: 1,
    resources: {
      '/moved': { GET: action('anyone', () => ({ status: 303, headers: [['Location', '/articles']] })) },
      '/set': {
        GET: action('anyone', () => ({
          status: 200,
          headers: [
            ['Set-Cookie', 'a=b'],
            ['X-Own', '1'],
            ['x-own', '2'],
            ['Content-Language', 'en'],
          ],
          representation: text('set'),
        })),
      },
      '/broken': {
        GET: action('anyone', () => {
          throw new Error('broken');
        }),
      },
    },
    onError: () => {},
  });
  const tests: readonly (readonly [
    status: number,
    method: string,
    target: string,
    asking: Parameters<OpenedService['ask']>[2],
    exposed: string,
  ])[] = [
    [201, 'PUT', '/articles/tea', { user: 'ann', content: article('Tea') }, 'ETag'],
    [200, 'GET', '/articles/tea', {}, 'ETag'],
    [200, 'HEAD', '/articles/tea', {}, 'ETag'],
    [
      412,
      'PUT',
      '/articles/tea',
      { user: 'ann', content: article('Tea'), fields: { 'If-Match': '"x"' } },
      '',
    ],
    [304, 'GET', '/articles/tea', { fields: { 'If-None-Match': '*' } }, 'ETag'],
    [200, 'GET', '/articles', {}, 'Link'],
    [303, 'GET', '/moved', {}, 'Location'],
    [200, 'GET', '/set', {}, 'X-Own'],
    [400, 'GET', '/articles?limit=x', {}, ''],
    [401, 'DELETE', '/articles/tea', {}, 'WWW-Authenticate'],
    [403, 'GET', '/users/ann/financialrecords', { user: 'bob' }, ''],
    [404, 'GET', '/nothing', {}, ''],
    [404, 'GET', '/articles/none', {}, ''],
    [405, 'DELETE', '/articles', {}, 'Allow'],
    [406, 'GET', '/articles', { fields: { Accept: 'image/png' } }, ''],
    [415, 'POST', '/articles', { user: 'ann', content: 'x', type: 'image/png' }, 'Accept-Post'],
    [500, 'GET', '/broken', {}, ''],
    [501, 'PATCH', '/articles/tea', {}, ''],
    [400, 'GET', '/articles', { fields: { Authentication: 'hmac eve:AAAA' } }, ''],
    [429, 'GET', '/articles', { fields: { Authentication: 'hmac eve:AAAA' } }, 'Retry-After'],
    [503, 'GET', '/articles', {}, 'Retry-After'],
  ];
  for (const [status, method, target, asking = {}, exposed] of tests)
    test(`${status}: ${method} ${target}`, async () => {
      if (status === 503) await service.service.close({ grace: 0 });
      const fields: Record<string, string> = { Origin: app, ...asking.fields };
      const answer = await service.ask(method, target, { ...asking, fields });
      assert.equal(answer.status, status, answer.text);
      assert.equal(answer.field('Access-Control-Allow-Origin'), app);
      assert.ok(variesByOrigin(answer));
      const names = answer.field('Access-Control-Expose-Headers').split(', ');
      if (exposed !== '') assert.ok(names.includes(exposed), names.join());
      assert.ok(!names.some((name) => safelisted.has(name) || /^(?:set-cookie|access-control)/i.test(name)));
      assert.ok(names.includes('Date') && names.includes('Vary'));
      assert.equal(new Set(names.map((name) => name.toLowerCase())).size, names.length);
    });
});

test('a signed response exposes its signature, which covers Vary', async () => {
  const key = { id: 'server', algorithm: 'hmac-sha256' as const, secret: 'signing-secret' };
  const signing = openService({
    cors: [app],
    schemes: { 'message-signatures': { signResponses: { key, components: ['@status', 'vary'] } } },
  });
  await signing.service.ready;
  const answer = await from(signing, app, 'GET', '/articles');
  const names = answer.field('Access-Control-Expose-Headers').split(', ');
  for (const name of ['Signature', 'Signature-Input']) assert.ok(names.includes(name), names.join());
  assert.ok(variesByOrigin(answer));
  const [, parameters = ''] = answer.field('Signature-Input').split(/^sig1=/);
  const base = `"@status": 200\n"vary": ${answer.field('Vary')}\n"@signature-params": ${parameters}`;
  const signature = createHmac('sha256', key.secret).update(base).digest('base64');
  assert.equal(answer.field('Signature'), `sig1=:${signature}:`);
  const requested = await preflight(signing, app, '/articles', 'GET', 'accept-signature');
  assert.equal(requested.field('Access-Control-Allow-Headers'), 'accept-signature');
});

test('the origins of a collection or a resource replace those of the service', async () => {
  const service = openService({
    cors: { origins: [app], credentials: true },
    collections: {
      '/notes': { ...note, cors: [other] },
      '/closed': { ...note, cors: [] },
      '/plain': note,
    },
    resources: { '/own': { GET: action('anyone', () => text('')), cors: { origins: ['*'], maxAge: 5 } } },
  });
  const shared = async (origin: string, target: string): Promise<string> =>
    (await from(service, origin, 'GET', target)).field('Access-Control-Allow-Origin');
  assert.deepEqual([await shared(app, '/plain'), await shared(other, '/plain')], [app, '']);
  assert.deepEqual([await shared(app, '/notes'), await shared(other, '/notes')], ['', other]);
  assert.deepEqual([await shared(app, '/notes/1'), await shared(other, '/notes/1')], ['', other]);
  assert.deepEqual([await shared(app, '/closed'), await shared(other, '/closed')], ['', '']);
  assert.deepEqual([await shared(app, '/own'), await shared(other, '/own')], ['*', '*']);
  assert.equal((await from(service, other, 'GET', '/notes')).field('Access-Control-Allow-Credentials'), '');
  assert.equal((await preflight(service, app, '/own', 'GET')).field('Access-Control-Max-Age'), '5');
  assert.ok(!variesByOrigin(await service.ask('GET', '/closed')));
});

test('a collection can have origins although the service has none', async () => {
  const service = openService({ collections: { '/notes': { ...note, cors: [app] }, '/plain': note } });
  assert.equal((await from(service, app, 'GET', '/notes')).field('Access-Control-Allow-Origin'), app);
  const plain = await from(service, app, 'GET', '/plain');
  assert.deepEqual(corsFields(plain), {});
  assert.ok(!variesByOrigin(plain));
});

test('the origins of a resource apply behind a proxy that removes the base path', async () => {
  const proxied = openService({
    basePath: '/api',
    resources: { '/own': { GET: action('anyone', () => text('')), cors: [app] } },
  });
  assert.equal((await from(proxied, app, 'GET', '/own')).field('Access-Control-Allow-Origin'), app);
  assert.equal(
    (await preflight(proxied, app, '/own', 'GET')).field('Access-Control-Allow-Methods'),
    'HEAD, GET, OPTIONS',
  );
});

test('the server adds no CORS fields if a resource in code sets Access-Control-Allow-Origin', async () => {
  const service = openService({
    cors: [app],
    resources: {
      '/own': {
        GET: action('anyone', () => ({
          status: 200,
          headers: [['access-control-allow-origin', other]],
          representation: text(''),
        })),
      },
    },
  });
  assert.deepEqual(corsFields(await from(service, app, 'GET', '/own')), { 'Allow-Origin': other });
});

test('the OAuth metadata and token endpoints are shared, but not the authorization endpoint (RFC 9700 §2.6)', async () => {
  await using double = await startDouble({
    cors: [app],
    clients: {
      app: {
        secret: 'client-secret',
        redirectUris: ['https://app.example/cb'],
        grants: ['authorization_code'],
      },
    },
  });
  const shared = async (path: string, init: RequestInit = {}): Promise<string | null> => {
    const response = await double.fetch(path, { ...init, secure: true, headers: { Origin: app } });
    return response.headers.get('access-control-allow-origin');
  };
  const { authorize, token, metadata } = {
    authorize: '/oauth2/authorize',
    token: '/oauth2/token',
    metadata: '/.well-known/oauth-authorization-server',
  };
  assert.equal(await shared(metadata), app);
  assert.equal(await shared(token, { method: 'POST', body: 'grant_type=x' }), app);
  assert.equal(await shared(authorize), null);
});
