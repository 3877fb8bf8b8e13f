import assert from 'node:assert/strict';
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { test } from 'node:test';
import { signUrl } from '../../src/client/index.ts';
import { startDouble } from '../../src/double/index.ts';
import { presets } from '../../src/schemes/declared/presets.ts';
import type { PresetName } from '../../src/schemes/scheme-declarations.ts';

const now = Date.UTC(2026, 10, 22, 12);
const passphrase = 'a passphrase of the key';
const hex = '3f9c1a7b5d2e8046c1f09b3a7d5e2846ab10cd32ef54768998badcfe10325476';
const base64 = Buffer.from(hex, 'hex').toString('base64');
const pairs = {
  ed25519: generateKeyPairSync('ed25519'),
  'ecdsa-p256-sha256': generateKeyPairSync('ec', { namedCurve: 'P-256' }),
} as const;

/** What a preset is signed with. Default: a secret of hexadecimal digits. */
interface Signing {
  readonly secret?: string;
  readonly algorithm?: keyof typeof pairs;
  readonly body?: string;
  readonly type?: string;
}

const notification = JSON.stringify({
  notificationItems: [{ NotificationRequestItem: { pspReference: '1', success: 'true' } }],
});

const signings: Readonly<Partial<Record<PresetName, Signing>>> = {
  'standard-webhooks': { secret: `whsec_${base64}` },
  svix: { secret: `whsec_${base64}` },
  coinbase: { secret: base64 },
  discord: { algorithm: 'ed25519' },
  sendgrid: { algorithm: 'ecdsa-p256-sha256' },
  twilio: { body: 'CallSid=CA1&From=%2B49', type: 'application/x-www-form-urlencoded' },
  adyen: { body: notification },
};

const pem = (key: KeyObject, type: 'spki' | 'pkcs8'): string =>
  key.export({ type, format: 'pem' }).toString();

/** A preset whose requests name the id of their key. */
const namesKey = (preset: PresetName): boolean => presets[preset]?.declaration['user'] !== undefined;

// The compiler knows the names of an object as strings only.
for (const preset of Object.keys(presets) as PresetName[])
  test(`a double accepts what signUrl signs with the preset ${preset}`, async (context) => {
    const { secret = hex, algorithm, body = '{"a":1}', type = 'application/json' } = signings[preset] ?? {};
    const keys =
      algorithm === undefined
        ? { 'key-1': { algorithm: 'hmac-sha256' as const, secret, passphrase } }
        : { 'key-1': { algorithm, publicKey: pem(pairs[algorithm].publicKey, 'spki') } };
    const declaration = namesKey(preset) ? { preset } : { preset, user: 'ann' };
    const double = await startDouble({
      https: false,
      now,
      users: { ann: { secret, keys } },
      schemes: { own: declaration },
    });
    context.after(() => double.close());
    double.stub({ method: 'POST', path: '/hook' }, { status: 204 });
    const key =
      algorithm === undefined
        ? { secret, ...(preset === 'coinbase' && { passphrase }) }
        : { privateKey: pem(pairs[algorithm].privateKey, 'pkcs8') };
    // The id of the key takes the place of the user where the requests of a provider name it.
    for (const who of namesKey(preset) ? [{ user: 'key-1' }, { keyId: 'key-1' }] : [{ user: 'ann' }, {}]) {
      const signed = signUrl({
        method: 'POST',
        url: `${double.url}/hook?a=1`,
        headers: { 'Content-Type': type },
        body,
        scheme: { preset },
        date: now,
        ...key,
        ...who,
      });
      const { pathname, search } = new URL(signed.url);
      await double.fetch(pathname + search, {
        method: 'POST',
        headers: { Host: new URL(double.url).host, 'Content-Type': type, ...signed.headers },
        body: signed.body === undefined ? body : Buffer.from(signed.body),
      });
      const entry = double.journal.last();
      assert.deepEqual(entry?.principal, { name: 'ann', scheme: 'own' }, `${entry}`);
      double.clock.freeze(now);
    }
  });

test('a declaration whose signature contains the user is signed as the user or the key beside it', async (context) => {
  const scheme = {
    message: '{method} {target}',
    signature: { field: 'Authorization', format: 'Own {key-id}:{signature}' },
  } as const;
  const users = {
    ann: { secret: hex, keys: { 'key-1': { algorithm: 'hmac-sha256', secret: base64 } } },
  } as const;
  const double = await startDouble({ https: false, users, schemes: { own: scheme } });
  context.after(() => double.close());
  double.stub({ path: '/hook' }, { status: 204 });
  for (const who of [
    { user: 'ann', secret: hex },
    { keyId: 'key-1', secret: base64 },
  ]) {
    const { headers } = signUrl({ url: `${double.url}/hook`, scheme, ...who });
    await double.fetch('/hook', { headers });
    assert.deepEqual(double.journal.last()?.principal, { name: 'ann', scheme: 'own' });
  }
});
