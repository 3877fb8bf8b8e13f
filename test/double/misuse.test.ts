import assert from 'node:assert/strict';
import test from 'node:test';
import { type Double, startDouble } from '../../src/double/index.ts';
import { action, createService, text } from '../../src/index.ts';

/** Calls a function as a caller in JavaScript can: with any arguments. */
function call(method: object, ...values: unknown[]): Promise<unknown> {
  return Promise.resolve().then((): unknown =>
    typeof method === 'function' ? Reflect.apply(method, undefined, values) : undefined,
  );
}

type WrongCall = readonly [description: string, call: (double: Double) => Promise<unknown>, message: string];

const handler = async () => text('');

const wrongCalls: readonly WrongCall[] = [
  [
    "waitFor('/x')",
    ({ journal }) => call(journal.waitFor, '/x'),
    "a match must be an object or a function such as { path: '/articles' }, is a string",
  ],
  [
    "find('/x')",
    ({ journal }) => call(journal.all, '/x'),
    "a match must be an object or a function such as { path: '/articles' }, is a string",
  ],
  [
    "last('/x')",
    ({ journal }) => call(journal.last, '/x'),
    "a match must be an object or a function such as { path: '/articles' }, is a string",
  ],
  [
    'waitFor({ pth })',
    ({ journal }) => call(journal.waitFor, { pth: '/x' }),
    'pth is not a member of a match; did you mean "path"?',
  ],
  [
    'find({ problem }) with an unknown type',
    ({ journal }) => call(journal.all, { problem: 'nonce-replay' }),
    'problem of a match must be a problem type, is "nonce-replay"; did you mean "nonce-replayed"?',
  ],
  [
    'find({ user }) with a misspelt name',
    ({ journal }) => call(journal.all, { user: 'jondoe' }),
    'the double has no user jondoe; did you mean "johndoe"?',
  ],
  [
    'waitFor({ user }) with a misspelt name',
    ({ journal }) => call(journal.waitFor, { user: 'johndoo' }),
    'the double has no user johndoo; did you mean "johndoe"?',
  ],
  [
    'find({ path }) with a query',
    ({ journal }) => call(journal.all, { path: '/articles?limit=1' }),
    'path of a match must not have a query or fragment, is "/articles?limit=1"; did you mean "/articles"?',
  ],
  [
    "find({ status: '401' })",
    ({ journal }) => call(journal.all, { status: '401' }),
    'status of a match must be an integer from 100 to 599, is a string',
  ],
  [
    'waitFor with a misspelt option',
    ({ journal }) => call(journal.waitFor, {}, { timout: 1 }),
    'timout is not an option of waitFor; did you mean "timeout"?',
  ],
  [
    'waitFor with an endless timeout',
    ({ journal }) => call(journal.waitFor, {}, { timeout: Infinity }),
    'timeout must be a number of ms from 0 to 2147483647 or text such as 2s, is Infinity',
  ],
  [
    'waitFor with text that is no duration',
    ({ journal }) => call(journal.waitFor, {}, { timeout: '500 ms' }),
    'timeout must be a number of ms from 0 to 2147483647 or text such as 2s, is a string',
  ],
  [
    'waitFor after the number of an entry',
    ({ journal }) => call(journal.waitFor, {}, { after: 1 }),
    'after must be an entry of the journal, is 1',
  ],
  [
    'find with an asynchronous function',
    async (double) => {
      await double.fetch('/articles');
      return call(double.journal.all, async () => false);
    },
    'the function of a match must return true or false, and it returned a promise',
  ],
  [
    "on('request') without a listener",
    (double) => call(double.on, 'request'),
    'the listener of an event must be a function, is missing',
  ],
  [
    'faults.next({ methd }, …)',
    ({ faults }) => call(faults.next, { methd: 'GET' }, { status: 503 }),
    'methd is not a member of a match; did you mean "method"?',
  ],
  [
    "{ method: 'get' }",
    ({ faults }) => call(faults.next, { method: 'get' }, { status: 503 }),
    'method of a match must be a method in upper case, is "get"; did you mean "GET"?',
  ],
  [
    "{ method: 'patch' }",
    ({ journal }) => call(journal.all, { method: ['GET', 'patch'] }),
    'method[1] of a match must be a method in upper case, is "patch"',
  ],
  [
    'an empty list of methods',
    ({ journal }) => call(journal.all, { method: [] }),
    'method of a match must be a method such as GET, or a list of methods, is an array',
  ],
  [
    "a fault's path with a query",
    ({ faults }) => call(faults.next, { path: '/articles?limit=1' }, { status: 503 }),
    'path of a match must not have a query or fragment, is "/articles?limit=1"; did you mean "/articles"?',
  ],
  [
    "a fault's path without its slash",
    ({ faults }) => call(faults.next, { path: 'articles' }, { status: 503 }),
    'path of a match must begin with a slash, is "articles"; did you mean "/articles"?',
  ],
  [
    'a path with an unclosed parameter',
    ({ faults }) => call(faults.next, { path: '/articles/{id' }, { status: 503 }),
    'path of a match must be a template such as /articles/{id}, is "/articles/{id"',
  ],
  [
    'faults.next({ status: 503 })',
    ({ faults }) => call(faults.next, { status: 503 }),
    'the fault is missing; the match comes first, such as next({}, { status: 503 })',
  ],
  [
    'faults.always({}, 503)',
    ({ faults }) => call(faults.always, {}, 503),
    'a fault must be an object such as { status: 503 }, is 503',
  ],
  [
    "faults.next({}, { badChunk: 'yes' })",
    ({ faults }) => call(faults.next, {}, { badChunk: 'yes' }),
    'badChunk of a fault must be true or false, is a string',
  ],
  [
    "faults.next('/x', …)",
    ({ faults }) => call(faults.next, '/x', { status: 503 }),
    "a match must be an object or a function such as { path: '/articles' }, is a string",
  ],
  [
    'faults.next(async function, …)',
    ({ faults }) => call(faults.next, async () => true, { status: 503 }),
    'the function of a match must return true or false, and it is asynchronous',
  ],
  [
    "faults.next({ user: 'johndo' }, …)",
    ({ faults }) => call(faults.next, { user: 'johndo' }, { status: 503 }),
    'the double has no user johndo; did you mean "johndoe"?',
  ],
  [
    "faults.next({ query: 'limit=1' }, …)",
    ({ faults }) => call(faults.next, { query: 'limit=1' }, { status: 503 }),
    "query of a match must be an object such as { limit: '1' }, is a string",
  ],
  [
    'faults.next({ query: { limit: 1 } }, …)',
    ({ faults }) => call(faults.next, { query: { limit: 1 } }, { status: 503 }),
    'query.limit of a match must be text, a regular expression or null, is 1',
  ],
  [
    'faults.next({ headers: {} }, …)',
    ({ faults }) => call(faults.next, { headers: {} }, { status: 503 }),
    'headers of a match must have a member',
  ],
  [
    "faults.next({ headers: { 'X Foo' } }, …)",
    ({ faults }) => call(faults.next, { headers: { 'X Foo': 'bar' } }, { status: 503 }),
    'headers.X Foo of a match is not the name of a field',
  ],
  [
    'faults.next({ haeders }, …)',
    ({ faults }) => call(faults.next, { haeders: { 'X-Foo': 'bar' } }, { status: 503 }),
    'haeders is not a member of a match; did you mean "headers"?',
  ],
  [
    'faults.next(function, { staleCertificate })',
    ({ faults }) => call(faults.next, () => true, { staleCertificate: true }),
    'staleCertificate cannot have a match, since there is no request yet',
  ],
  [
    "rotateSecret('johndoe', 'new')",
    ({ auth }) => call(auth.rotateSecret, 'johndoe', 'a-new-s3cret'),
    'a rotation must be an object such as { secret: … }, is a string',
  ],
  [
    "rotateSecret('johndoe', { secert })",
    ({ auth }) => call(auth.rotateSecret, 'johndoe', { secert: 'a-new-s3cret' }),
    'secert is not a member of a rotation; did you mean "secret"?',
  ],
  [
    'expireTokens({ cleint })',
    ({ oauth2 }) => call(oauth2.expireTokens, { cleint: 'app' }),
    'cleint is not a member of a token filter; did you mean "client"?',
  ],
  [
    "expireTokens({ client: 'ap' })",
    ({ oauth2 }) => call(oauth2.expireTokens, { client: 'ap' }),
    'the double has no client ap; did you mean "app"?',
  ],
  [
    "expireTokens({ user: 'johndo' })",
    ({ oauth2 }) => call(oauth2.expireTokens, { user: 'johndo' }),
    'the double has no user johndo; did you mean "johndoe"?',
  ],
  [
    "oauth1.revokeTokens({ client: 'ap' })",
    ({ oauth1 }) => call(oauth1.revokeTokens, { client: 'ap' }),
    'the double has no client ap; did you mean "app"?',
  ],
  [
    "oauth2.expireTokens({ user: 'johndo' })",
    ({ oauth2 }) => call(oauth2.expireTokens, { user: 'johndo' }),
    'the double has no user johndo; did you mean "johndoe"?',
  ],
  [
    'oauth2.revokeTokens() without a choice',
    ({ oauth2 }) => call(oauth2.revokeTokens),
    "a token filter must be an object such as { client: 'app' }, is missing",
  ],
  [
    "expireTokens({ kind: 'acess' })",
    ({ oauth2 }) => call(oauth2.expireTokens, { kind: 'acess' }),
    'kind of a token filter must be one of access, refresh, code, request, ticket, is "acess"; did you mean "access"?',
  ],
  [
    "setUser('ann', { secert })",
    ({ auth }) => call(auth.setUser, 'ann', { secert: 'a-new-s3cret' }),
    'secert is not a member of the user "ann"; did you mean "secret"?',
  ],
  [
    'as(u, { sheme })',
    (double) => call(double.as, 'johndoe', { sheme: 'basic' }),
    'sheme is not an option of as; did you mean "scheme"?',
  ],
  [
    "as(u, { scheme: 'digest' })",
    (double) => call(double.as, 'johndoe', { scheme: 'digest' }),
    'scheme must be the name of a scheme, is "digest"; known are hmac, basic, bearer, oauth1',
  ],
  [
    "as(u, { scheme: 'basic', nonce })",
    (double) => call(double.as, 'johndoe', { scheme: 'basic', nonce: 'n' }),
    'nonce is an option of the scheme hmac or oauth1, not of basic',
  ],
  [
    'as(u, { password })',
    (double) => call(double.as, 'johndoe', { password: 's3cret' }),
    'password is an option of the scheme basic, not of hmac',
  ],
  [
    "as(u, { scheme: 'oauth1', secret })",
    (double) => call(double.as, 'johndoe', { scheme: 'oauth1', secret: 's3cret' }),
    'secret is an option of the scheme hmac, not of oauth1',
  ],
  [
    "as(u, { form: 'simple', date })",
    (double) => call(double.as, 'johndoe', { form: 'simple', date: '2020-01-01T00:00:00Z' }),
    'date is an option of the full form; the simple form has neither a nonce nor a date',
  ],
  [
    "as(u, { scheme: 'bearer', token, client })",
    (double) => call(double.as, 'johndoe', { scheme: 'bearer', token: 't', client: 'app' }),
    'token and client exclude each other: a token belongs to a client already',
  ],
  [
    "on('token-reuse')",
    (double) => call(double.on, 'token-reuse', () => undefined),
    'the event must be one of request, token-issued, token-revoked, token-reused, nonce-replayed, is "token-reuse"; did you mean "token-reused"?',
  ],
  [
    'resource(p, { get })',
    (double) => call(double.resource, '/x', { get: action('anyone', handler) }),
    'get is not a member of the resource at /x; did you mean "GET"?',
  ],
  [
    'resource(p, { PROPFIND })',
    (double) => call(double.resource, '/x', { PROPFIND: action('anyone', handler) }),
    'PROPFIND is not a member of the resource at /x; known are GET, PUT, POST, PATCH, DELETE, methods, headAccess, produces, find, ownCredentials, schemes, defaultFormat, cors, requestHeaders, requirePrecondition, hide, description',
  ],
  [
    'resource(p, handler)',
    (double) => call(double.resource, '/x', handler),
    "the resource at /x must be an object such as { GET: action('anyone', …) }, is a function",
  ],
  [
    'resource(p, { GET: handler })',
    (double) => call(double.resource, '/x', { GET: handler }),
    "GET of the resource at /x must be an object such as action('anyone', …), is a function",
  ],
  [
    "action('everyone')",
    (double) => call(double.resource, '/x', { GET: { access: 'everyone', handle: handler } }),
    'access of GET of the resource at /x must be an access rule, is "everyone"; known are anyone, authenticated, nobody',
  ],
  [
    "action('owner:nam')",
    (double) => call(double.resource, '/users/{name}', { GET: action('owner:nam', handler) }),
    'access of GET of the resource at /users/{name} must be an access rule, is "owner:nam"; did you mean "owner:name"?',
  ],
  [
    "resource('/x')",
    (double) => call(double.resource, '/x'),
    "the resource at /x must be an object such as { GET: action('anyone', …) }, is missing",
  ],
  [
    'openControl({ prot })',
    (double) => call(double.openControl, { prot: 8080 }),
    'prot is not an option of openControl; did you mean "port"?',
  ],
  [
    'issueToken({ usr })',
    ({ oauth2 }) => call(oauth2.issueToken, { usr: 'johndoe' }),
    'usr is not a member of a token to issue; did you mean "user"?',
  ],
  [
    "approve(url, { user, decision: 'alow' })",
    ({ oauth2 }) => call(oauth2.approve, '/', { user: 'johndoe', decision: 'alow' }),
    'decision of an approval must be one of allow, deny, is "alow"; did you mean "allow"?',
  ],
];

const wrongOptions: readonly (readonly [options: object, message: string])[] = [
  [
    { users: { johndoe: { secert: 's3cret-value' } } },
    'secert is not a member of the user "johndoe"; did you mean "secret"?',
  ],
  [
    { users: { johndoe: 's3cret-value' } },
    'the user "johndoe" must be an object such as { "secret": "…" }, is a string',
  ],
  [{ users: 'johndoe' }, "users must be an object such as { johndoe: {} } or ['johndoe'], is a string"],
  [{ pendingFaults: 'throw' }, 'pendingFaults must be one of ignore, error, is "throw"'],
  [{ limits: { bdy: 1 } }, 'bdy is not a member of limits; did you mean "body"?'],
  [{ limits: { body: '1' } }, 'limits.body must be a number from 0, is a string'],
  [{ lifetimes: { acess: 1 } }, 'acess is not a member of lifetimes; did you mean "access"?'],
  [{ window: '600' }, "window is not a number of seconds from 0 to 31536000, or text such as '10m'"],
  [{ explain: 'false' }, 'explain must be true or false, is a string'],
  [
    { aliases: 'http://example.com' },
    "aliases must be a list of origins such as ['http://example.com'], is a string",
  ],
  [{ aliases: [80] }, 'an alias must be an origin such as http://example.com, is a number'],
  [{ aliases: ['example.com'] }, '"example.com" is not an origin such as http://example.com'],
  [
    { aliases: ['http://Example.com/'] },
    '"http://Example.com/" is not an origin; did you mean "http://example.com"?',
  ],
  [{ port: '8080' }, 'port must be an integer from 0 to 65535, is a string'],
  [{ securePort: 65_536 }, 'securePort must be an integer from 0 to 65535, is 65536'],
  [{ port: 8080, securePort: 8080 }, 'port and securePort are both 8080'],
  [{ https: false, securePort: 8443 }, 'securePort requires HTTPS, which is disabled'],
  [{ https: 'off' }, 'https must be true or false, is a string'],
  [{ journal: { entris: 1 } }, 'entris is not a member of journal; did you mean "entries"?'],
  [
    { resources: { '/x': undefined } },
    "the resource at /x must be an object such as { GET: action('anyone', …) }, is missing",
  ],
];

const clients = { app: { secret: 'the secret of the client', redirectUris: ['https://client.example/cb'] } };

test('a wrong call is rejected with the nearest known name, and without a secret', async (t) => {
  await using double = await startDouble({ users: { johndoe: { secret: 's3cret-value' } }, clients });
  for (const [description, wrong, message] of wrongCalls)
    await t.test(description, async () => {
      await assert.rejects(wrong(double), { name: 'RangeError', message });
      assert.doesNotMatch(message, /s3cret/);
    });
  assert.equal((await double.as('johndoe').fetch('/articles')).status, 200, 'a refused call changes nothing');
  assert.equal((await double.fetch('/')).status, 200);
});

test('a wrong option is rejected at the start with the nearest known name, and without a secret', async (t) => {
  for (const [options, message] of wrongOptions)
    await t.test(JSON.stringify(Object.keys(options)), async () => {
      await assert.rejects(call(startDouble, options), { name: 'RangeError', message });
      assert.doesNotMatch(message, /s3cret/);
    });
});

test('createService rejects a user without a secret by name', async () => {
  await assert.rejects(call(createService, { users: { a: {} } }), {
    name: 'RangeError',
    message: 'secret of the user "a" must be non-empty text, is missing',
  });
});

test('a match may name any method in upper case, a template, a pattern and the target *', async () => {
  await using double = await startDouble({ https: false });
  await double.fetch('/articles', { method: 'PATCH' });
  assert.equal(double.journal.all({ method: ['PATCH', 'GET'], path: '/{name}' }).length, 1);
  assert.equal(double.journal.all({ path: /^\/art/ }).length, 1);
  assert.equal(double.journal.all({ method: 'OPTIONS', path: '*' }).length, 0);
});
