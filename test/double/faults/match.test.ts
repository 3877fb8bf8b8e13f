import assert from 'node:assert/strict';
import test from 'node:test';
import {
  type Double,
  type MatchedRequest,
  type RequestMatch,
  startDouble,
} from '../../../src/double/index.ts';
import { createConsole } from '../../support/double/control-client.ts';

const users = {
  johndoe: { secret: 'a-secret', password: 'a-password' },
  ann: { secret: 'another', password: 'pw' },
};
const clients = {
  app: {
    secret: 'the-secret-of-app',
    redirectUris: ['https://client.example/cb'],
    scopes: ['read'],
    grants: ['authorization_code', 'client_credentials'],
  },
} as const;
const consumers = { printer: { secret: 'the-secret-of-printer', scopes: ['read'] } } as const;

/** Returns whether the next request gets a fault with this match. */
async function isMatched(
  double: Double,
  match: RequestMatch,
  send: () => Promise<Response>,
): Promise<boolean> {
  const planned = double.faults.next(match, { status: 418 });
  const { status } = await send();
  planned.remove();
  return status === 418;
}

test('a fault matches by the user of an expired token, and not by a user for an unknown token', async () => {
  await using double = await startDouble({ users, clients });
  const { accessToken } = await double.oauth2.issueToken({ user: 'johndoe' });
  const send = (token: string) => () =>
    double.fetch('/articles', { secure: true, headers: { Authorization: `Bearer ${token}` } });
  await double.oauth2.expireTokens({ user: 'johndoe' });
  assert.equal(await isMatched(double, { user: 'johndoe' }, send(accessToken)), true);
  assert.equal(await isMatched(double, { user: 'johndoe' }, send('unknown')), false);
});

test('a fault matches by the client of a token without a user', async () => {
  await using double = await startDouble({ users, clients });
  const { accessToken } = await double.oauth2.issueToken({});
  const headers = { Authorization: `Bearer ${accessToken}` };
  const send = () => double.fetch('/articles', { secure: true, headers });
  assert.equal(await isMatched(double, { user: 'app' }, send), true);
  assert.equal(await isMatched(double, { user: 'johndoe' }, send), false);
});

test('a fault matches by the user of a token of OAuth 1.0a in the query', async () => {
  await using double = await startDouble({ users, consumers });
  const { token } = await double.oauth1.issueToken({ user: 'johndoe' });
  const send = () => double.fetch(`/articles?oauth_token=${token}`, { secure: true });
  assert.equal(await isMatched(double, { user: 'johndoe' }, send), true);
  const malformed = { Authorization: 'OAuth oauth_token="%"' };
  const unreadable = () => double.fetch('/articles', { secure: true, headers: malformed });
  assert.equal(await isMatched(double, { user: 'johndoe' }, unreadable), false);
});

test('a fault is for requests with one of its methods whose path fits', async () => {
  await using double = await startDouble({ https: false });
  const send = () => double.fetch('/articles/%31?path=/articles', { method: 'DELETE' });
  for (const [match, expected] of [
    [{ method: ['PUT', 'DELETE'] }, true],
    [{ method: ['PUT', 'GET'] }, false],
    [{ method: 'DELETE', path: '/articles/{id}' }, true],
    [{ path: '/articles/1' }, true],
    [{ path: /^\/articles$/ }, false],
  ] as const satisfies readonly (readonly [RequestMatch, boolean])[])
    assert.equal(await isMatched(double, match, send), expected, String(Object.values(match)));
});

test('a match function receives the request as sent', async () => {
  await using double = await startDouble({ users, https: false });
  const seen: MatchedRequest[] = [];
  const match = (request: MatchedRequest): boolean => seen.push(request) > 1;
  double.faults.next(match, { status: 418 });
  const send = () => double.as('ann').fetch('/%61rticles?limit=1', { headers: { 'X-Foo': 'bar' } });
  assert.deepEqual([(await send()).status, (await send()).status, (await send()).status], [200, 418, 200]);
  const [{ method, target, path, user, secure, headers: fields } = assert.fail()] = seen;
  assert.deepEqual([method, target, path], ['GET', '/%61rticles?limit=1', '/articles']);
  assert.deepEqual([user, secure, fields.get('x-foo')], ['ann', false, 'bar']);
});

test('an error of a match function is reported to onError, and the request is processed', async () => {
  const errors: unknown[] = [];
  const onError = (error: unknown): number => errors.push(error);
  await using double = await startDouble({ https: false, onError });
  const failure = new Error('no such member');
  double.faults.always(
    () => {
      throw failure;
    },
    { status: 418 },
  );
  assert.equal((await fetch(`${double.url}/articles`)).status, 200);
  double.faults.clear();
  const rejecting: () => unknown = () => Promise.reject(failure);
  Reflect.apply(double.faults.next, undefined, [rejecting, { status: 418 }]);
  assert.equal((await double.fetch('/articles')).status, 200);
  assert.deepEqual(
    errors.map((error) => (error instanceof Error ? error.message : error)),
    ['no such member', 'the function of a match must return true or false, and it returned a promise'],
  );
});

test('the control interface plans a fault by query and field, and shows patterns and functions as text', async () => {
  await using double = await startDouble({ https: false });
  const control = createConsole(await double.openControl());
  const match = { query: { limit: '1' }, headers: { 'X-Foo': 'bar' } };
  const fault = { status: 418 };
  assert.deepEqual(await control.send('POST', '/faults', { match, fault }), {
    match,
    fault,
    remaining: 1,
    count: 0,
  });
  assert.equal((await double.fetch('/articles?limit=1')).status, 200);
  assert.equal((await double.fetch('/articles?limit=1', { headers: { 'X-Foo': 'bar' } })).status, 418);
  double.faults.next({ path: /^\/a/, query: { limit: /1/ }, body: { name: /a/, id: null } }, fault);
  double.faults.next(function always() {
    return true;
  }, fault);
  const { faults } = await control.send('GET', '/faults');
  assert.deepEqual(
    faults.map((each: { match: unknown }) => each.match),
    [{ path: '/^\\/a/', query: { limit: '/1/' }, body: { name: '/a/', id: null } }, { function: 'always' }],
  );
  const { detail } = await control.refused(422, 'POST', '/faults', { match: { query: { limit: 1 } }, fault });
  assert.equal(detail, 'match.query.limit of the content must be text or null, is 1.');
  await control.refused(422, 'POST', '/faults', { match: { user: 'johndo' }, fault });
});
