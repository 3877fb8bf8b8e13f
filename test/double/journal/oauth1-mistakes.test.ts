// Refusals of OAuth 1.0a. The first line of the journal's entry names the reason, without a secret or a token.
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import type { Double } from '../../../src/double/index.ts';
import { lineOf, openWithOAuth, secrets } from '../../support/double/oauth.ts';

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
    await using double = await openWithOAuth();
    const { token, tokenSecret } = await double.oauth1.issueToken({ consumer: 'key1', user: 'johndoe' });
    const keys = [secrets.key1, secrets.key2].map((secret) => `${escaped(secret)}&${tokenSecret}`);
    const [own = '', other = ''] = keys;
    const { changes = {}, ...rest } = signing(own, other);
    await signed(double, { ...rest, changes: { oauth_token: token, ...changes } }, 'limit=2');
    assert.match(lineOf(double, token, tokenSecret), named);
  });
}

test('an expired token of OAuth 1.0a is explained, with the time since it expired', async () => {
  await using double = await openWithOAuth();
  const { token, tokenSecret } = await double.oauth1.issueToken({ consumer: 'key1', user: 'johndoe' });
  double.clock.advance('25h');
  await signed(double, { key: `${escaped(secrets.key1)}&${tokenSecret}`, changes: { oauth_token: token } });
  assert.match(
    lineOf(double, token, tokenSecret),
    /The token has expired: the access token expired 3600 s ago/,
  );
});

test('a callback that is not registered is explained', async () => {
  await using double = await openWithOAuth();
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
  await using double = await openWithOAuth();
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
