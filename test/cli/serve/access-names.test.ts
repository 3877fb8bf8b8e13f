import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { call, startServer } from '../../support/cli/command.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

/** Returns the arguments of a server with the users manager and johndoe, and with this rule of reading. */
function argumentsFor(read: readonly string[]): string[] {
  const directory = temporaryDirectory();
  const config = join(directory, 'config.json');
  const notes = { element: 'notes', item: 'note', fields: { text: { type: 'text' } }, access: { read } };
  const users = { manager: { secret: 'secret of manager' }, johndoe: { secret: 'secret of johndoe' } };
  const path = '/users/{username}/notes';
  writeFileSync(config, JSON.stringify({ users, collections: { [path]: notes } }), { mode: 0o600 });
  return ['--data', join(directory, 'data'), '--config', config, '--port', '0', '--no-tls'];
}

for (const [read, message] of [
  [['owner:username', 'mangaer'], /there is no user "mangaer"; did you mean "manager"\?/],
  [['manager', 'anyoen'], /there is no user "anyoen"; did you mean "anyone"\?/],
] as const) {
  test(`check and serve reject the access list ${JSON.stringify(read)}, and suggest the nearest known name`, async () => {
    const args = argumentsFor(read);
    const checked = await call(['check', ...args]);
    assert.equal(checked.status, 1);
    assert.match(checked.stderr, message);
    const started = await call(['serve', ...args]);
    assert.equal(started.status, 2);
    assert.match(started.stderr, message);
    assert.equal(started.stdout, '');
  });
}

test('an unknown name prevents the start until the user is added', async () => {
  const args = argumentsFor(['owner:username', 'victoria', 'johndoe2']);
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
  const args = argumentsFor(['role:manager']);
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
  const unnamed = await call(['user', 'role', 'add', 'ann', ...data]);
  assert.deepEqual([unnamed.status, unnamed.stderr], [2, 'countersign: add requires --role ROLE\n']);
});

test('an access list permits both the owner and a named user to read', async () => {
  const { url, signal, ended } = await startServer(argumentsFor(['owner:username', 'manager']));
  const statusFor = async (user: string): Promise<number> => {
    const target = `${url}/users/johndoe/notes`;
    const environment = { COUNTERSIGN_SECRET: `secret of ${user}` };
    const { stdout } = await call(['sign', 'GET', target, '--user', user], { environment });
    const fields = stdout
      .trim()
      .split('\n')
      .map((line): [string, string] => {
        const [name = '', value = ''] = line.split(/: (.*)/s);
        return [name, value];
      });
    return (await fetch(target, { headers: fields })).status;
  };
  assert.deepEqual([await statusFor('johndoe'), await statusFor('manager')], [200, 200]);
  signal('SIGTERM');
  await ended;
});
