import { andThen, type MaybePromise } from '../../maybe-promise.ts';
import type { MemoryNonces, NonceResult, NonceStore } from '../../store/nonces/nonces.ts';

/** A claimed nonce. */
interface Claim {
  readonly user: string;
  readonly nonce: string;
  readonly until: number;
}

/** What the nonces of a double were at one time: the claims, and the number of nonces that are still to be burnt. */
interface NoncesSnapshot {
  readonly claims: readonly Claim[];
  readonly burning: number;
}

/** How the nonces of a double are changed and observed. */
interface NonceHooks {
  /** Returns whether the nonce that is being claimed counts as used. */
  burns(): boolean;
  /** Called for each nonce that is rejected. */
  onReplay(user: string): void;
}

/** The nonces of a double. */
export type DoubleNonces = ReturnType<typeof createDoubleNonces>;

/** The maximum number of claims in a snapshot. If there are more, the older half is dropped. */
const maxClaims = 200_000;

/**
 * Creates nonces of which fresh ones can be made to count as used, and whose claims are part of snapshots if they are in memory.
 * @param source the nonces, or a function that returns an empty set of them in memory
 */
export function createDoubleNonces(
  source: NonceStore | (() => MemoryNonces),
  { burns, onReplay }: NonceHooks,
) {
  const make = typeof source === 'function' ? source : undefined;
  let memory = make?.();
  let claims: Claim[] = [];
  let burning = 0;
  const current = typeof source === 'function' ? () => memory ?? source() : () => source;
  const { window, limits } = current();

  const takeBurnt = (): boolean => {
    if (burns()) return true;
    if (burning === 0) return false;
    burning -= 1;
    return true;
  };
  /** Restores all claims, including expired ones. Called when the clock was set back. */
  const restoreClaims = (): void => {
    memory = make?.();
    for (const { user, nonce, until } of claims) memory?.remember(user, nonce, until);
  };
  const restore = (earlier: NoncesSnapshot): void => {
    burning = earlier.burning;
    claims = [...earlier.claims];
    restoreClaims();
  };
  return {
    ...(window !== undefined && { window }),
    ...(limits !== undefined && { limits }),
    claim(user: string, nonce: string, until: number, now: number): MaybePromise<NonceResult> {
      const result = takeBurnt() ? 'seen' : current().claim(user, nonce, until, now);
      return andThen(result, (claimed) => {
        if (claimed === 'seen') onReplay(user);
        if (claimed === 'fresh' && memory !== undefined) claims.push({ user, nonce, until });
        if (claims.length > maxClaims) claims = claims.slice(-maxClaims / 2);
        return claimed;
      });
    },
    get size(): number {
      return current().size ?? 0;
    },
    /** Treats the next `times` nonces as used. */
    burn(times: number): void {
      burning += times;
    },
    restoreClaims,
    snapshot: (): NoncesSnapshot => ({ claims: [...claims], burning }),
    restore,
    reset: () => restore({ claims: [], burning: 0 }),
  };
}
