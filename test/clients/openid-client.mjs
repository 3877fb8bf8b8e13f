import * as client from 'openid-client';
import { approve, resource, step } from './approve.mjs';

const { BASE, CLIENT_ID, CLIENT_SECRET, PUBLIC_ID, PLAIN_REDIRECT_URI } = process.env;
const config = await client.discovery(
  new URL(BASE),
  CLIENT_ID,
  undefined,
  client.ClientSecretPost(CLIENT_SECRET),
  { algorithm: 'oauth2' },
);
step('metadata', config.serverMetadata().issuer, BASE);
const own = await client.clientCredentialsGrant(config, { scope: 'read' });
step('client_credentials', own.scope, 'read');

const pkceCodeVerifier = client.randomPKCECodeVerifier();
const expectedState = client.randomState();
const url = client.buildAuthorizationUrl(config, {
  redirect_uri: PLAIN_REDIRECT_URI,
  scope: 'read',
  code_challenge: await client.calculatePKCECodeChallenge(pkceCodeVerifier),
  code_challenge_method: 'S256',
  state: expectedState,
});
const tokens = await client.authorizationCodeGrant(config, await approve(url), {
  pkceCodeVerifier,
  expectedState,
});
step('authorization_code', tokens.scope, 'read');
const got = await client.fetchProtectedResource(
  config,
  tokens.access_token,
  new URL(`${BASE}/articles`),
  'GET',
);
step('protected resource', got.status, 200);
const refreshed = await client.refreshTokenGrant(config, tokens.refresh_token);
step('refresh_token', await resource({ Authorization: `Bearer ${refreshed.access_token}` }), 200);
step('introspect', (await client.tokenIntrospection(config, refreshed.access_token)).active);
await client.tokenRevocation(config, refreshed.refresh_token);
step('revoke', await resource({ Authorization: `Bearer ${refreshed.access_token}` }), 401);

// A public client, which has nothing but PKCE.
const open = await client.discovery(new URL(BASE), PUBLIC_ID, undefined, client.None(), {
  algorithm: 'oauth2',
});
const verifier = client.randomPKCECodeVerifier();
const asked = client.buildAuthorizationUrl(open, {
  redirect_uri: PLAIN_REDIRECT_URI,
  code_challenge: await client.calculatePKCECodeChallenge(verifier),
  code_challenge_method: 'S256',
  state: expectedState,
});
const granted = await client.authorizationCodeGrant(open, await approve(asked), {
  pkceCodeVerifier: verifier,
  expectedState,
});
step('public client', granted.scope, 'read');
