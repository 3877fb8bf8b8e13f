import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { startDouble } from '../../../src/double/index.ts';
import { action, createService, text } from '../../../src/index.ts';
import { openServer, type Server, users } from '../../support/oauth/server.ts';

const secret = 'orders-secret-0123456789';
const basic = `shop:${secret}`;
const oauth2 = { scopes: ['read', 'orders.read', 'orders.write'] };
const access = { read: 'scope:orders.read', write: ['ann', 'scope:orders.write'] } as const;
const collections = {
  '/orders': {
    element: 'orders',
    item: 'order',
    fields: { title: { type: 'text', required: true } },
    access,
  },
} as const;

function open(scopes?: readonly string[]): Server {
  const clients = { shop: { secret, grants: ['client_credentials'], scopes } } as const;
  return openServer({ clients, collections, oauth2 });
}

async function tokenFor({ ask }: Server, scope: string): Promise<string> {
  const form = { grant_type: 'client_credentials', scope };
  return (await ask('POST', '/oauth2/token', { form, basic })).member('access_token');
}

describe('scopes without a document', () => {
  test('the metadata lists all of them', async () => {
    const answer = await open().ask('GET', '/.well-known/oauth-authorization-server');
    assert.deepEqual(JSON.parse(answer.text).scopes_supported, oauth2.scopes);
  });

  test('a client has all further ones by default, and gets those that it asks for', async () => {
    const server = open();
    const form = { grant_type: 'client_credentials' };
    const all = await server.ask('POST', '/oauth2/token', { form, basic });
    assert.equal(all.member('scope'), 'orders.read orders.write');
    const one = await server.ask('POST', '/oauth2/token', { form: { ...form, scope: 'orders.read' }, basic });
    assert.equal(one.member('scope'), 'orders.read');
    const other = await server.ask('POST', '/oauth2/token', { form: { ...form, scope: 'read' }, basic });
    assert.equal(other.member('error'), 'invalid_scope');
  });

  test('a rule with a scope permits its tokens alone, and they need neither a user nor another scope', async () => {
    const server = open();
    const reading = await tokenFor(server, 'orders.read');
    assert.equal((await server.ask('GET', '/orders', { bearer: reading })).status, 200);
    const refused = await server.ask('GET', '/orders', { bearer: await tokenFor(server, 'orders.write') });
    assert.equal(refused.status, 403);
    assert.match(refused.field('WWW-Authenticate'), /error="insufficient_scope", scope="orders\.read"/);
    assert.equal((await server.ask('GET', '/orders', { basic: 'ann:ann-password' })).status, 403);
    assert.equal((await server.ask('GET', '/orders')).status, 401);
  });

  test('in a list, the scope is one of the alternatives', async () => {
    const server = open();
    const sent = {
      content: '<order><title>Tea</title></order>',
      fields: [['Content-Type', 'application/xml']],
    } as const;
    const post = async (credentials: { bearer?: string; basic?: string }): Promise<number> =>
      (await server.ask('POST', '/orders', { ...sent, ...credentials })).status;
    assert.equal(await post({ bearer: await tokenFor(server, 'orders.write') }), 201);
    assert.equal(await post({ basic: 'ann:ann-password' }), 201);
    assert.equal(await post({ basic: 'bob:bob-password' }), 403);
    assert.equal(await post({ bearer: await tokenFor(server, 'orders.read') }), 403);
  });

  test('a scope that does not exist is refused with the nearest one, of a client and of a rule', () => {
    assert.throws(() => open(['orders.red']), /is not one of read, orders\.read, orders\.write/);
    const resources = { '/x': { GET: action('scope:orders.red', () => text('x')) } };
    assert.throws(
      () => createService({ users: users(), oauth2, resources }),
      /the access rule of HEAD at \/x: there is no scope "orders\.red"; did you mean "orders\.read"\?/,
    );
    assert.throws(() => createService({ oauth2: { scopes: ['a b'] } }), /is not a scope/);
    assert.throws(() => createService({ oauth2: { scope: [] } as object }), /scopes/);
  });

  test('without the option, read and write exist alone', async () => {
    const clients = { shop: { secret, grants: ['client_credentials'], scopes: ['orders.read'] } } as const;
    assert.throws(() => openServer({ clients }), /is not one of read, write/);
  });
});

test('a stub can require a scope', async () => {
  await using double = await startDouble({
    users: ['ann'],
    oauth2: { scopes: ['orders.read', 'orders.write'] },
    clients: { shop: { secret, grants: ['client_credentials'] } },
  });
  double.stub({ path: '/rates' }, { body: { rate: 1 } }, { access: 'scope:orders.read' });
  const send = async (scope: string): Promise<number> => {
    const { accessToken } = await double.oauth2.issueToken({ client: 'shop', scope });
    const headers = { Authorization: `Bearer ${accessToken}` };
    return (await double.fetch('/rates', { headers })).status;
  };
  assert.equal(await send('orders.read'), 200);
  assert.equal(await send('orders.write'), 403);
});
