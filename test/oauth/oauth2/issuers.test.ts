import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ServiceOptions } from '../../../src/index.ts';
import { type KeyServer, makeJwt, makeKey, publish, serveKeys } from '../../support/oauth/issuer.ts';
import { openServer, type Server, start } from '../../support/oauth/server.ts';

const issuer = 'https://login.example';
const audience = 'https://api.example';
const key = makeKey('one');
const now = start / 1000;
const claims = { iss: issuer, aud: audience, sub: 'ann', scope: 'read write', exp: now + 600, iat: now };
const records = '/users/ann/financialrecords';

type Issuers = NonNullable<NonNullable<ServiceOptions['oauth2']>['issuers']>;

async function open(issuers: Issuers, options: ServiceOptions = {}): Promise<Server> {
  const server = openServer({ oauth2: { issuers }, clients: {}, explain: true, ...options });
  await server.service.ready;
  return server;
}

const known: Issuers = { [issuer]: { audience, jwks: { keys: [key.jwk] } } };

async function send(
  { ask }: Server,
  bearer: string,
  target = records,
): Promise<{ status: number; hint: string }> {
  const answer = await ask('GET', target, { bearer, fields: [['Accept', 'application/json']] });
  return { status: answer.status, hint: answer.member('hint') };
}

describe('a token of another issuer', () => {
  test('authenticates the user whom it names, within its scopes', async () => {
    const server = await open(known);
    assert.equal((await send(server, makeJwt(key, claims))).status, 200);
    assert.equal((await send(server, makeJwt(key, claims), '/users/bob/financialrecords')).status, 403);
    assert.equal((await send(server, makeJwt(key, { ...claims, scope: 'write' }))).status, 403);
    const several = { ...claims, aud: ['https://else.example', audience] };
    assert.equal((await send(server, makeJwt(key, several))).status, 200);
  });

  test('can name user and scopes in other claims, and needs no registered user', async () => {
    const server = await open({
      [issuer]: { audience, jwks: { keys: [key.jwk] }, user: 'email', scopes: 'permissions' },
    });
    const token = makeJwt(key, { ...claims, sub: 'x', email: 'eve@example.com', permissions: ['read'] });
    assert.equal((await send(server, token, '/users/eve%40example.com/financialrecords')).status, 200);
    const missing = await send(server, makeJwt(key, claims));
    assert.deepEqual(missing, { status: 401, hint: 'the token has no claim email' });
  });

  test('can have roles in a claim, in addition to those of the user here', async () => {
    const fields = { title: { type: 'text' } } as const;
    const declare = (role: string) => {
      return { element: 'notes', item: 'note', fields, access: { read: [`role:${role}`] } } as const;
    };
    const collections = { '/managed': declare('manager'), '/checked': declare('auditor') };
    const users = { ann: { secret: 'ann-secret', roles: ['auditor'] } };
    const roles: Issuers = { [issuer]: { audience, jwks: { keys: [key.jwk] }, roles: 'groups' } };
    const server = await open(roles, { collections, users });
    const statusOf = async (target: string, groups: unknown, sub = 'ann') =>
      (await send(server, makeJwt(key, { ...claims, sub, groups }), target)).status;
    for (const groups of [['manager', 1], 'staff manager'])
      for (const target of ['/managed', '/checked']) assert.equal(await statusOf(target, groups), 200);
    assert.equal(await statusOf('/managed', ['manage']), 403);
    assert.equal(await statusOf('/managed', undefined), 403);
    assert.equal(await statusOf('/managed', ['manager'], 'eve'), 200);
    assert.equal(await statusOf('/checked', ['manager'], 'eve'), 403);
    const ignoring = await open(known, { collections, users });
    const token = makeJwt(key, { ...claims, groups: ['manager'], roles: ['manager'] });
    assert.equal((await send(ignoring, token, '/managed')).status, 403);
  });

  test('can have roles and scopes in a claim of a claim, as Keycloak has them', async () => {
    const fields = { title: { type: 'text' } } as const;
    const access = { read: ['role:manager'] };
    const collections = { '/managed': { element: 'notes', item: 'note', fields, access } } as const;
    const statusOf = async (path: string, sent: object) => {
      const issuers = { [issuer]: { audience, jwks: { keys: [key.jwk] }, roles: path } };
      return (
        await send(await open(issuers, { collections }), makeJwt(key, { ...claims, ...sent }), '/managed')
      ).status;
    };
    const roles = ['manager'];
    assert.equal(await statusOf('realm_access.roles', { realm_access: { roles } }), 200);
    assert.equal(await statusOf('resource_access.shop.roles', { resource_access: { shop: { roles } } }), 200);
    assert.equal(await statusOf('clients.my.shop.roles', { clients: { 'my.shop': { roles } } }), 200);
    assert.equal(await statusOf('https://shop.example/roles', { 'https://shop.example/roles': roles }), 200);
    // The claim with that very name precedes the path.
    const both = { 'realm_access.roles': ['staff'], realm_access: { roles } };
    assert.equal(await statusOf('realm_access.roles', both), 403);
    for (const other of [{}, { realm_access: 'manager' }, { realm_access: null }, { realm_access: [roles] }])
      assert.equal(await statusOf('realm_access.roles', other), 403);
    const scopes = { [issuer]: { audience, jwks: { keys: [key.jwk] }, scopes: 'access.scopes' } };
    const nested = makeJwt(key, { ...claims, scope: '', access: { scopes: 'read' } });
    assert.equal((await send(await open(scopes), nested)).status, 200);
  });

  test('of a disabled user is refused', async () => {
    const users = { ann: { secret: 'ann-secret', disabled: true } };
    const { status, hint } = await send(await open(known, { users }), makeJwt(key, claims));
    assert.deepEqual([status, hint], [401, 'the user of the token is disabled here']);
  });

  test('is accepted beside the own tokens, and the resource names its authorization servers', async () => {
    const server = await open(known);
    const metadata = JSON.parse((await server.ask('GET', '/.well-known/oauth-protected-resource')).text);
    assert.deepEqual(metadata.authorization_servers, [issuer]);
    const challenge = (await server.ask('GET', records)).field('WWW-Authenticate');
    assert.match(
      challenge,
      /resource_metadata="https:\/\/localhost\/\.well-known\/oauth-protected-resource"/,
    );
    assert.equal((await openServer().ask('GET', '/.well-known/oauth-protected-resource')).status, 404);
  });
});

describe('a token of another issuer is refused (RFC 8725, RFC 9068)', () => {
  test('type JWT accepts a token without a type, and no ID token', async () => {
    const server = await open({ [issuer]: { audience, jwks: { keys: [key.jwk] }, type: 'JWT' } });
    for (const typ of ['JWT', undefined, 'at+jwt'])
      assert.equal((await send(server, makeJwt(key, claims, { typ }))).status, 200);
    assert.equal((await send(server, makeJwt(key, claims, { typ: 'logout+jwt' }))).status, 401);
    assert.equal((await send(server, makeJwt(key, { ...claims, at_hash: 'x' }, { typ: 'JWT' }))).status, 401);
  });
});

describe('the keys of an issuer', () => {
  const of = ({ url }: KeyServer): Issuers => ({ [issuer]: { audience, jwks: url } });

  test('are fetched for the first token, and once for many', async () => {
    await using keys = await serveKeys(publish(key));
    const server = await open(of(keys));
    assert.equal(keys.count, 0);
    const all = await Promise.all(Array.from({ length: 20 }, () => send(server, makeJwt(key, claims))));
    assert.ok(all.every(({ status }) => status === 200));
    assert.equal(keys.count, 1);
  });

  test('are fetched for an unknown kid at most once a minute', async () => {
    await using keys = await serveKeys(publish(key));
    const server = await open(of(keys));
    const two = makeKey('two');
    for (let at = 0; at < 50; at += 1) await send(server, makeJwt(makeKey(`kid ${at}`), claims));
    assert.equal(keys.count, 1);
    keys.respond = publish(two);
    assert.equal((await send(server, makeJwt(two, claims))).status, 401);
    server.clock.advance('61s');
    assert.equal((await send(server, makeJwt(two, claims))).status, 200);
    const former = await send(server, makeJwt(key, claims));
    assert.deepEqual(former, {
      status: 401,
      hint: 'the token is signed by a key that the issuer no longer publishes',
    });
    assert.equal(keys.count, 2);
  });

  test('that are known verify while they are fetched again', async () => {
    await using keys = await serveKeys(publish(key));
    const server = await open(of(keys));
    const lasting = { ...claims, exp: now + 86_400 };
    await send(server, makeJwt(key, lasting));
    keys.respond = () => {};
    server.clock.advance('11m');
    assert.equal((await send(server, makeJwt(key, lasting))).status, 200);
  });

  const hostile: Readonly<Record<string, readonly [KeyServer['respond'], RegExp]>> = {
    'that are never sent': [() => {}, /no complete response within 2 s/],
    'that do not end': [
      (_, response) => {
        const chunk = Buffer.alloc(65_536, 0x20);
        const write = (): void => {
          while (response.write(chunk));
        };
        response.on('drain', write);
        write();
      },
      /more than 262144 octets/,
    ],
    'behind a redirect': [
      (_, response) => response.writeHead(302, { Location: 'http://127.0.0.1:1/' }).end(),
      /the status is 302, and no redirect is followed/,
    ],
    'that are no JSON': [(_, response) => response.end('<html>'), /is not JSON/],
    'that are no keys': [(_, response) => response.end('[]'), /not a set of keys/],
    'with an error': [(_, response) => response.writeHead(500).end('{"keys":[]}'), /the status is 500/],
    'whose connection is closed': [(request) => request.socket.destroy(), /the connection failed/],
    'that are 10,000': [
      (_, response) => {
        const many = Array.from({ length: 10_000 }, (_, at) => ({ kty: 'EC', kid: `k${at}` }));
        response.end(JSON.stringify({ keys: [...many, key.jwk] }));
      },
      /more than 262144 octets|publishes no key/,
    ],
  };
  for (const [name, [respond, hint]] of Object.entries(hostile))
    test(`${name} refuse the tokens of that issuer, and of no other`, async () => {
      await using keys = await serveKeys(respond);
      const other = 'https://other.example';
      const own = makeKey('own');
      const server = await open({ ...of(keys), [other]: { audience, jwks: { keys: [own.jwk] } } });
      const refusing = send(server, makeJwt(key, claims));
      assert.equal((await send(server, makeJwt(own, { ...claims, iss: other }))).status, 200);
      const refused = await refusing;
      assert.equal(refused.status, 401);
      assert.match(refused.hint, hint);
      assert.equal((await send(server, makeJwt(key, claims))).status, 401);
      assert.equal(keys.count, 1);
    });

  test('that could be replaced on their way are not configured', () => {
    for (const jwks of [
      'http://login.example/keys',
      'ftp://login.example',
      'keys',
      'https://a:b@login.example',
    ])
      assert.throws(() => openServer({ oauth2: { issuers: { [issuer]: { audience, jwks } } } }), RangeError);
    assert.throws(() =>
      openServer({ oauth2: { issuers: { 'http://login.example': { audience, jwks: { keys: [] } } } } }),
    );
  });
});
