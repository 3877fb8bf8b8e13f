import assert from 'node:assert/strict';
import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import { after, describe, test } from 'node:test';
import { startDouble } from '../../src/double/index.ts';
import { importClient, importPackage, missingClient, missingPackage } from '../support/packages.ts';

const secret = 'a long secret of the shop';
const longSecret = 'a secret with which an assertion can be signed';
const back = 'http://localhost:3000/cb';
const own = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const double = await startDouble({
  users: { ann: { claims: { email: 'ann@example.com' } } },
  clients: {
    shop: {
      secret,
      redirectUris: [back],
      grants: ['authorization_code', 'refresh_token', 'client_credentials'],
      scopes: ['read', 'openid'],
      users: '*',
    },
    long: { secret: longSecret, grants: ['client_credentials'], scopes: ['read'] },
    signer: {
      jwks: { keys: [own.publicKey.export({ format: 'jwk' })] },
      grants: ['client_credentials'],
      scopes: ['read'],
    },
  },
  oauth2: {
    clientAuthentication: [
      'client_secret_basic',
      'client_secret_post',
      'private_key_jwt',
      'client_secret_jwt',
    ],
    dpop: 'optional',
    openid: true,
    accessTokens: 'jwt',
    signing: 'RS256',
    claims: ['email'],
    pkce: 'optional',
  },
});
after(() => double.close());

describe('unmodified clients of OpenID Connect, over plain HTTP', () => {
  test('openid-client discovers, logs in, refreshes and reads userinfo', {
    skip: missingClient('openid-client'),
  }, async () => {
    const client = await importClient('openid-client');
    const insecure = { execute: [client.allowInsecureRequests] };
    const config = await client.discovery(new URL(double.url), 'shop', secret, undefined, insecure);
    assert.equal(config.serverMetadata().issuer, double.url);
    const [state, nonce] = [client.randomState(), client.randomNonce()];
    const pkceCodeVerifier = client.randomPKCECodeVerifier();
    const url = client.buildAuthorizationUrl(config, {
      redirect_uri: back,
      scope: 'openid email read',
      code_challenge: await client.calculatePKCECodeChallenge(pkceCodeVerifier),
      code_challenge_method: 'S256',
      state,
      nonce,
    });
    const returned = await double.oauth2.approve(url.href, { user: 'ann' });
    const tokens = await client.authorizationCodeGrant(config, new URL(returned), {
      pkceCodeVerifier,
      expectedState: state,
      expectedNonce: nonce,
    });
    assert.equal(tokens.claims().email, 'ann@example.com');
    const info = await client.fetchUserInfo(config, tokens.access_token, 'ann');
    assert.deepEqual(info, { sub: 'ann', email: 'ann@example.com' });
    const refreshed = await client.refreshTokenGrant(config, tokens.refresh_token);
    assert.equal(refreshed.claims().sub, 'ann');
    const logout = client.buildEndSessionUrl(config, { id_token_hint: refreshed.id_token });
    assert.equal((await fetch(logout)).status, 200);
    await assert.rejects(client.refreshTokenGrant(config, refreshed.refresh_token), {
      error: 'invalid_grant',
    });
  });

  test('oauth4webapi validates an access token as a resource server', {
    skip: missingClient('oauth4webapi'),
  }, async () => {
    const oauth = await importClient('oauth4webapi');
    const insecure = { [oauth.allowInsecureRequests]: true };
    const issuer = new URL(double.url);
    const found = await oauth.discoveryRequest(issuer, { algorithm: 'oidc', ...insecure });
    const server = await oauth.processDiscoveryResponse(issuer, found);
    const { accessToken } = await double.oauth2.issueToken({ user: 'ann' });
    const request = new Request('https://api.example/', {
      headers: { Authorization: `Bearer ${accessToken}` },
    });
    const claims = await oauth.validateJwtAccessToken(server, request, double.url, insecure);
    assert.deepEqual([claims.sub, claims.client_id, claims.email], ['ann', 'shop', 'ann@example.com']);
  });

  test('simple-oauth2 obtains a token of the client without any setting', {
    skip: missingClient('simple-oauth2'),
  }, async () => {
    const { ClientCredentials } = await importClient('simple-oauth2');
    const auth = { tokenHost: double.url, tokenPath: '/oauth2/token' };
    const { token } = await new ClientCredentials({ client: { id: 'shop', secret }, auth }).getToken({
      scope: 'read',
    });
    assert.match(token.access_token, /^eyJ/);
  });
});

describe('unmodified clients of one provider, with the endpoints of the double', () => {
  /** Returns the URL of the redirect with a code for an authorization URL. */
  const approve = async (url: string): Promise<URL> =>
    new URL(await double.oauth2.approve(url, { user: 'ann' }));

  test('passport-oauth2 logs a user in', { skip: missingClient('passport-oauth2') }, async () => {
    const { default: Strategy } = await importClient('passport-oauth2');
    const options = {
      authorizationURL: `${double.url}/oauth2/authorize`,
      tokenURL: `${double.url}/oauth2/token`,
      clientID: 'shop',
      clientSecret: secret,
      callbackURL: back,
      scope: ['openid', 'read'],
    };
    const strategy = new Strategy(
      options,
      (access: string, refresh: string, _: unknown, done: (...given: unknown[]) => void) =>
        done(null, { access, refresh }),
    );
    const authenticate = (query: object): Promise<unknown> =>
      new Promise((resolve, reject) => {
        Object.assign(strategy, { success: resolve, redirect: resolve, fail: reject, error: reject });
        strategy.authenticate({ query, headers: {}, url: '/' });
      });
    const returned = await approve(String(await authenticate({})));
    const user = await authenticate(Object.fromEntries(returned.searchParams));
    assert.match(String(Reflect.get(Object(user), 'access')), /^eyJ/);
    await assert.rejects(authenticate(Object.fromEntries(returned.searchParams)));
  });

  test('google-auth-library logs a user in, refreshes and verifies the ID token', {
    skip: missingClient('google-auth-library'),
  }, async () => {
    const { OAuth2Client } = await importClient('google-auth-library');
    const endpoints = {
      oauth2AuthBaseUrl: `${double.url}/oauth2/authorize`,
      oauth2TokenUrl: `${double.url}/oauth2/token`,
    };
    const client = new OAuth2Client({ clientId: 'shop', clientSecret: secret, redirectUri: back, endpoints });
    const { codeVerifier, codeChallenge } = await client.generateCodeVerifierAsync();
    const returned = await approve(
      client.generateAuthUrl({
        scope: ['openid', 'read'],
        code_challenge: codeChallenge,
        code_challenge_method: 'S256',
      }),
    );
    const { tokens } = await client.getToken({ code: returned.searchParams.get('code'), codeVerifier });
    const set = await (await fetch(`${double.url}/oauth2/jwks`)).json();
    const [key] = Reflect.get(Object(set), 'keys');
    const pem = createPublicKey({ key, format: 'jwk' }).export({ type: 'spki', format: 'pem' });
    const certificates = { [key.kid]: pem };
    const verify = (audience: string): Promise<{ getPayload(): { sub: string } }> =>
      client.verifySignedJwtWithCertsAsync(tokens.id_token, certificates, audience, [double.url]);
    assert.equal((await verify('shop')).getPayload().sub, 'ann');
    await assert.rejects(verify('another'), /audience/);
    client.setCredentials({ refresh_token: tokens.refresh_token });
    const { credentials } = await client.refreshAccessToken();
    assert.match(credentials.access_token, /^eyJ/);
  });

  test('@azure/msal-node logs a user in, and obtains a token of the client', {
    skip: missingClient('@azure/msal-node'),
  }, async () => {
    const { ConfidentialClientApplication } = await importClient('@azure/msal-node');
    // It refuses plain HTTP, and the certificate of the double is not one that this process trusts.
    const send = (method: string) => async (url: string, options: RequestInit | undefined) => {
      const { pathname, search } = new URL(url);
      const response = await double.fetch(`${double.secureUrl}${pathname}${search}`, { method, ...options });
      const headers = Object.fromEntries(response.headers);
      return { headers, status: response.status, body: await response.json() };
    };
    const networkClient = { sendGetRequestAsync: send('GET'), sendPostRequestAsync: send('POST') };
    const authority = double.secureUrl;
    const application = new ConfidentialClientApplication({
      auth: {
        clientId: 'shop',
        clientSecret: secret,
        authority,
        knownAuthorities: [new URL(authority).host],
      },
      system: { networkClient, protocolMode: 'OIDC' },
    });
    const redirect = { redirectUri: back, scopes: ['read'] };
    const returned = await approve(await application.getAuthCodeUrl(redirect));
    const code = returned.searchParams.get('code');
    const { idTokenClaims, accessToken } = await application.acquireTokenByCode({ ...redirect, code });
    assert.equal(idTokenClaims.sub, 'ann');
    assert.match(accessToken, /^eyJ/);
    const own = await application.acquireTokenByClientCredential({ scopes: ['read'] });
    assert.match(own.accessToken, /^eyJ/);
  });
});

describe('unmodified clients authenticate with an assertion', () => {
  const exported = own.privateKey.export({ type: 'pkcs8', format: 'der' });
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256' };
  const importKey = () => crypto.subtle.importKey('pkcs8', exported, algorithm, false, ['sign']);

  test('openid-client, signed with a private key or with the secret', {
    skip: missingClient('openid-client'),
  }, async () => {
    const client = await importClient('openid-client');
    const insecure = { execute: [client.allowInsecureRequests] };
    const issuer = new URL(double.url);
    for (const [id, method] of [
      ['signer', client.PrivateKeyJwt(await importKey())],
      ['long', client.ClientSecretJwt(longSecret)],
    ]) {
      const config = await client.discovery(issuer, id, undefined, method, insecure);
      const { access_token: token } = await client.clientCredentialsGrant(config);
      assert.match(token, /^eyJ/);
      const { active } = await client.tokenIntrospection(config, token);
      assert.equal(active, true);
    }
  });

  test('oauth4webapi, signed with a private key or with the secret', {
    skip: missingClient('oauth4webapi'),
  }, async () => {
    const oauth = await importClient('oauth4webapi');
    const insecure = { [oauth.allowInsecureRequests]: true };
    const issuer = new URL(double.url);
    const found = await oauth.discoveryRequest(issuer, { algorithm: 'oidc', ...insecure });
    const server = await oauth.processDiscoveryResponse(issuer, found);
    for (const [id, method] of [
      ['signer', oauth.PrivateKeyJwt(await importKey())],
      ['long', oauth.ClientSecretJwt(longSecret)],
    ]) {
      const client = { client_id: id };
      const response = await oauth.clientCredentialsGrantRequest(server, client, method, {}, insecure);
      const { access_token: token } = await oauth.processClientCredentialsResponse(server, client, response);
      assert.match(token, /^eyJ/);
    }
  });
});

describe('unmodified clients bind tokens to their key', () => {
  test('openid-client, which learns the nonce from a refusal', {
    skip: missingClient('openid-client'),
  }, async () => {
    const client = await importClient('openid-client');
    const insecure = { execute: [client.allowInsecureRequests] };
    const config = await client.discovery(new URL(double.url), 'shop', secret, undefined, insecure);
    const proofs = client.getDPoPHandle(config, await client.randomDPoPKeyPair());
    const tokens = await client.clientCredentialsGrant(config, {}, { DPoP: proofs });
    assert.equal(tokens.token_type, 'dpop');
    const url = new URL(`${double.url}/articles`);
    const response = await client.fetchProtectedResource(
      config,
      tokens.access_token,
      url,
      'GET',
      undefined,
      undefined,
      { DPoP: proofs },
    );
    assert.equal(response.status, 200);
    const headers = { Authorization: `Bearer ${tokens.access_token}` };
    assert.equal((await fetch(url, { headers })).status, 401);
  });

  test('oauth4webapi, as a client and as a resource server', {
    skip: missingClient('oauth4webapi'),
  }, async () => {
    const oauth = await importClient('oauth4webapi');
    const insecure = { [oauth.allowInsecureRequests]: true };
    const issuer = new URL(double.url);
    const found = await oauth.discoveryRequest(issuer, { algorithm: 'oidc', ...insecure });
    const server = await oauth.processDiscoveryResponse(issuer, found);
    const client = { client_id: 'shop' };
    const DPoP = oauth.DPoP(client, await oauth.generateKeyPair('ES256'));
    const request = async (): Promise<{ access_token: string }> => {
      const response = await oauth.clientCredentialsGrantRequest(
        server,
        client,
        oauth.ClientSecretPost(secret),
        {},
        { DPoP, ...insecure },
      );
      return oauth.processClientCredentialsResponse(server, client, response);
    };
    const tokens = await request().catch((error) => {
      assert.ok(oauth.isDPoPNonceError(error));
      return request();
    });
    const url = new URL(`${double.url}/articles`);
    const read = (): Promise<Response> =>
      oauth.protectedResourceRequest(tokens.access_token, 'GET', url, undefined, undefined, {
        DPoP,
        ...insecure,
      });
    assert.equal((await read()).status, 200);
    assert.equal((await read()).status, 200);
  });
});

describe('unmodified resource servers verify the tokens', () => {
  test('jose, by the published keys', { skip: missingPackage('jose') }, async () => {
    const { createRemoteJWKSet, jwtVerify } = await importPackage('jose');
    const keys = createRemoteJWKSet(new URL(`${double.url}/oauth2/jwks`));
    const { accessToken } = await double.oauth2.issueToken({ user: 'ann', claims: { team: 'tea' } });
    const { payload } = await jwtVerify(accessToken, keys, {
      issuer: double.url,
      audience: double.url,
      typ: 'at+jwt',
    });
    assert.deepEqual([payload.sub, payload.team], ['ann', 'tea']);
    const { accessToken: other } = await double.oauth2.issueToken({ user: 'ann', audience: 'https://a' });
    await assert.rejects(jwtVerify(other, keys, { issuer: double.url, audience: double.url }), /"aud"/);
    double.clock.advance('2h');
    const currentDate = new Date(double.clock.now());
    await assert.rejects(jwtVerify(accessToken, keys, { issuer: double.url, currentDate }), /"exp"/);
    double.clock.advance('-2h');
  });

  test('express-oauth2-jwt-bearer, by discovery', {
    skip: missingPackage('express-oauth2-jwt-bearer'),
  }, async () => {
    const { auth } = await importPackage('express-oauth2-jwt-bearer');
    const verify = auth({ issuerBaseURL: double.url, audience: double.url, strict: true });
    const pass = async (token: string): Promise<unknown> => {
      const headers = { authorization: `Bearer ${token}`, host: 'api.example' };
      const request = {
        headers,
        query: {},
        url: '/',
        method: 'GET',
        protocol: 'https',
        is: () => false,
        get: (name: string) => new Map(Object.entries(headers)).get(name.toLowerCase()),
        auth: undefined,
      };
      const error = await new Promise((done) => {
        verify(request, {}, done);
      });
      if (error !== undefined) throw error;
      return request.auth;
    };
    const { accessToken } = await double.oauth2.issueToken({ user: 'ann' });
    assert.ok(await pass(accessToken));
    const { accessToken: other } = await double.oauth2.issueToken({ user: 'ann', audience: 'https://a' });
    await assert.rejects(pass(other), /aud/);
  });

  test('passport-jwt, with the public key in PEM', { skip: missingPackage('passport-jwt') }, async () => {
    const { Strategy, ExtractJwt } = (await importPackage('passport-jwt')).default;
    const set = await (await fetch(`${double.url}/oauth2/jwks`)).json();
    const [key] = Reflect.get(Object(set), 'keys');
    const secretOrKey = createPublicKey({ key, format: 'jwk' }).export({ type: 'spki', format: 'pem' });
    const options = {
      jwtFromRequest: ExtractJwt.fromAuthHeaderAsBearerToken(),
      secretOrKey,
      algorithms: ['RS256'],
      issuer: double.url,
      audience: double.url,
    };
    const strategy = new Strategy(options, (claims: unknown, done: (...given: unknown[]) => void) =>
      done(null, claims),
    );
    const { accessToken } = await double.oauth2.issueToken({ user: 'ann' });
    const user = await new Promise((resolve, reject) => {
      Object.assign(strategy, { success: resolve, fail: reject, error: reject });
      strategy.authenticate({ headers: { authorization: `Bearer ${accessToken}` } });
    });
    assert.equal(Reflect.get(Object(user), 'sub'), 'ann');
  });
});
