import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { type Attempt, attack, createAttempts, createSigner } from '../../src/attack/index.ts';
import { createManualClock } from '../../src/clock.ts';
import { action, createService, text } from '../../src/index.ts';
import { makeIdentity } from '../support/net/transport.ts';
import { makeJwt, makeKey } from '../support/oauth/issuer.ts';
import { startNaive } from './fixture.ts';

const clock = createManualClock(Date.UTC(2026, 1, 9, 12, 59, 24));
const tls = makeIdentity();
const key = makeKey('one');
const [issuer, audience] = ['https://login.example', 'https://api.example'];
const now = clock.now() / 1000;
const token = makeJwt(key, {
  iss: issuer,
  aud: audience,
  sub: 'ann',
  scope: 'read',
  exp: now + 600,
  iat: now,
});
const privateKey = String(key.privateKey.export({ type: 'pkcs8', format: 'pem' }));
const options = { clock, issuer: { keys: [key.jwk], privateKey } };

function attempts(url: string): readonly Attempt[] {
  return createAttempts({ url }, createSigner({ scheme: 'bearer', token }), options);
}

/** Attacks the naive server with a hole. Returns the names of the attempts about the token that it accepts. */
async function accepted(context: TestContext, hole?: string): Promise<readonly string[]> {
  const { jwk } = key;
  const parts = { scheme: 'jwt', hole, jwk, issuer, audience, now: clock.now, tls };
  const url = await startNaive(context, 'one-hole', parts);
  const report = await attack({ secureUrl: url, ca: tls.cert }, attempts(`${url}/things/1`));
  return report.failed.filter(({ name }) => name.startsWith('the token')).map(({ name }) => name);
}

describe('attempts with a JWT', () => {
  test('have unique names, and more of them with what is known of the issuer', () => {
    const names = attempts('https://localhost/').map(({ name }) => name);
    assert.equal(new Set(names).size, names.length);
    const opaque = createAttempts(
      { url: 'https://localhost/' },
      createSigner({ scheme: 'bearer', token: 'x' }),
    );
    assert.ok(opaque.every(({ name }) => !name.startsWith('the token')));
    const unknown = createAttempts({ url: 'https://localhost/' }, createSigner({ scheme: 'bearer', token }));
    assert.ok(unknown.length < names.length);
  });

  test('are all refused by this service', async (context) => {
    const service = createService({
      clock,
      maxAuthFailures: 0,
      oauth2: { issuers: { [issuer]: { audience, jwks: { keys: [key.jwk] } } } },
      resources: { '/things/1': { GET: action('authenticated', () => text('a thing')) } },
    });
    context.after(() => service.close({ grace: 0 }));
    const [plain, secure] = [await service.listen({}), await service.listen({ tls })];
    const target = { url: plain.url, secureUrl: secure.url, ca: tls.cert };
    const report = await attack(target, attempts(`${secure.url}/things/1`));
    assert.ok(report.passed, String(report));
    assert.deepEqual(report.failed, []);
  });

  test('are all refused by a server without a hole', async (context) => {
    assert.deepEqual(await accepted(context), []);
  });

  const holes: Readonly<Record<string, readonly string[]>> = {
    'algorithm none': ['has the algorithm none and no signature'],
    'algorithm none in any case': ['none', 'None', 'NONE', 'nOnE'].map(
      (alg) => `has the algorithm ${alg} and no signature`,
    ),
    'algorithm of the token': ['is signed by HMAC with the public key in PEM'],
    'key in the token': ['contains its own key as jwk'],
    'key in a file': ['has a kid that is a path to an empty file'],
    'key by a query': ['has a kid that is SQL'],
    'any expiry': ['expired an hour ago', 'has no expiry', 'has an expiry that is text'],
    'any audience': ['has another audience', 'has no audience'],
    'any issuer': ['has another issuer', 'has an issuer with one more slash', 'has no issuer'],
    'any type': ['has the type and the claims of an ID token', 'has the type of a logout token'],
    'any extension': ['has a critical extension'],
    'any encoding': [
      'is padded',
      'has a padded header',
      'is followed by a dot',
      'is followed by a fourth part',
    ],
  };
  for (const [hole, found] of Object.entries(holes))
    test(`find the hole: ${hole}`, async (context) => {
      assert.deepEqual(
        await accepted(context, hole),
        found.map((name) => `the token ${name}`),
      );
    });

  test('find a server that verifies nothing', async (context) => {
    assert.ok((await accepted(context, 'no verification')).length > 10);
  });
});
