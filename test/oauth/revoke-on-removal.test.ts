import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startDouble } from '../../src/double/index.ts';
import type { ServiceOptions } from '../../src/index.ts';
import { StoreError } from '../../src/store/errors.ts';
import { createMemoryStore } from '../../src/store/memory.ts';
import type { Store } from '../../src/store/store.ts';
import {
  accessToken,
  approve,
  askAccessToken,
  ask as askSigned,
  consumers,
  requestToken,
} from '../support/oauth/consumer.ts';
import {
  type Asked,
  callback,
  clients,
  codeFor,
  decide,
  exchange,
  openServer,
  refresh,
  start,
  ticketFor,
  tokensFor,
  users,
} from '../support/oauth/server.ts';

const records = '/users/ann/financialrecords';

/** Everything that a client, a consumer and a user can have, and what becomes of each of it when it is used. */
async function collected(server: Asked): Promise<() => Promise<Readonly<Record<string, boolean>>>> {
  const tokens = await tokensFor(server);
  const code = await codeFor(server);
  const ticket = await ticketFor(server);
  const signed = await accessToken(server);
  const pending = await requestToken(server);
  const verifier = await approve(server, pending.token);
  const form = { grant_type: 'client_credentials' };
  const own = await server.ask('POST', '/oauth2/token', { form, basic: 'robot:robot-secret-0123456789' });
  const robot = own.member('access_token');
  return async () => ({
    access: (await server.ask('GET', records, { bearer: tokens.access })).status === 200,
    refresh: (await refresh(server, tokens.refresh)).status === 200,
    code: (await exchange(server, code)).status === 200,
    ticket: (await decide(server, ticket)).status === 303,
    signed: (await askSigned(server, { method: 'GET', target: records, token: signed })).status === 200,
    pending: (await askAccessToken(server, pending, verifier)).status === 200,
    robot: (await server.ask('GET', records, { bearer: robot })).status === 200,
  });
}

const all = {
  access: true,
  refresh: true,
  code: true,
  ticket: true,
  signed: true,
  pending: true,
  robot: true,
};
const ofUser = {
  ...all,
  access: false,
  refresh: false,
  code: false,
  ticket: false,
  signed: false,
  pending: false,
};
const ofClient = { ...ofUser, signed: true, pending: true };
const ofConsumer = { ...all, signed: false, pending: false };

const without = <T>(
  everybody: Readonly<Record<string, T>> | ReadonlyMap<string, T>,
  name: string,
): Record<string, T> => Object.fromEntries(Object.entries(everybody).filter(([each]) => each !== name));

type Everybody = { readonly [Name in 'users' | 'clients' | 'consumers']: NonNullable<ServiceOptions[Name]> };
const everybody = (): Everybody => ({ users: users(), clients, consumers });

/** How a name goes, and comes again, at one moment of a clock that stands. */
const changes = {
  user: [ofUser, (who: string) => ({ users: without(users(), who) }), 'ann'],
  client: [ofClient, (who: string) => ({ clients: without(clients, who) }), 'app'],
  consumer: [ofConsumer, (who: string) => ({ consumers: without(consumers, who) }), 'printer'],
} as const;

for (const [role, [left, lacking, name]] of Object.entries(changes)) {
  test(`a ${role} that is removed and added again has none of the previous tokens`, async () => {
    const server = openServer({ consumers });
    const use = await collected(server);
    const replace = (changed: Partial<Everybody>): void => {
      const { users: there, clients: second, consumers: first } = { ...everybody(), ...changed };
      server.service.replaceUsers(there);
      server.service.replaceClients(second);
      server.service.replaceConsumers(first);
    };
    replace(lacking(name));
    replace({});
    assert.deepEqual(await use(), left);
    const anew = await collected(server);
    assert.deepEqual(await anew(), all);
  });

  test(`a ${role} that is absent during one run of the server loses its tokens`, async () => {
    const store = createMemoryStore({ storeId: 'a' });
    const use = await collected(openServer({ ...everybody(), store }));
    await openServer({ ...everybody(), store }).service.close();
    await openServer({ ...everybody(), ...lacking(name), store }).service.close();
    assert.deepEqual(await use(), left);
  });
}

test('a start with all users, clients and consumers revokes nothing', async () => {
  const store = createMemoryStore({ storeId: 'a' });
  const use = await collected(openServer({ ...everybody(), store }));
  await openServer({ ...everybody(), store }).service.close();
  assert.deepEqual(await use(), all);
});

test('a start without the consumers option revokes nothing', async () => {
  const store = createMemoryStore({ storeId: 'a' });
  const use = await collected(openServer({ ...everybody(), store }));
  await openServer({ store }).service.close();
  assert.deepEqual(await use(), all);
});

test('a user with the name of a removed user is not reachable with the tokens of that user', async () => {
  const server = openServer();
  const tokens = await tokensFor(server);
  server.service.replaceUsers({});
  server.clock.advance(1000);
  const credentials = { secrets: [{ secret: 'another' }], password: { plain: 'ann-password' } };
  server.service.replaceUsers({ ann: { ...credentials, since: start + 1000 } });
  assert.equal((await server.ask('GET', records, { bearer: tokens.access })).status, 401);
  assert.equal((await refresh(server, tokens.refresh)).member('error'), 'invalid_grant');
  assert.equal((await server.ask('GET', records, { bearer: (await tokensFor(server)).access })).status, 200);
});

test('a user that is disabled and enabled again retains all tokens', async () => {
  const server = openServer({ consumers });
  const use = await collected(server);
  const ann = { secret: 'ann-secret', password: 'ann-password' };
  server.service.replaceUsers({ ...users(), ann: { ...ann, disabled: true } });
  server.service.replaceUsers(users());
  assert.deepEqual(await use(), all);
});

test('revoked tokens are refused even if the store cannot record it', async () => {
  const memory = createMemoryStore({ storeId: 'a' });
  let full = false;
  const store: Store = {
    ...memory,
    apply: async (change) => {
      if (full) throw new StoreError('full', 'no room', { reported: true });
      return memory.apply(change);
    },
  };
  const server = openServer({ users: users(), store });
  const { access } = await tokensFor(server);
  full = true;
  server.service.replaceUsers({});
  assert.equal((await server.ask('GET', records, { bearer: access })).status, 401);
  server.service.replaceUsers(users());
  assert.equal((await server.ask('GET', records, { bearer: access })).status, 401);
  full = false;
  assert.equal((await server.ask('GET', records, { bearer: access })).status, 401);
  const anew = await tokensFor(server);
  assert.equal((await server.ask('GET', records, { bearer: anew.access })).status, 200);
});

test('removing a client leaves many tokens of another client valid', async () => {
  const server = openServer();
  const { access } = await tokensFor(server);
  const held: string[] = [];
  for (let count = 0; count < 300; count += 1) {
    const form = { grant_type: 'client_credentials' };
    const own = await server.ask('POST', '/oauth2/token', { form, basic: 'robot:robot-secret-0123456789' });
    held.push(own.member('access_token'));
  }
  const later = await tokensFor(server);
  server.service.replaceClients(without(clients, 'app'));
  server.service.replaceClients(clients);
  const status = async (bearer: string): Promise<number> =>
    (await server.ask('GET', records, { bearer })).status;
  assert.deepEqual([await status(access), await status(later.access)], [401, 401]);
  for (const token of held) assert.equal(await status(token), 200);
});

test('a restored double has tokens of users removed since the snapshot, but not of users removed before it', async () => {
  const app = { redirectUris: [callback], scopes: ['read' as const] };
  await using double = await startDouble({ users: ['ann'], clients: { app }, now: '2026-03-01T12:00:00Z' });
  const { accessToken: token } = await double.oauth2.issueToken({ user: 'ann' });
  const headers = { Authorization: `Bearer ${token}` };
  const status = async (): Promise<number> => (await double.fetch(records, { headers, secure: true })).status;
  const present = double.snapshot();
  double.auth.removeUser('ann');
  const gone = double.snapshot();
  double.auth.setUser('ann');
  assert.equal(await status(), 401);
  double.restore(present);
  assert.equal(await status(), 200);
  double.auth.removeUser('ann');
  double.restore(present);
  assert.equal(await status(), 200);
  double.restore(gone);
  double.auth.setUser('ann');
  assert.equal(await status(), 401);
});
