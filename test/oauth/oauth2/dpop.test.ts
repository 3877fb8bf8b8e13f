import assert from 'node:assert/strict';
import { createHash, generateKeyPairSync } from 'node:crypto';
import { describe, test } from 'node:test';
import type { ServiceOptions } from '../../../src/index.ts';
import { signJwt } from '../../support/oauth/jwt.ts';
import {
  type Answer,
  clients,
  codeFor,
  openServer,
  type Sending,
  type Server,
  start,
  verifier,
} from '../../support/oauth/server.ts';

const own = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const other = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const tokenUrl = 'https://localhost/oauth2/token';
const records = '/users/ann/financialrecords';
const phoneUri = 'app.phone:/cb';

type Pair = typeof own;

/** The thumbprint of RFC 7638. */
function thumbprint({ publicKey }: Pair): string {
  const { crv, kty, x, y } = publicKey.export({ format: 'jwk' });
  return createHash('sha256').update(JSON.stringify({ crv, kty, x, y })).digest('base64url');
}

async function open(dpop: 'optional' | 'required' = 'optional', options: ServiceOptions = {}) {
  const phone = { ...clients.phone, grants: ['authorization_code', 'refresh_token'] } as const;
  const server = openServer({
    explain: true,
    oauth2: { dpop, accessTokens: 'jwt' },
    clients: { ...clients, phone },
    ...options,
  });
  await server.service.ready;
  return server;
}

let count = 0;

/** What differs from a proof as it should be. */
interface Changes {
  readonly claims?: object;
  readonly header?: object;
  readonly key?: Pair;
}

/** A proof as RFC 9449 §4.2 has it, with what is to be different. */
function proof(
  server: Server,
  method: string,
  url: string,
  { claims, header, key = own }: Changes = {},
): string {
  count += 1;
  const jwk = key.publicKey.export({ format: 'jwk' });
  const iat = Math.floor(server.clock.now() / 1000);
  const common = { jti: `proof ${count}`, htm: method, htu: url, iat };
  return signJwt({ ...common, ...claims }, key.privateKey, { typ: 'dpop+jwt', jwk, ...header });
}

/** Returns the present nonce of a server. */
async function nonceOf(server: Server): Promise<string> {
  return (await server.ask('GET', records)).field('DPoP-Nonce');
}

async function robotToken(server: Server, changes: Changes = {}): Promise<Answer> {
  const nonce = await nonceOf(server);
  const sent = proof(server, 'POST', tokenUrl, { ...changes, claims: { nonce, ...changes.claims } });
  return server.ask('POST', '/oauth2/token', {
    form: { grant_type: 'client_credentials' },
    basic: 'robot:robot-secret-0123456789',
    fields: [['DPoP', sent]],
  });
}

function digest(token: string): string {
  return createHash('sha256').update(token).digest('base64url');
}

/** Reads records with a token that is bound to a key. */
async function read(
  server: Server,
  token: string,
  changes: Changes = {},
  sending: Sending = {},
): Promise<Answer> {
  const nonce = await nonceOf(server);
  const claims = { nonce, ath: digest(token), ...changes.claims };
  const sent = proof(server, 'GET', `https://localhost${records}`, { ...changes, claims });
  const fields = sending.fields ?? [
    ['Authorization', `DPoP ${token}`],
    ['DPoP', sent],
  ];
  return server.ask('GET', records, { ...sending, fields: [...fields, ['Accept', 'application/json']] });
}

describe('a token that is requested with a proof', () => {
  test('is bound to its key, and is accepted with another proof of that key', async () => {
    const server = await open();
    const issued = await robotToken(server);
    assert.equal(issued.member('token_type'), 'DPoP');
    const token = issued.member('access_token');
    const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
    assert.deepEqual(claims.cnf, { jkt: thumbprint(own) });
    assert.equal((await read(server, token)).status, 200);
    const inspected = await server.ask('POST', '/oauth2/introspect', {
      form: { token },
      basic: 'robot:robot-secret-0123456789',
    });
    assert.equal(inspected.member('token_type'), 'DPoP');
    assert.deepEqual(JSON.parse(inspected.text).cnf, { jkt: thumbprint(own) });
  });

  test('is refused with Bearer, without a proof, and with that of another key', async () => {
    const server = await open();
    const token = (await robotToken(server)).member('access_token');
    const bearer = await server.ask('GET', records, {
      bearer: token,
      fields: [['Accept', 'application/json']],
    });
    assert.match(bearer.member('hint'), /send it with the scheme DPoP and a proof/);
    assert.match(bearer.field('WWW-Authenticate'), /DPoP realm="[^"]+", error="invalid_token", algs="ES256 /);
    const unproved = await read(server, token, {}, { fields: [['Authorization', `DPoP ${token}`]] });
    assert.match(unproved.member('hint'), /the field DPoP is missing/);
    const stolen = await read(server, token, { key: other });
    assert.match(stolen.member('hint'), /is bound to the key .*, and the proof is signed by/);
    for (const answer of [bearer, unproved, stolen]) assert.equal(answer.status, 401);
  });

  test('is opaque if tokens are', async () => {
    const server = await open('optional', { oauth2: { dpop: 'optional' } });
    const token = (await robotToken(server)).member('access_token');
    assert.doesNotMatch(token, /\./);
    assert.equal((await read(server, token)).status, 200);
    assert.equal((await server.ask('GET', records, { bearer: token })).status, 401);
  });
});

test('a token that is requested without a proof is a bearer token, unless proofs are required', async () => {
  const sending = { form: { grant_type: 'client_credentials' }, basic: 'robot:robot-secret-0123456789' };
  const server = await open();
  const issued = await server.ask('POST', '/oauth2/token', sending);
  const token = issued.member('access_token');
  assert.equal(issued.member('token_type'), 'Bearer');
  assert.equal((await server.ask('GET', records, { bearer: token })).status, 200);
  assert.match((await read(server, token)).member('hint'), /bound to no key/);
  const strict = await open('required');
  const refused = await strict.ask('POST', '/oauth2/token', sending);
  assert.deepEqual([refused.status, refused.member('error')], [400, 'invalid_dpop_proof']);
  const challenge = (await strict.ask('GET', records)).field('WWW-Authenticate');
  assert.match(challenge, /DPoP realm="[^"]+", algs="/);
  assert.doesNotMatch(challenge, /Bearer/);
});

test('a proof is accepted once', async () => {
  const server = await open();
  const token = (await robotToken(server)).member('access_token');
  const nonce = await nonceOf(server);
  const sent = proof(server, 'GET', `https://localhost${records}`, { claims: { nonce, ath: digest(token) } });
  const fields = [
    ['Authorization', `DPoP ${token}`],
    ['DPoP', sent],
    ['Accept', 'application/json'],
  ] as const;
  assert.equal((await server.ask('GET', records, { fields })).status, 200);
  const repeated = await server.ask('GET', records, { fields });
  assert.equal(repeated.status, 401);
  assert.match(repeated.member('hint'), /each jti is accepted once/);
});

describe('the nonce of the server', () => {
  test('is named by the refusal of a proof without it, at the token endpoint and at resources', async () => {
    const server = await open();
    const atToken = await robotToken(server, { claims: { nonce: undefined } });
    assert.deepEqual([atToken.status, atToken.member('error')], [400, 'use_dpop_nonce']);
    assert.equal(atToken.field('DPoP-Nonce'), await nonceOf(server));
    const token = (await robotToken(server)).member('access_token');
    const atResource = await read(server, token, { claims: { nonce: 'another' } });
    assert.equal(atResource.status, 401);
    assert.match(atResource.field('WWW-Authenticate'), /DPoP realm="[^"]+", error="use_dpop_nonce", algs="/);
    assert.equal(atResource.field('DPoP-Nonce'), await nonceOf(server));
  });

  test('changes, and the former one is accepted for some minutes', async () => {
    const server = await open();
    const nonce = await nonceOf(server);
    server.clock.advance('150s');
    assert.notEqual(await nonceOf(server), nonce);
    assert.equal((await robotToken(server, { claims: { nonce } })).status, 200);
    server.clock.advance('150s');
    assert.equal((await robotToken(server, { claims: { nonce } })).member('error'), 'use_dpop_nonce');
  });

  test('does not use up the code of a request that has none', async () => {
    const server = await open('optional');
    const code = await codeFor(server, { client_id: 'phone', redirect_uri: phoneUri });
    const first = await exchangePhone(server, code, { nonce: undefined });
    assert.equal(first.member('error'), 'use_dpop_nonce');
    assert.equal((await exchangePhone(server, code)).status, 200);
  });
});

/** Exchanges a code of the public client with a proof. */
async function exchangePhone(server: Server, code: string, claims: object = {}, key = own): Promise<Answer> {
  const nonce = await nonceOf(server);
  const sent = proof(server, 'POST', tokenUrl, { claims: { nonce, ...claims }, key });
  const form = { grant_type: 'authorization_code', code, redirect_uri: phoneUri, code_verifier: verifier };
  return server.ask('POST', '/oauth2/token', {
    form: { ...form, client_id: 'phone' },
    fields: [['DPoP', sent]],
  });
}

test('the refresh token of a public client is bound to the key', async () => {
  const server = await open();
  const code = await codeFor(server, { client_id: 'phone', redirect_uri: phoneUri });
  const token = (await exchangePhone(server, code)).member('refresh_token');
  const refresh = async (key: Pair | undefined): Promise<Answer> => {
    const nonce = await nonceOf(server);
    const form = { grant_type: 'refresh_token', refresh_token: token, client_id: 'phone' };
    const fields: [string, string][] =
      key === undefined ? [] : [['DPoP', proof(server, 'POST', tokenUrl, { claims: { nonce }, key })]];
    return server.ask('POST', '/oauth2/token', { form, fields });
  };
  assert.match((await refresh(undefined)).member('error_description'), /no DPoP proof was sent/);
  assert.match(
    (await refresh(other)).member('error_description'),
    /bound to the key .*, and the proof is signed/,
  );
  const renewed = await refresh(own);
  assert.equal(renewed.member('token_type'), 'DPoP');
  assert.equal((await read(server, renewed.member('access_token'))).status, 200);
});

test('a code that was requested for a key needs a proof of it', async () => {
  const server = await open();
  const changes = { client_id: 'phone', redirect_uri: phoneUri, dpop_jkt: thumbprint(own) };
  const refused = await exchangePhone(server, await codeFor(server, changes), {}, other);
  assert.equal(refused.member('error'), 'invalid_grant');
  assert.match(refused.member('error_description'), /the code is bound to the key/);
  assert.equal((await exchangePhone(server, await codeFor(server, changes))).status, 200);
});

const wrong: readonly (readonly [what: string, changes: Changes, reason: RegExp])[] = [
  ['is for another method', { claims: { htm: 'POST' } }, /htm is POST, and the method is GET/],
  ['is for plain HTTP', { claims: { htu: `http://localhost${records}` } }, /htu is http:/],
  ['has no URL', { claims: { htu: undefined } }, /htu is missing/],
  ['has no time', { claims: { iat: undefined } }, /iat is not a number/],
  ['is for another token', { claims: { ath: digest('another') } }, /ath is .*, and that of the token is/],
  ['is for no token', { claims: { ath: undefined } }, /ath is missing/],
  ['has no key', { header: { jwk: undefined } }, /jwk is not a public key/],
];

describe('a proof is refused, and the reason is explained, if it', () => {
  for (const [what, changes, reason] of wrong)
    test(what, async () => {
      const server = await open();
      const token = (await robotToken(server)).member('access_token');
      const answer = await read(server, token, changes);
      assert.equal(answer.status, 401);
      assert.match(answer.member('hint'), reason);
      assert.match(answer.field('WWW-Authenticate'), /error="invalid_dpop_proof"/);
      assert.doesNotMatch(answer.text, /eyJ/);
    });

  test('is sent twice', async () => {
    const server = await open();
    const token = (await robotToken(server)).member('access_token');
    const claims = { nonce: await nonceOf(server), ath: digest(token) };
    const sent = proof(server, 'GET', `https://localhost${records}`, { claims });
    const fields = [
      ['Authorization', `DPoP ${token}`],
      ['DPoP', sent],
      ['DPoP', sent],
    ] as const;
    assert.match((await read(server, token, {}, { fields })).member('hint'), /more than once/);
  });
});

test('a token of another issuer that is bound to a key needs a proof of it', async () => {
  const signer = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const [issuer, audience] = ['https://login.example', 'https://api.example'];
  const jwks = { keys: [signer.publicKey.export({ format: 'jwk' })] };
  const server = await open('optional', {
    oauth2: { dpop: 'optional', issuers: { [issuer]: { audience, jwks } } },
  });
  const exp = start / 1000 + 600;
  const claims = { iss: issuer, aud: audience, sub: 'ann', scope: 'read', exp };
  const issue = (more: object): string =>
    signJwt({ ...claims, ...more }, signer.privateKey, { typ: 'at+jwt' });
  const bound = issue({ cnf: { jkt: thumbprint(own) } });
  assert.equal((await read(server, bound)).status, 200);
  assert.equal((await read(server, bound, { key: other })).status, 401);
  assert.equal((await server.ask('GET', records, { bearer: bound })).status, 401);
  assert.equal((await server.ask('GET', records, { bearer: issue({}) })).status, 200);
});

test('query and fragment of the URL are not compared', async () => {
  const server = await open();
  const token = (await robotToken(server)).member('access_token');
  const claims = { htu: `https://LOCALHOST:443${records}?a=b#c` };
  assert.equal((await read(server, token, { claims })).status, 200);
});

test('the metadata lists the algorithms, and nothing mentions proofs if they are off', async () => {
  const metadata = '/.well-known/oauth-authorization-server';
  const described = await (await open()).ask('GET', metadata);
  assert.ok(JSON.parse(described.text).dpop_signing_alg_values_supported.includes('ES256'));
  const server = openServer();
  assert.doesNotMatch((await server.ask('GET', metadata)).text, /dpop/);
  const refused = await server.ask('GET', records);
  assert.doesNotMatch(refused.field('WWW-Authenticate'), /DPoP/);
  assert.equal(refused.field('DPoP-Nonce'), '');
});
