import { andThen, type MaybePromise } from '../../maybe-promise.ts';
import type { MemoryNonces, NonceLimits, NonceResult, NonceStore } from '../../store/nonces/nonces.ts';

/** A claimed nonce. */
interface Claim {
  readonly user: string;
  readonly nonce: string;
  readonly until: number;
}

/** Nonces of which fresh ones can be made to count as used. Their state is the number of nonces that are still to be burnt. */
export type BurnableNonces = ReturnType<typeof createBurnableNonces>;

/**
 * Wraps nonces so that fresh ones can be made to count as used.
 * @param burns returns whether the nonce that is being claimed counts as used
 * @param onReplay called for each nonce that is rejected
 */
export function createBurnableNonces(
  nonces: NonceStore,
  burns: () => boolean,
  onReplay: (user: string) => void,
) {
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
    claim(user: string, nonce: string, until: number, now: number): MaybePromise<NonceResult> {
      const result = takeBurnt() ? 'seen' : nonces.claim(user, nonce, until, now);
      return andThen(result, (claimed) => {
        if (claimed === 'seen') onReplay(user);
        return claimed;
      });
    },
    get size(): number {
      return nonces.size ?? 0;
    },
    /** Treats the next `times` nonces as used. */
    burn(times: number): void {
      burning += times;
    },
    snapshot: () => burning,
    restore(count: number): void {
      burning = count;
    },
    reset(): void {
      burning = 0;
    },
  };
}

/** Nonces in memory whose claims are part of snapshots. */
export type RestorableNonces = ReturnType<typeof createRestorableNonces>;

/** The maximum number of claims in a snapshot. If there are more, the older half is dropped. */
const maxClaims = 200_000;

/**
 * Creates nonces whose claims are part of snapshots.
 * @param make returns an empty set of nonces
 */
export function createRestorableNonces(make: () => MemoryNonces) {
  let current = make();
  let claims: Claim[] = [];

  /** Restores all claims, including expired ones. Called when the clock was set back. */
  const restoreClaims = (): void => {
    current = make();
    for (const { user, nonce, until } of claims) current.remember(user, nonce, until);
  };
  const restore = (earlier: readonly Claim[]): void => {
    claims = [...earlier];
    restoreClaims();
  };
  return {
    get limits(): NonceLimits {
      return current.limits;
    },
    claim(user: string, nonce: string, until: number, now: number): NonceResult {
      const claimed = current.claim(user, nonce, until, now);
      if (claimed === 'fresh') claims.push({ user, nonce, until });
      if (claims.length > maxClaims) claims = claims.slice(-maxClaims / 2);
      return claimed;
    },
    get size(): number {
      return current.size;
    },
    restoreClaims,
    snapshot: () => [...claims],
    restore,
    reset: () => restore([]),
  };
}
