// Refusals of OAuth 2.0 and 1.0a. The first line of the journal's entry names the reason, without a secret or a token.
import assert from 'node:assert/strict';
import { createHash, createHmac } from 'node:crypto';
import { test } from 'node:test';
import { type Double, type DoubleOptions, startDouble } from '../../../src/double/index.ts';

const callback = 'https://client.example/cb';
const verifier = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';
const challenge = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';
const otherVerifier = 'another-verifier-of-43-characters-0123456789';
const otherChallenge = createHash('sha256').update(otherVerifier).digest('base64url');
const secrets = {
  app: 'the secret of app',
  rival: 'the secret of rival',
  key1: 'the secret of key1',
  key2: 'the secret of key2',
};

function open(options: DoubleOptions = {}): Promise<Double> {
  return startDouble({
    users: { johndoe: { secret: 's3cret-of-john', password: 'a-password' }, ann: {} },
    clients: {
      app: {
        secret: secrets.app,
        redirectUris: [callback],
        scopes: ['read'],
        grants: ['authorization_code', 'refresh_token'],
      },
      rival: { secret: secrets.rival, redirectUris: [callback] },
    },
    consumers: {
      key1: { secret: secrets.key1, callbacks: ['oob', 'https://client.example/ready'] },
      key2: { secret: secrets.key2, callbacks: ['oob'] },
    },
    now: '2026-03-01T12:00:00Z',
    ...options,
  });
}

function basic(user: string, password: string): string {
  return `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
}

/** Authorizes the client `app` and returns the code. */
async function codeFor(double: Double): Promise<string> {
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: 'app',
    redirect_uri: callback,
    code_challenge: challenge,
    code_challenge_method: 'S256',
  });
  const back = await double.oauth2.approve(`/oauth2/authorize?${query}`, { user: 'johndoe' });
  return new URL(back).searchParams.get('code') ?? '';
}

/** Sends a request to the token endpoint. Returns the error description. */
async function exchange(
  double: Double,
  form: Readonly<Record<string, string>>,
  [client, secret]: readonly [string, string] = ['app', secrets.app],
): Promise<string> {
  const headers = { Authorization: basic(client, secret) };
  const response = await double.fetch('/oauth2/token', {
    method: 'POST',
    secure: true,
    headers,
    body: new URLSearchParams(form),
  });
  return await response.text();
}

function codeForm(code: string, changes: Readonly<Record<string, string>> = {}): Record<string, string> {
  return {
    grant_type: 'authorization_code',
    code,
    redirect_uri: callback,
    code_verifier: verifier,
    ...changes,
  };
}

/** The first line of the latest entry. Fails if the entry contains a secret, or any of these texts. */
function lineOf(double: Double, ...hidden: readonly string[]): string {
  const text = String(double.journal.last());
  for (const each of [...Object.values(secrets), 'a-password', ...hidden])
    assert.ok(!text.includes(each), text);
  const [line = ''] = text.split('\n', 1);
  return line;
}

/** A mistake: sends the request, and returns values that the entry must not contain. */
type Mistake = readonly [what: string, send: (double: Double) => Promise<readonly string[]>, named: RegExp];

const atToken: readonly Mistake[] = [
  [
    'the client is another one',
    async (double) => {
      const code = await codeFor(double);
      await exchange(double, codeForm(code), ['rival', secrets.rival]);
      return [code];
    },
    /400, invalid_grant, .*the code was issued to another client, not to rival$/,
  ],
  [
    'the redirect URI differs',
    async (double) => {
      const code = await codeFor(double);
      await exchange(double, codeForm(code, { redirect_uri: `${callback}/` }));
      return [code];
    },
    /redirect_uri is https:\/\/client\.example\/cb\/, but it was https:\/\/client\.example\/cb in the authorization request \(different: the trailing slash\)$/,
  ],
  [
    'the verifier is another one',
    async (double) => {
      const code = await codeFor(double);
      await exchange(double, codeForm(code, { code_verifier: otherVerifier }));
      return [code, otherVerifier];
    },
    new RegExp(
      `the code_verifier has the challenge ${otherChallenge}, but the authorization request had ${challenge}$`,
    ),
  ],
  [
    'the verifier is missing',
    async (double) => {
      const { code_verifier: _, ...form } = codeForm(await codeFor(double));
      await exchange(double, form);
      return [];
    },
    /invalid_request, .*code_verifier is missing\.?: code_verifier is missing$/,
  ],
  [
    'the code has expired',
    async (double) => {
      const code = await codeFor(double);
      double.clock.advance('90s');
      await exchange(double, codeForm(code));
      return [code];
    },
    /the code expired 30 s ago, at Sun, 01 Mar 2026 12:01:00 GMT; it was valid for 60 s$/,
  ],
  [
    'the code is used twice',
    async (double) => {
      const code = await codeFor(double);
      await exchange(double, codeForm(code));
      await exchange(double, codeForm(code));
      return [code];
    },
    /the code was used before; its grant is revoked$/,
  ],
  [
    'the refresh token is used twice',
    async (double) => {
      const { refreshToken = '' } = await double.oauth2.issueToken({
        client: 'app',
        user: 'johndoe',
        refresh: true,
      });
      const form = { grant_type: 'refresh_token', refresh_token: refreshToken };
      await exchange(double, form);
      await exchange(double, form);
      return [refreshToken];
    },
    /the refresh token was used before/,
  ],
  [
    'the scope exceeds the granted one',
    async (double) => {
      const { refreshToken = '' } = await double.oauth2.issueToken({
        client: 'app',
        user: 'johndoe',
        refresh: true,
      });
      await exchange(double, {
        grant_type: 'refresh_token',
        refresh_token: refreshToken,
        scope: 'read write',
      });
      return [refreshToken];
    },
    /invalid_scope, .*the scope write is not granted; granted for the client: read$/,
  ],
  [
    'the grant type is not registered',
    async (double) => {
      await exchange(double, { grant_type: 'client_credentials' });
      return [];
    },
    /unauthorized_client, .*app is registered for authorization_code, refresh_token$/,
  ],
  [
    'the secret is that of another client',
    async (double) => {
      await exchange(double, codeForm('x'), ['app', secrets.rival]);
      return [];
    },
    /401, invalid_client, .*the secret of another client, rival, was sent$/,
  ],
  [
    'the client is unknown',
    async (double) => {
      await exchange(double, codeForm('x'), ['apps', secrets.app]);
      return [];
    },
    /there is no client apps; did you mean app\?$/,
  ],
];

function authorize(double: Double, changes: Readonly<Record<string, string>>): Promise<Response> {
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: 'app',
    redirect_uri: callback,
    code_challenge: challenge,
    code_challenge_method: 'S256',
    ...changes,
  });
  const headers = { Authorization: basic('johndoe', 'a-password') };
  return double.fetch(`/oauth2/authorize?${query}`, { secure: true, headers, redirect: 'manual' });
}

const elsewhere: readonly Mistake[] = [
  [
    'the redirect URI is not registered',
    async (double) => {
      await authorize(double, { redirect_uri: 'http://client.example/cb' });
      return [];
    },
    /the client app exists, but http:\/\/client\.example\/cb is not among its redirect URIs \(different: http instead of https/,
  ],
  [
    'the challenge is plain',
    async (double) => {
      await authorize(double, { code_challenge_method: 'plain' });
      return [];
    },
    /303, invalid_request, .*code_challenge_method is plain$/,
  ],
  [
    'the scope is unknown',
    async (double) => {
      await authorize(double, { scope: 'read admin' });
      return [];
    },
    /invalid_scope, .*unknown in the scope: admin; the scopes are read write$/,
  ],
  [
    'the bearer token has expired',
    async (double) => {
      const { accessToken } = await double.oauth2.issueToken({
        client: 'app',
        user: 'johndoe',
        expiresIn: '10m',
      });
      double.clock.advance('11m');
      await bearer(double, accessToken);
      return [accessToken];
    },
    /401, token-refused, .*the access token expired 60 s ago/,
  ],
  [
    'the bearer token was revoked',
    async (double) => {
      const { accessToken, refreshToken = '' } = await double.oauth2.issueToken({
        client: 'app',
        user: 'johndoe',
        refresh: true,
      });
      await double.oauth2.revoke(refreshToken);
      await bearer(double, accessToken);
      return [accessToken];
    },
    /the grant of the access token was revoked/,
  ],
  [
    'a refresh token is sent as a bearer token',
    async (double) => {
      const { refreshToken = '' } = await double.oauth2.issueToken({
        client: 'app',
        user: 'johndoe',
        refresh: true,
      });
      await bearer(double, refreshToken);
      return [refreshToken];
    },
    /the refresh token of OAuth 2\.0 was sent instead of an access token/,
  ],
];

async function bearer(double: Double, token: string): Promise<void> {
  await double.fetch('/articles', { secure: true, headers: { Authorization: `Bearer ${token}` } });
}

for (const [what, send, named] of [...atToken, ...elsewhere]) {
  test(`the first line of an entry names the reason of a refusal of OAuth 2.0: ${what}`, async () => {
    for (const explain of [true, false]) {
      await using double = await open({ explain });
      const hidden = await send(double);
      assert.match(lineOf(double, ...hidden), named);
    }
  });
}

test('the token endpoint explains an error only with explain, and never which client exists', async () => {
  for (const explain of [true, false]) {
    await using double = await open({ explain });
    const shown = await exchange(double, codeForm(await codeFor(double), { redirect_uri: `${callback}/` }));
    assert.equal(/different: the trailing slash/.test(shown), explain);
    const [unknown, wrong] = [
      await exchange(double, {}, ['apps', 'x']),
      await exchange(double, {}, ['app', 'x']),
    ];
    assert.equal(unknown, wrong);
  }
});

function escaped(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

interface Signing {
  readonly method?: string;
  readonly base?: (base: string) => string;
  readonly key?: string;
  readonly hash?: string;
  readonly changes?: Readonly<Record<string, string>>;
  readonly path?: string;
  readonly verb?: string;
}

let nonces = 0;

/** Signs as a consumer of OAuth 1.0a does (RFC 5849 §3.4.1), by a way of its own. */
async function signed(
  double: Double,
  { base = (text) => text, key, hash = 'sha1', changes = {}, path = '/articles', verb = 'GET' }: Signing,
  query = '',
): Promise<void> {
  nonces += 1;
  const parameters: Record<string, string> = {
    oauth_consumer_key: 'key1',
    oauth_signature_method: 'HMAC-SHA1',
    oauth_timestamp: String(double.clock.now() / 1000),
    oauth_nonce: `nonce-${nonces}`,
    ...changes,
  };
  const pairs = [...Object.entries(parameters), ...new URLSearchParams(query)].map(
    ([name, value]) => `${escaped(name)}=${escaped(value)}`,
  );
  const right = [verb, `${double.secureUrl}${path}`, pairs.sort().join('&')].map(escaped).join('&');
  const signature = createHmac(hash, key ?? '')
    .update(base(right))
    .digest('base64');
  const header = Object.entries({ ...parameters, oauth_signature: signature }).map(
    ([name, value]) => `${escaped(name)}="${escaped(value)}"`,
  );
  const target = query === '' ? path : `${path}?${query}`;
  await double.fetch(target, {
    method: verb,
    secure: true,
    headers: { Authorization: `OAuth ${header.join(', ')}` },
  });
}

const signatures: readonly (readonly [
  what: string,
  signing: (key: string, tokenKey: string) => Signing,
  named: RegExp,
])[] = [
  [
    'the query is left out',
    (key) => ({ key, base: (text) => text.replace('limit%3D2%26', '') }),
    /parameters of the query were left out/,
  ],
  [
    'the query is left in the base URI',
    (key) => ({ key, base: (text) => text.replace('articles&', 'articles%3Flimit%3D2&') }),
    /query was left in the base URI/,
  ],
  [
    'http is signed instead of https',
    (key) => ({ key, base: (text) => text.replace('https', 'http') }),
    /http was signed instead of https/,
  ],
  [
    'the port is left out',
    (key) => ({ key, base: (text) => text.replace(/%3A\d+%2F/, '%2F') }),
    /the port was left out/,
  ],
  [
    'the method is in lower case',
    (key) => ({ key, base: (text) => text.replace('GET', 'get') }),
    /method was signed in lower case/,
  ],
  [
    'another method is signed',
    (key) => ({ key, base: (text) => text.replace('GET', 'POST') }),
    /POST was signed, but GET arrived/,
  ],
  [
    'the parameters are encoded once',
    (key) => ({ key, base: (text) => text.replace(/&[^&]*$/, decodeURIComponent) }),
    /encoded once instead of twice/,
  ],
  [
    'the secret of the token is left out',
    () => ({ key: `${escaped(secrets.key1)}&` }),
    /secret of the token was left out/,
  ],
  ['the key is the secret alone', () => ({ key: secrets.key1 }), /secret of the consumer alone/],
  [
    'the secrets are not encoded',
    (key) => ({ key: decodeURIComponent(key) }),
    /secrets were not percent-encoded in the key/,
  ],
  [
    'the hash is SHA-256',
    (key) => ({ key, hash: 'sha256' }),
    /made with sha256, but oauth_signature_method is HMAC-SHA1/,
  ],
  [
    'the secret is that of another consumer',
    (_, tokenKey) => ({ key: tokenKey }),
    /secret of another consumer, key2/,
  ],
  [
    'the consumer is unknown',
    (key) => ({ key, changes: { oauth_consumer_key: 'key3' } }),
    /there is no consumer key3|secret of another consumer, key1/,
  ],
  [
    'the timestamp is old',
    (key) => ({ key, changes: { oauth_timestamp: String(Date.UTC(2026, 2, 1, 11) / 1000) } }),
    /timestamp is 3600 s behind the server's clock; the maximum is 300 s/,
  ],
  [
    'the timestamp is in milliseconds',
    (key) => ({ key, changes: { oauth_timestamp: '177236640000' } }),
    /ahead of the server's clock.*milliseconds instead of seconds\?/,
  ],
];

for (const [what, signing, named] of signatures) {
  test(`the first line of an entry names the reason of a refusal of OAuth 1.0a: ${what}`, async () => {
    await using double = await open();
    const { token, tokenSecret } = await double.oauth1.issueToken({ consumer: 'key1', user: 'johndoe' });
    const keys = [secrets.key1, secrets.key2].map((secret) => `${escaped(secret)}&${tokenSecret}`);
    const [own = '', other = ''] = keys;
    const { changes = {}, ...rest } = signing(own, other);
    await signed(double, { ...rest, changes: { oauth_token: token, ...changes } }, 'limit=2');
    assert.match(lineOf(double, token, tokenSecret), named);
  });
}

test('an expired token of OAuth 1.0a is explained, with the time since it expired', async () => {
  await using double = await open();
  const { token, tokenSecret } = await double.oauth1.issueToken({ consumer: 'key1', user: 'johndoe' });
  double.clock.advance('25h');
  await signed(double, { key: `${escaped(secrets.key1)}&${tokenSecret}`, changes: { oauth_token: token } });
  assert.match(
    lineOf(double, token, tokenSecret),
    /The token has expired: the access token expired 3600 s ago/,
  );
});

test('a callback that is not registered is explained', async () => {
  await using double = await open();
  await signed(double, {
    key: `${escaped(secrets.key1)}&`,
    changes: { oauth_callback: 'https://client.example/ready/' },
    path: '/oauth1/request_token',
    verb: 'POST',
  });
  assert.match(
    lineOf(double),
    /400, parameter_rejected, .*oauth_callback is https:\/\/client\.example\/ready\/ \(different: the trailing slash\); key1 is registered with oob, /,
  );
});

test('a wrong verifier of OAuth 1.0a is explained, with the number of attempts left', async () => {
  await using double = await open();
  const key = `${escaped(secrets.key1)}&`;
  await signed(double, {
    key,
    changes: { oauth_callback: 'oob' },
    path: '/oauth1/request_token',
    verb: 'POST',
  });
  const issued = new URLSearchParams(
    Buffer.from(double.journal.last()?.raw().reply?.content ?? '').toString(),
  );
  const [token = '', secret = ''] = ['oauth_token', 'oauth_token_secret'].map(
    (name) => issued.get(name) ?? '',
  );
  const back = await double.oauth1.approve(`/oauth1/authorize?oauth_token=${token}`, { user: 'johndoe' });
  const oauthVerifier = new URL(back).searchParams.get('oauth_verifier') ?? '';
  await signed(double, {
    key: key + secret,
    changes: { oauth_token: token, oauth_verifier: oauthVerifier.toUpperCase() },
    path: '/oauth1/access_token',
    verb: 'POST',
  });
  assert.match(
    lineOf(double, token, secret, oauthVerifier),
    /401, verifier_invalid, .*it was sent in another letter case; attempts left with this token: 2/,
  );
});
