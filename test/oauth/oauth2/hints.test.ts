// Mistakes of a partner's client. The journal names the cause of each.
import assert from 'node:assert/strict';
import { createHash, generateKeyPairSync, sign } from 'node:crypto';
import { after, describe, test } from 'node:test';
import { startDouble } from '../../../src/double/index.ts';
import { signJwt } from '../../support/oauth/jwt.ts';

const own = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const secret = 'a+long/secret of the shop';
const back = 'http://localhost:3000/cb';
const issuer = 'https://login.example';
const audience = 'https://api.example';
const verifier = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';
const challenge = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';
const jwk = { ...own.publicKey.export({ format: 'jwk' }), kid: 'k1' };
const double = await startDouble({
  users: ['ann'],
  clients: {
    shop: {
      secret,
      redirectUris: [back],
      grants: ['authorization_code', 'refresh_token', 'client_credentials'],
      scopes: ['read', 'orders.read'],
    },
    signer: { jwks: { keys: [jwk] }, grants: ['client_credentials'], scopes: ['read'] },
  },
  oauth2: {
    scopes: ['read', 'orders.read'],
    pkce: 'optional',
    dpop: 'optional',
    resources: [audience],
    clientAuthentication: ['client_secret_basic', 'client_secret_post', 'private_key_jwt'],
    issuers: { [issuer]: { audience, jwks: { keys: [jwk] } } },
  },
});
after(() => double.close());

type Form = Readonly<Record<string, string>>;

const machine: Form = { grant_type: 'client_credentials' };

function basic(text: string): string {
  return `Basic ${Buffer.from(text).toString('base64')}`;
}

const encoded = encodeURIComponent(secret);
const good = { Authorization: basic(`shop:${encoded}`) };

/** Sends a form to the token endpoint. */
async function obtain(form: Form | string, headers: Form = good): Promise<string> {
  const body = new URLSearchParams(form);
  return (
    await fetch(`${double.url}/oauth2/token`, { method: 'POST', headers: { ...headers }, body })
  ).text();
}

const byBasic = (pair: string) => () => obtain(machine, { Authorization: basic(pair) });

const now = (): number => Math.floor(double.clock.now() / 1000);
let count = 0;

/** Authenticates with an assertion. */
const byAssertion =
  (changes: () => object, signing = signJwt) =>
  () => {
    count += 1;
    const common = { iss: 'signer', sub: 'signer', aud: double.url, jti: `${count}`, exp: now() + 60 };
    const client_assertion = signing({ ...common, ...changes() }, own.privateKey, { kid: 'k1' });
    const client_assertion_type = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
    return obtain({ ...machine, client_assertion_type, client_assertion }, {});
  };

/** Signs as ES256 does, in the form of most other protocols. */
function signInDer(claims: object, key: typeof own.privateKey | string, header: object = {}): string {
  const parts = [{ alg: 'ES256', ...header }, claims];
  const signed = parts.map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');
  return `${signed}.${sign('sha256', Buffer.from(signed), key).toString('base64url')}`;
}

async function codeFor(changes: Form = {}): Promise<string> {
  const query = new URLSearchParams({
    ...{ response_type: 'code', client_id: 'shop', redirect_uri: back, scope: 'read' },
    ...{ code_challenge: challenge, code_challenge_method: 'S256' },
    ...changes,
  });
  const url = `${double.url}/oauth2/authorize?${query}`;
  return new URL(await double.oauth2.approve(url, { user: 'ann' })).searchParams.get('code') ?? '';
}

/** Exchanges a code. */
const exchanging =
  (changes: Form | ((code: string) => Form), asked: Form = {}) =>
  async () => {
    const code = await codeFor(asked);
    const changed = typeof changes === 'function' ? changes(code) : changes;
    const form = { grant_type: 'authorization_code', code, redirect_uri: back, code_verifier: verifier };
    return obtain({ ...form, ...changed });
  };

const challenged = (code_challenge: string) => exchanging({}, { code_challenge });

/** Sends a token of the other issuer to the API. */
const withToken =
  (changes: () => object, header: object = {}, signing = signJwt) =>
  () => {
    const claims = { iss: issuer, aud: audience, sub: 'ann', scope: 'read', exp: now() + 600 };
    const token = signing({ ...claims, ...changes() }, own.privateKey, {
      typ: 'at+jwt',
      kid: 'k1',
      ...header,
    });
    return fetch(`${double.url}/articles`, { headers: { Authorization: `Bearer ${token}` } });
  };

/** Sends a proof of possession to the token endpoint. */
const withProof = (changes: () => object) => async () => {
  const response = await fetch(`${double.url}/articles`, { headers: { Authorization: 'DPoP x' } });
  count += 1;
  const claims = {
    ...{ jti: `${count}`, htm: 'POST', htu: `${double.url}/oauth2/token`, iat: now() },
    nonce: response.headers.get('DPoP-Nonce'),
    ...changes(),
  };
  const proof = signJwt(claims, own.privateKey, {
    typ: 'dpop+jwt',
    jwk: own.publicKey.export({ format: 'jwk' }),
  });
  return obtain(machine, { ...good, DPoP: proof });
};

const hexDigest = createHash('sha256').update(verifier).digest('hex');
const digestOf = (data: string | Buffer): string => createHash('sha256').update(data).digest('base64url');

const mistakes: readonly (readonly [what: string, send: () => Promise<unknown>, named: RegExp])[] = [
  ['the secret is cut', byBasic(`shop:${encoded.slice(0, -1)}`), /the end of the secret is missing/],
  ['the secret is in quotes', byBasic(`shop:%22${encoded}%22`), /the secret was sent in quotes/],
  ['the secret is in base64', byBasic(`shop:${Buffer.from(secret).toString('base64')}`), /encoded in base64/],
  [
    'a + of the secret is a space',
    () => obtain(`client_id=shop&client_secret=${secret}&grant_type=client_credentials`, {}),
    /differs in a few characters/,
  ],
  [
    'secret and id are exchanged',
    byBasic(`${encoded}:shop`),
    /a secret was sent in place of the client_id, and the client_id in place of the secret/,
  ],
  [
    'Basic is not encoded',
    () => obtain(machine, { Authorization: `Basic shop:${encoded}` }),
    /were sent as they are; encode/,
  ],
  [
    'the secret is sent with Bearer',
    () => obtain(machine, { Authorization: `Bearer ${encoded}` }),
    /the scheme Bearer was sent, which is for resources; send the client secret with Basic/,
  ],
  [
    'JSON is sent as a form',
    () => obtain(JSON.stringify(machine)),
    /The content is JSON, and its type is that of a form/,
  ],
  [
    'the grant type is misspelt',
    () => obtain({ grant_type: 'client_credential' }),
    /did you mean client_credentials\?/,
  ],
  [
    'scopes are separated by commas',
    () => obtain({ ...machine, scope: 'read,orders.read' }),
    /scopes are separated by spaces/,
  ],
  ['a scope is misspelt', () => obtain({ ...machine, scope: 'order.read' }), /did you mean orders\.read\?/],
  [
    'the resource has a slash',
    () => obtain({ ...machine, resource: `${audience}/` }),
    /\(different: the trailing slash\)/,
  ],
  [
    'a code is sent to be refreshed',
    exchanging({ grant_type: 'refresh_token' }),
    /a code was sent; its grant_type is authorization_code/,
  ],
  [
    'a code is sent as a refresh token',
    exchanging((code) => ({ grant_type: 'refresh_token', refresh_token: code })),
    /the code of OAuth 2\.0 was sent instead of a refresh token/,
  ],
  [
    'a code is percent-encoded',
    exchanging((code) => ({ code: code.replace(/./g, (each) => `%${each.charCodeAt(0).toString(16)}`) })),
    /the code was percent-encoded/,
  ],
  ['a code is in quotes', exchanging((code) => ({ code: `"${code}"` })), /the code was sent in quotes/],
  [
    'a code is sent with the rest of the query',
    exchanging((code) => ({ code: `${code}&state=1` })),
    /the code was sent together with the parameters after it/,
  ],
  [
    'the challenge is hexadecimal',
    () => codeFor({ code_challenge: hexDigest }).catch(() => {}),
    /the verifier was hashed as hexadecimal$/,
  ],
  [
    'the challenge is hexadecimal in base64url',
    () => codeFor({ code_challenge: Buffer.from(hexDigest).toString('base64url') }).catch(() => {}),
    /the verifier was hashed as hexadecimal, which was encoded in base64url/,
  ],
  [
    'the hexadecimal hash is hashed',
    challenged(digestOf(hexDigest)),
    /the hexadecimal hash was hashed again/,
  ],
  [
    'the verifier is not hashed',
    challenged(verifier),
    /the verifier is the text itself, which was not hashed \(method plain\)/,
  ],
  [
    'the verifier is hashed with a line feed',
    challenged(digestOf(`${verifier}\n`)),
    /the verifier was hashed with a line feed/,
  ],
  [
    'the verifier is decoded before it is hashed',
    challenged(digestOf(Buffer.from(verifier, 'base64url'))),
    /the verifier was decoded from base64url before it was hashed/,
  ],
  ['the verifier is hashed twice', challenged(digestOf(challenge)), /the verifier was hashed twice/],
  [
    'the challenge was removed',
    exchanging({}, { code_challenge: '', code_challenge_method: '' }),
    /the code was requested without a code_challenge/,
  ],
  [
    'an assertion has milliseconds',
    byAssertion(() => ({ exp: double.clock.now() + 60_000 })),
    /exp is in milliseconds; seconds are required/,
  ],
  [
    'the audience of an assertion has a slash',
    byAssertion(() => ({ aud: `${double.url}/` })),
    /\(different: the trailing slash\)/,
  ],
  ['an assertion is signed in DER', byAssertion(() => ({}), signInDer), /the signature is in DER/],
  ['a token is signed in DER', withToken(() => ({}), {}, signInDer), /the signature is in DER/],
  [
    'a token expired',
    withToken(() => ({ exp: now() - 180 })),
    /the token expired 3 minutes ago by the clock of this double/,
  ],
  [
    'a token is for another API',
    withToken(() => ({ aud: 'https://a' })),
    /the audience is https:\/\/a; this API is https:\/\/api\.example$/,
  ],
  [
    'the audience has a slash',
    withToken(() => ({ aud: `${audience}/` })),
    /\(different: the trailing slash\)/,
  ],
  [
    'the issuer has a slash',
    withToken(() => ({ iss: `${issuer}/` })),
    /is not trusted here; trusted: https:\/\/login\.example \(different: the trailing slash\)/,
  ],
  ['a token has milliseconds', withToken(() => ({ nbf: double.clock.now() })), /nbf is in milliseconds/],
  ['a token is of the type JWT', withToken(() => ({}), { typ: 'JWT' }), /set type: 'JWT' for the issuer/],
  [
    'a token is signed by an unknown key',
    withToken(() => ({}), { kid: 'k2' }),
    /the issuer publishes no key k2 that can verify a signature; published: k1/,
  ],
  [
    'a proof has another scheme',
    withProof(() => ({ htu: `${double.url}/oauth2/token`.replace('http:', 'https:') })),
    /\(different: http instead of https, or the reverse\)/,
  ],
  [
    'a proof has the method in small letters',
    withProof(() => ({ htm: 'post' })),
    /htm is post, and the method is POST \(different: the letter case\)/,
  ],
  ['a proof has milliseconds', withProof(() => ({ iat: double.clock.now() })), /iat is in milliseconds/],
];

describe('the first line of the journal names the cause', () => {
  for (const [what, send, named] of mistakes)
    test(what, async () => {
      await send();
      const [line = ''] = String(double.journal.last()).split('\n');
      assert.match(line, named);
      assert.ok(!line.includes(secret) && !line.includes(encoded), 'without the secret');
    });
});
