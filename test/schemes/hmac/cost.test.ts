import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { createAccounts } from '../../../src/accounts/accounts.ts';
import { createManualClock } from '../../../src/clock.ts';
import { SigningKey } from '../../../src/hmac-sha256.ts';
import { parseCredentials } from '../../../src/http/headers/authorization.ts';
import type { IncomingRequest } from '../../../src/http/message.ts';
import type { Nonces } from '../../../src/schemes/nonce-claim.ts';
import type { Verifier } from '../../../src/schemes/verifier.ts';
import { openTestService, signedRequest, start } from '../../support/schemes/clients/service.ts';
import { createHmacVerifier, type HmacVerifierOptions } from '../../support/schemes/hmac-verifier.ts';

const users = new Map([
  ['ann', { secrets: [{ secret: 'ann-secret' }] }],
  ['bob', { secrets: [{ secret: 'bob-secret' }, { secret: 'old', until: start + 1000 }] }],
  ['cid', { secrets: [{ secret: 'cid-secret' }, { secret: 'expired', until: start }] }],
  ['dan', { secrets: [{ secret: 'dan-expired', until: start }] }],
  ['eve', { secrets: [] }],
  ['fay', { secrets: [{ secret: 'fay-secret' }], disabled: true }],
]);

async function digestsFor(context: TestContext, request: IncomingRequest, verdict: string): Promise<number> {
  const counted = context.mock.method(SigningKey.prototype, 'digest');
  const service = openTestService({ users });
  const before = counted.mock.callCount();
  assert.equal(await service.verdictOn(request), verdict);
  const count = counted.mock.callCount() - before;
  counted.mock.restore();
  return count;
}

test('a refused request costs two digests, for any user and any number of secrets', async (context) => {
  for (const user of [...users.keys(), 'mallory']) {
    const request = signedRequest({ user, secret: 'guessed' });
    assert.equal(await digestsFor(context, request, 'credentials-refused'), 2, user);
  }
  const expired = signedRequest({ user: 'cid', secret: 'expired' });
  assert.equal(await digestsFor(context, expired, 'credentials-refused'), 2);
  const alone = signedRequest({ user: 'dan', secret: 'dan-expired' });
  assert.equal(await digestsFor(context, alone, 'credentials-refused'), 2);
});

test('an accepted request costs one digest with the first secret, and two with the second', async (context) => {
  assert.equal(await digestsFor(context, signedRequest({ user: 'bob' }), 'bob'), 1);
  assert.equal(await digestsFor(context, signedRequest({ user: 'bob', secret: 'old' }), 'bob'), 2);
});

test('the placeholder for a missing secret authenticates no user', async () => {
  const service = openTestService({ users });
  for (const user of [...users.keys(), 'mallory', '']) {
    const request = signedRequest({ user: user === '' ? 'x' : user, secret: 'no one has this secret' });
    assert.equal(await service.verdictOn(request), 'credentials-refused', user);
  }
});

/** Returns a verifier whose code is loaded: the first request waits for it. */
async function schemeWith(nonces: Nonces, options: Partial<HmacVerifierOptions> = {}): Promise<Verifier> {
  const clock = createManualClock(start);
  const scheme = createHmacVerifier({ accounts: createAccounts(users), nonces, clock, ...options });
  await scheme.authenticate(signedRequest(), '');
  return scheme;
}

const readRest = (request: IncomingRequest): string =>
  parseCredentials(request.headers.get('authentication') ?? '')?.rest ?? '';

test('authentication returns its verdict synchronously if it has nothing to wait for', async () => {
  const scheme = await schemeWith({ claim: () => 'fresh' });
  for (const [request, outcome] of [
    [signedRequest(), 'good'],
    [signedRequest({ secret: 'guessed' }), 'bad'],
    [signedRequest({ at: 0 }), 'bad'],
  ] as const) {
    const verdict = scheme.authenticate(request, readRest(request));
    assert.ok('outcome' in verdict);
    assert.equal(verdict.outcome, outcome);
  }
});

test('the verdict waits until the nonce is stored', async () => {
  let store = (): void => {};
  const scheme = await schemeWith({
    claim: () =>
      new Promise((resolve) => {
        store = () => resolve('fresh');
      }),
  });
  for (const method of ['GET', 'HEAD', 'OPTIONS', 'PUT', 'POST', 'DELETE', 'BREW']) {
    const request = signedRequest({ method, target: '/articles/1' });
    const verdict = scheme.authenticate(request, readRest(request));
    assert.ok(verdict instanceof Promise, method);
    const early = await Promise.race([verdict, 'not yet']);
    assert.equal(early, 'not yet', method);
    store();
    assert.deepEqual(await verdict, { outcome: 'good', principal: { name: 'ann', scheme: 'hmac' } });
  }
});

test('no nonce is claimed for a refused request, or for the simple form', async () => {
  for (const [claim, request] of [
    [() => 'seen' as const, signedRequest()],
    [() => 'full' as const, signedRequest()],
    [() => assert.fail('claimed'), signedRequest({ secret: 'guessed' })],
    [() => assert.fail('claimed'), signedRequest({ at: 0 })],
    [() => assert.fail('claimed'), signedRequest({ form: 'simple' })],
  ] as const) {
    const verdict = (await schemeWith({ claim })).authenticate(request, readRest(request));
    assert.ok('outcome' in verdict);
  }
});

test('authentication rejects with the error of the store if a nonce cannot be stored', async () => {
  const fault = new Error('no room on the disk');
  const scheme = await schemeWith({ claim: () => Promise.reject(fault) });
  const request = signedRequest();
  await assert.rejects(async () => scheme.authenticate(request, readRest(request)), fault);
});
