import assert from 'node:assert/strict';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { DamagedStoreError } from '../../src/store/damage.ts';
import { hashPassword } from '../../src/store/passwords.ts';
import { StoreError } from '../../src/store/store.ts';
import { readUsers, type StoredUser, writeUsers } from '../../src/store/users.ts';
import { faultyDisk } from './faulty-disk.ts';
import { scratchDirectory } from './scratch.ts';

const until = Date.UTC(2013, 3, 20, 12, 59, 24);

describe('the users file', () => {
  test('is no users when it is missing', async (context) => {
    assert.equal((await readUsers(await scratchDirectory(context))).users.size, 0);
  });

  test('gives back what was kept, whatever the users are called', async (context) => {
    const directory = await scratchDirectory(context);
    const password = await hashPassword('pw', new Uint8Array(16), 16);
    const users = new Map<string, StoredUser>([
      ['demo', { secrets: [{ secret: 'new' }, { secret: 'old', until }], password }],
      ['__proto__', { secrets: [{ secret: 'é\u{1f511}"\n' }] }],
      ['7', { secrets: [], disabled: true }],
      ['', { secrets: [{ secret: 's' }] }],
    ]);
    await writeUsers(directory, users);
    const { users: read } = await readUsers(directory);
    assert.equal(read.size, users.size);
    for (const [name, user] of users) assert.deepEqual(read.get(name), user);
    await writeUsers(directory, new Map());
    assert.equal((await readUsers(directory)).users.size, 0);
  });

  test('is JSON that its owner can read, and nobody else', async (context) => {
    const directory = await scratchDirectory(context);
    await writeUsers(
      directory,
      new Map([['demo', { secrets: [{ secret: 'new' }, { secret: 'old', until }] }]]),
    );
    const path = join(directory, 'users.json');
    const text = await readFile(path, 'utf8');
    assert.deepEqual(JSON.parse(text), {
      version: 1,
      users: { demo: { secrets: [{ secret: 'new' }, { secret: 'old', until: '2013-04-20T12:59:24.000Z' }] } },
    });
    assert.ok(text.includes('\n    "demo": {\n'));
    assert.equal((await stat(path)).mode & 0o777, 0o600);
  });

  test('stands as it was when it cannot be written', async (context) => {
    const directory = await scratchDirectory(context);
    await writeUsers(directory, new Map([['demo', { secrets: [{ secret: 'a' }] }]]));
    for (const operation of ['create', 'write', 'sync', 'close', 'rename'] as const) {
      const disk = faultyDisk();
      disk.failNext(operation, 'EIO');
      await assert.rejects(writeUsers(directory, new Map(), { disk }), StoreError);
      assert.deepEqual([...(await readUsers(directory)).users.keys()], ['demo']);
      assert.deepEqual(await readdir(directory), ['users.json']);
    }
  });

  test('is written beside others who write it, and rid of what a crash left', async (context) => {
    const directory = await scratchDirectory(context);
    const crashed = join(directory, 'users.json.2147483647-1.tmp');
    await writeFile(crashed, '{"secret":"left behind"}');
    await Promise.all(
      ['a', 'b', 'c'].map((name) => writeUsers(directory, new Map([[name, { secrets: [] }]]))),
    );
    assert.deepEqual(await readdir(directory), ['users.json']);
    assert.equal((await readUsers(directory)).users.size, 1);
  });

  const damages: readonly (readonly [string, string, RegExp])[] = [
    ['not JSON', '{"version":1,"users":{"demo":{"secrets":[{"secret":s3cret}]}}}', /not JSON/],
    ['of another version', '{"version":9}', /version is 9/],
    ['no users', '{"version":1,"users":[]}', /users is not an object/],
    ['a user that is none', '{"version":1,"users":{"demo":"s3cret"}}', /the user "demo"/],
    ['an unknown member', '{"version":1,"users":{"demo":{"secrets":[],"s3cret":1}}}', /the user "demo"/],
    [
      'a secret that is none',
      '{"version":1,"users":{"demo":{"secrets":["s3cret"]}}}',
      /secret 1 of the user "demo"/,
    ],
    ['an empty secret', '{"version":1,"users":{"demo":{"secrets":[{"secret":""}]}}}', /secret 1 .* is empty/],
    [
      'a date that is none',
      '{"version":1,"users":{"demo":{"secrets":[{"secret":"s3cret","until":"soon"}]}}}',
      /until/,
    ],
    [
      'a password in clear',
      '{"version":1,"users":{"demo":{"secrets":[],"password":"s3cret"}}}',
      /password of the user/,
    ],
    [
      'a disabled that is neither',
      '{"version":1,"users":{"demo":{"secrets":[],"disabled":"yes"}}}',
      /disabled/,
    ],
  ];
  for (const [what, content, message] of damages) {
    test(`with ${what} is refused, left as it is, and quoted nowhere`, async (context) => {
      const directory = await scratchDirectory(context);
      const path = join(directory, 'users.json');
      await writeFile(path, content);
      await assert.rejects(readUsers(directory), (error) => {
        assert.ok(error instanceof DamagedStoreError);
        assert.ok(error.message.startsWith(path));
        assert.match(error.message, message);
        assert.ok(!`${error.message}${error.stack}${String(error.cause)}`.includes('s3cret'));
        return true;
      });
      assert.equal(await readFile(path, 'utf8'), content);
    });
  }
});
