// The attacks of RFC 9700, by section: what an attacker or a careless client sends, and how it is refused.
import assert from 'node:assert/strict';
import { createHash, generateKeyPairSync } from 'node:crypto';
import { describe, test } from 'node:test';
import type { ServiceOptions } from '../../../src/index.ts';
import { signJwt } from '../../support/oauth/jwt.ts';
import {
  type Answer,
  authorizeTarget,
  callback,
  clients,
  codeFor,
  decide,
  exchange,
  oauth2Outcome,
  openServer,
  refresh,
  type Server,
  ticketFor,
  tokensFor,
  users,
  verifier,
} from '../../support/oauth/server.ts';

/** A wrong request: the section, what is wrong, how it is sent, and status and error of the response. */
type Row = readonly [
  section: string,
  wrong: string,
  send: (server: Server) => Promise<Answer>,
  outcome: string,
  options?: ServiceOptions,
];

const ann = 'ann:ann-password';
const app = 'app:app-secret-0123456789';
const rival = 'rival:rival-client-secret-0123456789';
const robot = 'robot:robot-secret-0123456789';
const records = '/users/ann/financialrecords';
const anotherVerifier = 'x'.repeat(43);
const optional: ServiceOptions = { oauth2: { pkce: 'optional' } };
const withoutPkce = { code_challenge: undefined, code_challenge_method: undefined };
const phone = { client_id: 'phone', redirect_uri: 'app.phone:/cb' };

const asking =
  (changes: Readonly<Record<string, string | undefined>>, more = '') =>
  ({ ask }: Server): Promise<Answer> =>
    ask('GET', authorizeTarget(changes) + more, { basic: ann });

const sending =
  (form: Readonly<Record<string, string>>, basic?: string) =>
  ({ ask }: Server): Promise<Answer> =>
    ask('POST', '/oauth2/token', { form, basic });

const redirects: readonly (readonly [wrong: string, uri: string | undefined])[] = [
  ['no redirect URI', undefined],
  ['an empty redirect URI', ''],
  ['a slash more', `${callback}/`],
  ['a query more', `${callback}&more=1`],
  ['a query less', 'https://app.example/cb'],
  ['an empty fragment', `${callback}#`],
  ['a fragment', `${callback}#access_token=x`],
  ['another path', 'https://app.example/cb2?from=here'],
  ['another case of the path', 'https://app.example/CB?from=here'],
  ['another case of the host', 'https://APP.example/cb?from=here'],
  ['another case of the scheme', 'HTTPS://app.example/cb?from=here'],
  ['http for https', 'http://app.example/cb?from=here'],
  ['the default port written out', 'https://app.example:443/cb?from=here'],
  ['a port', 'https://app.example:8443/cb?from=here'],
  ['a user before the host', 'https://app.example@evil.example/cb?from=here'],
  ['a host that only begins so', 'https://app.example.evil.example/cb?from=here'],
  ['a host below', 'https://sub.app.example/cb?from=here'],
  ['a pattern', 'https://*.app.example/cb?from=here'],
  ['a dot segment', 'https://app.example/x/../cb?from=here'],
  ['a letter percent-encoded', 'https://app.example/%63b?from=here'],
  ['a space behind', `${callback} `],
  ['a line break behind', `${callback}\r\n`],
  ['a backslash', 'https://app.example\\cb?from=here'],
  ['a letter that looks alike', 'https://аpp.example/cb?from=here'],
  ['two addresses', `${callback} https://evil.example/`],
  ['the URI of another client', 'https://rival.example/'],
  ['a script', 'javascript:alert(1)'],
  ['data', 'data:text/html,x'],
];

const protection: readonly Row[] = [
  ...redirects.map(([wrong, uri]): Row => ['4.1.3', wrong, asking({ redirect_uri: uri }), '400 page']),
  ['4.1.3', 'a redirect URI twice', asking({}, '&redirect_uri=https://evil.example/'), '400 page'],
  [
    '4.1.3',
    'a redirect URI with an error to provoke',
    asking({ redirect_uri: 'https://evil.example/', response_type: 'none' }),
    '400 page',
  ],
  ['2.1.1', 'no challenge of a public client', asking({ ...phone, ...withoutPkce }), '303 invalid_request'],
  ['2.1.1', 'no challenge of a client with a secret', asking(withoutPkce), '303 invalid_request'],
  [
    '2.1.1',
    'no challenge of a public client, if that is optional',
    asking({ ...phone, ...withoutPkce }),
    '303 invalid_request',
    optional,
  ],
  ['2.1.1', 'the method plain', asking({ code_challenge_method: 'plain' }), '303 invalid_request'],
  ['2.1.1', 'the method left out', asking({ code_challenge_method: undefined }), '303 invalid_request'],
  [
    '2.1.1',
    'the method without a challenge, if that is optional',
    asking({ code_challenge: undefined }),
    '303 invalid_request',
    optional,
  ],
  ...['token', 'id_token', 'code token', 'code id_token', 'code id_token token', 'none'].map(
    (response_type): Row => [
      '2.1.2',
      `the response type ${response_type}`,
      asking({ response_type }),
      '303 unsupported_response_type',
    ],
  ),
  [
    '4.17',
    'the response mode web_message',
    asking({ response_mode: 'web_message', scope: 'read' }),
    '303 invalid_request',
    { oauth2: { openid: true } },
  ],
  [
    '4.3.2',
    'the response mode fragment',
    asking({ response_mode: 'fragment', scope: 'read' }),
    '303 invalid_request',
    { oauth2: { openid: true } },
  ],
];

const codes: readonly Row[] = [
  [
    '4.5',
    'a code that is injected into the session of another user',
    async (server) => exchange(server, await codeFor(server), { code_verifier: anotherVerifier }),
    '400 invalid_grant',
  ],
  [
    '4.5',
    'a code of another client',
    async (server) => exchange(server, await codeFor(server), {}, rival),
    '400 invalid_grant',
  ],
  [
    '4.5',
    'a code with another redirect URI of its client',
    async (server) => exchange(server, await codeFor(server), { redirect_uri: 'https://app.example/other' }),
    '400 invalid_grant',
  ],
  [
    '4.5',
    'a code with the challenge for a verifier',
    async (server) =>
      exchange(server, await codeFor(server), {
        code_verifier: createHash('sha256').update(verifier).digest('base64url'),
      }),
    '400 invalid_grant',
  ],
  [
    '4.8',
    'a verifier for a code without a challenge, which an attacker removed',
    async (server) => exchange(server, await codeFor(server, withoutPkce)),
    '400 invalid_grant',
    optional,
  ],
  [
    '4.8',
    'no verifier for a code with a challenge',
    async (server) => exchange(server, await codeFor(server), { code_verifier: '' }),
    '400 invalid_request',
    optional,
  ],
  [
    '4.3.1',
    'a code from the history of a browser',
    async (server) => {
      const code = await codeFor(server);
      await exchange(server, code);
      return exchange(server, code);
    },
    '400 invalid_grant',
  ],
  [
    '4.2.4',
    'the token of a code that was used twice',
    async (server) => {
      const code = await codeFor(server);
      const bearer = (await exchange(server, code)).member('access_token');
      await exchange(server, code);
      return server.ask('GET', records, { bearer });
    },
    '401 invalid_token',
  ],
  [
    '4.2.4',
    'a code after a minute',
    async (server) => {
      const code = await codeFor(server);
      server.clock.advance('60s');
      return exchange(server, code);
    },
    '400 invalid_grant',
  ],
  [
    '4.2.4',
    'a code in the query of the token endpoint',
    async (server) =>
      server.ask('POST', `/oauth2/token?code=${await codeFor(server)}`, {
        basic: app,
        form: { grant_type: 'authorization_code' },
      }),
    '400 invalid_request',
  ],
  [
    '4.3.2',
    'an access token in the query',
    async (server) => server.ask('GET', `${records}?access_token=${(await tokensFor(server)).access}`),
    '401 authentication-required',
  ],
  ['4.7', 'a decision that another site sends, without a ticket', (server) => decide(server, ''), '400 page'],
  [
    '4.7',
    'a decision with the ticket of the attacker',
    async (server) => decide(server, await ticketFor(server, {}, 'bob'), 'allow', 'ann'),
    '400 page',
  ],
];

const hour = 3_600_000;
const jkt = generateKeyPairSync('ec', { namedCurve: 'P-256' });

/** Obtains a token that is bound to a key. */
async function boundToken(server: Server): Promise<string> {
  const nonce = (await server.ask('GET', records)).field('DPoP-Nonce');
  const iat = Math.floor(server.clock.now() / 1000);
  const claims = { jti: '1', htm: 'POST', htu: 'https://localhost/oauth2/token', iat, nonce };
  const header = { typ: 'dpop+jwt', jwk: jkt.publicKey.export({ format: 'jwk' }) };
  const issued = await server.ask('POST', '/oauth2/token', {
    form: { grant_type: 'client_credentials' },
    basic: robot,
    fields: [['DPoP', signJwt(claims, jkt.privateKey, header)]],
  });
  return issued.member('access_token');
}

const bound: ServiceOptions = { oauth2: { dpop: 'optional' } };
const audiences: ServiceOptions = { oauth2: { resources: ['https://api.example'] } };
const openid: ServiceOptions = {
  oauth2: { openid: true },
  clients: {
    ...clients,
    app: {
      ...clients.app,
      scopes: ['read', 'write', 'openid'],
      postLogoutRedirectUris: ['https://app.example/'],
    },
  },
};

const tokens: readonly Row[] = [
  [
    '2.2.1',
    'a token that is bound to a key, as a bearer token',
    async (server) => server.ask('GET', records, { bearer: await boundToken(server) }),
    '401 invalid_token',
    bound,
  ],
  [
    '4.10.1',
    'a token that is bound to a key, without a proof',
    async (server) =>
      server.ask('GET', records, { fields: [['Authorization', `DPoP ${await boundToken(server)}`]] }),
    '401 invalid_dpop_proof',
    bound,
  ],
  [
    '2.2.1',
    'a request for a token without a proof, if it is required',
    sending({ grant_type: 'client_credentials' }, robot),
    '400 invalid_dpop_proof',
    { oauth2: { dpop: 'required' } },
  ],
  [
    '2.3',
    'a resource that is not known',
    sending({ grant_type: 'client_credentials', resource: 'https://evil.example' }, robot),
    '400 invalid_target',
    audiences,
  ],
  [
    '4.10.2',
    'a token for another API',
    async (server) => {
      const { grants, draftAccessToken } = server.service.oauth;
      const [issued] = await grants.issue([
        await draftAccessToken({
          issuer: 'https://localhost',
          client: 'app',
          user: 'ann',
          scopes: ['read'],
          expires: server.clock.now() + hour,
          audience: ['https://other.example'],
        }),
      ]);
      return server.ask('GET', records, { bearer: issued?.value });
    },
    '401 invalid_token',
    audiences,
  ],
  [
    '2.3',
    'a scope beyond the registered ones',
    sending({ grant_type: 'client_credentials', scope: 'read admin' }, robot),
    '400 invalid_scope',
  ],
  [
    '2.3',
    'a change with a token that may read',
    async (server) =>
      server.ask('POST', records, {
        bearer: (await tokensFor(server, { scope: 'read' })).access,
        content: '<x/>',
        fields: [['Content-Type', 'application/xml']],
      }),
    '403 insufficient_scope',
  ],
  [
    '2.3',
    'userinfo with a token without openid',
    async (server) =>
      server.ask('GET', '/oauth2/userinfo', { bearer: (await tokensFor(server, { scope: 'read' })).access }),
    '403 insufficient_scope',
    openid,
  ],
  [
    '2.3',
    'the resources of another user',
    async (server) =>
      server.ask('GET', '/users/bob/financialrecords', { bearer: (await tokensFor(server)).access }),
    '403 forbidden',
  ],
  [
    '2.4',
    'the password of a user',
    sending({ grant_type: 'password', username: 'ann', password: 'ann-password' }, app),
    '400 unsupported_grant_type',
  ],
  [
    '2.5',
    'a client without its secret',
    sending({ grant_type: 'client_credentials', client_id: 'robot' }),
    '401 invalid_client',
  ],
  ['2.5', 'a wrong secret', sending({ grant_type: 'client_credentials' }, 'robot:x'), '401 invalid_client'],
  [
    '2.5',
    'a secret in the query',
    ({ ask }) =>
      ask('POST', '/oauth2/token?client_id=robot&client_secret=robot-secret-0123456789', {
        form: { grant_type: 'client_credentials' },
      }),
    '400 invalid_request',
  ],
  [
    '2.5',
    'a secret where the client has to sign',
    sending({ grant_type: 'client_credentials' }, robot),
    '401 invalid_client',
    { oauth2: { clientAuthentication: ['private_key_jwt'] } },
  ],
  [
    '4.14.2',
    'a refresh token twice',
    async (server) => {
      const { refresh: token } = await tokensFor(server);
      await refresh(server, token);
      return refresh(server, token);
    },
    '400 invalid_grant',
  ],
  [
    '4.14.2',
    'the newer refresh token of a family of which one was used twice',
    async (server) => {
      const { refresh: token } = await tokensFor(server);
      const next = await refresh(server, token);
      await refresh(server, token);
      return refresh(server, next.member('refresh_token'));
    },
    '400 invalid_grant',
  ],
  [
    '4.14.2',
    'the access token of such a family',
    async (server) => {
      const { refresh: token } = await tokensFor(server);
      const next = await refresh(server, token);
      await refresh(server, token);
      return server.ask('GET', records, { bearer: next.member('access_token') });
    },
    '401 invalid_token',
  ],
  [
    '4.14.2',
    'a refresh token of another client',
    async (server) => refresh(server, (await tokensFor(server)).refresh, {}, rival),
    '400 invalid_grant',
  ],
  [
    '4.14.2',
    'a refresh token with a wider scope',
    async (server) =>
      refresh(server, (await tokensFor(server, { scope: 'read' })).refresh, { scope: 'read write' }),
    '400 invalid_scope',
  ],
  [
    '4.14.2',
    'a refresh token that was not used for two weeks',
    async (server) => {
      const { refresh: token } = await tokensFor(server);
      server.clock.advance(14 * 24 * hour);
      return refresh(server, token);
    },
    '400 invalid_grant',
  ],
  [
    '4.14.2',
    'a refresh token after a logout',
    async (server) => {
      const answer = await exchange(server, await codeFor(server, { scope: 'openid read' }));
      await server.ask('GET', `/oauth2/logout?id_token_hint=${answer.member('id_token')}`);
      return refresh(server, answer.member('refresh_token'));
    },
    '400 invalid_grant',
    openid,
  ],
  [
    '4.9.1',
    'a token that was revoked after it leaked',
    async (server) => {
      const { access } = await tokensFor(server);
      await server.ask('POST', '/oauth2/revoke', { basic: app, form: { token: access } });
      return server.ask('GET', records, { bearer: access });
    },
    '401 invalid_token',
  ],
  [
    '4.15',
    'the token of a client whose id is the name of a user',
    async (server) => {
      const issued = await sending(
        { grant_type: 'client_credentials' },
        'ann:client-secret-0123456789',
      )(server);
      return server.ask('GET', records, { bearer: issued.member('access_token') });
    },
    '403 forbidden',
    { clients: { ann: { secret: 'client-secret-0123456789', grants: ['client_credentials'] } } },
  ],
];

const places: readonly Row[] = [
  ['4.11.2', 'a request of an unknown client', asking({ client_id: 'nobody' }), '400 page'],
  [
    '4.11.2',
    'a request of a client before the user is known',
    ({ ask }) => ask('GET', authorizeTarget({ scope: 'nothing' })),
    '401 authentication-required',
  ],
  [
    '4.11.2',
    'a logout to another site',
    ({ ask }) =>
      ask('GET', '/oauth2/logout?client_id=app&post_logout_redirect_uri=https%3A%2F%2Fevil.example%2F'),
    '400 page',
    openid,
  ],
  [
    '4.11.2',
    'a logout to a registered site of no client',
    ({ ask }) => ask('GET', '/oauth2/logout?post_logout_redirect_uri=https%3A%2F%2Fapp.example%2F'),
    '400 page',
    openid,
  ],
  [
    '4.13',
    'plain HTTP with the field of a proxy that is not trusted',
    async (server) =>
      server.ask('GET', records, {
        bearer: (await tokensFor(server)).access,
        secure: false,
        fields: [['X-Forwarded-Proto', 'https']],
      }),
    '403 tls-required',
  ],
  [
    '2.6',
    'plain HTTP',
    ({ ask }) =>
      ask('POST', '/oauth2/token', {
        form: { grant_type: 'client_credentials' },
        basic: robot,
        secure: false,
      }),
    '403 invalid_request',
  ],
];

describe('an attack is refused (RFC 9700)', () => {
  for (const [section, wrong, send, outcome, options] of [...protection, ...codes, ...tokens, ...places])
    test(`§${section}: ${wrong}: ${outcome}`, async () => {
      const server = openServer(options);
      await server.service.ready;
      const answer = await send(server);
      assert.equal(oauth2Outcome(answer), outcome);
      assert.equal(answer.returned('code'), '');
      if (outcome !== '400 page') return;
      assert.equal(answer.field('Location'), '');
      assert.equal(answer.field('X-Frame-Options'), 'DENY', 'RFC 9700 §4.16');
      assert.match(answer.field('Content-Security-Policy'), /frame-ancestors 'none'/);
      assert.equal(answer.field('Referrer-Policy'), 'no-referrer', 'RFC 9700 §4.2.4');
    });
});

describe('a response protects against an attack (RFC 9700)', () => {
  test('§2.6: scripts of other origins cannot read the authorization endpoint', async () => {
    const { ask } = openServer({ cors: { origins: ['https://evil.example'] } });
    const fields = [['Origin', 'https://evil.example']] as const;
    const page = await ask('GET', authorizeTarget(), { basic: ann, fields });
    assert.equal(page.field('Access-Control-Allow-Origin'), '');
  });

  test('§2.1: a redirect URI with a fragment, a pattern or plain HTTP cannot be registered', () => {
    for (const uri of [
      'https://app.example/cb#fragment',
      'https://app.example/cb#',
      'http://app.example/cb',
      'javascript:alert(1)',
      'data:text/html,x',
      'https://app.example/cb\n',
      '/cb',
    ])
      assert.throws(
        () => openServer({ users: users(), clients: { app: { ...clients.app, redirectUris: [uri] } } }),
        RangeError,
        uri,
      );
  });
});
