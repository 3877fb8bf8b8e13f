import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { signedFetch } from '../../../src/client/index.ts';
import { call, type Running, run, startProcess, startServer } from '../../support/cli/command.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { importFrom, sharedModule, writeModule } from '../write-module.ts';

const plain = ['--no-tls', '--port', '0'];
const json = { 'Content-Type': 'application/json' };
const article = '{"title":"Green tea","price":{"value":"12.30","currency":"EUR"}}';
const { ann, bob } = { ann: 'secret-of-ann-0123456789', bob: 'secret-of-bob-0123456789' };

/** Stops a server with SIGTERM. */
/** Returns the status of a request that a user signs. */
async function put({ url }: Running, path: string, user: string, secret: string): Promise<number> {
  const init = { method: 'PUT', user, secret, headers: json, body: article };
  return (await signedFetch(`${url}${path}`, init)).status;
}

/** Waits until a condition holds. The test fails by its time limit if it never does. */
async function until(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition()));
}

/** Returns a configuration file with this content. */
function configuration(content: object): string {
  const path = join(temporaryDirectory(), 'config.json');
  writeFileSync(path, JSON.stringify(content), { mode: 0o600 });
  return path;
}

describe('a module without a store', () => {
  test('adds resources and users to those of the data directory, and its resources are durable', async () => {
    const data = join(temporaryDirectory(), 'data');
    const file = writeModule(`${importFrom('src/index.ts', 'action', 'text')}
export default () => ({
  users: new Map([['ann', { secret: '${ann}' }]]),
  schemes: { 'message-signatures': {} },
  resources: ({ store }) => ({
    '/count': {
      GET: action('anyone', async () => text(String((await store.list('/count', 0, 100)).entries.length))),
      POST: action('authenticated', async ({ now }) => {
        await store.apply({ kind: 'create', collection: '/count', value: {}, at: now });
        return { status: 204 };
      }),
    },
  }),
});`);
    const start = () => startServer(['--data', data, '--module', file, ...plain]);
    const first = await start();
    assert.equal(
      (await signedFetch(`${first.url}/count`, { method: 'POST', user: 'ann', secret: ann })).status,
      204,
    );
    assert.equal(await put(first, '/articles/1', 'ann', ann), 201);
    const refused = await fetch(`${first.url}/count`, { method: 'POST' });
    assert.match(
      refused.headers.get('Accept-Signature') ?? '',
      /@method/,
      'the scheme of the module is offered',
    );
    assert.equal((await first.stop()).status, 0);
    const second = await start();
    assert.equal(await (await fetch(`${second.url}/count`)).text(), '1');
    assert.equal((await fetch(`${second.url}/articles/1`)).status, 200);
    assert.equal((await second.stop()).status, 0);
  });

  test('can replace the store of nonces', async () => {
    const file = writeModule(`
const seen = new Set();
export default () => ({
  users: { ann: { secret: '${ann}' } },
  nonces: {
    claim: (user, nonce) => { console.error('claimed by ' + user); return 'seen'; },
    kept: () => undefined, hold: () => undefined, release: () => undefined, size: 0,
  },
});`);
    const server = await startProcess(['--memory', '--module', file, ...plain]);
    assert.equal(await put(server, '/articles/1', 'ann', ann), 401);
    assert.match((await server.stop()).stderr, /claimed by ann/);
  });
});

describe('onRequest', () => {
  const hooked = (body: string) => writeModule(`export default () => ({ onRequest(entry) { ${body} } });`);

  test('receives each entry of the access log, also if the log is off', async () => {
    const file = hooked('console.error("audit " + JSON.stringify(entry));');
    const server = await startProcess(['--memory', '--module', file, '--log', 'off', ...plain]);
    await fetch(`${server.url}/articles?secret=1`);
    await fetch(`${server.url}/none`, { method: 'POST' });
    const { stderr, status } = await server.stop();
    assert.equal(status, 0);
    const entries = [...stderr.matchAll(/^audit (.*)$/gm)].map(([, text = '']) => JSON.parse(text));
    assert.deepEqual(
      entries.map((entry) => [entry.method, entry.path, entry.status]),
      [
        ['GET', '/articles', 200],
        ['POST', '/none', 404],
      ],
    );
  });

  test('is logged once per kind of error if it throws or rejects, and changes no response', async () => {
    const file = hooked(`
      if (entry.path === '/a') throw new TypeError('thrown at postgres://me:hidden@db/x');
      if (entry.path === '/b') return Promise.reject(new RangeError('rejected'));
      if (entry.path === '/c') throw 'text';`);
    const server = await startProcess(['--memory', '--module', file, '--log', 'json', ...plain]);
    for (const path of ['/a', '/b', '/c', '/a', '/b', '/c'])
      assert.equal((await fetch(`${server.url}${path}`)).status, 404);
    const { stderr, status } = await server.stop();
    assert.equal(status, 0);
    const lines = stderr.split('\n').filter((line) => line.includes('onRequest'));
    assert.equal(lines.length, 3, stderr);
    assert.match(
      lines[0] ?? '',
      /"fault":"onRequest of .*module\.mjs failed: TypeError: thrown at postgres:\/\/\*\*\*@db\/x/,
    );
    assert.match(lines[1] ?? '', /RangeError: rejected/);
    assert.match(lines[2] ?? '', /failed: text/);
    assert.equal([...stderr.matchAll(/"path":"\/a"/g)].length, 2, 'the access log is complete');
  });

  test('completes before the server stops', async () => {
    const directory = temporaryDirectory();
    const file = writeModule(`import { writeFile } from 'node:fs/promises';
export default () => ({ onRequest: ({ path }) => writeFile(${JSON.stringify(join(directory, 'audit'))}, path) });`);
    const server = await startServer(['--memory', '--module', file, ...plain]);
    await fetch(`${server.url}/last`);
    await server.stop();
    assert.equal(readFileSync(join(directory, 'audit'), 'utf8'), '/last');
  });
});

describe('a module with a store', () => {
  test('stores items there, not in the data directory, and the store is closed at the end', async () => {
    const [directory, data] = [temporaryDirectory(), join(temporaryDirectory(), 'data')];
    const file = sharedModule(directory, `users: { ann: { secret: '${ann}' } }`);
    const start = () => startServer(['--data', data, '--module', file, ...plain]);
    const first = await start();
    assert.equal(await put(first, '/articles/1', 'ann', ann), 201);
    const { status, stderr } = await first.stop();
    assert.equal(status, 0);
    assert.match(stderr, /^countersign: the store of .* has no nonces: /m);
    assert.ok(existsSync(join(directory, 'closed')));
    assert.ok(!existsSync(data), 'there is no data directory');
    const second = await start();
    assert.equal((await fetch(`${second.url}/articles/1`)).status, 200);
    await second.stop();
  });

  test('stores only its own certificate in the data directory', async () => {
    const data = join(temporaryDirectory(), 'data');
    const file = sharedModule(temporaryDirectory());
    const server = await startServer(['--data', data, '--module', file, '--port', '0']);
    assert.ok(server.secureUrl.startsWith('https:'));
    await server.stop();
    assert.deepEqual(readdirSync(data), ['tls']);
  });

  test('creates no user at the first start, and names the command that adds one', async () => {
    const file = sharedModule(temporaryDirectory());
    const server = await startServer(['--module', file, ...plain]);
    const { stderr } = await server.stop();
    assert.ok(
      stderr.includes(
        `countersign: there are no users; to add one: countersign user add NAME --module ${file}\n`,
      ),
      stderr,
    );
    assert.ok(!stderr.includes('demo'));
  });

  test('is reported as unreachable in the format of the log, and by readiness checks', async () => {
    const file = writeModule(`${importFrom('src/index.ts', 'createMemoryStore', 'StoreError')}
export default () => {
  const store = createMemoryStore({ storeId: 'k3x9' });
  return {
    users: { ann: { secret: '${ann}' } },
    store: {
      ...store,
      read: (path, id) => {
        if (id === '1') {
          process.emitWarning('the database cannot be reached', 'CountersignWarning');
          store.read = () => { throw new StoreError('failed', 'unreachable', undefined, true); };
        }
        return store.read(path, id);
      },
      close: async () => {},
    },
  };
};`);
    const token = 'token-of-the-control-interface-0123456789';
    const server = await startProcess(
      ['--module', file, '--control-port', '0', '--health-path', '/healthz', '--log', 'json', ...plain],
      { environment: { COUNTERSIGN_CONTROL_TOKEN: token }, json: true },
    );
    const statuses = async (): Promise<number[]> => {
      const urls = [`${server.url}/healthz`, `${server.url}/healthz/ready`, `${server.controlUrl}/health`];
      return Promise.all(urls.map(async (url) => (await fetch(url)).status));
    };
    assert.deepEqual(await statuses(), [200, 200, 200]);
    const reply = await fetch(`${server.url}/articles/1`);
    assert.deepEqual([reply.status, reply.headers.get('retry-after')], [503, '5']);
    assert.deepEqual(await statuses(), [200, 503, 503]);
    const lines = (await server.stop()).stderr
      .trim()
      .split('\n')
      .map((line): unknown => JSON.parse(line));
    const reported = lines.filter((line) =>
      JSON.stringify(line).includes('"message":"the database cannot be reached"'),
    );
    assert.equal(reported.length, 1, JSON.stringify(lines));
  });

  test('rejects requests signed before the start if it has no nonces', async () => {
    const file = sharedModule(temporaryDirectory(), `users: { ann: { secret: '${ann}' } }`);
    const server = await startServer(['--module', file, '--explain', ...plain]);
    const clock = { now: () => Date.now() - 60_000, steady: () => 0 };
    const init = { method: 'PUT', user: 'ann', secret: ann, headers: json, body: article, clock };
    assert.equal((await signedFetch(`${server.url}/articles/1`, init)).status, 401);
    await server.stop();
  });
});

describe('accounts in documents', () => {
  test('apply to every server that shares them, without a restart', async () => {
    const file = sharedModule(temporaryDirectory());
    const args = ['--module', file, '--max-auth-failures', '0', ...plain];
    const [one, other] = await Promise.all([startServer(args), startServer(args)]);
    for (const [name, secret] of [
      ['ann', ann],
      ['bob', bob],
    ] as const) {
      const added = await call(['user', 'add', name, '--secret-stdin', '--module', file], {
        input: `${secret}\n`,
      });
      assert.deepEqual(
        [added.status, added.stderr],
        [0, 'stored in the shared store; its servers apply the change within a second\n'],
      );
    }
    let count = 0;
    for (const server of [one, other])
      for (const [name, secret] of [
        ['ann', ann],
        ['bob', bob],
      ] as const)
        await until(async () => (await put(server, `/articles/a${++count}`, name, secret)) === 201);
    const removed = await call(['user', 'remove', 'ann', '--module', file]);
    assert.equal(removed.stdout, 'removed   ann\n');
    for (const server of [one, other])
      await until(async () => (await put(server, `/articles/a${++count}`, 'ann', ann)) === 401);
    for (const server of [one, other]) assert.equal((await server.stop()).status, 0);
  });

  test('are encrypted at a start with a key, and a wrong key prevents the start', async () => {
    const directory = temporaryDirectory();
    const file = sharedModule(directory);
    await call(['user', 'add', 'ann', '--secret-stdin', '--module', file], { input: `${ann}\n` });
    const environment = { COUNTERSIGN_KEY: 'ab'.repeat(32) };
    const document = () => readFileSync(join(directory, 'document-users.json'), 'utf8');
    assert.ok(document().includes(ann));
    const server = await startServer(['--module', file, ...plain], { environment });
    assert.equal(await put(server, '/articles/1', 'ann', ann), 201);
    const { stderr } = await server.stop();
    assert.match(stderr, /^countersign: encrypted the secrets in users\.json \(the shared store\)$/m);
    assert.ok(!document().includes(ann));
    const wrong = await call(['serve', '--module', file, ...plain], {
      environment: { COUNTERSIGN_KEY: 'cd'.repeat(32) },
    });
    assert.equal(wrong.status, 1);
    assert.match(wrong.stderr, /^countersign: users\.json \(the shared store\): .* cannot be decrypted/m);
  });

  test('are replaced by those of the configuration if the store has no documents', async () => {
    const config = configuration({ users: { ann: { secret: ann } } });
    const file = writeModule(`${importFrom('src/index.ts', 'createMemoryStore')}
export default () => ({ store: createMemoryStore({ storeId: 'mem' }) });`);
    const server = await startServer(['--config', config, '--module', file, ...plain]);
    assert.equal(await put(server, '/articles/1', 'ann', ann), 201);
    await server.stop();
    for (const command of [
      ['user', 'add', 'bob'],
      ['client', 'list'],
      ['user', 'key', 'list', 'ann'],
    ]) {
      const { status, stdout, stderr } = await call([...command, '--module', file]);
      assert.deepEqual(
        [status, stdout, stderr],
        [
          1,
          '',
          `countersign: the store of ${file} has no documents, so its accounts are declared in the configuration\n`,
        ],
      );
    }
  });
});

test('a command exits although a module has an active timer', async () => {
  const file = writeModule('setInterval(() => {}, 1e6);\nexport default () => ({});');
  const data = ['--data', join(temporaryDirectory(), 'data')];
  assert.equal((await run(['user', 'list', '--module', file, ...data])).status, 0);
  const failing = writeModule(
    'setInterval(() => {}, 1e6);\nexport default () => { throw new Error("no way"); };',
  );
  assert.equal((await run(['serve', '--module', failing, ...data])).status, 1);
});
