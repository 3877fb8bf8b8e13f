// Requests of a client that nobody here wrote: the npm package http-message-signatures, in its mode for the older draft.
import assert from 'node:assert/strict';
import { createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { test } from 'node:test';
import { startDouble } from '../../../src/double/index.ts';
import { rsa } from '../../support/keys.ts';
import { importPackage, missingPackage } from '../../support/packages.ts';

const client = 'http-message-signatures';

const keys = {
  'https://social.example/users/ann#main-key': {
    algorithm: 'rsa-v1_5-sha256',
    ...rsa,
  },
  'key-ed': { algorithm: 'ed25519', ...generateKeyPairSync('ed25519') },
} as const;

function formatPem(key: KeyObject): string {
  return key.export({ type: 'spki', format: 'pem' }).toString();
}

const schemes = { 'draft-cavage': {} };
const users = {
  ann: {
    secret: 's3cret',
    keys: Object.fromEntries(
      Object.entries(keys).map(([id, { algorithm, publicKey }]) => [
        id,
        { algorithm, publicKey: formatPem(publicKey) },
      ]),
    ),
  },
};

for (const [id, { algorithm, privateKey }] of Object.entries(keys))
  test(`GET and POST requests that http-message-signatures signs with ${algorithm} are accepted`, {
    skip: missingPackage(client),
  }, async (context) => {
    const { cavage, createSigner } = await importPackage(client);
    const double = await startDouble({ users, schemes, defaultFormat: 'json' });
    context.after(() => double.close());
    for (const body of [undefined, '{"title":"Tea","price":{"value":"3.50","currency":"EUR"}}']) {
      const method = body === undefined ? 'GET' : 'POST';
      const url = `${double.url}/articles`;
      const digest = createHash('sha256')
        .update(body ?? '')
        .digest('base64');
      const headers = {
        Host: new URL(url).host,
        Date: new Date(double.clock.now()).toUTCString(),
        ...(body === undefined ? {} : { Digest: `SHA-256=${digest}`, 'Content-Type': 'application/json' }),
      };
      const signed = await cavage.signMessage(
        {
          key: createSigner(privateKey, algorithm, id),
          name: 'sig',
          fields: ['@request-target', 'host', 'date', ...(body === undefined ? [] : ['digest'])],
          params: ['keyid', 'alg'],
          paramValues: { alg: algorithm === 'ed25519' ? 'hs2019' : 'rsa-sha256' },
        },
        { method, url, headers },
      );
      const response = await fetch(url, { method, headers: flat(signed.headers), body: body ?? null });
      assert.equal(response.ok, true, `${double.journal.last()}`);
      assert.deepEqual(double.journal.last()?.principal, { name: 'ann', scheme: 'draft-cavage' });
    }
  });

function flat(headers: Readonly<Record<string, string | string[]>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
}

/** Signs a GET as the draft says, with parameters and covered fields of one's own. */
function signedGet(
  url: string,
  parameters: string,
  lines: readonly string[],
  hash: string | null,
): Record<string, string> {
  const key =
    hash === null ? keys['key-ed'].privateKey : keys['https://social.example/users/ann#main-key'].privateKey;
  const signature = sign(hash, Buffer.from(lines.join('\n')), key).toString('base64');
  return { Authorization: `Signature ${parameters},signature="${signature}"`, Host: new URL(url).host };
}

test('(created) and (expires) replace the date, except with rsa-sha256', async (context) => {
  const double = await startDouble({ users, schemes });
  context.after(() => double.close());
  const url = `${double.url}/articles`;
  const { host } = new URL(url);
  const now = Math.floor(double.clock.now() / 1000);
  const get = async (created: number, expires: number, algorithm: string) => {
    const covered = 'headers="(request-target) host (created) (expires)"';
    const lines = [
      '(request-target): get /articles',
      `host: ${host}`,
      `(created): ${created}`,
      `(expires): ${expires}`,
    ];
    const parameters = `keyId="key-ed",algorithm="${algorithm}",created=${created},expires=${expires},${covered}`;
    await double.fetch(url, { headers: signedGet(url, parameters, lines, null) });
    return double.journal.last();
  };
  assert.equal((await get(now, now + 60, 'hs2019'))?.response?.status, 200);
  assert.match(
    `${await get(now, now + 60, 'rsa-sha256')}`,
    /covers \(created\), which the algorithm rsa-sha256/,
  );
  assert.equal((await get(now - 20, now - 10, 'hs2019'))?.problem?.type, 'date-out-of-window');
  // An expiry in the far future does not extend the window.
  assert.equal((await get(now - 400, now + 4000, 'hs2019'))?.problem?.type, 'date-out-of-window');
  assert.equal((await get(now, now + 60, 'ed25519'))?.response?.status, 200);
});

test('a signature by another algorithm than the named one is refused', async (context) => {
  const double = await startDouble({ users, schemes });
  context.after(() => double.close());
  const url = `${double.url}/articles`;
  const date = new Date(double.clock.now()).toUTCString();
  const lines = ['(request-target): get /articles', `host: ${new URL(url).host}`, `date: ${date}`];
  const covered = 'headers="(request-target) host date"';
  const rsa = 'keyId="https://social.example/users/ann#main-key"';
  for (const [parameters, expected] of [
    [`${rsa},algorithm="rsa-sha256"`, 200],
    [`${rsa},algorithm="hs2019"`, 200],
    [`${rsa},algorithm="hmac-sha256"`, 401],
    [`${rsa},algorithm="rsa-md5"`, 400],
  ] as const) {
    const headers = { ...signedGet(url, `${parameters},${covered}`, lines, 'sha256'), Date: date };
    const { status } = await double.fetch(url, { headers });
    assert.equal(status, expected, `${double.journal.last()}`);
  }
});

test('credentials with a trailing comma, or without a comma between parameters, are malformed', async (context) => {
  const double = await startDouble({ users, schemes });
  context.after(() => double.close());
  const url = `${double.url}/articles`;
  const date = new Date(double.clock.now()).toUTCString();
  const lines = ['(request-target): get /articles', `host: ${new URL(url).host}`, `date: ${date}`];
  const parameters = 'keyId="key-ed",algorithm="hs2019",headers="(request-target) host date"';
  const { Authorization: credentials = '', ...others } = signedGet(url, parameters, lines, null);
  for (const [sent, expected] of [
    [credentials, 200],
    [`${credentials},`, 400],
    [`${credentials}, `, 400],
    [credentials.replace('",algorithm', '" algorithm'), 400],
  ] as const) {
    const { status } = await double.fetch(url, { headers: { ...others, Authorization: sent, Date: date } });
    assert.equal(status, expected, sent);
  }
});

test('beside RFC 9421, Signature-Input determines the scheme of the field Signature', async (context) => {
  const double = await startDouble({ users, schemes: { ...schemes, 'message-signatures': {} } });
  context.after(() => double.close());
  for (const scheme of ['draft-cavage', 'message-signatures']) {
    const signed = await double.as('ann', { scheme, secret: 's3cret' }).signUrl({ url: '/articles' });
    const { Authorization, ...others } = signed.headers;
    const inField = Authorization === undefined ? {} : { Signature: Authorization.replace('Signature ', '') };
    const response = await double.fetch('/articles', { headers: { ...others, ...inField } });
    assert.equal(response.status, 200, `${double.journal.last()}`);
    assert.equal(double.journal.last()?.principal?.scheme, scheme);
  }
});
