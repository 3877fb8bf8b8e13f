// Mistakes that clients make with public keys, clocks, forms and the fields of a signature, and the hint of the journal at each.
import assert from 'node:assert/strict';
import { createHash, createHmac, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { after, describe, test } from 'node:test';
import { type Double, type DoubleOptions, startDouble } from '../../src/double/index.ts';
import { keepSecret } from '../support/transcript.ts';

const secret = 'a-signing-secret-of-32-characters';
keepSecret(secret);
const at = Date.UTC(2026, 2, 1, 12);

async function open(options: DoubleOptions): Promise<Double> {
  const double = await startDouble({ https: false, strictQuery: false, now: at, ...options });
  double.stub({ method: ['GET', 'POST'], path: /./ }, { status: 204 });
  after(() => double.close());
  return double;
}

/** Returns the first line of the last entry. */
function lastLine(double: Double): string {
  const [line = ''] = String(double.journal.last()).split('\n');
  return line;
}

function pem(key: KeyObject): string {
  return String(key.export({ type: 'spki', format: 'pem' }));
}

describe('a signature by a private key', () => {
  const algorithms = {
    ed25519: { algorithm: 'ed25519', key: 'ed25519', generate: () => generateKeyPairSync('ed25519') },
    ecdsa: {
      algorithm: 'ecdsa-p256',
      key: 'ecdsa-p256-sha256',
      generate: () => generateKeyPairSync('ec', { namedCurve: 'P-256' }),
    },
    rsa: {
      algorithm: 'rsa-v1_5',
      key: 'rsa-v1_5-sha256',
      generate: () => generateKeyPairSync('rsa', { modulusLength: 2048 }),
    },
  } as const;

  for (const [name, { algorithm, key, generate }] of Object.entries(algorithms)) {
    const [ann, bob] = [generate(), generate()];
    const hash = name === 'ed25519' ? null : 'sha256';
    const start = (): Promise<Double> =>
      open({
        users: {
          ann: { keys: { 'key-a': { algorithm: key, publicKey: pem(ann.publicKey) } } },
          bob: { keys: { 'key-b': { algorithm: key, publicKey: pem(bob.publicKey) } } },
        },
        schemes: {
          partner: {
            message: '{timestamp}.{body}',
            algorithm,
            encoding: 'base64',
            signature: { field: 'X-Sign' },
            user: { field: 'X-Key' },
            timestamp: { field: 'X-Time', unit: 'ms' },
          },
        },
      });
    const post = async (
      double: Double,
      message: string,
      { privateKey, hash: used = hash }: { privateKey: KeyObject; hash?: string | null },
    ): Promise<string> => {
      const signature = sign(used, Buffer.from(message), privateKey).toString('base64');
      const headers = { 'X-Key': 'key-a', 'X-Time': String(at), 'X-Sign': signature };
      await double.fetch('/hook', { method: 'POST', headers, body: '{"a": 1}' });
      return lastLine(double);
    };
    for (const [what, message, hint] of [
      ['a clock that was read twice', `${at + 7}.{"a": 1}`, /the clock was read twice: a time 7 ms later/],
    ] as const)
      test(`of ${name} is explained by ${what}`, async () => {
        assert.match(await post(await start(), message, { privateKey: ann.privateKey }), hint);
      });

    test(`of ${name} by the key of another user is explained with the user and the key`, async () => {
      const line = await post(await start(), `${at}.{"a": 1}`, { privateKey: bob.privateKey });
      assert.match(line, /signed with the key of another user, bob: its id is key-b/);
    });

    if (name !== 'ed25519')
      test(`of ${name} with another hash function is explained`, async () => {
        const line = await post(await start(), `${at}.{"a": 1}`, {
          privateKey: ann.privateKey,
          hash: 'sha512',
        });
        assert.match(line, /with SHA-512 was used; SHA-256 is expected/);
      });
  }
});

test('a signature that no mistake explains has the number of forms that were tried, and what was not', async () => {
  const double = await open({
    users: { shop: { secret } },
    schemes: { hook: { preset: 'square', user: 'shop' } },
  });
  const signature = createHmac('sha256', secret).update('something else').digest('base64');
  const headers = {
    'x-square-hmacsha256-signature': signature,
    'Content-Type': 'multipart/form-data; boundary=b',
  };
  await double.fetch('/hook', { method: 'POST', headers, body: '--b--' });
  assert.match(lastLine(double), /\([\d,]{3,} forms of the message were tried; not tried: a host that/);
  assert.match(lastLine(double), /multipart content with another boundary/);
});

describe('the form of a request to Twilio', () => {
  const body = 'To=%2B1555&Body=hi+there%21&Empty=';
  for (const [what, signed, hint] of [
    ['"+" not decoded', 'Bodyhi+there!EmptyTo+1555', /"\+" in the form was not decoded as a space/],
    ['without empty parameters', 'Bodyhi there!To+1555', /empty parameters of the form were left out/],
    [
      'not sorted, and without empty parameters',
      'To+1555Bodyhi there!',
      /empty parameters of the form were left out; and the parameters of the form were not sorted/,
    ],
    [
      'in the escapes of the form',
      'Bodyhi+there%21EmptyTo%2B1555',
      /the values of the parameters in the form were signed as they were sent/,
    ],
    [
      'in other escapes',
      'Bodyhi%20there!EmptyTo%2B1555',
      /parameters of the form were percent-encoded as by encodeURIComponent: "%20" for " "/,
    ],
    ['as JSON', '{"To":"+1555","Body":"hi there!","Empty":""}', /parameters of the form were signed as JSON/],
  ] as const)
    test(`is explained where it was signed ${what}`, async () => {
      const double = await open({
        users: { shop: { secret } },
        schemes: { hook: { preset: 'twilio', user: 'shop' } },
      });
      const signature = createHmac('sha1', secret).update(`${double.url}/hook${signed}`).digest('base64');
      const headers = {
        'Content-Type': 'application/x-www-form-urlencoded',
        'X-Twilio-Signature': signature,
      };
      await double.fetch('/hook', { method: 'POST', headers, body });
      assert.match(lastLine(double), hint);
    });
});

describe('the fields of an HTTP message signature', () => {
  const params = ';created=1;keyid="k"';
  for (const [what, input, signature, hint] of [
    [
      'names without quotes',
      `sig1=(@method)${params}`,
      'sig1=:AA==:',
      /names of the components are without quotes/,
    ],
    ['commas between names', `sig1=("@method", "@path")${params}`, 'sig1=:AA==:', /separated by a comma/],
    ['a key without quotes', 'sig1=("@method");created=1;keyid=k', 'sig1=:AA==:', /keyid is without quotes/],
    [
      'base64 without colons',
      `sig1=("@method")${params}`,
      'sig1=AAAA',
      /the colons around the base64 are missing/,
    ],
    ['base64 in quotes', `sig1=("@method")${params}`, 'sig1="AAAA"', /the signature is in quotes/],
    ['base64 without a label', `sig1=("@method")${params}`, 'A'.repeat(44), /sent without its label/],
    ['another label', `sig1=("@method")${params}`, 'sig2=:AA==:', /has the label sig1, and Signature sig2/],
    ['no Signature-Input', undefined, 'sig1=:AA==:', /it names what is signed: sig1=\("@method" /],
    [
      'a signature of draft-cavage',
      undefined,
      'keyId="k",signature="AA=="',
      /draft-cavage-http-signatures was sent/,
    ],
  ] as const)
    test(`are explained where they have ${what}`, async () => {
      const double = await open({
        users: { ann: { keys: { k: { algorithm: 'hmac-sha256', secret } } } },
        schemes: { 'message-signatures': {} },
      });
      const headers = { Signature: signature, ...(input !== undefined && { 'Signature-Input': input }) };
      await double.fetch('/a', { headers });
      assert.match(lastLine(double), hint);
    });
});

test('texts of an HTTP message signature that were signed without quotes are named', async () => {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const double = await open({
    users: { ann: { keys: { k: { algorithm: 'ed25519', publicKey: pem(publicKey) } } } },
    schemes: { 'message-signatures': { components: ['@method'] } },
  });
  const params = `("@method");created=${at / 1000};keyid="k"`;
  const base = `"@method": GET\n"@signature-params": ${params.replace('"k"', 'k')}`;
  const signature = sign(null, Buffer.from(base), privateKey).toString('base64');
  await double.fetch('/a', {
    headers: { 'Signature-Input': `sig1=${params}`, Signature: `sig1=:${signature}:` },
  });
  assert.match(lastLine(double), /were not signed in quotes: keyid="…" is expected/);
});

describe('draft-cavage', () => {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const start = (): Promise<Double> =>
    open({
      users: {
        ann: {
          keys: {
            main: { algorithm: 'rsa-v1_5-sha256', publicKey: pem(publicKey) },
            'https://a.example/ann#main-key': { algorithm: 'rsa-v1_5-sha256', publicKey: pem(publicKey) },
          },
        },
      },
      schemes: { 'draft-cavage': {} },
    });
  const get = async (double: Double, hash: string, algorithm: string, form: (value: string) => string) => {
    const { host } = new URL(double.url);
    const date = new Date(at).toUTCString();
    const text = `(request-target): get /a\nhost: ${host}\ndate: ${date}`;
    const signature = sign(hash, Buffer.from(text), privateKey).toString('base64');
    const value = `keyId="main",algorithm="${algorithm}",headers="(request-target) host date",signature="${signature}"`;
    await double.fetch('/a', { headers: { Date: date, Signature: form(value) } });
    return lastLine(double);
  };

  test('accepts rsa-sha512 with the key of rsa-sha256', async () => {
    const double = await start();
    assert.match(await get(double, 'sha512', 'rsa-sha512', (value) => value), /: 204/);
    assert.match(
      await get(double, 'sha256', 'rsa-sha512', (value) => value),
      /the hash function of the key was used/,
    );
  });

  for (const [what, form, hint] of [
    [
      'a key id without its fragment',
      (value: string) => value.replace('"main"', '"https://a.example/ann"'),
      /did you mean https:\/\/a\.example\/ann#main-key\?/,
    ],
    [
      'another key, which is no secret',
      (value: string) => value.replace(/(?<=signature=").{8}/, 'AAAAAAAA'),
      /the key is different, or the message differs/,
    ],
  ] as const)
    test(`names ${what}`, async () => {
      assert.match(await get(await start(), 'sha256', 'rsa-sha256', form), hint);
    });

  const body = '{"a":1}';
  const digestOf = (content: string): string =>
    `SHA-256=${createHash('sha256').update(content).digest('base64')}`;
  for (const [what, signed, sent, hint] of [
    [
      'in hexadecimal',
      `SHA-256=${createHash('sha256').update(body).digest('hex')}`,
      digestOf(body),
      /the digest of the content was signed in hexadecimal/,
    ],
    ['in lower case', digestOf(body).replace('SHA', 'sha'), digestOf(body), /in another letter case/],
    ['of other content than sent', digestOf(body), digestOf('{}'), /but that of other content was sent/],
  ] as const)
    test(`explains a digest that was signed ${what}`, async () => {
      const double = await start();
      const date = new Date(at).toUTCString();
      const text = `(request-target): post /a\nhost: ${new URL(double.url).host}\ndate: ${date}\ndigest: ${signed}`;
      const signature = sign('sha256', Buffer.from(text), privateKey).toString('base64');
      const value = `keyId="main",algorithm="rsa-sha256",headers="(request-target) host date digest",signature="${signature}"`;
      await double.fetch('/a', {
        method: 'POST',
        body,
        headers: { Date: date, Digest: sent, Signature: value },
      });
      assert.match(lastLine(double), hint);
    });
});

describe('OAuth 1.0a', () => {
  const escapeAll = (text: string): string =>
    encodeURIComponent(text).replace(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`);
  for (const [what, query, further, realm, hint] of [
    ['realm', [], [['realm', 'x']], 'realm="x", ', /realm was signed/],
    ['the members of JSON', [], [['c', '3']], '', /members of the JSON were signed as parameters/],
  ] as const)
    test(`explains that ${what} was signed`, async () => {
      const double = await startDouble({
        now: at,
        users: { ann: {} },
        consumers: { app: { secret, callbacks: ['oob'], scopes: ['read'] } },
      });
      after(() => double.close());
      double.stub({ method: 'POST', path: '/a' }, { status: 204 });
      const { token, tokenSecret } = await double.oauth1.issueToken({ user: 'ann' });
      const own = {
        oauth_consumer_key: 'app',
        oauth_nonce: randomBytes(8).toString('hex'),
        oauth_signature_method: 'HMAC-SHA1',
        oauth_timestamp: String(at / 1000),
        oauth_token: token,
      };
      const pairs = [...query, ...further, ...Object.entries(own)].map(
        ([name, value]) => `${escapeAll(name)}=${escapeAll(value)}`,
      );
      const base = ['POST', escapeAll(`${double.secureUrl}/a`), escapeAll(pairs.sort().join('&'))].join('&');
      const signature = createHmac('sha1', `${secret}&${tokenSecret}`).update(base).digest('base64');
      const parameters = Object.entries({ ...own, oauth_signature: signature })
        .map(([name, value]) => `${name}="${escapeAll(value)}"`)
        .join(', ');
      await double.fetch('/a', {
        method: 'POST',
        secure: true,
        headers: { Authorization: `OAuth ${realm}${parameters}`, 'Content-Type': 'application/json' },
        body: '{"c":3}',
      });
      assert.match(lastLine(double), hint);
    });
});

test('a key that was hashed, extended or misspelled is explained, and not shown', async () => {
  const double = await startDouble({
    now: at,
    users: { ann: { secret } },
    schemes: { partner: { secret: { field: 'X-Api-Key' } } },
  });
  double.stub({ path: '/a' }, { status: 204 });
  after(() => double.close());
  for (const [sent, hint] of [
    [createHash('sha256').update(secret).digest('hex'), /the sha256 hash of the key was sent/],
    [`${secret}xyz`, /further characters before or after the key/],
    [secret.replace('signing', 'singing'), /differs in a few characters/],
  ] as const) {
    await double.fetch('/a', { secure: true, headers: { 'X-Api-Key': sent } });
    assert.match(lastLine(double), hint);
    assert.ok(!lastLine(double).includes(secret));
  }
});
