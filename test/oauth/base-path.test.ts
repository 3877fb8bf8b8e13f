import assert from 'node:assert/strict';
import { test } from 'node:test';
import { accessToken, ask, askRequestToken, consumers } from '../support/oauth/consumer.ts';
import { authorizeTarget, codeFor, decide, openServer, ticketFor } from '../support/oauth/server.ts';

const basePath = '/api/v1';
const server = openServer({ basePath, consumers });
/** The URL that clients sign: the target is sent without the prefix, as by a proxy that removed it. */
const origin = `https://localhost${basePath}`;

test('the metadata and the issuer have the base path', async () => {
  const { text } = await server.ask('GET', '/.well-known/oauth-authorization-server');
  const metadata: Record<string, unknown> = JSON.parse(text);
  assert.equal(metadata['issuer'], 'https://localhost/api/v1');
  for (const [name, value] of Object.entries(metadata)) {
    if (name.endsWith('_endpoint'))
      assert.ok(String(value).startsWith('https://localhost/api/v1/oauth2/'), name);
  }
  const reply = await decide(server, await ticketFor(server));
  assert.equal(reply.returned('iss'), 'https://localhost/api/v1');
  assert.match(await codeFor(server), /^[\w-]{43}$/);
});

test('the public URL has the base path too', async () => {
  const { ask: send } = openServer({ basePath, publicUrl: 'https://api.example' });
  const { text } = await send('GET', '/.well-known/oauth-authorization-server');
  assert.equal(JSON.parse(text).token_endpoint, 'https://api.example/api/v1/oauth2/token');
});

test('the forms of the consent pages are sent to the base path', async () => {
  const page = await server.ask('GET', authorizeTarget(), { basic: 'ann:ann-password' });
  assert.match(page.text, /<form method="post" action="\/api\/v1\/oauth2\/authorize">/);
  const token =
    new URLSearchParams((await askRequestToken(server, { origin })).text).get('oauth_token') ?? '';
  const other = await server.ask('GET', `/oauth1/authorize?oauth_token=${token}`, {
    basic: 'ann:ann-password',
  });
  assert.match(other.text, /<form method="post" action="\/api\/v1\/oauth1\/authorize">/);
});

test('the base string URI of OAuth 1.0a is that of the client, with the base path', async () => {
  const token = await accessToken(server, { origin });
  const target = '/users/ann/financialrecords?limit=1';
  assert.equal((await ask(server, { method: 'GET', target, token, origin })).status, 200);
  assert.equal((await ask(server, { method: 'GET', target, token })).status, 401);
});

test('the base string in an explanation has the base path', async () => {
  const explaining = openServer({ basePath, consumers, explain: true });
  const refused = await askRequestToken(explaining);
  const advice = new URLSearchParams(refused.text).get('oauth_problem_advice') ?? '';
  assert.match(advice, /^POST&https%3A%2F%2Flocalhost%2Fapi%2Fv1%2Foauth1%2Frequest_token&/);
});
