import { createHash, randomBytes } from 'node:crypto';
import { AuthorizationCode, ClientCredentials } from 'simple-oauth2';
import { approve, resource, step } from './approve.mjs';

const { BASE, CLIENT_ID, CLIENT_SECRET, REDIRECT_URI } = process.env;
for (const authorizationMethod of ['header', 'body']) {
  const options = {
    client: { id: CLIENT_ID, secret: CLIENT_SECRET },
    auth: {
      tokenHost: BASE,
      tokenPath: '/oauth2/token',
      authorizePath: '/oauth2/authorize',
      revokePath: '/oauth2/revoke',
    },
    options: { authorizationMethod },
  };
  const { authorizePath: _, ...auth } = options.auth;
  const own = await new ClientCredentials({ ...options, auth }).getToken({ scope: 'read' });
  step(`client_credentials in the ${authorizationMethod}`, own.token.scope, 'read');

  const flow = new AuthorizationCode(options);
  const code_verifier = randomBytes(32).toString('base64url');
  const url = flow.authorizeURL({
    redirect_uri: REDIRECT_URI,
    scope: 'read',
    state: 'xyz',
    code_challenge: createHash('sha256').update(code_verifier).digest('base64url'),
    code_challenge_method: 'S256',
  });
  const back = await approve(url);
  const tokens = await flow.getToken({
    code: back.searchParams.get('code'),
    redirect_uri: REDIRECT_URI,
    code_verifier,
  });
  step('authorization_code', await resource({ Authorization: `Bearer ${tokens.token.access_token}` }), 200);
  const refreshed = await tokens.refresh();
  step('refresh_token', await resource({ Authorization: `Bearer ${refreshed.token.access_token}` }), 200);
  // It fails on a reply that has no JSON in it.
  await refreshed.revoke('access_token');
  step('revoke', await resource({ Authorization: `Bearer ${refreshed.token.access_token}` }), 401);
  await refreshed.revokeAll();
  step('revoke all', true);
}
