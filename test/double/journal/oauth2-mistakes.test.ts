// Refusals of OAuth 2.0. The first line of the journal's entry names the reason, without a secret or a token.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import type { Double } from '../../../src/double/index.ts';
import { callback, openWithOAuth, readLine, secrets } from './oauth.ts';

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

/** Authorizes the client `app` and returns the code. */
async function codeFor(double: Double): Promise<string> {
  const query = new URLSearchParams(authorization);
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
    /invalid_request, [^:]*: code_verifier is missing\.$/,
  ],
  [
    'the code has expired',
    async (double) => {
      const code = await codeFor(double);
      double.clock.advance('90s');
      await exchange(double, codeForm(code));
      return [code];
    },
    /the code expired 30 seconds ago by the clock of this double, at Sun, 01 Mar 2026 12:01:00 GMT; it was valid for 1 minute$/,
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
  [
    'the client authenticates with a JWT that it signed with its private key',
    async (double) => {
      const assertion = jwt({ alg: 'ES256' });
      await withoutBasic(double, { client_id: 'app', client_assertion: assertion });
      return [assertion];
    },
    /the client authenticates with private_key_jwt, which is not supported; supported: client_secret_basic, client_secret_post, none/,
  ],
  [
    'the client authenticates with a JWT that it signed with its secret',
    async (double) => {
      const assertion = jwt({ alg: 'HS256' });
      await withoutBasic(double, { client_assertion: assertion });
      return [assertion];
    },
    /the client authenticates with client_secret_jwt, which is not supported/,
  ],
  [
    'the client sends a proof of possession in place of its secret',
    async (double) => {
      await withoutBasic(double, { client_id: 'app' }, { DPoP: jwt({ alg: 'ES256', typ: 'dpop+jwt' }) });
      return [];
    },
    /the client app has a secret, but none was sent; a DPoP proof \(RFC 9449\) does not replace it/,
  ],
  [
    'the client authenticates with the scheme DPoP',
    async (double) => {
      await withoutBasic(double, { client_id: 'app' }, { Authorization: 'DPoP abc' });
      return [];
    },
    /the scheme DPoP was sent \(RFC 9449\), which is for resources; send the client secret with Basic/,
  ],
];

function jwt(header: Readonly<Record<string, string>>): string {
  const parts = [header, { iss: 'app', sub: 'app' }].map((part) =>
    Buffer.from(JSON.stringify(part)).toString('base64url'),
  );
  return `${parts.join('.')}.c2lnbmF0dXJl`;
}

/** Sends a request to the token endpoint without a client secret. */
async function withoutBasic(
  double: Double,
  form: Readonly<Record<string, string>>,
  headers: Readonly<Record<string, string>> = {},
): Promise<void> {
  const client_assertion_type = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
  const body = new URLSearchParams({ grant_type: 'client_credentials', client_assertion_type, ...form });
  await double.fetch('/oauth2/token', { method: 'POST', secure: true, headers: { ...headers }, body });
}

test('a token that is sent with the scheme DPoP is explained', async () => {
  await using double = await openWithOAuth();
  const { accessToken } = await double.oauth2.issueToken({ client: 'app', user: 'johndoe' });
  const headers = { Authorization: `DPoP ${accessToken}` };
  await double.fetch('/articles', { secure: true, headers });
  assert.match(
    readLine(double, accessToken),
    /the scheme DPoP was sent \(RFC 9449\), and oauth2\.dpop is off; send the access token with Bearer$/,
  );
});

for (const [name, named] of [
  ['request', /request was sent \(JAR, RFC 9101\), which is not supported; send all parameters in the query/],
  ['request_uri', /request_uri was sent \(PAR, RFC 9126, or JAR, RFC 9101\), which is not supported/],
] as const)
  test(`an authorization request with ${name} alone is explained`, async () => {
    await using double = await openWithOAuth({ explain: true });
    const headers = { Authorization: basic('johndoe', secrets.johndoe) };
    const target = `/oauth2/authorize?client_id=app&${name}=x`;
    const refused = await double.fetch(target, { secure: true, headers, redirect: 'manual' });
    assert.match(readLine(double), named);
    assert.match(await refused.text(), named);
  });

function authorize(double: Double, changes: Readonly<Record<string, string>>): Promise<Response> {
  const query = new URLSearchParams({ ...authorization, ...changes });
  const headers = { Authorization: basic('johndoe', secrets.johndoe) };
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
    /401, token-refused, .*the access token expired 1 minute ago by the clock of this double/,
  ],
  [
    'the bearer token was revoked',
    async (double) => {
      const { accessToken, refreshToken = '' } = await double.oauth2.issueToken({
        client: 'app',
        user: 'johndoe',
        refresh: true,
      });
      await double.oauth2.revokeTokens(refreshToken);
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
      await using double = await openWithOAuth({ explain });
      const hidden = await send(double);
      assert.match(readLine(double, ...hidden), named);
    }
  });
}

test('the token endpoint explains an error only with explain, and never reveals which client exists', async () => {
  for (const explain of [true, false]) {
    await using double = await openWithOAuth({ explain });
    const shown = await exchange(double, codeForm(await codeFor(double), { redirect_uri: `${callback}/` }));
    assert.equal(/different: the trailing slash/.test(shown), explain);
    const [unknown, wrong] = [
      await exchange(double, {}, ['apps', 'x']),
      await exchange(double, {}, ['app', 'x']),
    ];
    assert.equal(unknown, wrong);
  }
});
