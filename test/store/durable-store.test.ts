import assert from 'node:assert/strict';
import { cpSync, mkdirSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { signRequest } from '../../src/client/index.ts';
import { createRequest } from '../../src/http/message.ts';
import { action, type DurableStore, json, openDurableStore } from '../../src/index.ts';
import { createControllableService } from '../../src/service/service.ts';
import { run } from '../support/cli/command.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const users = { ann: { secret: 'hidden-from-all' } };

function freshDirectory(): string {
  return join(temporaryDirectory(), 'data');
}

/** Returns a service with a resource in code that stores what it is sent. */
function serviceOn(store: DurableStore) {
  const resource = {
    GET: action('anyone', async () => json((await store.list('/visits', 0, 10)).entries.map(({ id }) => id))),
    POST: action('authenticated', async ({ now }) => {
      await store.apply({ kind: 'create', collection: '/visits', value: {}, at: now });
      return { status: 204 };
    }),
  };
  return createControllableService({ store, users, resources: { '/visits': resource } });
}

function signed(method: string, path: string): [string, string][] {
  const url = `http://localhost${path}`;
  return Object.entries(signRequest({ method, url, user: 'ann', secret: users.ann.secret }));
}

async function requestStatus(
  service: ReturnType<typeof serviceOn>,
  fields: [string, string][],
  method = 'POST',
) {
  return (await service.respond(createRequest({ method, target: '/visits', headers: fields }))).status;
}

async function visited(service: ReturnType<typeof serviceOn>): Promise<string> {
  const { body: content } = await service.respond(createRequest({ method: 'GET', target: '/visits' }));
  return String(content);
}

describe('openDurableStore', () => {
  test('stores the changes of resources in code, and the nonces of their requests', async () => {
    const directory = freshDirectory();
    const fields = signed('POST', '/visits');
    const read = signed('GET', '/visits');
    const first = await openDurableStore(directory);
    const before = serviceOn(first);
    assert.equal(await requestStatus(before, fields), 204);
    assert.equal(await requestStatus(before, read, 'GET'), 200);
    await before.close();
    await first.close();
    const second = await openDurableStore(directory);
    const after = serviceOn(second);
    assert.equal(second.storeId, first.storeId);
    assert.equal(await visited(after), '["1"]');
    assert.equal(await requestStatus(after, fields), 401, 'the nonce of a change');
    assert.equal(await requestStatus(after, read, 'GET'), 401, 'the nonce of a GET');
    assert.equal(await visited(after), '["1"]');
    await after.close();
    await second.close();
  });

  test('stores the items of declared collections with their entity tags', async () => {
    const directory = freshDirectory();
    const collections = {
      '/notes': { element: 'notes', item: 'note', fields: {}, access: { read: 'anyone' } },
    } as const;
    const tags: (string | undefined)[] = [];
    for (let round = 0; round < 2; round += 1) {
      const store = await openDurableStore(directory);
      const service = createControllableService({ store, collections, seed: { '/notes': [{}] } });
      const { headers: fields } = await service.respond(createRequest({ method: 'GET', target: '/notes/1' }));
      tags.push(fields.find(([name]) => name.toLowerCase() === 'etag')?.[1]);
      await service.close();
      await store.close();
    }
    assert.match(tags[0] ?? '', /^"/);
    assert.equal(tags[1], tags[0]);
  });

  test('creates a directory that only its owner can access, and that the export command reads', async () => {
    const directory = freshDirectory();
    const store = await openDurableStore(directory);
    await store.apply({ kind: 'create', collection: '/visits', value: { a: 'b' }, at: 0 });
    await store.close();
    assert.equal(statSync(directory).mode & 0o777, 0o700);
    for (const name of readdirSync(directory))
      assert.equal(statSync(join(directory, name)).mode & 0o777, 0o600);
    const { status, stdout } = await run(['export', '--data', directory]);
    assert.equal(status, 0);
    assert.match(stdout, /"collection":"\/visits","id":"1".*"value":\{"a":"b"\}/);
  });

  test('rejects a directory that is in use, and opens it after a close', async () => {
    const directory = freshDirectory();
    const store = await openDurableStore(directory);
    const locked = {
      name: 'StoreError',
      code: 'locked',
      pid: process.pid,
      message: `${directory} is in use by process ${process.pid}`,
    };
    await assert.rejects(openDurableStore(directory), locked);
    await store[Symbol.asyncDispose]();
    await store.close();
    await assert.rejects(
      store.apply({ kind: 'create', collection: '/a', value: {}, at: 0 }),
      /the store is closed/,
    );
    await (await openDurableStore(directory)).close();
  });

  test('repairs and reports the effects of a crash, and rejects any other damage', async () => {
    const directory = freshDirectory();
    const store = await openDurableStore(directory);
    await store.apply({ kind: 'create', collection: '/a', value: { text: 'x' }, at: 0 });
    await store.apply({ kind: 'create', collection: '/a', value: { text: 'y' }, at: 0 });
    const copy = freshDirectory();
    // Some release lines of Node.js do not copy the mode of a directory.
    mkdirSync(copy, { mode: 0o700 });
    cpSync(directory, copy, { recursive: true });
    await store.close();
    const journal = join(copy, 'journal-1.jsonl');
    writeFileSync(journal, readFileSync(journal, 'latin1').replace('"text":"x"', '"text":"z"'));
    await assert.rejects(openDurableStore(copy), { name: 'StoreError', code: 'damaged', file: journal });
    truncateSync(journal, 0);
    const reports: string[] = [];
    const repaired = await openDurableStore(copy, { onWarning: (line) => reports.push(line) });
    assert.match(reports.join('\n'), /journal-1\.jsonl was being created when the server ended/);
    await repaired.close();
  });

  test('rejects a path that is not a directory, and a directory with a file that other users can read', async () => {
    const file = join(temporaryDirectory(), 'file');
    writeFileSync(file, '');
    await assert.rejects(openDurableStore(file), {
      code: 'directory',
      message: `${file} cannot be the data directory: it or one of its parents is not a directory`,
    });
    const directory = freshDirectory();
    await (await openDurableStore(directory)).close();
    writeFileSync(join(directory, 'users.json'), '{}', { mode: 0o644 });
    await assert.rejects(openDurableStore(directory), {
      code: 'exposed',
      message: `${directory}/users.json is accessible to other users (mode 0644); remove their permissions, as with chmod go=`,
    });
  });

  const invalid: readonly (readonly [unknown, string])[] = [
    [{ durabilty: 'os' }, 'durabilty is not an option of a durable store; did you mean "durability"?'],
    [{ durability: 'none' }, 'durability must be one of fsync, os, is "none"'],
    [
      { window: '600' },
      'window must be a number of seconds from 1 to 31536000 or text such as 5m, is a string',
    ],
    [{ maxNonces: 1.5 }, 'maxNonces must be an integer from 1 to 2147483647, is 1.5'],
    [{ maxNonces: 10, maxNoncesPerUser: 11 }, 'maxNoncesPerUser must be at most maxNonces, which is 10'],
    [null, 'the options of a durable store must be an object, is null'],
  ];
  for (const [options, message] of invalid) {
    test(`rejects the options ${JSON.stringify(options)}`, async () => {
      const directory = freshDirectory();
      const opened: Promise<unknown> = Reflect.apply(openDurableStore, undefined, [directory, options]);
      await assert.rejects(opened, { name: 'RangeError', message });
      assert.throws(() => statSync(directory), { code: 'ENOENT' });
    });
  }

  test('rejects a service that accepts dates for longer than nonces are stored', async () => {
    const store = await openDurableStore(freshDirectory());
    assert.throws(() => createControllableService({ store, window: 900 }), {
      name: 'RangeError',
      message: 'nonces are stored for 600 s, and dates are valid for 900 s: open the store with that window',
    });
    await store.close();
    const longer = await openDurableStore(freshDirectory(), { window: 900 });
    await createControllableService({ store: longer, window: 900 }).close();
    await longer.close();
  });

  test('rejects a service with lower limits of nonces than those of the store', async () => {
    const store = await openDurableStore(freshDirectory(), { maxNonces: 20, maxNoncesPerUser: 5 });
    assert.throws(() => createControllableService({ store, maxNonces: 10 }), {
      name: 'RangeError',
      message: 'maxNonces is 10, and that of the nonces is 20: open the store with that limit',
    });
    assert.throws(() => createControllableService({ store, maxNoncesPerUser: 4 }), {
      name: 'RangeError',
      message: 'maxNoncesPerUser is 4, and that of the nonces is 5: open the store with that limit',
    });
    await createControllableService({ store, maxNonces: 20, maxNoncesPerUser: 20 }).close();
    await createControllableService({ store }).close();
    await store.close();
  });
});
