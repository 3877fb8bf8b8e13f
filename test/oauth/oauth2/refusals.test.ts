import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { hashSha256 } from '../../../src/oauth/sha256.ts';
import {
  type Answer,
  authorizeTarget,
  basicField,
  callback,
  codeFor,
  decide,
  exchange,
  oauth2Outcome,
  openServer,
  refresh,
  type Sending,
  type Server,
  ticketFor,
  tokensFor,
} from '../../support/oauth/server.ts';

/** A bad request: what is wrong with it, how it is sent, and the status and error that its RFC gives. */
type Case = readonly [wrong: string, send: (server: Server) => Promise<Answer>, outcome: string];

/** What must come with the outcome, whatever was wrong. */
function checkFields(answer: Answer, outcome: string): void {
  assert.equal(answer.field('Content-Security-Policy') !== '', outcome === '400 page');
  const challenges = answer.field('WWW-Authenticate');
  if (answer.status === 401) assert.match(challenges, /Basic realm="/);
  if (outcome.endsWith('invalid_client')) assert.match(challenges, /^Basic realm="[^"]+", charset="UTF-8"$/);
  if (outcome.endsWith('invalid_token'))
    assert.match(challenges, /Bearer realm="[^"]+", error="invalid_token"/);
  if (outcome.endsWith('several-credentials')) assert.equal(challenges, '');
  if (outcome.endsWith('insufficient_scope')) assert.match(challenges, /^Bearer [^|]* scope="(read|write)"$/);
  if (answer.status === 303) {
    assert.ok(answer.field('Location').startsWith(`${callback}&`), 'the redirect goes to the registered URI');
    assert.equal(answer.returned('iss'), 'https://localhost');
    assert.equal(answer.returned('code'), '');
  }
  if (answer.field('Content-Type') === 'application/json') assert.equal(answer.field('Pragma'), 'no-cache');
  const refusal =
    [401, 403, 303].includes(answer.status) || answer.member('error') !== '' || outcome === '400 page';
  if (refusal) assert.equal(answer.field('Cache-Control'), 'no-store');
}

function refuses(what: string, cases: readonly Case[]): void {
  describe(what, () => {
    for (const [wrong, send, outcome] of cases) {
      test(`${wrong}: ${outcome}`, async () => {
        const answer = await send(openServer());
        assert.equal(oauth2Outcome(answer), outcome);
        checkFields(answer, outcome);
      });
    }
  });
}

const post =
  (target: string, sending: Sending = {}) =>
  ({ ask }: Server) =>
    ask('POST', target, sending);
const get =
  (target: string, sending: Sending = {}) =>
  ({ ask }: Server) =>
    ask('GET', target, sending);

const ann = 'ann:ann-password';
const app = 'app:app-secret-0123456789';
const robot = 'robot:robot-secret-0123456789';
const minute = 60_000;

const asking =
  (changes: Readonly<Record<string, string | undefined>>, more = '') =>
  ({ ask }: Server): Promise<Answer> =>
    ask('GET', authorizeTarget(changes) + more, { basic: ann });

refuses('Authorization, where nobody knows who asks (RFC 6749 §4.1.2.1)', [
  ['no user, and nothing else', get('/oauth2/authorize'), '401 authentication-required'],
  ['a wrong password', get(authorizeTarget(), { basic: 'ann:wrong' }), '401 credentials-refused'],
  ['the client for a user', get(authorizeTarget(), { basic: app }), '401 credentials-refused'],
  [
    'a token for a user',
    async (server) => server.ask('GET', authorizeTarget(), { bearer: (await tokensFor(server)).access }),
    '401 scheme-not-offered',
  ],
  ['no client', asking({ client_id: undefined }), '400 page'],
  ['a client twice', asking({}, '&client_id=app'), '400 page'],
  ['a redirect URI twice', asking({}, `&redirect_uri=${encodeURIComponent(callback)}`), '400 page'],
  ['a query that is no UTF-8', asking({}, '&x=%FF'), '400 page'],
]);

refuses('Authorization, told to the client (RFC 6749 §4.1.2.1, RFC 7636 §4.4.1)', [
  ['no response_type', asking({ response_type: undefined }), '303 invalid_request'],
  ['a response_type twice', asking({}, '&response_type=code'), '303 invalid_request'],
  ['a state twice', asking({}, '&state=2'), '303 invalid_request'],
  ['a scope twice', asking({}, '&scope=read'), '303 invalid_request'],
  ['another case of the method', asking({ code_challenge_method: 's256' }), '303 invalid_request'],
  ['an empty challenge', asking({ code_challenge: '' }), '303 invalid_request'],
  ['a challenge too short', asking({ code_challenge: 'x'.repeat(42) }), '303 invalid_request'],
  ['a challenge with padding', asking({ code_challenge: `${'x'.repeat(42)}=` }), '303 invalid_request'],
  ['an unknown scope', asking({ scope: 'admin' }), '303 invalid_scope'],
  ['an unknown scope beside a known one', asking({ scope: 'read admin' }), '303 invalid_scope'],
  ['scopes with a comma', asking({ scope: 'read,write' }), '303 invalid_scope'],
  ['scopes with two spaces', asking({ scope: 'read  write' }), '303 invalid_scope'],
  ['another case of a scope', asking({ scope: 'Read' }), '303 invalid_scope'],
]);

refuses('Answers to the question', [
  ['no ticket', post('/oauth2/authorize', { basic: ann, form: { decision: 'allow' } }), '400 page'],
  ['an unknown ticket', (server) => decide(server, 'x'.repeat(43)), '400 page'],
  ['no decision', async (server) => decide(server, await ticketFor(server), ''), '400 page'],
  ['another decision', async (server) => decide(server, await ticketFor(server), 'yes'), '400 page'],
  [
    'a ticket twice',
    async (server) => {
      const ticket = await ticketFor(server);
      await decide(server, ticket);
      return decide(server, ticket);
    },
    '400 page',
  ],
  [
    'a ticket that was refused',
    async (server) => {
      const ticket = await ticketFor(server);
      await decide(server, ticket, 'deny');
      return decide(server, ticket);
    },
    '400 page',
  ],
  [
    'a ticket after 5 minutes',
    async (server) => {
      const ticket = await ticketFor(server);
      server.clock.advance(5 * minute);
      return decide(server, ticket);
    },
    '400 page',
  ],
  [
    'two decisions',
    async (server) => {
      const form = `consent_ticket=${await ticketFor(server)}&decision=deny&decision=allow`;
      return server.ask('POST', '/oauth2/authorize', { basic: ann, form });
    },
    '400 page',
  ],
  [
    'an answer without the user',
    async (server) => {
      const form = { consent_ticket: await ticketFor(server), decision: 'allow' };
      return server.ask('POST', '/oauth2/authorize', { form });
    },
    '401 authentication-required',
  ],
  [
    'an answer in the query',
    async (server) => {
      const query = new URLSearchParams({ consent_ticket: await ticketFor(server), decision: 'allow' });
      return server.ask('POST', `/oauth2/authorize?${query}`, { basic: ann, form: {} });
    },
    '400 page',
  ],
  ['a code for a ticket', async (server) => decide(server, await codeFor(server)), '400 page'],
  ['refusal', async (server) => decide(server, await ticketFor(server), 'deny'), '303 access_denied'],
]);

const credentials = { grant_type: 'client_credentials' };
const byForm =
  (form: Readonly<Record<string, string>> | string, more: Parameters<Server['ask']>[2] = {}, query = '') =>
  ({ ask }: Server): Promise<Answer> =>
    ask('POST', `/oauth2/token${query}`, { form, ...more });

refuses('Client authentication (RFC 6749 §2.3, §5.2)', [
  ['none', byForm(credentials), '401 invalid_client'],
  ['an unknown client', byForm(credentials, { basic: 'nobody:x' }), '401 invalid_client'],
  ['a user for a client', byForm(credentials, { basic: ann }), '401 invalid_client'],
  [
    'the digest of the secret',
    byForm(credentials, { basic: `robot:${hashSha256('robot-secret-0123456789')}` }),
    '401 invalid_client',
  ],
  [
    'a secret without a client',
    byForm({ ...credentials, client_secret: 'robot-secret-0123456789' }),
    '401 invalid_client',
  ],
  [
    'a token for a secret',
    async (server) =>
      byForm({ ...credentials, client_id: 'phone' }, { bearer: (await tokensFor(server)).access })(server),
    '401 invalid_client',
  ],
  [
    'two ways at once',
    byForm({ ...credentials, client_secret: 'robot-secret-0123456789' }, { basic: robot }),
    '400 invalid_request',
  ],
  [
    'two fields',
    byForm(credentials, {
      fields: [
        ['Authorization', basicField(robot)],
        ['Authorization', basicField(robot)],
      ],
    }),
    '400 invalid_request',
  ],
  ['two clients', byForm({ ...credentials, client_id: 'app' }, { basic: robot }), '400 invalid_request'],
  [
    'a client_id twice',
    byForm('grant_type=client_credentials&client_id=robot&client_id=robot', { basic: robot }),
    '400 invalid_request',
  ],
  [
    'the client in the query',
    byForm(credentials, { basic: robot }, '?client_id=robot'),
    '400 invalid_request',
  ],
  ['Basic without a colon', byForm(credentials, { basic: 'robot' }), '400 invalid_request'],
  [
    'Basic that is no base64',
    byForm(credentials, { fields: [['Authorization', 'Basic ***']] }),
    '400 invalid_request',
  ],
]);

refuses('The token endpoint (RFC 6749 §3.2, §5.2)', [
  ['no grant_type', byForm({}, { basic: app }), '400 invalid_request'],
  ['an empty grant_type', byForm({ grant_type: '' }, { basic: app }), '400 invalid_request'],
  ...['urn:x', 'toString'].map(
    (type): Case => [
      `the grant_type ${type}`,
      byForm({ grant_type: type }, { basic: app }),
      '400 unsupported_grant_type',
    ],
  ),
  [
    'a grant_type twice',
    byForm('grant_type=client_credentials&grant_type=client_credentials', { basic: robot }),
    '400 invalid_request',
  ],
  ['a form that does not decode', byForm('grant_type=%FF', { basic: robot }), '400 invalid_request'],
  ['a grant that is not the client’s', byForm(credentials, { basic: app }), '400 unauthorized_client'],
  [
    'a code for a client with client_credentials only',
    byForm(
      { grant_type: 'authorization_code', code: 'x', redirect_uri: 'x', code_verifier: 'x' },
      { basic: robot },
    ),
    '400 unauthorized_client',
  ],
  [
    'a refresh token for a client without that grant type',
    byForm({ grant_type: 'refresh_token', refresh_token: 'x', client_id: 'phone' }),
    '400 unauthorized_client',
  ],
  ['an unknown scope', byForm({ ...credentials, scope: 'admin' }, { basic: robot }), '400 invalid_scope'],
  ['GET', get('/oauth2/token?grant_type=client_credentials', { basic: robot }), '405 invalid_request'],
  [
    'JSON',
    post('/oauth2/token', {
      basic: robot,
      content: '{}',
      fields: [['Content-Type', 'application/json']],
    }),
    '415 invalid_request',
  ],
  ['no content', post('/oauth2/token', { basic: robot }), '400 invalid_request'],
]);

const exchanging =
  (changes: Readonly<Record<string, string>>, basic = app) =>
  async (server: Server): Promise<Answer> =>
    exchange(server, await codeFor(server), changes, basic);

refuses('Codes (RFC 6749 §4.1.3, RFC 7636 §4.6)', [
  ['no code', exchanging({ code: '' }), '400 invalid_request'],
  ['an unknown code', exchanging({ code: 'x'.repeat(43) }), '400 invalid_grant'],
  ['no redirect URI', exchanging({ redirect_uri: '' }), '400 invalid_request'],
  ['no verifier', exchanging({ code_verifier: '' }), '400 invalid_request'],
  ['a verifier too short', exchanging({ code_verifier: 'x'.repeat(42) }), '400 invalid_grant'],
  ['a client without a secret', exchanging({ client_id: 'phone' }, ''), '400 invalid_grant'],
  ...['redirect_uri', 'code_verifier'].map(
    (name): Case => [
      `a code that was sent without ${name} before`,
      async (server) => {
        const code = await codeFor(server);
        await exchange(server, code, { [name]: '' });
        return exchange(server, code);
      },
      '400 invalid_grant',
    ],
  ),
  ['a ticket for a code', async (server) => exchange(server, await ticketFor(server)), '400 invalid_grant'],
  [
    'a code of a user who was disabled',
    async (server) => {
      const code = await codeFor(server);
      server.service.replaceUsers({ ann: { secret: 'ann-secret', disabled: true } });
      return exchange(server, code);
    },
    '400 invalid_grant',
  ],
]);

const refreshing =
  (changes: Readonly<Record<string, string>>, basic = app) =>
  async (server: Server): Promise<Answer> =>
    refresh(server, (await tokensFor(server, { scope: 'read' })).refresh, changes, basic);

refuses('Refresh tokens (RFC 6749 §6, RFC 9700 §4.14)', [
  ['none', refreshing({ refresh_token: '' }), '400 invalid_request'],
  ['an unknown one', refreshing({ refresh_token: 'x'.repeat(43) }), '400 invalid_grant'],
  [
    'an access token for one',
    async (server) => refresh(server, (await tokensFor(server)).access),
    '400 invalid_grant',
  ],
  ['another scope than granted', refreshing({ scope: 'write' }), '400 invalid_scope'],
]);

refuses('Revocation and introspection (RFC 7009 §2.1, RFC 7662 §2.1)', [
  ['revoking nothing', post('/oauth2/revoke', { basic: app, form: {} }), '400 invalid_request'],
  ['revoking without authentication', post('/oauth2/revoke', { form: { token: 'x' } }), '401 invalid_client'],
  [
    'revoking a token in the query',
    post('/oauth2/revoke?token=x', { basic: app, form: { token: 'x' } }),
    '400 invalid_request',
  ],
  [
    'revoking a token twice at once',
    post('/oauth2/revoke', { basic: app, form: 'token=x&token=y' }),
    '400 invalid_request',
  ],
  ['inspecting nothing', post('/oauth2/introspect', { basic: app, form: {} }), '400 invalid_request'],
  [
    'introspecting without authentication',
    post('/oauth2/introspect', { form: { token: 'x' } }),
    '401 invalid_client',
  ],
  [
    'inspecting without a secret',
    post('/oauth2/introspect', { form: { token: 'x', client_id: 'phone' } }),
    '401 invalid_client',
  ],
]);

const records = '/users/ann/financialrecords';

refuses('Tokens at the resources (RFC 6750 §3.1)', [
  ['no token where one is needed', get(records), '401 authentication-required'],
  ['an unknown token', get(records, { bearer: 'x'.repeat(43) }), '401 invalid_token'],
  ['an empty token', get(records, { bearer: '' }), '400 invalid_request'],
  ['two tokens', get(records, { bearer: 'a b' }), '400 invalid_request'],
  ['a token in quotes', get(records, { bearer: '"a"' }), '400 invalid_request'],
  ['padding inside', get(records, { bearer: 'a=b' }), '400 invalid_request'],
  [
    'a refresh token',
    async (server) => server.ask('GET', records, { bearer: (await tokensFor(server)).refresh }),
    '401 invalid_token',
  ],
  [
    'a code',
    async (server) => server.ask('GET', records, { bearer: await codeFor(server) }),
    '401 invalid_token',
  ],
  [
    'a token in a form',
    async (server) =>
      server.ask('POST', records, { form: { access_token: (await tokensFor(server)).access } }),
    '401 authentication-required',
  ],
  [
    'two fields',
    async (server) => {
      const { access } = await tokensFor(server);
      return server.ask('GET', records, { bearer: access, fields: [['Authorization', `Bearer ${access}`]] });
    },
    '400 invalid_request',
  ],
  [
    'a token beside a password',
    async (server) => {
      const { access } = await tokensFor(server);
      return server.ask('GET', records, { bearer: access, basic: 'ann:ann-password' });
    },
    '400 invalid_request',
  ],
  [
    'two tokens in the clear',
    get(records, { bearer: 'x', fields: [['Authorization', 'Bearer y']], secure: false }),
    '400 several-credentials',
  ],
  [
    'a token of a user who was disabled',
    async (server) => {
      const { access } = await tokensFor(server);
      server.service.replaceUsers({
        ann: { secret: 'ann-secret', password: 'ann-password', disabled: true },
      });
      return server.ask('GET', records, { bearer: access });
    },
    '401 invalid_token',
  ],
]);

refuses('Over plain HTTP nothing is read', [
  ...(
    [
      ['GET', '/.well-known/oauth-authorization-server'],
      ['GET', authorizeTarget()],
      ['POST', '/oauth2/authorize'],
      ['POST', '/oauth2/token'],
      ['POST', '/oauth2/revoke'],
      ['POST', '/oauth2/introspect'],
    ] as const
  ).map(([method, target]): Case => {
    const sending = method === 'GET' ? { basic: app } : { basic: app, form: { token: 'x' } };
    return [
      `${method} ${target.replace(/\?.*/, '')}`,
      ({ ask }) => ask(method, target, { ...sending, secure: false }),
      /(?:token|revoke|introspect)$/.test(target) ? '403 invalid_request' : '403 tls-required',
    ];
  }),
  [
    'a token',
    async (server) => server.ask('GET', records, { bearer: (await tokensFor(server)).access, secure: false }),
    '403 tls-required',
  ],
]);

test('an error of an endpoint for clients is OAuth JSON, even if the endpoint was not reached', async () => {
  for (const path of ['/oauth2/token', '/oauth2/revoke', '/oauth2/introspect']) {
    const { ask } = openServer();
    const answers = [
      await ask('POST', path, { basic: app, form: { token: 'x' }, secure: false }),
      await ask('POST', path, { basic: app, content: '<a/>', fields: [['Content-Type', 'application/xml']] }),
      await ask('GET', path, { basic: app }),
    ];
    assert.deepEqual(
      answers.map(({ status }) => status),
      [403, 415, 405],
    );
    for (const answer of answers) {
      assert.equal(answer.field('Content-Type'), 'application/json');
      assert.deepEqual(Object.keys(JSON.parse(answer.text)), ['error', 'error_description']);
      assert.match(answer.member('error_description'), /^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/);
    }
    assert.equal(answers[2]?.field('Allow'), 'POST, OPTIONS');
  }
});
