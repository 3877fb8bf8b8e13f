import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { call, run, startServer } from '../../support/cli/command.ts';
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
    const started = await run(['serve', ...args]);
    assert.equal(started.status, 2);
    assert.match(started.stderr, message);
    assert.equal(started.stdout, '');
  });
}

test('an unknown name that resembles no known name causes a warning until the user is added', async () => {
  const args = argumentsFor(['owner:username', 'victoria']);
  const warning = /collections\.\/users\/\{username\}\/notes\.access: there is no user "victoria" yet\n/;
  const checked = await call(['check', ...args]);
  assert.equal(checked.status, 0, checked.stderr);
  assert.match(checked.stderr, warning);
  const server = await startServer(args);
  await server.awaitStderr(warning);
  server.signal('SIGTERM');
  await server.ended;
  assert.equal((await call(['user', 'add', 'victoria', ...args.slice(0, 2)])).status, 0);
  assert.doesNotMatch((await call(['check', ...args])).stderr, /victoria/);
});

test('a name that differs from a known name only in its number is not reported as a misspelling', async () => {
  const { status, stderr } = await call(['check', ...argumentsFor(['johndoe', 'johndoe2'])]);
  assert.equal(status, 0, stderr);
  assert.match(stderr, /there is no user "johndoe2" yet/);
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
