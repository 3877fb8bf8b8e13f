import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import {
  type AttackTarget,
  attack,
  createAttempts,
  createSigner,
  type Signer,
} from '../../src/attack/index.ts';
import { createManualClock } from '../../src/clock.ts';
import { startDouble } from '../../src/double/index.ts';
import type { RequestInput } from '../../src/http/field-lines.ts';
import { makeIdentity } from '../support/net/transport.ts';

const clock = createManualClock(Date.UTC(2026, 1, 9, 12, 59, 24));
const tls = makeIdentity();
const secret = 'a secret of johndoe';
const password = 'A password of johndoe';
const consumer = { key: 'partner', secret: 'a secret of partner' };
const token = { token: 'a-Token-of-johndoe', tokenSecret: 'its secret' };

const signers: Readonly<Record<string, Signer>> = {
  hmac: createSigner({ user: 'johndoe', secret, signBody: true }),
  basic: createSigner({ scheme: 'basic', user: 'johndoe', password }),
  bearer: createSigner({ scheme: 'bearer', token: token.token }),
  oauth1: createSigner({ scheme: 'oauth1', client: consumer.key, secret: consumer.secret, ...token }),
};

interface Fixture {
  start(parts: unknown): Promise<{ url: string; close(): Promise<void> }>;
}

/** Starts the server of the fixture: over HTTPS if the scheme sends a secret. */
async function open(context: TestContext, scheme: string, hole?: string): Promise<AttackTarget> {
  const isSecure = signers[scheme]?.tlsOnly === true;
  const { start }: Fixture = await import(new URL('../../fixtures/naive/one-hole.mjs', import.meta.url).href);
  const server = await start({
    scheme,
    hole,
    ...(isSecure ? { tls } : {}),
    now: clock.now,
    consumer,
    token: scheme === 'bearer' ? token.token : token,
    secrets: new Map([['johndoe', secret]]),
    passwords: new Map([['johndoe', password]]),
  });
  context.after(() => server.close());
  return isSecure ? { secureUrl: server.url, ca: tls.cert } : { url: server.url };
}

function put({ url = '', secureUrl = url }: AttackTarget): RequestInput {
  const headers = { 'Content-Type': 'application/xml' };
  return {
    method: 'PUT',
    url: `${secureUrl}/articles/1`,
    headers,
    body: '<article><pages>12</pages></article>',
  };
}

async function accepted(context: TestContext, scheme: string, hole?: string): Promise<string[]> {
  const server = await open(context, scheme, hole);
  const signer = signers[scheme];
  assert.ok(signer !== undefined);
  const report = await attack(server, createAttempts(put(server), signer, { clock }));
  assert.deepEqual(
    report.inconclusive.map(({ name, status }) => `${name}: ${status}`),
    [],
  );
  assert.deepEqual(
    report.skipped.filter(({ attempt: { needs } }) => needs !== 'plain'),
    [],
  );
  return report.failed.map(({ name }) => name);
}

const fields = ['X-Forwarded-For', 'Forwarded', 'X-Real-IP'];
const forged = fields.flatMap((field) => [
  `there are no credentials, and ${field} claims the address 127.0.0.1`,
  `the proof is another one, and ${field} claims the address 127.0.0.1`,
]);
const unsignedQuery = ['a query is added to a request that was signed without one'];

/** What is accepted because of each hole. */
const holes: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  hmac: {
    'unsigned query': unsignedQuery,
    'any nonce': [
      'the content was changed, and its digest moved into the nonce',
      'the nonce contains a plus sign',
      'the nonce contains a colon',
      'the nonce contains a space',
      'the nonce has 129 characters',
    ],
    'trusted address': forged,
    'any case': ['the letters of the proof have the other case'],
    'nonce race': ['the request is sent 8 times at once'],
    'update race': ['8 changes with the same If-Match are sent at once'],
  },
  basic: {
    'trusted address': forged,
    'any case': ['the letters of the proof have the other case'],
    'update race': ['8 changes with the same If-Match are sent at once'],
  },
  bearer: {
    'trusted address': forged,
    'any case': ['the letters of the proof have the other case'],
    'update race': ['8 changes with the same If-Match are sent at once'],
  },
  oauth1: {
    'unsigned query': unsignedQuery,
    'any nonce': ['a parameter of the query was moved into the nonce'],
    'trusted address': forged,
    'any case': ['the letters of the proof have the other case'],
    'nonce race': ['the request is sent 8 times at once'],
    'update race': ['8 changes with the same If-Match are sent at once'],
  },
};

for (const [scheme, planted] of Object.entries(holes)) {
  describe(`of a server with one hole in ${scheme}, the adversary finds`, () => {
    test('nothing without the hole', async (context) => {
      assert.deepEqual(await accepted(context, scheme), []);
    });
    for (const [hole, names] of Object.entries(planted)) {
      test(`the hole "${hole}" and nothing else`, async (context) => {
        assert.deepEqual(await accepted(context, scheme, hole), names);
      });
    }
  });
}

describe('a double has none of the holes', () => {
  const requests: Readonly<Record<string, (issued: Issued) => Signer>> = {
    hmac: () => signers['hmac'] ?? assert.fail(),
    basic: () => signers['basic'] ?? assert.fail(),
    bearer: ({ accessToken }) => createSigner({ scheme: 'bearer', token: accessToken }),
    oauth1: ({ oauth1 }) =>
      createSigner({
        scheme: 'oauth1',
        client: consumer.key,
        secret: consumer.secret,
        token: oauth1.token,
        tokenSecret: oauth1.tokenSecret,
      }),
  };

  interface Issued {
    readonly accessToken: string;
    readonly oauth1: { readonly token: string; readonly tokenSecret: string };
  }

  for (const [scheme, signerOf] of Object.entries(requests)) {
    test(`with ${scheme}`, async () => {
      await using double = await startDouble({
        now: clock.now(),
        randomSeed: 1,
        maxAuthFailures: 0,
        users: { johndoe: { secret, password } },
        clients: { app: { secret: 'a secret of app', scopes: ['read', 'write'] } },
        consumers: { partner: { secret: consumer.secret, scopes: ['read', 'write'] } },
      });
      const { accessToken } = await double.oauth2.issueToken({ user: 'johndoe', scope: 'read write' });
      const oauth1 = await double.oauth1.issueToken({ user: 'johndoe', scope: 'read write' });
      const body = '<article><title>Ink</title><price currency="EUR">2.50</price></article>';
      const request = { ...put({ secureUrl: double.secureUrl }), body };
      const signer = signerOf({ accessToken, oauth1 });
      const report = await attack(double, createAttempts(request, signer, { clock: double.clock }));
      assert.ok(report.passed, String(report));
      assert.equal(report.skipped.length, 0, String(report));
      const names = report.results.map(({ name }) => name);
      for (const name of Object.values(holes[scheme] ?? {}).flat()) assert.ok(names.includes(name), name);
    });
  }
});
