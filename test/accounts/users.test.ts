import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { hashPassword } from '../../src/accounts/passwords.ts';
import { createSecretBox, SecretBoxError } from '../../src/accounts/secret-box.ts';
import { type StoredUser, userFile } from '../../src/accounts/users.ts';
import { CorruptionError } from '../../src/store/corruption-error.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const until = Date.UTC(2013, 3, 20, 12, 59, 24);

describe('the users file', () => {
  test('has no users if it is missing', async (context) => {
    assert.equal((await userFile.read(temporaryDirectory(context))).entries.size, 0);
  });

  test('returns the stored users, whatever their names are', async (context) => {
    const directory = temporaryDirectory(context);
    const password = await hashPassword('pw', new Uint8Array(16), 16);
    const users = new Map<string, StoredUser>([
      ['demo', { secrets: [{ secret: 'new' }, { secret: 'old', until }], password }],
      ['__proto__', { secrets: [{ secret: 'é\u{1f511}"\n' }] }],
      ['7', { secrets: [], disabled: true }],
      ['', { secrets: [{ secret: 's' }] }],
    ]);
    await userFile.write(directory, users);
    const { entries: read } = await userFile.read(directory);
    assert.equal(read.size, users.size);
    for (const [name, user] of users) assert.deepEqual(read.get(name), user);
    await userFile.write(directory, new Map());
    assert.equal((await userFile.read(directory)).entries.size, 0);
  });

  test('is JSON that only its owner can read', async (context) => {
    const directory = temporaryDirectory(context);
    await userFile.write(
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

  test('can be written concurrently, and a write removes the temporary file of a crash', async (context) => {
    const directory = temporaryDirectory(context);
    const crashed = join(directory, 'users.json.2147483647-1.tmp');
    await writeFile(crashed, '{"secret":"left behind"}');
    await Promise.all(
      ['a', 'b', 'c'].map((name) => userFile.write(directory, new Map([[name, { secrets: [] }]]))),
    );
    assert.deepEqual(await readdir(directory), ['users.json']);
    assert.equal((await userFile.read(directory)).entries.size, 1);
  });

  const damages: readonly (readonly [string, string, RegExp])[] = [
    ['not JSON', '{"version":1,"users":{"demo":{"secrets":[{"secret":s3cret}]}}}', /not JSON/],
    ['of another version', '{"version":9}', /version is 9/],
    ['an invalid user', '{"version":1,"users":{"demo":"s3cret"}}', /the user "demo"/],
    ['an unknown member', '{"version":1,"users":{"demo":{"secrets":[],"s3cret":1}}}', /the user "demo"/],
    [
      'an invalid secret',
      '{"version":1,"users":{"demo":{"secrets":["s3cret"]}}}',
      /secrets\[0\] of the user "demo" must be an object/,
    ],
    [
      'an empty secret',
      '{"version":1,"users":{"demo":{"secrets":[{"secret":""}]}}}',
      /secrets\[0\]\.secret of .* must be non-empty text/,
    ],
    [
      'an invalid date',
      '{"version":1,"users":{"demo":{"secrets":[{"secret":"s3cret","until":"soon"}]}}}',
      /until/,
    ],
    [
      'a password in clear',
      '{"version":1,"users":{"demo":{"secrets":[],"password":"s3cret"}}}',
      /password of the user/,
    ],
  ];
  for (const [what, content, message] of damages) {
    test(`is rejected without being changed or quoted: ${what}`, async (context) => {
      const directory = temporaryDirectory(context);
      const path = join(directory, 'users.json');
      await writeFile(path, content);
      await assert.rejects(userFile.read(directory), (error) => {
        assert.ok(error instanceof CorruptionError);
        assert.ok(error.message.startsWith(path));
        assert.match(error.message, message);
        assert.ok(!`${error.message}${error.stack}${String(error.cause)}`.includes('s3cret'));
        return true;
      });
      assert.equal(await readFile(path, 'utf8'), content);
    });
  }
});

describe('the users file with an encryption key', () => {
  const secretBox = createSecretBox(randomBytes(32), randomBytes);
  const users = new Map<string, StoredUser>([
    ['ann', { secrets: [{ secret: 'new-of-ann' }, { secret: 'old-of-ann', until }] }],
    ['bea', { secrets: [{ secret: 'one-of-bea' }], disabled: true }],
    ['__proto__', { secrets: [{ secret: 'of-proto' }] }],
  ]);

  test('contains no secret in the clear, and returns the stored users', async (context) => {
    const directory = temporaryDirectory(context);
    await userFile.write(directory, users, { secretBox });
    const text = await readFile(join(directory, 'users.json'), 'utf8');
    for (const { secrets } of users.values())
      for (const { secret } of secrets) assert.ok(!text.includes(secret), secret);
    const read = await userFile.read(directory, { secretBox });
    assert.deepEqual([...read.entries], [...users]);
    assert.equal(read.clear, 0);
  });

  test('is also accepted with secrets in the clear, and counts them', async (context) => {
    const directory = temporaryDirectory(context);
    await userFile.write(directory, users);
    assert.equal((await userFile.read(directory, { secretBox })).clear, 4);
    assert.equal((await userFile.read(directory)).clear, 4);
  });

  test('is rejected and unchanged without the key or with another one', async (context) => {
    const directory = temporaryDirectory(context);
    await userFile.write(directory, users, { secretBox });
    const path = join(directory, 'users.json');
    const before = await readFile(path, 'utf8');
    await assert.rejects(userFile.read(directory), (error) => {
      assert.ok(error instanceof SecretBoxError && error.code === 'sealed');
      assert.match(error.message, /users\.json has encrypted secrets, and there is no key/);
      return true;
    });
    const other = createSecretBox(randomBytes(32), randomBytes);
    await assert.rejects(userFile.read(directory, { secretBox: other }), (error) => {
      assert.ok(error instanceof SecretBoxError);
      assert.match(error.message, /secrets\[0\]\.secret of the user "ann" cannot be decrypted/);
      return true;
    });
    assert.equal(await readFile(path, 'utf8'), before);
  });

  test("is rejected if one user's sealed secret is moved to another user", async (context) => {
    const directory = temporaryDirectory(context);
    await userFile.write(directory, users, { secretBox });
    const path = join(directory, 'users.json');
    const text = await readFile(path, 'utf8');
    const [ofAnn = '', , ofBea = ''] = [...text.matchAll(/"sealed": "([^"]+)"/g)].map(([, sealed]) => sealed);
    await writeFile(path, text.replace(ofBea, ofAnn));
    await assert.rejects(
      userFile.read(directory, { secretBox }),
      /secrets\[0\]\.secret of the user "bea" cannot be decrypted/,
    );
    await writeFile(path, text.replace(ofAnn, '*').replace(ofBea, ofAnn).replace('*', ofBea));
    await assert.rejects(userFile.read(directory, { secretBox }), SecretBoxError);
    await writeFile(path, text.replace('"ann"', '"eve"'));
    await assert.rejects(
      userFile.read(directory, { secretBox }),
      /secrets\[0\]\.secret of the user "eve" cannot be decrypted/,
    );
  });

  const damages: readonly (readonly [string, unknown, RegExp])[] = [
    ['nothing', null, /secrets\[0\]\.secret of .* is not a text/],
    ['a member too many', { sealed: 'x', secret: 's3cret' }, /has a member that is not known/],
    ['no text', { sealed: 7 }, /secrets\[0\]\.secret of .* is not a text/],
    [
      'an empty one, sealed',
      { sealed: secretBox.seal('', ['secret', 'demo']) },
      /secrets\[0\]\.secret of .* must be non-empty text/,
    ],
  ];
  for (const [what, secret, message] of damages) {
    test(`rejects an invalid secret as damaged: ${what}`, async (context) => {
      const directory = temporaryDirectory(context);
      const content = { version: 1, users: { demo: { secrets: [{ secret }] } } };
      await writeFile(join(directory, 'users.json'), JSON.stringify(content));
      await assert.rejects(userFile.read(directory, { secretBox }), (error) => {
        assert.ok(error instanceof CorruptionError);
        assert.match(error.message, message);
        assert.ok(!error.message.includes('s3cret'));
        return true;
      });
    });
  }
});
