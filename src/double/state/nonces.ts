import type { MemoryNonces, SynchronousNonces } from '../../store/nonces/nonces.ts';
import type { Snapshottable } from './snapshot.ts';

/** A claimed nonce. */
interface Claim {
  readonly user: string;
  readonly nonce: string;
  readonly until: number;
}

/** The nonces of a double. They are part of snapshots, and fresh nonces can be made to count as used. */
export interface DoubleNonces extends SynchronousNonces, Snapshottable<NoncesSnapshot> {
  /** Treats the next `times` nonces as used. */
  burn(times: number): void;
  /** Restores all claims, including expired ones. Called when the clock was set back. */
  restoreClaims(): void;
}

/** The maximum number of claims in a snapshot. If there are more, the older half is dropped. */
const maxClaims = 200_000;

/** Determines which fresh nonces count as used: those for which `burns` returns true, and the next `remaining` ones. */
export class BurntNonces {
  /** How many of the next nonces count as used. */
  remaining = 0;
  readonly #burns: () => boolean;

  constructor(burns: () => boolean) {
    this.#burns = burns;
  }

  /** Returns whether the nonce that is being claimed counts as used, and decrements `remaining` if that is the reason. */
  take(): boolean {
    if (this.#burns()) return true;
    if (this.remaining === 0) return false;
    this.remaining -= 1;
    return true;
  }
}

/** The claimed nonces, and how many nonces are still to be burnt. */
interface NoncesSnapshot {
  readonly claims: readonly Claim[];
  readonly burning: number;
}

/**
 * Creates the nonces of a double.
 * @param make returns an empty set of nonces
 * @param onReplay called for each nonce that is rejected
 * @param burns returns whether the nonce that is being claimed counts as used
 */
export function createDoubleNonces(
  make: () => MemoryNonces,
  onReplay: (user: string) => void,
  burns: () => boolean,
): DoubleNonces {
  let current = make();
  let claims: Claim[] = [];
  const burnt = new BurntNonces(burns);

  const restoreClaims = (): void => {
    current = make();
    for (const { user, nonce, until } of claims) current.remember(user, nonce, until);
  };
  const restore = ({ claims: earlier, burning: remaining }: NoncesSnapshot): void => {
    claims = [...earlier];
    burnt.remaining = remaining;
    restoreClaims();
  };
  return {
    enforcesLimits: true,
    claim(user, nonce, until, now) {
      const claimed = burnt.take() ? 'seen' : current.claim(user, nonce, until, now);
      if (claimed === 'fresh') claims.push({ user, nonce, until });
      if (claimed === 'seen') onReplay(user);
      if (claims.length > maxClaims) claims = claims.slice(-maxClaims / 2);
      return claimed;
    },
    kept: () => undefined,
    hold: () => undefined,
    release: () => undefined,
    get size() {
      return current.size;
    },
    burn(times) {
      burnt.remaining += times;
    },
    restoreClaims,
    snapshot: () => ({ claims: [...claims], burning: burnt.remaining }),
    restore,
    reset: () => restore({ claims: [], burning: 0 }),
  };
}
