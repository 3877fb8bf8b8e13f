import type { NonceResult, NonceStore } from '../../src/store/nonces/nonces.ts';

/** A claim that a test answers. */
interface ClaimInFlight {
  readonly nonce: string;
  /** Makes the claim, and resolves its promise. */
  answer(): void;
}

/** How an engine behaves. */
interface RemoteNoncesOptions {
  /** Whether a test answers the claims, with `inFlight`. Default: they are answered after some turns. */
  readonly byHand?: boolean;
  /** What claims reject with. Default: they do not reject. */
  readonly failure?: Error;
  /** The maximum number of nonces. Default: any. */
  readonly max?: number;
}

/** An engine on another host: all claims return promises. */
interface RemoteNonces {
  readonly nonces: NonceStore;
  /** The claims that a test must answer, in order. */
  readonly inFlight: ClaimInFlight[];
}

/** Creates an engine in memory. */
export function createRemoteNonces(options: RemoteNoncesOptions = {}): RemoteNonces {
  const { byHand = false, failure, max = Number.POSITIVE_INFINITY } = options;
  const stored = new Set<string>();
  const inFlight: ClaimInFlight[] = [];
  const store = (key: string): NonceResult => {
    if (stored.has(key)) return 'seen';
    if (stored.size >= max) return 'full';
    stored.add(key);
    return 'fresh';
  };
  return {
    inFlight,
    nonces: {
      claim(user, nonce) {
        const key = JSON.stringify([user, nonce]);
        if (failure !== undefined) return Promise.reject(failure);
        if (!byHand) return laterTurn().then(() => store(key));
        return new Promise((resolve) => {
          inFlight.push({ nonce, answer: () => resolve(store(key)) });
        });
      },
    },
  };
}

/** Resolves in a later turn of the event loop. */
function laterTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
