import { andThen } from '../../maybe-promise.ts';
import type { MemoryNonces, NonceLimits, NonceResult, NonceStore } from '../../store/nonces/nonces.ts';
import type { Snapshottable } from './state.ts';

/** A claimed nonce. */
interface Claim {
  readonly user: string;
  readonly nonce: string;
  readonly until: number;
}

/** Nonces of which fresh ones can be made to count as used. Their state is the number of nonces that are still to be burnt. */
export interface BurnableNonces extends NonceStore, Snapshottable<number> {
  readonly size: number;
  /** Treats the next `times` nonces as used. */
  burn(times: number): void;
}

/**
 * Wraps nonces so that fresh ones can be made to count as used.
 * @param burns returns whether the nonce that is being claimed counts as used
 * @param onReplay called for each nonce that is rejected
 */
export function createBurnableNonces(
  nonces: NonceStore,
  burns: () => boolean,
  onReplay: (user: string) => void,
): BurnableNonces {
  const { window, limits } = nonces;
  let burning = 0;

  const takeBurnt = (): boolean => {
    if (burns()) return true;
    if (burning === 0) return false;
    burning -= 1;
    return true;
  };
  return {
    ...(window !== undefined && { window }),
    ...(limits !== undefined && { limits }),
    claim(user, nonce, until, now) {
      const result = takeBurnt() ? 'seen' : nonces.claim(user, nonce, until, now);
      return andThen(result, (claimed) => {
        if (claimed === 'seen') onReplay(user);
        return claimed;
      });
    },
    get size() {
      return nonces.size ?? 0;
    },
    burn(times) {
      burning += times;
    },
    snapshot: () => burning,
    restore(count) {
      burning = count;
    },
    reset() {
      burning = 0;
    },
  };
}

/** Nonces in memory whose claims are part of snapshots. */
export interface RestorableNonces extends NonceStore, Snapshottable<readonly Claim[]> {
  readonly size: number;
  readonly limits: NonceLimits;
  claim(user: string, nonce: string, until: number, now: number): NonceResult;
  /** Restores all claims, including expired ones. Called when the clock was set back. */
  restoreClaims(): void;
}

/** The maximum number of claims in a snapshot. If there are more, the older half is dropped. */
const maxClaims = 200_000;

/**
 * Creates nonces whose claims are part of snapshots.
 * @param make returns an empty set of nonces
 */
export function createRestorableNonces(make: () => MemoryNonces): RestorableNonces {
  let current = make();
  let claims: Claim[] = [];

  const restoreClaims = (): void => {
    current = make();
    for (const { user, nonce, until } of claims) current.remember(user, nonce, until);
  };
  const restore = (earlier: readonly Claim[]): void => {
    claims = [...earlier];
    restoreClaims();
  };
  return {
    get limits() {
      return current.limits;
    },
    claim(user, nonce, until, now) {
      const claimed = current.claim(user, nonce, until, now);
      if (claimed === 'fresh') claims.push({ user, nonce, until });
      if (claims.length > maxClaims) claims = claims.slice(-maxClaims / 2);
      return claimed;
    },
    get size() {
      return current.size;
    },
    restoreClaims,
    snapshot: () => [...claims],
    restore,
    reset: () => restore([]),
  };
}
