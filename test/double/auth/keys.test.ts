import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { test } from 'node:test';
import { startDouble } from '../../../src/double/index.ts';
import { openConsole } from '../../support/double/control-client.ts';

const pair = generateKeyPairSync('ed25519');
const publicKey = pair.publicKey.export({ type: 'spki', format: 'pem' }).toString();
const key = { algorithm: 'ed25519', publicKey } as const;

test('keys of users can be added and removed, and a restore undoes the changes', async () => {
  await using double = await startDouble({ users: { ann: {}, bob: {} } });
  const before = double.snapshot();
  double.auth.addKey('ann', 'key-1', key);
  double.auth.addKey('ann', 'key-2', key);
  assert.throws(() => double.auth.addKey('bob', 'key-1', key), /have the same key id "key-1"/);
  double.auth.removeKey('ann', 'key-1');
  double.auth.addKey('bob', 'key-1', key);
  assert.throws(() => double.auth.removeKey('ann', 'key-3'), {
    name: 'RangeError',
    message: 'the user ann has no key key-3; did you mean "key-2"?',
  });
  double.restore(before);
  assert.throws(() => double.auth.removeKey('bob', 'key-1'), /has no key key-1/);
});

test('an invalid key is rejected, and changes nothing', async () => {
  await using double = await startDouble({ users: ['ann'] });
  const privateKey = pair.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  assert.throws(
    () => double.auth.addKey('ann', 'k', { algorithm: 'ed25519', publicKey: privateKey }),
    /is a private key or a secret; only the public key belongs here/,
  );
  // @ts-expect-error The member is misspelt.
  assert.throws(() => double.auth.addKey('ann', 'k', { algorithm: 'ed25519', publikKey: publicKey }), {
    message: 'publikKey is not a member of keys.k of the user "ann"; did you mean "publicKey"?',
  });
  assert.throws(() => double.auth.addKey('nan', 'k', key), /has no user nan; did you mean "ann"/);
  assert.throws(() => double.auth.removeKey('ann', 'k'), /has no key k/);
});

test('the control interface adds and removes keys, and removes users', async () => {
  await using double = await startDouble({ users: ['ann'], https: false });
  const control = await openConsole(double);
  await control.send('PUT', '/users/ann/keys/key-1', key);
  await control.send('DELETE', '/users/ann/keys/key-1');
  await control.refused(422, 'DELETE', '/users/ann/keys/key-1');
  await control.send('DELETE', '/users/ann');
  await control.refused(422, 'GET', '/users/ann');
});
