// What the client signs, and what `double.as` signs, with every kind of credentials: a double accepts both, and shows neither.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inspect } from 'node:util';
import { signUrl } from '../../src/client/index.ts';
import { type Double, startDouble } from '../../src/double/index.ts';
import {
  base64,
  consumer,
  passphrase,
  password,
  pem,
  type Signing,
  secret,
  sessionToken,
  signings,
  userOf,
} from '../support/double/signings.ts';
import { rsa } from '../support/keys.ts';

/** Starts a double with the users and clients of all rows. */
async function open(signing: Signing): Promise<Double> {
  const { schemes = {} } = signing;
  const scopes = ['read', 'write'] as const;
  const double = await startDouble({
    now: Date.UTC(2026, 10, 22, 12),
    https: false,
    schemes,
    users: {
      ann: userOf(signing),
      bob: { secret: 'secret of bob' },
    },
    ...(Object.keys(schemes).length === 0 && {
      clients: { app: { secret: 'secret of app', grants: ['client_credentials'], scopes } },
    }),
    consumers: {
      partner: {
        secret: consumer.secret,
        scopes,
        users: '*',
        methods: ['HMAC-SHA256', 'HMAC-SHA512', 'PLAINTEXT'],
      },
      bank: {
        rsaPublicKey: pem(rsa.publicKey, 'spki'),
        scopes,
        users: '*',
        methods: ['RSA-SHA256', 'RSA-SHA512'],
      },
    },
  });
  double.stub({ path: '/things' }, { status: 204 });
  return double;
}

/** Returns the signatures and keys in what was signed. */
function credentialsIn({
  url,
  headers,
}: {
  url: string;
  headers: Record<string, string>;
}): readonly string[] {
  const values = Object.entries(headers).flatMap(([name, value]) =>
    /digest|sha256/i.test(name) ? [] : [value],
  );
  return [...values, ...new URL(url).searchParams.values()].flatMap(
    (value) => value.match(/[A-Za-z0-9+_-]{40,}={0,2}/g) ?? [],
  );
}

for (const [name, row] of Object.entries(signings))
  test(`a double accepts what is signed with ${name}, matches its user, and shows no credentials`, async () => {
    await using double = await open(row);
    const { schemes = {}, client, as, isNamed = true, body = '{"a":1}', type = 'application/json' } = row;
    const [scheme = 'hmac'] = Object.keys(schemes);
    const accepted = row.accepted ?? scheme;
    const path = '/things?a=b%20c&a=b';
    const sent = { method: 'POST', headers: { 'Content-Type': type, 'X-Other': '  1  2 ' }, body };
    const assertAccepted = (): void => {
      const entry = double.journal.last();
      const { name: user, scheme: by } = entry.principal ?? {};
      assert.deepEqual([entry.status, by], [204, accepted], String(entry));
      assert.ok(user === 'ann' || accepted === 'oauth', user);
    };
    const credentials = typeof client === 'function' ? await client(double) : client;
    const signing = { ...sent, url: double.url + path, date: double.clock.now(), ...credentials };
    const { url, headers, body: signed } = Reflect.apply(signUrl, undefined, [signing]);
    await fetch(url, { ...sent, headers: { ...sent.headers, ...headers }, body: signed ?? body });
    assertAccepted();
    const shown = [double.journal.last()];
    if (as !== undefined) {
      double.clock.advance('1s');
      const ann = Reflect.apply(double.as, double, ['ann', { scheme, ...as }]);
      double.faults.next({ user: 'bob' }, { status: 500 });
      if (isNamed) {
        double.faults.next({ user: 'ann' }, { status: 503 });
        assert.equal((await ann.fetch(path, sent)).status, 503);
      }
      assert.equal((await ann.fetch(path, sent)).status, 204, String(double.journal.last()));
      assertAccepted();
      shown.push(double.journal.last());
      // The message that was expected contains the session token.
      if ('sessionToken' in as) {
        const wrong = Reflect.apply(double.as, double, ['ann', { scheme, ...as, secret: 'a wrong one' }]);
        assert.equal((await wrong.fetch(path, sent)).status, 401);
        shown.push(double.journal.last());
      }
    }
    const text = shown.map((entry) => `${entry}${JSON.stringify(entry)}${inspect(entry)}`).join('\n');
    const hidden = [secret, base64, password, passphrase, sessionToken, ...credentialsIn({ url, headers })];
    for (const each of hidden) assert.ok(!text.includes(each), `${each} is shown: ${text}`);
  });
