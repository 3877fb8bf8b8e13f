import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ServiceOptions } from '../../../src/index.ts';
import {
  clients,
  codeFor,
  exchange,
  openServer,
  refresh,
  type Server,
  tokensFor,
  users,
} from '../../support/oauth/server.ts';
import { importPackage, missingPackage } from '../../support/packages.ts';

const robot = 'robot:robot-secret-0123456789';
const records = '/users/ann/financialrecords';

async function open(oauth2: ServiceOptions['oauth2'] = {}, options: ServiceOptions = {}): Promise<Server> {
  const server = openServer({ oauth2: { accessTokens: 'jwt', ...oauth2 }, ...options });
  await server.service.ready;
  return server;
}

/** Decodes a part of a JWT, without a verification. */
function part(jwt: string, index: 0 | 1): Record<string, unknown> {
  return JSON.parse(Buffer.from(jwt.split('.')[index] ?? '', 'base64url').toString());
}

async function robotToken({ ask }: Server, parameters: Record<string, string> = {}) {
  const form = { grant_type: 'client_credentials', ...parameters };
  return ask('POST', '/oauth2/token', { form, basic: robot });
}

async function fetchKeys({ ask }: Server): Promise<{ keys: Record<string, unknown>[] }> {
  return JSON.parse((await ask('GET', '/oauth2/jwks')).text);
}

describe('an access token in the form of a JWT', () => {
  test('has the claims of RFC 9068, and its type', async () => {
    const server = await open();
    const { access } = await tokensFor(server);
    const { kid, ...header } = part(access, 0);
    assert.deepEqual(header, { alg: 'ES256', typ: 'at+jwt' });
    assert.match(String(kid), /^[\w-]{43}$/);
    const { jti, ...claims } = part(access, 1);
    const now = Math.floor(server.clock.now() / 1000);
    assert.deepEqual(claims, {
      iss: 'https://localhost',
      sub: 'ann',
      aud: 'https://localhost',
      client_id: 'app',
      scope: 'read write',
      iat: now,
      exp: now + 3600,
    });
    assert.match(String(jti), /^[\w-]{22}$/);
  });

  test('is accepted, expires, and can be revoked and introspected as an opaque one', async () => {
    const server = await open();
    const { access } = await tokensFor(server);
    assert.equal((await server.ask('GET', records, { bearer: access })).status, 200);
    const basic = 'app:app-secret-0123456789';
    const inspected = await server.ask('POST', '/oauth2/introspect', { form: { token: access }, basic });
    assert.equal(inspected.member('active'), 'true');
    await server.ask('POST', '/oauth2/revoke', { form: { token: access }, basic });
    assert.equal((await server.ask('GET', records, { bearer: access })).status, 401);
    const second = await tokensFor(server);
    server.clock.advance('61m');
    assert.equal((await server.ask('GET', records, { bearer: second.access })).status, 401);
  });

  test('of a client names the client as its subject, and refreshed ones name the user', async () => {
    const server = await open();
    const own = part((await robotToken(server)).member('access_token'), 1);
    assert.deepEqual([own['sub'], own['client_id']], ['robot', 'robot']);
    const { refresh: token } = await tokensFor(server);
    assert.equal(part((await refresh(server, token)).member('access_token'), 1)['sub'], 'ann');
  });

  for (const signing of ['ES256', 'RS256', 'PS256', 'EdDSA'] as const)
    test(`signed with ${signing} is verified by jose with the published keys`, {
      skip: missingPackage('jose'),
    }, async () => {
      const { createLocalJWKSet, jwtVerify } = await importPackage('jose');
      const server = await open({ signing });
      const keys = await fetchKeys(server);
      assert.ok(keys.keys.every((key) => !('d' in key)));
      const { access } = await tokensFor(server);
      const { payload, protectedHeader } = await jwtVerify(access, createLocalJWKSet(keys), {
        issuer: 'https://localhost',
        audience: 'https://localhost',
        typ: 'at+jwt',
        algorithms: [signing],
        currentDate: new Date(server.clock.now()),
      });
      assert.equal(payload.sub, 'ann');
      assert.equal(protectedHeader.alg, signing);
    });

  test('has the roles of its user here, as an opaque one has', async () => {
    const fields = { title: { type: 'text' } } as const;
    const access = { read: ['role:manager'] };
    const collections = { '/managed': { element: 'notes', item: 'note', fields, access } } as const;
    for (const accessTokens of ['opaque', 'jwt'] as const) {
      const { ann, bob } = users();
      const managers = {
        ann: { ...ann, secret: 'ann-secret', roles: ['manager'] },
        bob: { secret: 'b', ...bob },
      };
      const server = await open({ accessTokens }, { users: managers, collections });
      const statusOf = async (user: string) => {
        const { access: bearer } = await tokensFor(server, {}, user);
        return (await server.ask('GET', '/managed', { bearer })).status;
      };
      assert.deepEqual([await statusOf('ann'), await statusOf('bob')], [200, 403], accessTokens);
      const alone = JSON.parse((await robotToken(server)).text).access_token;
      assert.equal((await server.ask('GET', '/managed', { bearer: alone })).status, 403, accessTokens);
    }
  });

  test('carries those claims of its user that are configured', async () => {
    const ann = { ...users()['ann'], secret: 'ann-secret', claims: { email: 'ann@example.com', phone: '1' } };
    const server = await open({ claims: ['email', 'roles'] }, { users: { ann } });
    const { access } = await tokensFor(server);
    const { email, phone, roles } = part(access, 1);
    assert.deepEqual([email, phone, roles], ['ann@example.com', undefined, undefined]);
    assert.throws(
      () => openServer({ oauth2: { claims: ['sub'] } }),
      /"sub" is a claim that the server computes/,
    );
  });

  test('verifies with a former key until it is expired', async () => {
    const server = await open();
    const { access } = await tokensFor(server);
    const rotated = server.service.oauth.keys?.rotate();
    const [current, former] = (await fetchKeys(server)).keys;
    assert.deepEqual([current?.['kid'], former?.['kid']], [rotated, part(access, 0)['kid']]);
    assert.equal((await server.ask('GET', records, { bearer: access })).status, 200);
    assert.equal(part((await tokensFor(server)).access, 0)['kid'], rotated);
    server.clock.advance('61m');
    assert.equal((await fetchKeys(server)).keys.length, 1);
  });

  test('that was changed, or signed by no key, is refused, and the reason is explained', async () => {
    const server = await open({}, { explain: true });
    const { access } = await tokensFor(server);
    const [header = '', claims = '', signature = ''] = access.split('.');
    const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
    const changed = encode({ ...part(access, 1), sub: 'bob' });
    const reasons = [
      [`${header}.${changed}.${signature}`, /signature is not that of the key/],
      [`${encode({ alg: 'none', typ: 'at+jwt' })}.${claims}.`, /the algorithm is none/],
      [
        `${header}.${encode({ ...part(access, 1), aud: 'https://a.example' })}.${signature}`,
        /the audience is https:\/\/a\.example; this API is https:\/\/localhost/,
      ],
    ] as const;
    for (const [token, hint] of reasons) {
      const answer = await server.ask('GET', records, {
        bearer: token,
        fields: [['Accept', 'application/json']],
      });
      assert.equal(answer.status, 401, token);
      assert.match(answer.member('hint'), hint);
    }
  });
});

describe('resource indicators', () => {
  const resources = ['https://api.example', 'https://other.example/v1'];

  test('are the audience of the token, the first one by default', async () => {
    const server = await open({ resources });
    const audience = async (parameters?: Record<string, string>): Promise<unknown> =>
      part((await robotToken(server, parameters)).member('access_token'), 1)['aud'];
    assert.equal(await audience(), resources[0]);
    assert.equal(await audience({ resource: 'https://other.example/v1' }), resources[1]);
    assert.equal(await audience({ audience: 'https://other.example/v1' }), resources[1]);
  });

  test('that are not known are refused, and without any all are', async () => {
    for (const server of [await open({ resources }), await open()]) {
      const answer = await robotToken(server, { resource: 'https://else.example' });
      assert.deepEqual([answer.status, answer.member('error')], [400, 'invalid_target']);
      const asked = await server.ask(
        'GET',
        `/oauth2/authorize?${new URLSearchParams({
          client_id: 'app',
          redirect_uri: 'https://app.example/other',
          response_type: 'code',
          code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
          code_challenge_method: 'S256',
          resource: 'https://else.example',
        })}`,
        { basic: 'ann:ann-password' },
      );
      assert.equal(asked.returned('error'), 'invalid_target');
    }
  });

  test('of the authorization request are those of the code and of refreshed tokens', async () => {
    const server = await open({ resources });
    const resource = 'https://other.example/v1';
    const first = await exchange(server, await codeFor(server, { resource }));
    assert.equal(part(first.member('access_token'), 1)['aud'], resource);
    const second = await refresh(server, first.member('refresh_token'));
    assert.equal(part(second.member('access_token'), 1)['aud'], resource);
  });
});

test('a client can have lifetimes of its own', async () => {
  const { app } = clients;
  const lifetimes = { access: '5m', refresh: 600 };
  const server = openServer({ clients: { app: { ...app, lifetimes } } });
  const first = await exchange(server, await codeFor(server));
  assert.equal(first.member('expires_in'), '300');
  server.clock.advance('9m');
  const second = await refresh(server, first.member('refresh_token'));
  assert.equal(second.status, 200);
  server.clock.advance('11m');
  assert.equal((await refresh(server, second.member('refresh_token'))).member('error'), 'invalid_grant');
});
