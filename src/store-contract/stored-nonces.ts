import assert from 'node:assert/strict';
import type { NonceClaim } from '../principal.ts';
import { isNonceRefusedError } from '../store/errors.ts';
import type { NonceStore } from '../store/nonces/nonces.ts';
import type { Store } from '../store/store.ts';
import { creation, put, requireEntry } from './changes.ts';
import { type ContractCheck, callSimultaneously, type Session, storeCheck } from './check.ts';

/** How long (ms) a nonce is stored in these checks. */
const lifetime = 600_000;

/** Creates a check that only applies to stores with nonces. */
function createStoredNonceCheck(
  name: string,
  body: (store: Store, nonces: NonceStore, session: Session<Store>) => Promise<void>,
): ContractCheck<Store> {
  return storeCheck(`the nonce of a change, if the store has nonces, ${name}`, async (store, session) => {
    if (store.nonces !== undefined) await body(store, store.nonces, session);
  });
}

/** Claims a nonce as a request does that stores it with its change. Returns the nonce to store. */
async function claimFor(nonces: NonceStore, nonce: string, now: number): Promise<NonceClaim | undefined> {
  assert.equal(await nonces.claim('ann', nonce, now + lifetime, now, true), 'fresh');
  return nonces.hold?.('ann', nonce, now + lifetime);
}

/** The checks of nonces that are stored with changes. */
export const storedNonceChecks = [
  createStoredNonceCheck('is stored with it, also across a restart', async (store, nonces, session) => {
    const { now } = session;
    const nonce = await claimFor(nonces, 'n', now);
    requireEntry(await store.apply({ ...creation('/a'), at: now, nonce }));
    for (const each of session.engines)
      assert.equal(await each.nonces?.claim('ann', 'n', now + lifetime, now), 'seen');
    const later = await session.restart();
    assert.equal(await later.nonces?.claim('ann', 'n', now + lifetime, now), 'seen');
  }),

  createStoredNonceCheck(
    'is used up if the change is not applied and it is released',
    async (store, nonces, { now }) => {
      const nonce = await claimFor(nonces, 'n', now);
      const result = await store.apply({ ...put('/a', 'x', 'present', {}), at: now, nonce });
      assert.deepEqual(result, { applied: false });
      if (nonce !== undefined) await nonces.release?.(nonce, true);
      assert.equal(await nonces.claim('ann', 'n', now + lifetime, now), 'seen');
    },
  ),

  createStoredNonceCheck('admits one of 100 simultaneous changes', async (store, _, session) => {
    const { now } = session;
    const made = await callSimultaneously(session, 100, (each, n) => createWithNonce(each, n, now));
    assert.equal(made.filter((each) => each).length, 1);
    assert.equal((await store.list('/a', 0, 200)).entries.length, 1);
  }),
];

/** Makes a change with a nonce that others use at the same time. Returns whether it was made. */
async function createWithNonce(store: Store, n: number, now: number): Promise<boolean> {
  const until = now + lifetime;
  if ((await store.nonces?.claim('ann', 'n', until, now, true)) !== 'fresh') return false;
  const nonce = store.nonces?.hold?.('ann', 'n', until);
  try {
    return (await store.apply({ ...creation('/a', { n }), at: now, nonce })).applied;
  } catch (error) {
    if (isNonceRefusedError(error)) return false;
    throw error;
  }
}
