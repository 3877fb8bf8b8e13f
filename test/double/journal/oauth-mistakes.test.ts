// Refusals of OAuth. The first line of the journal's entry names the reason, without a secret or a token.
import assert from 'node:assert/strict';
import { createHash, createHmac } from 'node:crypto';
import { test } from 'node:test';
import { type Double, type DoubleOptions, startDouble } from '../../../src/double/index.ts';

type Form = Readonly<Record<string, string>>;

const callback = 'https://client.example/cb';
const secrets = {
  app: 'the secret of app',
  rival: 'the secret of rival',
  key1: 'the secret of key1',
  johndoe: 'a-password',
};

function open(options: DoubleOptions = {}): Promise<Double> {
  const grants = ['authorization_code', 'refresh_token'] as const;
  return startDouble({
    users: { johndoe: { secret: 's3cret-of-john', password: secrets.johndoe }, ann: {} },
    clients: {
      app: { secret: secrets.app, redirectUris: [callback], scopes: ['read'], grants },
      rival: { secret: secrets.rival, redirectUris: [callback] },
    },
    consumers: { key1: { secret: secrets.key1, callbacks: ['oob', 'https://client.example/ready'] } },
    now: '2026-03-01T12:00:00Z',
    ...options,
  });
}

/** Returns the first line of the latest entry. Fails if the entry contains a secret, or any of these texts. */
function readLine(double: Double, ...hidden: readonly string[]): string {
  const text = String(double.journal.last());
  for (const each of [...Object.values(secrets), ...hidden]) assert.ok(!text.includes(each), text);
  const [line = ''] = text.split('\n', 1);
  return line;
}

const verifier = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';
const challenge = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';
const otherVerifier = 'another-verifier-of-43-characters-0123456789';
const otherChallenge = createHash('sha256').update(otherVerifier).digest('base64url');
const authorization = {
  response_type: 'code',
  client_id: 'app',
  redirect_uri: callback,
  code_challenge: challenge,
  code_challenge_method: 'S256',
};

function basic(user: string, password: string): string {
  return `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
}

/** Sends a form to the token endpoint. Returns the content of the response. */
async function obtain(
  double: Double,
  form: Form,
  headers: Form = { Authorization: basic('app', secrets.app) },
): Promise<string> {
  const init = { method: 'POST', secure: true, headers: { ...headers }, body: new URLSearchParams(form) };
  return (await double.fetch('/oauth2/token', init)).text();
}

/** A mistake: sends the request, and returns values that the entry must not contain. */
type Send = (double: Double) => Promise<readonly string[]>;

/** Exchanges a code with these changes of the form, after `between`. */
const exchanging =
  (changes: Form, headers?: Form, between = (_: Double, __: Form): unknown => undefined): Send =>
  async (double) => {
    const url = `/oauth2/authorize?${new URLSearchParams(authorization)}`;
    const back = await double.oauth2.approve(url, { user: 'johndoe' });
    const code = new URL(back).searchParams.get('code') ?? '';
    const whole = { grant_type: 'authorization_code', code, redirect_uri: callback, code_verifier: verifier };
    const form = Object.fromEntries(
      Object.entries({ ...whole, ...changes }).filter(([, value]) => value !== ''),
    );
    await between(double, form);
    await obtain(double, form, headers);
    return [code, otherVerifier];
  };

/** Refreshes a token with these changes of the form, `times` times. */
const refreshing =
  (changes: Form, times = 1): Send =>
  async (double) => {
    const issued = { client: 'app', user: 'johndoe', refresh: true };
    const { refreshToken = '' } = await double.oauth2.issueToken(issued);
    for (let sent = 0; sent < times; sent += 1)
      await obtain(double, { grant_type: 'refresh_token', refresh_token: refreshToken, ...changes });
    return [refreshToken];
  };

/** Sends the form of a client without its secret. */
const withoutSecret =
  (form: Form, headers: Form = {}): Send =>
  async (double) => {
    const type = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
    await obtain(double, { grant_type: 'client_credentials', client_assertion_type: type, ...form }, headers);
    return Object.values(form).filter((value) => value.includes('.'));
  };

const asking =
  (changes: Form, base: Form = authorization): Send =>
  async (double) => {
    const query = new URLSearchParams({ ...base, ...changes });
    const headers = { Authorization: basic('johndoe', secrets.johndoe) };
    await double.fetch(`/oauth2/authorize?${query}`, { secure: true, headers, redirect: 'manual' });
    return [];
  };

/** Sends one of the issued tokens to a resource, after `between`. */
const withToken =
  (
    kind: 'accessToken' | 'refreshToken',
    between = (_: Double, __: string): unknown => undefined,
    scheme = 'Bearer',
  ): Send =>
  async (double) => {
    const issued = { client: 'app', user: 'johndoe', refresh: true, expiresIn: '10m' };
    const tokens = await double.oauth2.issueToken(issued);
    await between(double, tokens.refreshToken ?? '');
    const token = tokens[kind] ?? '';
    await double.fetch('/articles', { secure: true, headers: { Authorization: `${scheme} ${token}` } });
    return [token];
  };

function jwt(header: Form): string {
  const parts = [header, { iss: 'app', sub: 'app' }].map((part) =>
    Buffer.from(JSON.stringify(part)).toString('base64url'),
  );
  return `${parts.join('.')}.c2lnbmF0dXJl`;
}

const mistakes: Readonly<Record<string, readonly [send: Send, named: RegExp]>> = {
  'the client is another one': [
    exchanging({}, { Authorization: basic('rival', secrets.rival) }),
    /400, invalid_grant, .*the code was issued to another client, not to rival$/,
  ],
  'the redirect URI differs': [
    exchanging({ redirect_uri: `${callback}/` }),
    /redirect_uri is https:\/\/client\.example\/cb\/, but it was https:\/\/client\.example\/cb in the authorization request \(different: the trailing slash\)$/,
  ],
  'the verifier is another one': [
    exchanging({ code_verifier: otherVerifier }),
    new RegExp(
      `the code_verifier has the challenge ${otherChallenge}, but the authorization request had ${challenge}$`,
    ),
  ],
  'the verifier is missing': [
    exchanging({ code_verifier: '' }),
    /invalid_request, [^:]*: code_verifier is missing\.$/,
  ],
  'the code has expired': [
    exchanging({}, undefined, ({ clock }) => clock.advance('90s')),
    /the code expired 30 seconds ago by the clock of this double, at Sun, 01 Mar 2026 12:01:00 GMT; it was valid for 1 minute$/,
  ],
  'the code is used twice': [
    exchanging({}, undefined, obtain),
    /the code was used before; its grant is revoked$/,
  ],
  'the refresh token is used twice': [refreshing({}, 2), /the refresh token was used before/],
  'the scope exceeds the granted one': [
    refreshing({ scope: 'read write' }),
    /invalid_scope, .*the scope write is not granted; granted for the client: read$/,
  ],
  'the grant type is not registered': [
    refreshing({ grant_type: 'client_credentials' }),
    /unauthorized_client, .*app is registered for authorization_code, refresh_token$/,
  ],
  'the secret is that of another client': [
    exchanging({}, { Authorization: basic('app', secrets.rival) }),
    /401, invalid_client, .*the secret of another client, rival, was sent$/,
  ],
  'the client is unknown': [
    exchanging({}, { Authorization: basic('apps', secrets.app) }),
    /there is no client apps; did you mean app\?$/,
  ],
  'the client authenticates with a JWT that it signed with its private key': [
    withoutSecret({ client_id: 'app', client_assertion: jwt({ alg: 'ES256' }) }),
    /the client authenticates with private_key_jwt, which is not supported; supported: client_secret_basic, client_secret_post, none/,
  ],
  'the client authenticates with a JWT that it signed with its secret': [
    withoutSecret({ client_assertion: jwt({ alg: 'HS256' }) }),
    /the client authenticates with client_secret_jwt, which is not supported/,
  ],
  'the client sends a proof of possession in place of its secret': [
    withoutSecret({ client_id: 'app' }, { DPoP: jwt({ alg: 'ES256', typ: 'dpop+jwt' }) }),
    /the client app has a secret, but none was sent; a DPoP proof \(RFC 9449\) does not replace it/,
  ],
  'the client authenticates with the scheme DPoP': [
    withoutSecret({ client_id: 'app' }, { Authorization: 'DPoP abc' }),
    /the scheme DPoP was sent \(RFC 9449\), which is for resources; send the client secret with Basic/,
  ],
  'the redirect URI is not registered': [
    asking({ redirect_uri: 'http://client.example/cb' }),
    /the client app exists, but http:\/\/client\.example\/cb is not among its redirect URIs \(different: http instead of https/,
  ],
  'the challenge is plain': [
    asking({ code_challenge_method: 'plain' }),
    /303, invalid_request, .*code_challenge_method is plain$/,
  ],
  'the scope is unknown': [
    asking({ scope: 'read admin' }),
    /invalid_scope, .*unknown in the scope: admin; the scopes are read write$/,
  ],
  'the parameters are in a request object': [
    asking({ request: 'x' }, { client_id: 'app' }),
    /request was sent \(JAR, RFC 9101\), which is not supported; send all parameters in the query/,
  ],
  'the parameters were pushed': [
    asking({ request_uri: 'x' }, { client_id: 'app' }),
    /request_uri was sent \(PAR, RFC 9126, or JAR, RFC 9101\), which is not supported/,
  ],
  'the bearer token has expired': [
    withToken('accessToken', ({ clock }) => clock.advance('11m')),
    /401, token-refused, .*the access token expired 1 minute ago by the clock of this double/,
  ],
  'the bearer token was revoked': [
    withToken('accessToken', ({ oauth2 }, refreshToken) => oauth2.revokeTokens(refreshToken)),
    /the grant of the access token was revoked/,
  ],
  'a refresh token is sent as a bearer token': [
    withToken('refreshToken'),
    /the refresh token of OAuth 2\.0 was sent instead of an access token/,
  ],
  'a token is sent with the scheme DPoP': [
    withToken('accessToken', undefined, 'DPoP'),
    /the scheme DPoP was sent \(RFC 9449\), and oauth2\.dpop is off; send the access token with Bearer$/,
  ],
};

for (const [what, [send, named]] of Object.entries(mistakes)) {
  test(`the first line of an entry names the reason of a refusal of OAuth 2.0: ${what}`, async () => {
    for (const explain of [true, false]) {
      await using double = await open({ explain });
      const hidden = await send(double);
      assert.match(readLine(double, ...hidden), named);
    }
  });
}

test('the token endpoint explains an error only with explain, and never reveals which client exists', async () => {
  for (const explain of [true, false]) {
    await using double = await open({ explain });
    await exchanging({ redirect_uri: `${callback}/` })(double);
    const shown = double.journal.last().response?.body ?? '';
    assert.equal(/different: the trailing slash/.test(shown), explain);
    const [unknown, wrong] = [
      await obtain(double, {}, { Authorization: basic('apps', 'x') }),
      await obtain(double, {}, { Authorization: basic('app', 'x') }),
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

/** Signs as a consumer of OAuth 1.0a does (RFC 5849 §3.4.1), by a way of its own. Returns the content of the response. */
async function sendSigned(double: Double, changes: Form, secret = '', path = '/articles'): Promise<string> {
  const method = path === '/articles' ? 'GET' : 'POST';
  const parameters: Record<string, string> = {
    oauth_consumer_key: 'key1',
    oauth_signature_method: 'HMAC-SHA1',
    oauth_timestamp: String(double.clock.now() / 1000),
    oauth_nonce: `nonce-${double.journal.length}`,
    ...changes,
  };
  const pairs = Object.entries(parameters).map(([name, value]) => `${escaped(name)}=${escaped(value)}`);
  const text = [method, `${double.secureUrl}${path}`, pairs.sort().join('&')].map(escaped).join('&');
  const key = `${escaped(secrets.key1)}&${secret}`;
  const signature = createHmac('sha1', key).update(text).digest('base64');
  const header = Object.entries({ ...parameters, oauth_signature: signature }).map(
    ([name, value]) => `${escaped(name)}="${escaped(value)}"`,
  );
  const headers = { Authorization: `OAuth ${header.join(', ')}` };
  return (await double.fetch(path, { method, secure: true, headers })).text();
}

test('refusals of OAuth 1.0a are explained: an expired token, another callback and a wrong verifier', async () => {
  await using double = await open();
  const { token, tokenSecret } = await double.oauth1.issueToken({ client: 'key1', user: 'johndoe' });
  double.clock.advance('25h');
  await sendSigned(double, { oauth_token: token }, tokenSecret);
  assert.match(
    readLine(double, token, tokenSecret),
    /The token has expired: the access token expired 1 hour ago by the clock of this double/,
  );
  await sendSigned(double, { oauth_callback: 'https://client.example/ready/' }, '', '/oauth1/request_token');
  assert.match(
    readLine(double),
    /400, parameter_rejected, .*oauth_callback is https:\/\/client\.example\/ready\/ \(different: the trailing slash\); key1 is registered with oob, /,
  );
  const issued = await sendSigned(double, { oauth_callback: 'oob' }, '', '/oauth1/request_token');
  const [request = '', secret = ''] = new URLSearchParams(issued).values();
  const back = await double.oauth1.approve(`/oauth1/authorize?oauth_token=${request}`, { user: 'johndoe' });
  const approved = new URL(back).searchParams.get('oauth_verifier') ?? '';
  assert.ok(double.journal.all().every((entry) => !JSON.stringify(entry).includes(approved)));
  const denial = { user: 'johndoe', decision: 'deny' } as const;
  const other = new URLSearchParams(
    await sendSigned(double, { oauth_callback: 'oob' }, '', '/oauth1/request_token'),
  ).get('oauth_token');
  const refusal = await double.oauth1.approve(`/oauth1/authorize?oauth_token=${other}`, denial);
  assert.equal(new URL(refusal).searchParams.get('oauth_problem'), 'user_refused');
  const wrong = { oauth_token: request, oauth_verifier: approved.toUpperCase() };
  await sendSigned(double, wrong, secret, '/oauth1/access_token');
  assert.match(
    readLine(double, request, secret, approved),
    /401, verifier_invalid, .*it was sent in another letter case; attempts left with this token: 2/,
  );
});
