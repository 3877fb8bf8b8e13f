import * as oauth from 'oauth4webapi';
import { approve, resource, step } from './approve.mjs';

const { BASE, CLIENT_ID, CLIENT_SECRET, REDIRECT_URI } = process.env;
const issuer = new URL(BASE);
const server = await oauth.processDiscoveryResponse(
  issuer,
  await oauth.discoveryRequest(issuer, { algorithm: 'oauth2' }),
);
step('metadata', server.issuer, BASE);

const client = { client_id: CLIENT_ID };
for (const [name, authentication] of [
  ['client_secret_basic', oauth.ClientSecretBasic(CLIENT_SECRET)],
  ['client_secret_post', oauth.ClientSecretPost(CLIENT_SECRET)],
]) {
  const own = await oauth.processClientCredentialsResponse(
    server,
    client,
    await oauth.clientCredentialsGrantRequest(server, client, authentication, { scope: 'read' }),
  );
  step(`client_credentials by ${name}`, own.scope, 'read');
}
const authentication = oauth.ClientSecretBasic(CLIENT_SECRET);

const verifier = oauth.generateRandomCodeVerifier();
const state = oauth.generateRandomState();
const url = new URL(server.authorization_endpoint);
for (const [name, value] of Object.entries({
  client_id: CLIENT_ID,
  redirect_uri: REDIRECT_URI,
  response_type: 'code',
  scope: 'read write',
  code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
  code_challenge_method: 'S256',
  state,
}))
  url.searchParams.set(name, value);
// It judges state and iss (RFC 9207) itself.
const answer = oauth.validateAuthResponse(server, client, await approve(url), state);
const tokens = await oauth.processAuthorizationCodeResponse(
  server,
  client,
  await oauth.authorizationCodeGrantRequest(server, client, authentication, answer, REDIRECT_URI, verifier),
);
step('authorization_code', tokens.token_type, 'bearer');
step('resource', await resource({ Authorization: `Bearer ${tokens.access_token}` }), 200);
const protectedResource = await oauth.protectedResourceRequest(
  tokens.access_token,
  'GET',
  new URL(`${BASE}/articles`),
);
step('protected resource', protectedResource.status, 200);

const refreshed = await oauth.processRefreshTokenResponse(
  server,
  client,
  await oauth.refreshTokenGrantRequest(server, client, authentication, tokens.refresh_token),
);
step('refresh_token', refreshed.refresh_token !== tokens.refresh_token);
const introspected = await oauth.processIntrospectionResponse(
  server,
  client,
  await oauth.introspectionRequest(server, client, authentication, refreshed.access_token),
);
step('introspect', introspected.active);
await oauth.processRevocationResponse(
  await oauth.revocationRequest(server, client, authentication, refreshed.access_token),
);
step('revoke', await resource({ Authorization: `Bearer ${refreshed.access_token}` }), 401);

const denied = await approve(url, 'deny');
try {
  oauth.validateAuthResponse(server, client, denied, state);
} catch (error) {
  step('denied', error.error, 'access_denied');
}
