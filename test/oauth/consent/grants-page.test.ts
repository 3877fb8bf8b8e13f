import assert from 'node:assert/strict';
import { test } from 'node:test';
import { showGrants } from '../../../src/oauth/consent/grants-resource.ts';
import { follow, inBrowser, openPage } from '../../support/browser.ts';
import { makeIdentity } from '../../support/net/transport.ts';
import { accessToken, ask as askSigned, consumers } from '../../support/oauth/consumer.ts';
import {
  type Answer,
  authorizeTarget,
  callback,
  codeFor,
  openServer,
  type Server,
  tokensFor,
} from '../../support/oauth/server.ts';
import { seeded } from '../../support/seeded.ts';

const path = '/oauth/grants';
const records = '/users/ann/financialrecords';
const accept = (type: string) => [['Accept', type]] as const;

interface ShownGrant {
  readonly id: string;
  readonly client: string;
  readonly scope: string;
  readonly issued: string;
  readonly expires: string;
}

/** The page as JSON. */
async function permissions(server: Server, user = 'ann'): Promise<{ ticket: string; grants: ShownGrant[] }> {
  const page = await server.ask('GET', path, {
    basic: `${user}:${user}-password`,
    fields: accept('application/json'),
  });
  assert.equal(page.status, 200, page.text);
  return JSON.parse(page.text);
}

function revoke(server: Server, form: Record<string, string>, user = 'ann'): Promise<Answer> {
  return server.ask('POST', path, { basic: `${user}:${user}-password`, form });
}

test('a user sees the grants and revokes one of them, with all its tokens', async () => {
  const server = openServer({ consumers });
  const tokens = await tokensFor(server);
  const token = await accessToken(server);
  await tokensFor(server, {}, 'bob');
  const { grants, ticket } = await permissions(server);
  assert.deepEqual(
    grants.map(({ client, scope, issued }) => [client, scope, issued]),
    [
      ['app', 'read write', '2024-02-29T12:00:00.000Z'],
      ['printer', 'read write', '2024-02-29T12:00:00.000Z'],
    ],
  );

  const revoked = await revoke(server, { ticket, grant: grants[0]?.id ?? '' });
  assert.deepEqual(
    [revoked.status, revoked.field('Location'), revoked.field('Cache-Control')],
    [303, path, 'no-store'],
  );
  assert.equal((await server.ask('GET', records, { bearer: tokens.access })).status, 401);
  assert.equal((await askSigned(server, { method: 'GET', target: records, token })).status, 200);
  assert.deepEqual(
    (await permissions(server)).grants.map(({ client }) => client),
    ['printer'],
  );
  assert.equal((await permissions(server, 'bob')).grants.length, 1);

  await revoke(server, { ticket, grant: grants[1]?.id ?? '' });
  assert.equal((await askSigned(server, { method: 'GET', target: records, token })).status, 401);
  assert.deepEqual((await permissions(server)).grants, []);
});

test('a page without live grants reports that there are none', async () => {
  const server = openServer();
  await tokensFor(server);
  server.clock.advance(31 * 86_400_000);
  const page = await server.ask('GET', path, { basic: 'ann:ann-password' });
  assert.match(page.text, /No application can use your account\./);
  assert.doesNotMatch(page.text, /<form/);
});

test('a form without a valid ticket of this user and page revokes nothing', async () => {
  const server = openServer();
  await tokensFor(server);
  const { grants, ticket } = await permissions(server);
  const id = grants[0]?.id ?? '';
  const foreign = (await permissions(server, 'bob')).ticket;
  const [expires = '', digest = ''] = ticket.split('.');
  const later = `${(Number.parseInt(expires, 36) + 1000).toString(36)}.${digest}`;
  for (const other of ['', foreign, later, `${expires}.`, `.${digest}`, `${ticket}A`, ticket.toUpperCase()]) {
    const refused = await revoke(server, { ticket: other, grant: id });
    assert.equal(refused.status, 400, other);
    assert.match(refused.text, /The form has expired or is not yours/);
  }
  // A ticket of a consent page is not one of this page.
  const consent = await server.ask('GET', authorizeTarget(), {
    basic: 'ann:ann-password',
    fields: accept('application/json'),
  });
  assert.equal((await revoke(server, { ticket: consent.member('consent_ticket'), grant: id })).status, 400);
  assert.equal((await permissions(server)).grants.length, 1);
});

test('a ticket expires', async () => {
  const server = openServer();
  await tokensFor(server);
  const { grants, ticket } = await permissions(server);
  server.clock.advance(300_000);
  assert.equal((await revoke(server, { ticket, grant: grants[0]?.id ?? '' })).status, 400);
  assert.equal((await permissions(server)).grants.length, 1);
});

test('a user cannot revoke the grant of another user', async () => {
  const server = openServer();
  await tokensFor(server);
  const id = (await permissions(server)).grants[0]?.id ?? '';
  const { ticket } = await permissions(server, 'bob');
  assert.equal((await revoke(server, { ticket, grant: id }, 'bob')).status, 303);
  assert.equal((await permissions(server)).grants.length, 1);
});

test('the page requires a password, TLS and a registered client', async () => {
  const server = openServer();
  for (const method of ['GET', 'HEAD', 'POST']) {
    const sending = method === 'POST' ? { form: { ticket: 'x', grant: 'y' } } : {};
    const refused = await server.ask(method, path, sending);
    assert.equal(refused.status, 401);
    assert.equal(refused.field('WWW-Authenticate'), 'Basic realm="Countersign", charset="UTF-8"');
    assert.equal((await server.ask(method, path, { ...sending, basic: 'ann:wrong' })).status, 401);
    const plain = await server.ask(method, path, { ...sending, basic: 'ann:ann-password', secure: false });
    assert.deepEqual([plain.status, plain.field('WWW-Authenticate')], [403, '']);
  }
  const tokens = await tokensFor(server);
  assert.equal((await server.ask('GET', path, { bearer: tokens.access })).status, 401);
  const without = openServer({ clients: {} });
  assert.equal((await without.ask('GET', path, { basic: 'ann:ann-password' })).status, 404);
});

test('the page has the header fields of the consent page, and the consent page links to it', async () => {
  const server = openServer({ basePath: '/api' });
  await tokensFor(server);
  const names = [
    'Content-Type',
    'Cache-Control',
    'Content-Security-Policy',
    'X-Frame-Options',
    'Referrer-Policy',
    'X-Content-Type-Options',
  ];
  const sending = { basic: 'ann:ann-password', fields: accept('text/html') };
  const consent = await server.ask('GET', authorizeTarget(), sending);
  const page = await server.ask('GET', path, sending);
  for (const name of names) {
    assert.notEqual(page.field(name), '', name);
    assert.equal(page.field(name), consent.field(name), name);
  }
  assert.match(consent.text, /<a href="\/api\/oauth\/grants">revoke it<\/a>/);
  assert.match(page.text, /<form method="post" action="\/api\/oauth\/grants">/);
  const head = await server.ask('HEAD', path, sending);
  assert.equal(head.text.length, page.text.length);
  const { ticket } = await permissions(server);
  assert.equal((await revoke(server, { ticket, grant: 'none' })).field('Location'), '/api/oauth/grants');
});

test('neither the page nor its JSON contains a token', async () => {
  const server = openServer();
  const tokens = await tokensFor(server);
  const page = await server.ask('GET', path, { basic: 'ann:ann-password' });
  const json = JSON.stringify(await permissions(server));
  for (const secret of [tokens.access, tokens.refresh])
    assert.ok(!page.text.includes(secret) && !json.includes(secret));
});

test('names of clients and users are always escaped as text on the page', () => {
  const random = seeded();
  for (let run = 0; run < 300; run += 1) {
    const name = (): string => random.text('<>&"\'/ =aé\u202e\0\n\ud800😀', 30);
    const grant = {
      id: name(),
      mechanism: 'oauth2',
      client: name(),
      user: name(),
      scopes: ['read'],
      issued: 0,
      ends: 1,
      revoked: false,
    } as const;
    const view = { user: name(), grants: [grant], ticket: name(), action: name() };
    const text = String(showGrants(view, undefined).representation?.body).replace(
      /<style>[^<]*<\/style>/,
      '',
    );
    const tags = new Set(Array.from(text.matchAll(/<\/?([a-z0-9]+)/g), ([, tag = '']) => tag));
    const known = 'bdi body button form h1 head html input li main meta p section strong title ul'.split(' ');
    assert.deepEqual([...tags].sort(), known, `seed ${random.seed}: ${text}`);
    assert.equal(text.replace(/&quot;/g, '').split('"').length - 1, 24, `seed ${random.seed}: ${text}`);
  }
});

test('a browser shows the page, and the button revokes the grant', inBrowser, async (context) => {
  const client = 'Ledger & <b>Sons</b>';
  const clients = { [client]: { redirectUris: [callback], scopes: ['read', 'write'] as const } };
  const server = openServer({ clients });
  await codeFor(server, { client_id: client });
  const listening = await server.service.listen({ tls: makeIdentity() });
  context.after(() => server.service.close({ grace: 0 }));
  const page = await openPage(context, { ignoreHTTPSErrors: true });
  const address = `https://ann:ann-password@localhost:${listening.port}`;
  await page.goto(address + authorizeTarget({ client_id: client }));
  await follow(page, 'a');
  assert.equal(await page.evaluate('location.pathname'), path);
  assert.equal(await page.evaluate('document.title'), 'Your permissions');
  const button = `document.querySelector('button').textContent`;
  assert.equal(await page.evaluate(button), `Revoke the permission of ${client}`);
  await follow(page, 'button');
  assert.equal(await page.evaluate('location.pathname'), path);
  assert.match(await page.evaluate('document.body.textContent'), /No application can use your account/);
  assert.deepEqual((await permissions(server)).grants, []);
});
