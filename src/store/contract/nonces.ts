import assert from 'node:assert/strict';
import type { NonceStore } from '../nonces/nonces.ts';
import { type ContractCheck, callSimultaneously, check, type Session } from './check.ts';

/** How long (ms) a nonce is stored in these checks. */
const lifetime = 600_000;

/** Pairs of a user and a nonce that a careless encoding would confuse. */
const pairs: readonly (readonly [user: string, nonce: string])[] = [
  ...['a bc', 'ab c', 'abc ', ' abc', ' ', '1:a bc', 'a:b c', 'a b:c', 'A bc', 'a" b', 'a "b'].map(splitPair),
  ...['\0 c', '\0\0 c', ' \0\0c', '\0\u0001 c', '\u0100 c', '\ud800 c', '\udfff c', '\ufffd c'].map(
    splitPair,
  ),
  ['__proto__', 'c'],
  ['a b', 'c'],
  ['a', 'b c'],
  ['a'.repeat(300), 'c'],
  ['a'.repeat(299), 'ac'],
];

function splitPair(text: string): [user: string, nonce: string] {
  const at = text.indexOf(' ');
  return [text.slice(0, at), text.slice(at + 1)];
}

/** Creates a check of nonces. */
function noncesCheck(
  name: string,
  body: (nonces: NonceStore, session: Session<NonceStore>) => Promise<void>,
): ContractCheck<NonceStore> {
  return check(name, async () => {}, body);
}

/**
 * The rules of the interface `NonceStore`, for any test runner. Each check opens nonces of its own; the test that runs it closes
 * them.
 *
 * @example
 * for (const { name, run } of nonceContract) test(name, () => run(async () => createMyNonceStore()));
 */
export const nonceContract: readonly ContractCheck<NonceStore>[] = [
  noncesCheck('a nonce is fresh once', async (nonces, { now }) => {
    assert.equal(await nonces.claim('ann', 'n', now + lifetime, now), 'fresh');
    assert.equal(await nonces.claim('ann', 'n', now + lifetime, now), 'seen');
    assert.equal(await nonces.claim('ann', 'n', now + lifetime, now), 'seen');
    assert.equal(await nonces.claim('ann', 'other', now + lifetime, now), 'fresh');
  }),

  noncesCheck('a nonce is seen with any other date', async (nonces, { now }) => {
    assert.equal(await nonces.claim('ann', 'n', now + lifetime, now), 'fresh');
    for (const until of [now, now + 1, now + lifetime - 1, now + lifetime + 1, now + 2 * lifetime])
      assert.equal(await nonces.claim('ann', 'n', until, now), 'seen', `until ${until - now} ms later`);
  }),

  noncesCheck('a nonce is seen until its last time', async (nonces, { now }) => {
    const until = now + lifetime;
    assert.equal(await nonces.claim('ann', 'n', until, now), 'fresh');
    for (const later of [1, 1000, 20_000])
      assert.equal(await nonces.claim('ann', 'n', until, now + later), 'seen');
  }),

  noncesCheck(
    'a nonce of one user does not affect another, whatever characters they have',
    async (nonces, { now }) => {
      for (const expected of ['fresh', 'seen'])
        for (const [user, nonce] of pairs)
          assert.equal(
            await nonces.claim(user, nonce, now + lifetime, now),
            expected,
            JSON.stringify([user, nonce]),
          );
    },
  ),

  noncesCheck('one of 100 simultaneous claims of a nonce is fresh', async (_, session) => {
    const { now } = session;
    for (const nonce of ['a', 'b', 'c']) {
      const results = await callSimultaneously(session, 100, (nonces) =>
        nonces.claim('ann', nonce, now + lifetime, now),
      );
      assert.equal(results.filter((result) => result === 'fresh').length, 1);
      assert.equal(results.filter((result) => result === 'seen').length, 99);
    }
  }),

  noncesCheck('all of 100 simultaneous claims of different nonces are fresh', async (_, session) => {
    const { now } = session;
    const results = await callSimultaneously(session, 100, (nonces, n) =>
      nonces.claim('ann', `n${n}`, now + lifetime, now),
    );
    assert.ok(results.every((result) => result === 'fresh'));
  }),

  noncesCheck('a claim without a valid time is not fresh', async (nonces, { now }) => {
    for (const invalid of [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]) {
      assert.notEqual(await claimOrError(nonces, invalid, now), 'fresh');
      assert.notEqual(await claimOrError(nonces, now + lifetime, invalid), 'fresh');
    }
  }),

  noncesCheck('a nonce is seen after a restart', async (nonces, session) => {
    const { now } = session;
    assert.equal(await nonces.claim('ann', 'n', now + lifetime, now), 'fresh');
    const later = await session.restart();
    assert.equal(await later.claim('ann', 'n', now + lifetime, now), 'seen');
  }),
];

async function claimOrError(nonces: NonceStore, until: number, now: number): Promise<unknown> {
  try {
    return await nonces.claim('ann', 'n', until, now);
  } catch (error) {
    return error;
  }
}
