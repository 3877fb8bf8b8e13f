import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Double, startDouble } from '../../../src/double/index.ts';
import { action, text } from '../../../src/index.ts';

const app = 'https://app.example';
const other = 'https://other.example';

/** Sends the preflight of a request in process. */
async function preflight(
  double: Double,
  path: string,
  method: string,
  fields = '',
  origin = app,
): Promise<void> {
  const headers = { Origin: origin, 'Access-Control-Request-Method': method };
  await double.fetch(path, {
    method: 'OPTIONS',
    headers: fields === '' ? headers : { ...headers, 'Access-Control-Request-Headers': fields },
  });
}

const refusals: readonly (readonly [
  failedAt: string,
  ask: (double: Double) => Promise<unknown>,
  preflight: boolean,
  line: string,
])[] = [
  [
    'origin',
    (double) => double.fetch('/articles', { headers: { Origin: other } }),
    false,
    `#1 GET /articles: 200, step 16 (action)\n  cors: failed at origin: ${other} is not one of ${app}`,
  ],
  [
    'origin',
    (double) => preflight(double, '/articles', 'POST', '', 'http://app.example'),
    true,
    `#1 OPTIONS /articles: 200, step 8 (OPTIONS)\n  cors: failed at origin: http://app.example is not one of ${app}`,
  ],
  [
    'method',
    (double) => preflight(double, '/articles', 'PUT'),
    true,
    '#1 OPTIONS /articles: 200, step 8 (OPTIONS)\n  cors: failed at method: PUT is not one of HEAD, GET, POST, OPTIONS',
  ],
  [
    'method',
    (double) => preflight(double, '/articles/1', 'patch'),
    true,
    '#1 OPTIONS /articles/1: 200, step 8 (OPTIONS)\n  cors: failed at method: patch is not one of HEAD, GET, PUT, POST, DELETE, OPTIONS',
  ],
  [
    'header',
    (double) => preflight(double, '/articles/1', 'PUT', 'content-type,x-custom,x-other'),
    true,
    '#1 OPTIONS /articles/1: 200, step 8 (OPTIONS)\n  cors: failed at header: the server does not read x-custom, x-other here',
  ],
  [
    'status',
    (double) => preflight(double, '/nothing', 'PUT'),
    true,
    '#1 OPTIONS /nothing: 404, not-found, step 6 (route): Nothing is at this address.\n  cors: failed at status: the preflight has the status 404',
  ],
];

describe('an entry shows the condition that a request from another origin does not meet', () => {
  for (const [failedAt, ask, isPreflight, line] of refusals)
    test(line, async () => {
      await using double = await startDouble({ cors: [app], https: false });
      await ask(double);
      const entry = double.journal.last();
      assert.equal(String(entry), line);
      assert.equal(entry?.cors?.failedAt, failedAt);
      assert.equal(entry?.cors?.preflight, isPreflight);
      assert.deepEqual(JSON.parse(JSON.stringify(entry)).cors, JSON.parse(JSON.stringify(entry?.cors)));
    });
});

test('an entry shows that a cross-origin request meets all conditions', async () => {
  await using double = await startDouble({ cors: [app], https: false });
  await double.fetch('/articles', { headers: { Origin: app } });
  const met = { origin: app, preflight: false, failedAt: undefined, detail: undefined };
  assert.deepEqual(double.journal.last()?.cors, met);
  await preflight(double, '/articles/1', 'DELETE', 'authentication,x-date');
  assert.deepEqual(double.journal.last()?.cors, { ...met, preflight: true });
  assert.equal(String(double.journal.last()), '#2 OPTIONS /articles/1: 200, step 8 (OPTIONS)');
  // A browser sends these methods without permission.
  await preflight(double, '/users/ann/financialrecords', 'POST');
  assert.equal(double.journal.last()?.cors?.failedAt, undefined);
});

test('an entry has no CORS check for a same-origin request, or without the option cors', async () => {
  await using double = await startDouble({ cors: [app] });
  await double.fetch('/articles', { headers: { Origin: double.url } });
  assert.equal(double.journal.last()?.cors, undefined);
  await double.fetch(`${double.secureUrl}/articles`, { headers: { Origin: double.secureUrl } });
  assert.equal(double.journal.last()?.cors, undefined);
  await double.fetch('/articles');
  assert.equal(double.journal.last()?.cors, undefined);
  await using plain = await startDouble({ https: false });
  await plain.fetch('/articles', { headers: { Origin: app } });
  assert.equal(plain.journal.last()?.cors, undefined);
  await plain.fetch('/articles', { method: 'OPTIONS', headers: { Origin: app } });
  assert.equal(plain.journal.last()?.cors, undefined);
});

test('the entry of a preflight shows that CORS is off, for the double or for the resource', async () => {
  await using double = await startDouble({ https: false });
  await preflight(double, '/articles', 'POST');
  assert.equal(
    String(double.journal.last()),
    '#1 OPTIONS /articles: 200, step 8 (OPTIONS)\n  cors: failed at origin: the option cors is not set',
  );
  double.resource('/own', { GET: action('anyone', () => text('own')), cors: [] });
  await preflight(double, '/own', 'GET');
  assert.equal(double.journal.last()?.cors?.detail, 'no other origin may use this resource');
});

test('the response of a fault has the CORS headers of any other response', async () => {
  await using double = await startDouble({ cors: [app], https: false });
  const expected: readonly (readonly [origin: string, shared: string | null, exposed: RegExp])[] = [
    [app, app, /Retry-After/],
    [other, null, /^$/],
  ];
  for (const [origin, shared, exposed] of expected)
    for (const send of [
      (init: RequestInit) => double.fetch('/articles', init),
      (init: RequestInit) => fetch(`${double.url}/articles`, init),
    ]) {
      double.faults.next({}, { status: 503, retryAfter: 2 });
      const { status, headers } = await send({ headers: { Origin: origin } });
      assert.equal(status, 503);
      assert.equal(headers.get('Access-Control-Allow-Origin'), shared);
      assert.match(headers.get('Access-Control-Expose-Headers') ?? '', exposed);
      assert.match(headers.get('Vary') ?? '', /Origin/);
      assert.equal(double.journal.last()?.cors?.failedAt, shared === null ? 'origin' : undefined);
    }
});

test('a fault can set CORS headers itself', async () => {
  await using double = await startDouble({ cors: [app], https: false });
  double.faults.next({}, { status: 200, headers: { 'Access-Control-Allow-Origin': other } });
  const { headers } = await double.fetch('/articles', { headers: { Origin: app } });
  assert.equal(headers.get('Access-Control-Allow-Origin'), other);
});

test('resources that a test adds have their own origins, until the reset', async () => {
  await using double = await startDouble({ https: false });
  const shared = async (path: string): Promise<string | null> =>
    (await double.fetch(path, { headers: { Origin: app } })).headers.get('Access-Control-Allow-Origin');
  double.resource('/own', { GET: action('anyone', () => text('own')), cors: [app] });
  assert.equal(await shared('/own'), app);
  assert.equal(await shared('/articles'), null);
  double.reset();
  double.resource('/own', { GET: action('anyone', () => text('own')) });
  assert.equal(await shared('/own'), null);
});
