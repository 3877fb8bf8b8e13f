import assert from 'node:assert/strict';
import test from 'node:test';
import { createDoubleApi } from '../../../src/double/api.ts';
import { compose } from '../../../src/double/compose.ts';
import { openControl } from '../../../src/double/control/control.ts';
import type { ControlledHealth } from '../../../src/double/control/operation.ts';
import { startDouble } from '../../../src/double/index.ts';
import { createSeededRandom } from '../../../src/double/state/random.ts';
import { createMemoryStore } from '../../../src/store/memory.ts';
import { openConsole } from '../../support/double/control-client.ts';

test('only /health and the OpenAPI document are accessible without the token', async () => {
  await using double = await startDouble({ https: false });
  const { url, token } = await double.openControl();
  assert.deepEqual(await (await fetch(`${url}/health`)).json(), { status: 'ready' });
  assert.equal((await fetch(`${url}/openapi.json`)).status, 200);
  const cases: readonly [authorization: string | undefined, status: number][] = [
    [undefined, 401],
    [`Bearer ${token}x`, 401],
    [`Bearer ${token.slice(1)}`, 401],
    ['Bearer', 401],
    [`Basic ${token}`, 401],
    ['Bearer ,', 401],
    ['', 400],
    [`bearer ${token}`, 200],
  ];
  for (const [authorization, status] of cases) {
    const headers: Record<string, string> = authorization === undefined ? {} : { authorization };
    const reply = await fetch(`${url}/clock`, { headers });
    const answer = await reply.text();
    assert.equal(reply.status, status, `${authorization?.replace(token, '…')}: ${answer}`);
    assert.ok(!answer.includes(token.slice(0, -1)));
    if (status === 401) assert.match(reply.headers.get('www-authenticate') ?? '', /^Bearer /);
  }
});

test('the control interface listens on 127.0.0.1 only, and rejects a token that is short or cannot be sent', async () => {
  await using double = await startDouble({ https: false });
  const { url } = await double.openControl({ token: 'a-token-of-16-or-more' });
  assert.match(url, /^http:\/\/127\.0\.0\.1:[0-9]+$/);
  for (const token of ['short', 'with a space in it all', 'ümlaute-ümlaute-ümlaute', ''])
    await assert.rejects(double.openControl({ token }), (error) => {
      assert.ok(error instanceof RangeError);
      return token === '' || !error.message.includes(token);
    });
});

test('/health returns 503 and the reason, without the token, if the store accepts no changes', async () => {
  let health: ControlledHealth = { state: 'well', reason: undefined };
  const addresses = { url: 'http://127.0.0.1:1', secureUrl: undefined, certificate: undefined };
  const core = compose({ store: createMemoryStore({ storeId: 'a' }) }, { random: createSeededRandom('a') });
  const target = { ...createDoubleApi(core, addresses), core, addresses };
  const control = await openControl({ ...target, health: () => health });
  const answer = async (): Promise<[number, string]> => {
    const reply = await fetch(`${control.url}/health`);
    return [reply.status, await reply.text()];
  };
  assert.deepEqual(await answer(), [200, '{"status":"ready"}']);
  for (const state of ['full', 'failed'] as const) {
    health = { state, reason: 'the disk says no' };
    const [status, told] = await answer();
    assert.equal(status, 503);
    assert.ok(told.includes(`The store is ${state}: the disk says no`), told);
  }
  await control.close();
});

test('the control interface closes with the double', async () => {
  const double = await startDouble({ https: false });
  const { url } = await double.openControl();
  await double.close();
  await assert.rejects(fetch(`${url}/health`));
});

test('faults are planned, listed, applied and removed', async () => {
  await using double = await startDouble({ https: false });
  const control = await openConsole(double);
  const fault = { status: 503, retryAfter: 2 };
  const match = { method: 'GET', path: '/articles/{id}' };
  const planned = await control.send('POST', '/faults', { match, fault, times: 2 });
  assert.deepEqual(planned, { match, fault, remaining: 2, count: 0 });
  assert.equal((await double.fetch('/articles/1')).headers.get('retry-after'), '2');
  await control.send('POST', '/faults', { fault: { delay: 1 }, times: 'always' });
  assert.deepEqual((await control.send('GET', '/faults')).faults, [
    { match, fault, remaining: 1, count: 1 },
    { match: {}, fault: { delay: 1 }, remaining: 'always', count: 0 },
  ]);
  await double.fetch('/articles/1');
  await double.fetch('/articles/1');
  assert.deepEqual((await control.send('GET', '/faults/pending')).faults, []);
  await control.send('DELETE', '/faults');
  assert.deepEqual((await control.send('GET', '/faults')).faults, []);
  for (const wrong of [{}, { statsu: 503 }, { body: 'x' }, { status: 100 }, { truncate: 1, badChunk: true }])
    await control.refused(422, 'POST', '/faults', { fault: wrong });
});

test('a query and a method in lower case are rejected, because they would select nothing', async () => {
  await using double = await startDouble({ https: false });
  const { refused } = await openConsole(double);
  assert.equal(
    (await refused(400, 'GET', '/journal?user=johndoe'))['detail'],
    'This operation has no query parameters: its arguments are JSON content.',
  );
  assert.match(
    String((await refused(422, 'POST', '/journal/find', { method: 'get' }))['detail']),
    /^method of the content must be a method in upper case, is "get"; did you mean "GET"\?$/,
  );
});

test('the journal is waited for, and what did not match is explained', async () => {
  await using double = await startDouble({ https: false });
  const control = await openConsole(double);
  await control.refused(404, 'GET', '/journal/last');
  await double.fetch('/articles');
  const waiting = control.send('POST', '/journal/wait', { match: { path: '/' }, after: 1 });
  await double.fetch('/');
  assert.equal((await waiting).number, 2);
  const wait = { match: { method: 'PUT' }, after: 1, timeout: 1 };
  const { detail } = await control.refused(404, 'POST', '/journal/wait', wait);
  assert.match(String(detail), /No request matched PUT any path within 1 ms.*the method is GET, not PUT/s);
  assert.ok(!String(detail).includes('#1 '));
  await control.send('DELETE', '/journal');
  assert.deepEqual((await control.send('GET', '/journal')).entries, []);
});

test('tokens of both kinds are issued, expired and revoked, and a user’s consent is given', async () => {
  await using double = await startDouble({
    users: ['ann'],
    clients: { app: { redirectUris: ['https://client.example/cb'], scopes: ['read', 'write'] } },
    consumers: { printer: { secret: 'a-secret-of-the-printer', callbacks: ['oob'] } },
  });
  const control = await openConsole(double);
  const { accessToken } = await control.send('POST', '/tokens/oauth2', { user: 'ann', scope: 'read' });
  assert.deepEqual(await control.send('POST', '/tokens/expire', { token: accessToken }), { count: 1 });
  const issued = await control.send('POST', '/tokens/oauth1', { user: 'ann' });
  assert.deepEqual(Object.keys(issued), ['token', 'tokenSecret', 'expiresIn', 'scope']);
  assert.deepEqual(await control.send('POST', '/tokens/revoke', { user: 'ann' }), { count: 1 });
  const question = new URL('/oauth2/authorize', double.secureUrl);
  question.search = String(
    new URLSearchParams({
      response_type: 'code',
      client_id: 'app',
      redirect_uri: 'https://client.example/cb',
      state: 's',
      code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
      code_challenge_method: 'S256',
    }),
  );
  const asked = { url: String(question), user: 'ann' };
  const { location } = await control.send('POST', '/tokens/approve', asked);
  assert.match(location, /^https:\/\/client\.example\/cb\?.*code=/);
  const denied = await control.send('POST', '/tokens/approve', { ...asked, decision: 'deny' });
  assert.match(denied.location, /error=access_denied/);
  await control.refused(422, 'POST', '/tokens/approve', { url: double.secureUrl, user: 'ann' });
});

test('invalid content is rejected with its field, and changes nothing', async () => {
  await using double = await startDouble({ https: false });
  const control = await openConsole(double);
  const wrong = async (content: unknown) => {
    const { detail, field } = await control.refused(422, 'POST', '/faults', content);
    return [field, detail];
  };
  assert.deepEqual(await wrong([]), [undefined, 'the content must be an object, is an array.']);
  assert.deepEqual(await wrong({}), ['fault', 'fault of the content must be an object, is missing.']);
  assert.deepEqual(await wrong({ fault: { status: '503' } }), [
    'fault.status',
    'fault.status of the content must be an integer from 200 to 599, is a string.',
  ]);
  assert.deepEqual((await wrong({ fault: { reset: 'after' } }))[0], 'fault.reset');
  assert.deepEqual(
    (await wrong({ fault: { delay: 1 }, match: { method: ['GET', 1] } }))[0],
    'match.method[1]',
  );
  assert.deepEqual((await wrong({ fault: { __proto__: null, constructor: 1 } }))[0], 'fault.constructor');
  assert.equal((await control.raw('POST', '/faults', '{"fault":{},"fault":{}}')).status, 400);
  assert.equal((await control.raw('POST', '/faults', '{')).status, 400);
  assert.equal((await control.raw('POST', '/faults', '<faults/>', 'application/xml')).status, 415);
  assert.equal((await control.raw('POST', '/faults')).status, 415);
  assert.deepEqual((await control.send('GET', '/faults')).faults, []);
});
