// Each mistake of `double.oauth2.next`, and a client that nobody here wrote, which refuses it.
import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { after, describe, test } from 'node:test';
import { promisify } from 'node:util';
import type { TokenMistake } from '../../src/double/auth/token-mistakes.ts';
import { startDouble } from '../../src/double/index.ts';
import { importClient, missingClient } from '../support/packages.ts';

const secret = 'a long secret of the shop';
const back = 'http://localhost:3000/cb';
const double = await startDouble({
  users: ['ann'],
  clients: {
    shop: {
      secret,
      redirectUris: [back],
      grants: ['authorization_code', 'refresh_token', 'client_credentials'],
      scopes: ['read', 'openid'],
      users: '*',
    },
  },
  oauth2: { openid: true, accessTokens: 'jwt', dpop: 'optional' },
});
after(() => double.close());

/** Returns the messages of an error and of its causes, and what the server said. */
function messagesOf(error: unknown): string {
  if (!(error instanceof Error)) return '';
  const said = 'error_description' in error ? `${error.error_description}; ` : '';
  return `${error.message}; ${said}${messagesOf(error.cause)}`;
}

/** The mistakes that a client was shown to refuse. */
const refused = new Set<string>();

/** Sends what a client needs to log in, and returns the subject that it accepts. */
type Login = () => Promise<unknown>;

/** Checks that a client refuses a response with a mistake, and accepts the next one. */
async function assertRefused(mistake: TokenMistake, login: Login, reason: RegExp): Promise<void> {
  await login();
  double.oauth2.next('token', mistake);
  await assert.rejects(login(), (error) => {
    assert.match(messagesOf(error), reason);
    return true;
  });
  await login();
  refused.add(mistake);
}

/** Logs in with openid-client, which verifies signatures although the connection is to be trusted. */
async function loginWithOpenidClient(): Promise<void> {
  const client = await importClient('openid-client');
  const execute = [client.allowInsecureRequests, client.enableNonRepudiationChecks];
  const config = await client.discovery(new URL(double.url), 'shop', secret, undefined, { execute });
  const [expectedState, expectedNonce] = [client.randomState(), client.randomNonce()];
  const pkceCodeVerifier = client.randomPKCECodeVerifier();
  const url = client.buildAuthorizationUrl(config, {
    redirect_uri: back,
    scope: 'openid read',
    code_challenge: await client.calculatePKCECodeChallenge(pkceCodeVerifier),
    code_challenge_method: 'S256',
    state: expectedState,
    nonce: expectedNonce,
    max_age: '3600',
  });
  const returned = new URL(await double.oauth2.approve(url.href, { user: 'ann' }));
  const expected = { pkceCodeVerifier, expectedState, expectedNonce, maxAge: 3600 };
  const tokens = await client.authorizationCodeGrant(config, returned, expected);
  await client.fetchUserInfo(config, tokens.access_token, tokens.claims().sub);
}

const byOpenidClient: readonly (readonly [TokenMistake, RegExp])[] = [
  ['expired', /unexpected JWT "exp" \(expiration time\) claim value/],
  ['missing-expiry', /"exp" \(expiration time\) claim missing/],
  ['not-yet-valid', /unexpected JWT "nbf"/],
  ['wrong-audience', /unexpected JWT "aud"/],
  ['wrong-issuer', /unexpected JWT "iss"/],
  ['wrong-subject', /unexpected "response" body "sub" property value/],
  ['wrong-nonce', /unexpected ID Token "nonce"/],
  ['missing-nonce', /"nonce" \(nonce\) claim missing/],
  ['wrong-authorized-party', /unexpected ID Token "azp"/],
  ['old-login', /too much time has elapsed since the last End-User authentication/],
  ['wrong-signature', /JWT signature verification failed/],
  ['unknown-kid', /cannot be determined|no applicable|error when selecting a JWT verification key/],
  ['critical-extension', /no JWT "crit" header parameter extensions are supported/],
  ['embedded-key', /JWT signature verification failed/],
  ['alg-none', /unexpected JWT "alg"/],
  ['alg-hmac', /unexpected JWT "alg"/],
  ['wrong-token-type', /unsupported `token_type` value/],
  ['missing-id-token', /"id_token" property must be a string/],
  ['mix-up', /unexpected "iss" \(issuer\) response parameter value/],
  ['missing-issuer', /response parameter "iss" \(issuer\) missing/],
  ['wrong-state', /unexpected "state" response parameter value/],
  ['missing-state', /response parameter "state" missing/],
  ['replayed-code', /The code was used before/],
];

describe('openid-client refuses a login with the mistake', { skip: missingClient('openid-client') }, () => {
  for (const [mistake, reason] of byOpenidClient)
    test(mistake, () => assertRefused(mistake, loginWithOpenidClient, reason));

  test('wrong-dpop-nonce, after it repeated the request with that nonce', async () => {
    const client = await importClient('openid-client');
    const insecure = { execute: [client.allowInsecureRequests] };
    const config = await client.discovery(new URL(double.url), 'shop', secret, undefined, insecure);
    const keys = await client.randomDPoPKeyPair();
    const login = async () => {
      const DPoP = client.getDPoPHandle(config, keys);
      await client.clientCredentialsGrant(config, {}, { DPoP });
    };
    await assertRefused('wrong-dpop-nonce', login, /needs the nonce of this service/);
  });
});

describe('oauth4webapi refuses', { skip: missingClient('oauth4webapi') }, () => {
  /** Obtains a token that is bound to a key, and verifies it as a resource server. */
  const verifyBoundToken = async (): Promise<void> => {
    const oauth = await importClient('oauth4webapi');
    const insecure = { [oauth.allowInsecureRequests]: true };
    const issuer = new URL(double.url);
    const found = await oauth.discoveryRequest(issuer, { algorithm: 'oidc', ...insecure });
    const server = await oauth.processDiscoveryResponse(issuer, found);
    const client = { client_id: 'shop' };
    const DPoP = oauth.DPoP(client, await oauth.generateKeyPair('ES256'));
    const authentication = oauth.ClientSecretPost(secret);
    const obtain = async (): Promise<{ access_token: string }> => {
      const options = { DPoP, ...insecure };
      const response = await oauth.clientCredentialsGrantRequest(server, client, authentication, {}, options);
      const recognizedTokenTypes = {
        bearer: () => {
          throw new Error('the token is not bound to the key');
        },
      };
      return oauth.processClientCredentialsResponse(server, client, response, { recognizedTokenTypes });
    };
    const { access_token: token } = await obtain().catch((error) => {
      if (oauth.isDPoPNonceError(error)) return obtain();
      throw error;
    });
    let sent = new Request(double.url);
    const keep = {
      ...insecure,
      DPoP,
      [oauth.customFetch]: async (url: string, init: RequestInit) => {
        sent = new Request(url, init);
        return new Response();
      },
    };
    await oauth.protectedResourceRequest(
      token,
      'GET',
      new URL(`${double.url}/articles`),
      undefined,
      undefined,
      keep,
    );
    await oauth.validateJwtAccessToken(server, sent, double.url, { ...insecure, requireDPoP: true });
  };

  test('unbound-token, as a client that requires a binding', () =>
    assertRefused('unbound-token', verifyBoundToken, /the token is not bound to the key/));

  test('wrong-binding and wrong-type, as a resource server', async () => {
    await assertRefused('wrong-binding', verifyBoundToken, /JWT Access Token confirmation mismatch/);
    await assertRefused('wrong-type', verifyBoundToken, /unexpected JWT "typ"/);
  });
});

/** Why authlib of Python cannot run. */
const missingAuthlib = ((): string | false => {
  try {
    execFileSync('/usr/bin/python3', ['-c', 'import authlib'], { stdio: 'ignore' });
    return false;
  } catch {
    return 'authlib is not installed';
  }
})();

describe('authlib refuses', { skip: missingAuthlib }, () => {
  const program = `
import json, sys
from authlib.jose import JsonWebKey, jwt
from authlib.oidc.core import CodeIDToken
given = json.load(sys.stdin)
class IDToken(CodeIDToken):
    def validate(self, now=None, leeway=0):
        super().validate(now, leeway)
        self.validate_at_hash()
options = {"iss": {"values": [given["issuer"]]}, "aud": {"values": ["shop"]}}
keys = JsonWebKey.import_key_set(given["keys"])
claims = jwt.decode(given["tokens"]["id_token"], keys, IDToken, options, {"access_token": given["tokens"]["access_token"]})
claims.validate()
`;
  const login = async (): Promise<void> => {
    const query = new URLSearchParams({
      ...{ response_type: 'code', client_id: 'shop', redirect_uri: back, scope: 'openid read' },
      code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
      code_challenge_method: 'S256',
    });
    const url = `${double.url}/oauth2/authorize?${query}`;
    const returned = new URL(await double.oauth2.approve(url, { user: 'ann' }));
    const body = new URLSearchParams({
      ...{ grant_type: 'authorization_code', client_id: 'shop', client_secret: secret, redirect_uri: back },
      code: returned.searchParams.get('code') ?? '',
      code_verifier: 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk',
    });
    const tokens = await (await fetch(`${double.url}/oauth2/token`, { method: 'POST', body })).json();
    const keys = await (await fetch(`${double.url}/oauth2/jwks`)).json();
    const running = promisify(execFile)('/usr/bin/python3', ['-c', program]);
    running.child.stdin?.end(JSON.stringify({ tokens, keys, issuer: double.url }));
    await running;
  };

  test('wrong-at-hash and expired', async () => {
    await assertRefused('wrong-at-hash', login, /InvalidClaimError.*at_hash/s);
    await assertRefused('expired', login, /ExpiredTokenError/);
  });
});

test('each mistake is refused by a client', {
  skip: missingClient('openid-client') || missingClient('oauth4webapi') || missingAuthlib,
}, () => {
  assert.throws(
    () => Reflect.apply(double.oauth2.next, undefined, ['token', 'none']),
    (error) => {
      const known = /known: (.*)$/.exec(messagesOf(error).replace(/; $/, ''))?.[1]?.split(', ') ?? [];
      assert.deepEqual([...refused].sort(), known.sort());
      return true;
    },
  );
});
