// What a test controls of a server is the same in memory, in a data directory and in the store of a module.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { signedFetch } from '../../src/client/index.ts';
import { startDouble } from '../../src/double/index.ts';
import { importFrom, sharedModule, writeModule } from '../cli/write-module.ts';
import { root, startServer } from '../support/cli/command.ts';
import { createConsole } from '../support/double/control-client.ts';
import { missingPostgres, password, startServer as startPostgres } from '../support/postgres/server.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const secret = 'secret-of-ann-0123456789';
const token = 'a-token-for-this-test-alone';

const partner = {
  openapi: '3.1.0',
  paths: {
    '/rates': {
      get: {
        operationId: 'listRates',
        responses: {
          200: {
            description: 'The rates',
            content: { 'application/json': { schema: { const: { rate: '1.08' } } } },
          },
          503: { description: 'Closed' },
        },
      },
    },
  },
};

const notes = {
  element: 'notes',
  item: 'note',
  fields: { text: { type: 'text', required: true } },
  access: { read: 'anyone', write: 'authenticated' },
} as const;

const clients = { app: { secret: 'the-secret-of-app', grants: ['client_credentials'] } } as const;
const users = { ann: { secret } };
const collections = { '/notes': notes };

/** A server with a control interface. */
interface Controlled {
  readonly url: string;
  readonly control: ReturnType<typeof createConsole>;
  close(): Promise<unknown>;
}

async function openDouble(): Promise<Controlled> {
  const double = await startDouble({ users, clients, collections, partner });
  const control = createConsole(await double.openControl());
  return { url: double.url, control, close: () => double.close() };
}

/** Starts `serve` with these options. */
async function openServer(...options: readonly string[]): Promise<Controlled> {
  const directory = temporaryDirectory();
  const [config, document] = [join(directory, 'config.json'), join(directory, 'partner.json')];
  writeFileSync(config, JSON.stringify({ users, clients, collections }), { mode: 0o600 });
  writeFileSync(document, JSON.stringify(partner));
  const ports = ['--port', '0', '--tls-port', '0', '--control-port', '0', '--log', 'off'];
  const server = await startServer(['--config', config, '--partner', document, ...ports, ...options], {
    environment: { COUNTERSIGN_CONTROL_TOKEN: token, PGPASSWORD: password },
  });
  return {
    url: server.url,
    control: createConsole({ url: server.controlUrl, token }),
    async close() {
      server.signal('SIGTERM');
      assert.equal((await server.ended).status, 0);
    },
  };
}

async function openPostgres(): Promise<Controlled> {
  const { directory: host } = await startPostgres();
  const driver = pathToFileURL(join(root, 'test/node_modules/pg/lib/index.js')).href;
  const connection = JSON.stringify({ host, user: 'countersign', database: 'postgres', password, max: 4 });
  const file = writeModule(`import pg from ${JSON.stringify(driver)};
${importFrom('src/postgres/index.ts', 'openPostgresStore')}
export default async () => ({ store: await openPostgresStore(new pg.Pool(${connection})) });
`);
  return openServer('--module', file);
}

const engines: Readonly<Record<string, () => Promise<Controlled>>> = {
  'a double': openDouble,
  'a server in memory': () => openServer('--memory'),
  'a server with a data directory': () => openServer('--data', join(temporaryDirectory(), 'data')),
  'a server with the store of a module': () => openServer('--module', sharedModule(temporaryDirectory())),
  'a server with PostgreSQL': openPostgres,
};

/** Returns the path of a request that ann signs, and its status. */
async function signed({ url }: Controlled, method: string, path: string, body?: object): Promise<number> {
  const headers = { 'Content-Type': 'application/json' };
  const content = body && JSON.stringify(body);
  return (await signedFetch(url + path, { method, user: 'ann', secret, headers, body: content })).status;
}

async function read({ url }: Controlled, path: string): Promise<unknown> {
  const response = await fetch(url + path, { headers: { Accept: 'application/json' } });
  return response.ok ? response.json() : response.status;
}

const contract: Readonly<Record<string, (core: Controlled) => Promise<void>>> = {
  async 'signed dates and Date are those of the clock'(core) {
    await core.control.send('POST', '/clock/freeze', { at: '2026-03-01T12:00:00Z' });
    const response = await fetch(core.url);
    assert.equal(response.headers.get('Date'), 'Sun, 01 Mar 2026 12:00:00 GMT');
    assert.equal(await signed(core, 'POST', '/notes', { text: 'too late' }), 401);
    await core.control.send('POST', '/clock/follow');
    await core.control.send('POST', '/clock/skew', { by: '-5m' });
    const { skew } = await core.control.send('GET', '/clock');
    assert.equal(skew, -300_000);
    await core.control.send('POST', '/clock/skew', { by: 0 });
    assert.equal(await signed(core, 'POST', '/notes', { text: 'in time' }), 201);
  },
  async 'faults are applied, and nonces are burnt'(core) {
    await core.control.send('POST', '/faults', { match: { user: 'ann' }, fault: { status: 503 } });
    assert.equal(await signed(core, 'POST', '/notes', { text: 'fault' }), 503);
    await core.control.send('POST', '/nonces/burn', {});
    assert.equal(await signed(core, 'POST', '/notes', { text: 'burnt' }), 401);
    const event = await core.control.send('POST', '/events/wait', { type: 'nonce-replayed' });
    assert.equal(event.user, 'ann');
    assert.equal(await signed(core, 'POST', '/notes', { text: 'fresh' }), 201);
  },
  async 'the journal has every request, and a change is explained'(core) {
    await core.control.send('DELETE', '/journal');
    await signedFetch(`${core.url}/notes`, { method: 'POST', user: 'ann', secret: 'wrong', body: '{}' });
    const entry = await core.control.send('GET', '/journal/last');
    assert.deepEqual([entry.status, entry.auth.failedAt], [401, 'digest']);
    assert.ok(!JSON.stringify(entry).includes(secret));
  },
  async 'stubs precede collections, and a fallback answers what nothing else does'(core) {
    const add = (match: object, body: unknown, more: object = {}) =>
      core.control.send('POST', '/stubs', { match, response: { body }, access: 'anyone', ...more });
    await add({}, 'fallback', { fallback: true });
    await add({ path: '/notes/{id}', query: { v: '2' } }, { stubbed: true }, { times: 1 });
    assert.deepEqual(await read(core, '/notes/1?v=2'), { stubbed: true });
    assert.notDeepEqual(await read(core, '/notes/1'), { stubbed: true });
    assert.equal(await (await fetch(`${core.url}/nowhere`)).text(), 'fallback');
    await core.control.send('DELETE', '/stubs');
    assert.equal(await read(core, '/nowhere'), 404);
  },
  async 'items and collections are added'(core) {
    await core.control.send('POST', '/collections', { path: '/lists', declaration: notes });
    await core.control.send('POST', '/seed', { '/lists': [{ text: 'one' }, { text: 'two' }] });
    assert.deepEqual(await read(core, '/lists/2'), { text: 'two' });
    await core.control.refused(422, 'POST', '/seed', { '/lists': [{ text: 'three' }, {}] });
    assert.equal(await read(core, '/lists/3'), 404);
    const { items } = await core.control.send('POST', '/items', { collection: '/lists' });
    assert.equal(items.length, 2);
  },
  async 'tokens are issued, listed and expire'(core) {
    const { accessToken } = await core.control.send('POST', '/tokens/oauth2', { client: 'app' });
    const live = async () =>
      (await core.control.send('GET', '/tokens')).tokens.filter(({ live: each }: { live: boolean }) => each);
    assert.equal((await live()).length, 1);
    assert.deepEqual(await core.control.send('POST', '/tokens/expire', { token: accessToken }), { count: 1 });
    assert.deepEqual(await live(), []);
  },
  async 'a secret is rotated'(core) {
    const rotated = await core.control.send('POST', '/users/ann/rotate', {});
    assert.notEqual(rotated.secret, secret);
    assert.equal(await signed(core, 'POST', '/notes', { text: 'former secret' }), 401);
    await core.control.send('POST', '/users/ann/rotate', { secret });
    assert.equal(await signed(core, 'POST', '/notes', { text: 'secret' }), 201);
  },
  async 'the document of a partner answers, and its responses are chosen and counted'(core) {
    assert.deepEqual(await read(core, '/rates'), { rate: '1.08' });
    await core.control.send('POST', '/partner/respond', {
      operationId: 'listRates',
      response: 503,
      times: 1,
    });
    assert.equal(await read(core, '/rates'), 503);
    const { operations } = await core.control.send('GET', '/partner/coverage');
    assert.deepEqual(operations[0].statuses, { 200: 1, 503: 1 });
  },
  async 'the whole state is restored and reset in memory, and nothing that is stored elsewhere is'(core) {
    const { keeps } = await core.control.send('GET', '/server');
    if (keeps === 'data') {
      for (const [path, content] of [['/snapshot'], ['/restore', { snapshot: '1' }], ['/reset']] as const)
        assert.match(String((await core.control.refused(409, 'POST', path, content))['detail']), /--memory/);
      return;
    }
    const { snapshot } = await core.control.send('POST', '/snapshot');
    assert.equal(await signed(core, 'DELETE', '/notes/1'), 204);
    await core.control.send('POST', '/restore', { snapshot });
    assert.deepEqual(await read(core, '/notes/1'), { text: 'in time' });
    await core.control.send('POST', '/reset');
    assert.equal(await read(core, '/notes/1'), 404);
  },
};

for (const [engine, open] of Object.entries(engines))
  describe(engine, { skip: open === openPostgres && missingPostgres }, () => {
    test('is controlled', async (context: TestContext) => {
      const core = await open();
      for (const [name, run] of Object.entries(contract)) await context.test(name, () => run(core));
      await core.close();
    });
  });

test('resources of a module and collections have one store, also with a control port', async () => {
  const file = writeModule(`${importFrom('src/index.ts', 'action', 'text')}
export default () => ({
  resources: ({ store }) => ({
    '/count': {
      GET: action('anyone', async () => text(String((await store.list('/notes', 0, 100)).entries.length))),
    },
  }),
});`);
  const core = await openServer('--memory', '--module', file);
  await core.control.send('POST', '/seed', { '/notes': [{ text: 'one' }] });
  assert.equal(await (await fetch(`${core.url}/count`)).text(), '1');
  await core.close();
});
