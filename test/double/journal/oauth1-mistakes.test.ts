// Refusals of OAuth 1.0a. The first line of the journal's entry names the reason, without a secret or a token.
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import type { Double } from '../../../src/double/index.ts';
import { openWithOAuth, readLine, secrets } from './oauth.ts';

function escaped(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

interface Signing {
  readonly key: string;
  readonly changes?: Readonly<Record<string, string>>;
  readonly path?: string;
  readonly verb?: string;
}

let nonces = 0;

/** Signs as a consumer of OAuth 1.0a does (RFC 5849 §3.4.1), by a way of its own. */
async function signed(
  double: Double,
  { key, changes = {}, path = '/articles', verb = 'GET' }: Signing,
): Promise<void> {
  nonces += 1;
  const parameters: Record<string, string> = {
    oauth_consumer_key: 'key1',
    oauth_signature_method: 'HMAC-SHA1',
    oauth_timestamp: String(double.clock.now() / 1000),
    oauth_nonce: `nonce-${nonces}`,
    ...changes,
  };
  const pairs = Object.entries(parameters).map(([name, value]) => `${escaped(name)}=${escaped(value)}`);
  const right = [verb, `${double.secureUrl}${path}`, pairs.sort().join('&')].map(escaped).join('&');
  const signature = createHmac('sha1', key).update(right).digest('base64');
  const header = Object.entries({ ...parameters, oauth_signature: signature }).map(
    ([name, value]) => `${escaped(name)}="${escaped(value)}"`,
  );
  await double.fetch(path, {
    method: verb,
    secure: true,
    headers: { Authorization: `OAuth ${header.join(', ')}` },
  });
}

test('an expired token of OAuth 1.0a is explained, with the time since it expired', async () => {
  await using double = await openWithOAuth();
  const { token, tokenSecret } = await double.oauth1.issueToken({ client: 'key1', user: 'johndoe' });
  double.clock.advance('25h');
  await signed(double, { key: `${escaped(secrets.key1)}&${tokenSecret}`, changes: { oauth_token: token } });
  assert.match(
    readLine(double, token, tokenSecret),
    /The token has expired: the access token expired 1 hour ago by the clock of this double/,
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
    readLine(double),
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
    Buffer.from(double.journal.last()?.raw().response?.body ?? '').toString(),
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
    readLine(double, token, secret, oauthVerifier),
    /401, verifier_invalid, .*it was sent in another letter case; attempts left with this token: 2/,
  );
});
