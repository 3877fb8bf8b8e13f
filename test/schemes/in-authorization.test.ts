// Schemes in code whose credentials stand in Authorization behind the name of a built-in scheme.
import assert from 'node:assert/strict';
import { createHmac, generateKeyPairSync, type KeyObject, sign, verify } from 'node:crypto';
import { after, describe, test } from 'node:test';
import { type Double, type DoubleOptions, startDouble } from '../../src/double/index.ts';
import { createService, defineScheme } from '../../src/index.ts';
import { keepSecret } from '../support/transcript.ts';

const secret = 'the-secret-key-of-an-integration';
keepSecret(secret);

/** As the Admin API of Duo Security: `Basic base64(INTEGRATION:HMAC)` over date, method, host, path and parameters. */
const duo = defineScheme({
  headers: ['Authorization', 'Date'],
  authorization: 'Basic',
  nonce: 'off',
  parse({ headers }) {
    const [, encoded = ''] = /^Basic (\S+)$/i.exec(headers.get('Authorization') ?? '') ?? [];
    const [user, signature] = Buffer.from(encoded, 'base64').toString().split(':');
    return { user, signature, date: Date.parse(headers.get('Date') ?? '') };
  },
  message: ({ method, path, query, headers }, { date }) => [
    ['time', `${new Date(date ?? 0).toUTCString()}\n`],
    ['method', `${method}\n`],
    ['host', `${headers.get('Host') ?? ''}\n`],
    ['path', `${path}\n`],
    ['query', query],
  ],
  sign: (message, key) => createHmac('sha512', key).update(message).digest('hex'),
  format: ({ user, date, signature }) => ({
    headers: {
      Date: new Date(date).toUTCString(),
      Authorization: `Basic ${Buffer.from(`${user}:${signature}`).toString('base64')}`,
    },
  }),
});

interface Claims {
  readonly iss: string;
  readonly iat: number;
  readonly jti: string;
}

/** A JWT that a partner signs itself with its Ed25519 key. */
const jwt = defineScheme({
  headers: ['Authorization'],
  authorization: 'Bearer',
  algorithms: ['ed25519'],
  parse({ headers }) {
    const [, token = ''] = /^Bearer (\S+)$/i.exec(headers.get('Authorization') ?? '') ?? [];
    const [, payload = '', signature] = token.split('.');
    const claims: Claims = JSON.parse(Buffer.from(payload, 'base64url').toString() || '{}');
    return { user: claims.iss, signature, date: claims.iat * 1000, nonce: claims.jti };
  },
  message({ headers }) {
    const [header = '', payload = ''] = (headers.get('Authorization') ?? '')
      .replace(/^Bearer /i, '')
      .split('.');
    return [
      ['header', header],
      ['text', '.'],
      ['payload', payload],
    ];
  },
  sign: (message, key) => sign(null, message, key as KeyObject).toString('base64url'),
  verify: (message, key, signature) => verify(null, message, key, Buffer.from(signature, 'base64url')),
  format({ user, date, nonce, signature }) {
    const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
    const claims = { iss: user, iat: Math.floor(date / 1000), jti: nonce };
    return { headers: { Authorization: `Bearer ${part({ alg: 'EdDSA' })}.${part(claims)}.${signature}` } };
  },
});

async function open(options: DoubleOptions): Promise<Double> {
  const double = await startDouble({ https: false, ...options });
  double.stub({ path: '/users' }, { status: 200, body: [] });
  after(() => double.close());
  return double;
}

describe('a signature in Authorization: Basic', () => {
  test('is verified in place of passwords', async () => {
    const double = await open({ users: { DI1: { secret } }, schemes: { duo } });
    const date = new Date(double.clock.now()).toUTCString();
    const text = [date, 'GET', new URL(double.url).host, '/users', 'limit=1'].join('\n');
    const digest = createHmac('sha512', secret).update(text).digest('hex');
    const headers = { Date: date, Authorization: `Basic ${Buffer.from(`DI1:${digest}`).toString('base64')}` };
    assert.equal((await fetch(`${double.url}/users?limit=1`, { headers })).status, 200);
    assert.equal((await fetch(`${double.url}/users?limit=2`, { headers })).status, 401);
    assert.match(double.journal.last().auth?.hint ?? '', /the message differs/);
    assert.equal((await double.as('DI1', { scheme: 'duo' }).fetch('/users?limit=1')).status, 200);
  });

  test('has the only challenge with Basic', async () => {
    const double = await open({ users: { DI1: { secret } }, schemes: { duo } });
    const { headers } = await fetch(`${double.url}/users`);
    assert.equal((headers.get('WWW-Authenticate') ?? '').match(/Basic/g)?.length, 1);
  });

  test('is not described as a password', async () => {
    const double = await open({ users: { DI1: { secret } }, schemes: { duo }, openapi: true });
    const { components } = (await (await double.fetch('/openapi.json')).json()) as {
      components: { securitySchemes: Record<string, { scheme?: string }> };
    };
    assert.deepEqual(Object.keys(components.securitySchemes).sort(), ['duo', 'duo.date', 'hmac']);
  });

  test('excludes users with passwords', () => {
    assert.throws(
      () => createService({ users: { ann: { secret, password: 'p' } }, schemes: { duo } }),
      /schemes\.duo: Authorization: Basic is that of passwords, and users have some/,
    );
  });
});

describe('a self-signed token in Authorization: Bearer', () => {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const pem = publicKey.export({ type: 'spki', format: 'pem' }).toString();
  const users = { shop: { secret, keys: { shop: { algorithm: 'ed25519', publicKey: pem } } } } as const;
  /** Returns a JWT in the compact form (RFC 7519 §3). */
  const createToken = (double: Double, jti: string, key: KeyObject = privateKey): string => {
    const iat = Math.floor(double.clock.now() / 1000);
    const encoded = [{ alg: 'EdDSA' }, { iss: 'shop', iat, jti }].map((part) =>
      Buffer.from(JSON.stringify(part)).toString('base64url'),
    );
    const text = encoded.join('.');
    return `${text}.${sign(null, Buffer.from(text), key).toString('base64url')}`;
  };

  test('is accepted once', async () => {
    const double = await open({ users, schemes: { jwt } });
    const headers = { Authorization: `Bearer ${createToken(double, 'one')}` };
    assert.equal((await fetch(`${double.url}/users`, { headers })).status, 200);
    assert.equal((await fetch(`${double.url}/users`, { headers })).status, 401);
    assert.equal(double.journal.last().problem?.type, 'nonce-replayed');
  });
});
