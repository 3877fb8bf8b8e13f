import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { call } from '../../support/cli/command.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

/** Returns the arguments of a server with the user shop and a scheme. */
function argumentsFor(scheme: object, secret: string): string[] {
  const directory = temporaryDirectory();
  const config = join(directory, 'config.json');
  const hook = { message: '{body}', signature: { field: 'X-Signature' }, ...scheme };
  writeFileSync(config, JSON.stringify({ users: { shop: { secret } }, schemes: { hook } }), { mode: 0o600 });
  return ['--data', join(directory, 'data'), '--config', config, '--port', '0', '--no-tls'];
}

for (const [what, scheme, secret, message] of [
  [
    'a user with a similar name',
    { user: 'shpo' },
    'abc',
    /schemes\.hook\.user: there is no user "shpo"; did you mean "shop"\?/,
  ],
  [
    'a secret that is not hexadecimal',
    { user: 'shop', key: 'hex' },
    'no-hex-secret',
    /users\.shop\.secret: is not hexadecimal, as schemes\.hook\.key requires/,
  ],
  [
    'a secret that is not base64',
    { user: 'shop', key: 'base64', keyPrefix: 'whsec_' },
    'whsec_!!secret',
    /users\.shop\.secret: is not base64/,
  ],
] as const)
  test(`check and serve reject a scheme with ${what}`, async () => {
    const args = argumentsFor(scheme, secret);
    const checked = await call(['check', ...args]);
    assert.equal(checked.status, 1);
    assert.match(checked.stderr, message);
    const started = await call(['serve', ...args]);
    assert.equal(started.status, 2);
    assert.match(started.stderr, message);
  });

test('a user of a scheme who does not exist yet causes a warning', async () => {
  const checked = await call(['check', ...argumentsFor({ user: 'warehouse' }, 'abc')]);
  assert.equal(checked.status, 0, checked.stderr);
  assert.match(checked.stderr, /schemes\.hook\.user: there is no user "warehouse" yet/);
});

test('a secret in the encoding of its scheme is accepted', async () => {
  const args = argumentsFor({ user: 'shop', key: 'hex' }, 'aa00bb11cc22dd33ee44ff5566778899');
  assert.equal((await call(['check', ...args])).status, 0);
});
