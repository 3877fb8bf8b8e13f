import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { call } from '../../support/cli/command.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

/** Returns the arguments of a server with this configuration. */
function serving(content: object): string[] {
  const directory = temporaryDirectory();
  const config = join(directory, 'config.json');
  writeFileSync(config, JSON.stringify(content), { mode: 0o600 });
  return ['--data', join(directory, 'data'), '--config', config, '--port', '0', '--no-tls'];
}

/** Returns the arguments of a server with the user shop and a scheme. */
function withScheme(scheme: object, secret: string): string[] {
  const hook = { message: '{body}', signature: { field: 'X-Signature' }, ...scheme };
  return serving({ users: { shop: { secret } }, schemes: { hook } });
}

/** Returns the arguments of a server with the users manager and johndoe, and with this rule of reading. */
function withRule(read: readonly string[]): string[] {
  const notes = { element: 'notes', item: 'note', fields: { text: { type: 'text' } }, access: { read } };
  const users = { manager: { secret: 'secret of manager' }, johndoe: { secret: 'secret of johndoe' } };
  return serving({ users, collections: { '/users/{username}/notes': notes } });
}

for (const [what, args, message] of [
  [
    'an access list with a similar name of a user',
    withRule(['owner:username', 'mangaer']),
    /there is no user "mangaer"; did you mean "manager"\?/,
  ],
  [
    'an access list with a similar rule',
    withRule(['manager', 'anyoen']),
    /there is no user "anyoen"; did you mean "anyone"\?/,
  ],
  [
    'a scheme with a user of a similar name',
    withScheme({ user: 'shpo' }, 'abc'),
    /schemes\.hook\.user: there is no user "shpo"; did you mean "shop"\?/,
  ],
  [
    'a scheme with a secret that is not hexadecimal',
    withScheme({ user: 'shop', key: 'hex' }, 'no-hex-secret'),
    /users\.shop\.secret: is not hexadecimal, as schemes\.hook\.key requires/,
  ],
] as const)
  test(`check and serve reject ${what}`, async () => {
    for (const [command, status] of [
      ['check', 1],
      ['serve', 2],
    ] as const) {
      const ended = await call([command, ...args]);
      assert.deepEqual([ended.status, ended.stdout], [status, '']);
      assert.match(ended.stderr, message);
    }
  });

test('a user of a scheme who does not exist yet causes a warning', async () => {
  const checked = await call(['check', ...withScheme({ user: 'warehouse' }, 'abc')]);
  assert.equal(checked.status, 0, checked.stderr);
  assert.match(checked.stderr, /schemes\.hook\.user: there is no user "warehouse" yet/);
  const encoded = withScheme({ user: 'shop', key: 'hex' }, 'aa00bb11cc22dd33ee44ff5566778899');
  assert.equal((await call(['check', ...encoded])).status, 0);
});

test('an unknown name prevents the start until the user is added', async () => {
  const args = withRule(['owner:username', 'victoria', 'johndoe2']);
  const path = 'collections./users/{username}/notes.access';
  const checked = await call(['check', ...args]);
  assert.equal(checked.status, 1);
  assert.equal(
    checked.stderr,
    `countersign: ${path}: there is no user "victoria"; add the user first\n` +
      `countersign: ${path}: there is no user "johndoe2"; did you mean "johndoe"? If not, add the user first\n`,
  );
  for (const name of ['victoria', 'johndoe2'])
    assert.equal((await call(['user', 'add', name, ...args.slice(0, 2)])).status, 0);
  assert.equal((await call(['check', ...args])).status, 0);
});

test('an unknown role prevents the start until a user has it', async () => {
  const args = withRule(['role:manager']);
  const data = args.slice(0, 2);
  await call(['user', 'add', 'ann', ...data]);
  await call(['user', 'role', 'add', 'ann', '--role', 'managers', ...data]);
  const checked = await call(['check', ...args]);
  assert.equal(checked.status, 1);
  assert.match(
    checked.stderr,
    /no user has the role "manager"; did you mean "managers"\?; give it to a user first\n/,
  );
  const added = await call(['user', 'role', 'add', 'ann', '--role', 'manager', ...data]);
  assert.equal(added.stdout, 'user      ann\nroles     managers, manager\n');
  assert.equal((await call(['check', ...args])).status, 0);
  assert.match((await call(['user', 'list', ...data])).stdout, /^ann {2}1 valid secret, managers, manager\n/);
  await call(['user', 'role', 'remove', 'ann', '--role', 'managers', ...data]);
  assert.equal((await call(['user', 'role', 'list', 'ann', ...data])).stdout, 'manager\n');
  const absent = await call(['user', 'role', 'remove', 'ann', '--role', 'clerk', ...data]);
  assert.deepEqual([absent.status, absent.stderr], [1, 'countersign: ann has no role clerk\n']);
});
