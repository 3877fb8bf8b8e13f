import type { MemoryNonces, Nonces } from '../../store/nonces/nonces.ts';
import type { Snapshottable } from './snapshot.ts';

/** A nonce that was taken. */
interface Claim {
  readonly user: string;
  readonly nonce: string;
  readonly until: number;
}

/** The nonces of a double: they are part of its snapshots, and fresh ones can be made to count as seen. */
export interface DoubleNonces extends Nonces, Snapshottable<NoncesSnapshot> {
  /** Counts the next `times` nonces as seen, whatever they are. */
  burn(times: number): void;
  /** Remembers every nonce that was taken, those that have expired since included. For when the clock was set back. */
  recall(): void;
}

/** How many claims are kept for snapshots; the older half is dropped when there are more. */
const mostClaims = 200_000;

/**
 * Which nonces count as seen though nobody has used them: those that `burns` says so of, and so many of the next ones.
 */
export class BurntNonces {
  /** How many of the next nonces count as seen. */
  left = 0;
  readonly #burns: () => boolean;

  constructor(burns: () => boolean) {
    this.#burns = burns;
  }

  /** Whether the nonce that is being claimed counts as seen. Each that does because of `left` is taken off it. */
  take(): boolean {
    if (this.#burns()) return true;
    if (this.left === 0) return false;
    this.left -= 1;
    return true;
  }
}

/** The nonces that were taken, and how many are still to be burnt. */
export interface NoncesSnapshot {
  readonly claims: readonly Claim[];
  readonly burning: number;
}

/**
 * Makes the nonces of a double. `make` gives an empty set; `seen` is told of each one that is refused; `burns` says whether
 * the one that is being claimed counts as seen.
 */
export function createDoubleNonces(
  make: () => MemoryNonces,
  seen: (user: string) => void,
  burns: () => boolean,
): DoubleNonces {
  let kept = make();
  let claims: Claim[] = [];
  const burnt = new BurntNonces(burns);

  const recall = (): void => {
    kept = make();
    for (const { user, nonce, until } of claims) kept.remember(user, nonce, until);
  };
  const put = ({ claims: earlier, burning: left }: NoncesSnapshot): void => {
    claims = [...earlier];
    burnt.left = left;
    recall();
  };
  return {
    claim(user, nonce, until, now) {
      const judged = burnt.take() ? 'seen' : kept.claim(user, nonce, until, now);
      if (judged === 'fresh') claims.push({ user, nonce, until });
      if (judged === 'seen') seen(user);
      if (claims.length > mostClaims) claims = claims.slice(-mostClaims / 2);
      return judged;
    },
    kept: () => undefined,
    hold: () => undefined,
    release: () => undefined,
    get size() {
      return kept.size;
    },
    burn(times) {
      burnt.left += times;
    },
    recall,
    snapshot: () => ({ claims: [...claims], burning: burnt.left }),
    restore: put,
    reset: () => put({ claims: [], burning: 0 }),
  };
}
