import assert from 'node:assert/strict';
import { chownSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { verifyPassword } from '../../../src/accounts/passwords.ts';
import { type StoredUser, userFile } from '../../../src/accounts/users.ts';
import { allUsers } from '../../../src/cli/serve/compose.ts';
import { signRequest } from '../../../src/client/sign.ts';
import { createManualClock } from '../../../src/clock.ts';
import { createRequest } from '../../../src/http/message.ts';
import { readOptions } from '../../../src/options/options.ts';
import { createControllableService } from '../../../src/service/service.ts';
import { call, run } from '../../support/cli/command.ts';
import { done, printedIn } from '../../support/cli/oauth.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

async function kept(data: string, name: string): Promise<StoredUser> {
  const user = (await userFile.read(data)).entries.get(name);
  assert.ok(user !== undefined, `${name} is not kept`);
  return user;
}

test('a new user has a password, and a former secret stays valid for the grace period', async () => {
  const data = temporaryDirectory();
  const added = await done(['user', 'add', '__proto__', '--data', data]);
  const secret = printedIn(added, 'secret');
  const user = await kept(data, '__proto__');
  assert.ok(await verifyPassword(printedIn(added, 'password'), user.password ?? ''));
  const before = Date.now();
  const rotated = await done(['user', 'rotate', '__proto__', '--data', data, '--grace', '15m']);
  const [current, old, ...more] = (await kept(data, '__proto__')).secrets;
  assert.deepEqual(current, { secret: printedIn(rotated, 'secret') });
  assert.equal(old?.secret, secret);
  const until = (old?.until ?? 0) - before;
  assert.ok(until >= 900_000 && until <= 900_000 + Date.now() - before, `valid for ${until} ms more`);
  assert.deepEqual(more, []);
  assert.equal((await kept(data, '__proto__')).password, user.password);
  assert.equal(await done(['user', 'list', '--data', data]), '__proto__  2 valid secrets\n');
});

test('an expired secret is not counted, and a rotation leaves a user disabled', async () => {
  const data = temporaryDirectory();
  const secrets = [{ secret: 'now' }, { secret: 'long ago', until: new Date(1000).toISOString() }];
  const users = JSON.stringify({ version: 1, users: { ann: { secrets, disabled: true } } });
  writeFileSync(join(data, 'users.json'), users, { mode: 0o600 });
  assert.equal((await call(['user', 'list', '--data', data])).stdout, 'ann  1 valid secret, disabled\n');
  await call(['user', 'rotate', 'ann', '--data', data]);
  assert.equal((await kept(data, 'ann')).disabled, true);
});

test('a service accepts two secrets until the grace period ends, and never three', async () => {
  const data = temporaryDirectory();
  const clock = createManualClock(Date.now());
  const service = createControllableService({ clock, users: {}, maxAuthFailures: 0 });
  const secrets: string[] = [];
  const change = async (...args: string[]): Promise<void> => {
    const stdout = await done(['user', ...args, '--data', data]);
    if (args[0] === 'add' || args[0] === 'rotate') secrets.push(printedIn(stdout, 'secret'));
    service.replaceUsers(allUsers(readOptions([], {}), (await userFile.read(data)).entries));
  };
  const target = '/users/ann/financialrecords';
  const signs = async (secret: string): Promise<boolean> => {
    const headers = signRequest({ method: 'GET', url: `http://x${target}`, user: 'ann', secret, clock });
    const request = createRequest({ method: 'GET', target, headers: Object.entries(headers) });
    return (await service.respond(request)).status === 200;
  };
  const valid = (): Promise<boolean[]> => Promise.all(secrets.map(signs));

  await change('add', 'ann');
  assert.deepEqual(await valid(), [true]);
  await change('rotate', 'ann', '--grace', '24h');
  assert.deepEqual(await valid(), [true, true]);
  clock.advance(12 * 3_600_000);
  await change('rotate', 'ann', '--grace', '24h');
  assert.deepEqual(await valid(), [false, true, true], 'the rotation ends the grace of the one before');
  clock.advance(11 * 3_600_000);
  assert.deepEqual(await valid(), [false, true, true]);
  clock.advance(3_600_000 + 60_000);
  assert.deepEqual(await valid(), [false, false, true], 'the time of the command counts, not of the service');
  await change('disable', 'ann');
  assert.deepEqual(await valid(), [false, false, false]);
  await change('enable', 'ann');
  assert.deepEqual(await valid(), [false, false, true]);
  await service.close();
});

test('a user can be disabled and enabled repeatedly', async () => {
  const data = temporaryDirectory();
  await call(['user', 'add', 'ann', '--data', data]);
  const before = await kept(data, 'ann');
  for (const [action, disabled, stdout] of [
    ['disable', true, 'disabled  ann\n'],
    ['disable', true, 'disabled  ann\n'],
    ['enable', undefined, 'enabled   ann\n'],
    ['enable', undefined, 'enabled   ann\n'],
  ] as const) {
    assert.equal(await done(['user', action, 'ann', '--data', data]), stdout);
    const { disabled: found, ...rest } = await kept(data, 'ann');
    assert.equal(found, disabled);
    assert.deepEqual(rest, before);
    const state = disabled ? ', disabled' : '';
    assert.equal((await call(['user', 'list', '--data', data])).stdout, `ann  1 valid secret${state}\n`);
    const checked = (await call(['check', '--data', data])).stdout;
    assert.match(checked, disabled ? /^users {8}ann \(disabled\)$/m : /^users {8}ann$/m);
  }
});

test('a new password replaces the old one, and the secrets stay', async () => {
  const data = temporaryDirectory();
  const old = printedIn(await done(['user', 'add', 'ann', '--data', data]), 'password');
  await call(['user', 'rotate', 'ann', '--data', data]);
  const before = await kept(data, 'ann');
  const changed = await call(['user', 'password', 'ann', '--data', data]);
  assert.equal(changed.status, 0, changed.stderr);
  const password = printedIn(changed.stdout, 'password');
  assert.equal(changed.stdout, `user      ann\npassword  ${password}\n`);
  assert.match(changed.stderr, /^the old password is no longer valid\nno server uses /);
  const { password: hash = '', ...rest } = await kept(data, 'ann');
  assert.match(password, /^[A-Za-z0-9_-]{43}$/);
  assert.deepEqual([await verifyPassword(password, hash), await verifyPassword(old, hash)], [true, false]);
  assert.deepEqual({ ...rest, password: before.password }, before);
});

test('a password on standard input is stored as a scrypt hash, and not printed', async () => {
  const data = temporaryDirectory();
  const secrets = [{ secret: 'of ann' }];
  const users = JSON.stringify({ version: 1, users: { ann: { secrets } } });
  writeFileSync(join(data, 'users.json'), users, { mode: 0o600 });
  const args = ['user', 'password', 'ann', '--password-stdin', '--data', data];
  const stdout = await done(args, 'chosen by ann\nmore');
  assert.equal(stdout, 'user      ann\npassword  the given password\n');
  const { password = '' } = await kept(data, 'ann');
  assert.match(password, /^scrypt\$16384\$/);
  assert.ok(await verifyPassword('chosen by ann', password));
  for (const [input, reason] of [
    ['', /^countersign: no password: write it to standard input\n$/],
    ['with a \u0007 bell', /^countersign: the password cannot be used with Basic: /],
  ] as const) {
    const end = await call(args, { input });
    assert.deepEqual([end.status, end.stdout], [2, '']);
    assert.match(end.stderr, reason);
  }
  assert.equal((await kept(data, 'ann')).password, password);
});

test('files that root creates belong to the owner of the data directory', {
  skip: process.getuid?.() === 0 ? false : 'only who may do everything can act for somebody else',
}, async () => {
  const data = temporaryDirectory();
  chownSync(data, 1234, 1235);
  const { status, stderr } = await run(['user', 'add', 'ann', '--data', data]);
  assert.equal(status, 0, stderr);
  for (const name of readdirSync(data, { recursive: true, encoding: 'utf8' })) {
    const { uid, gid } = statSync(join(data, name));
    assert.deepEqual([uid, gid], [1234, 1235], name);
  }
});

for (const [what, first, second, none, listed] of [
  ['quota', '20/1s,1000/1h', 'none', 'that of the server', 'quota 20/1s,1000/1h'],
  ['schemes', 'events,hmac', 'events', 'all', 'only events, hmac'],
] as const) {
  test(`a user is added with ${what}, which can be changed and removed`, async () => {
    const at = ['--data', join(temporaryDirectory(), 'data')];
    const stored = async () => String((await kept(at[1] ?? '', 'ann'))[what]);
    await done(['user', 'add', 'ann', `--${what}`, first, ...at]);
    assert.equal(await stored(), first);
    const given = allUsers(readOptions(at, {}), (await userFile.read(at[1] ?? '')).entries);
    assert.equal(String(given.get('ann')?.[what]), first);
    assert.equal(await done(['user', 'list', ...at]), `ann  1 valid secret, ${listed}\n`);
    const printed = `user      ann\n${what.padEnd(9)} `;
    assert.equal(await done(['user', what, 'ann', `--${what}`, second, ...at]), `${printed}${second}\n`);
    await done(['user', 'rotate', 'ann', ...at]);
    assert.equal(await stored(), second);
    assert.equal(await done(['user', what, 'ann', ...at]), `${printed}${none}\n`);
    assert.equal(await stored(), 'undefined');
  });
}
