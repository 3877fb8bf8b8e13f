import type { NonceClaim } from '../../src/principal.ts';
import { createMemoryStore } from '../../src/store/memory.ts';
import { createRefusal, type NonceResult, type NonceStore } from '../../src/store/nonces/nonces.ts';
import type { Store } from '../../src/store/store.ts';

/** A claim that a test answers. */
interface ClaimInFlight {
  readonly user: string;
  readonly nonce: string;
  /** Makes the claim, and resolves its promise. */
  answer(): void;
  reject(error: Error): void;
}

/** How an engine behaves. */
interface RemoteNoncesOptions {
  /** Whether a test answers the claims, with `inFlight`. Default: they are answered after some turns. */
  readonly byHand?: boolean;
  /** Whether claims that are deferrable are made with the change of their request. Default: false. */
  readonly defers?: boolean;
  /** What claims reject with. Default: they do not reject. */
  readonly failure?: Error;
  /** The maximum number of nonces. Default: any. */
  readonly max?: number;
}

/** An engine on another host: all claims return promises. */
interface RemoteNonces {
  readonly nonces: NonceStore;
  /** A store that claims deferred nonces with its changes. */
  readonly store: Store;
  /** All claims, in order. */
  readonly claims: readonly { readonly nonce: string; readonly deferrable: boolean }[];
  /** The claims that a test must answer, in order. */
  readonly inFlight: ClaimInFlight[];
  /** The nonces that were released, in order. */
  readonly released: readonly string[];
}

/** Creates an engine and its store, both in memory. */
export function createRemoteNonces(options: RemoteNoncesOptions = {}): RemoteNonces {
  const { byHand = false, defers = false, failure, max = Number.POSITIVE_INFINITY } = options;
  const stored = new Set<string>();
  const provisional = new Set<string>();
  const held = new Set<NonceClaim>();
  const claims: { nonce: string; deferrable: boolean }[] = [];
  const inFlight: ClaimInFlight[] = [];
  const released: string[] = [];
  const memory = createMemoryStore({ storeId: 'test' });
  const formatKey = (user: string, nonce: string): string => JSON.stringify([user, nonce]);

  const store = (key: string): NonceResult => {
    if (stored.has(key)) return 'seen';
    if (stored.size >= max) return 'full';
    stored.add(key);
    return 'fresh';
  };
  const storeDeferred = (nonce: NonceClaim): void => {
    if (!held.delete(nonce)) return;
    const claimed = store(formatKey(nonce.user, nonce.nonce));
    if (claimed !== 'fresh') throw createRefusal(claimed);
  };

  return {
    claims,
    inFlight,
    released,
    nonces: {
      get size() {
        return stored.size;
      },
      claim(user, nonce, _until, _now, deferrable = false) {
        claims.push({ nonce, deferrable });
        const key = formatKey(user, nonce);
        const claim = (): NonceResult => {
          if (!defers || !deferrable) return store(key);
          provisional.add(key);
          return 'fresh';
        };
        if (failure !== undefined) return Promise.reject(failure);
        if (!byHand) return laterTurn().then(claim);
        return new Promise((resolve, reject) => {
          inFlight.push({ user, nonce, answer: () => resolve(claim()), reject });
        });
      },
      kept: () => undefined,
      hold(user, nonce, until) {
        if (!provisional.has(formatKey(user, nonce))) return undefined;
        const holding = { user, nonce, until };
        held.add(holding);
        return holding;
      },
      release(nonce) {
        released.push(nonce.nonce);
        return held.has(nonce) ? laterTurn().then(() => storeDeferred(nonce)) : undefined;
      },
    },
    store: {
      ...memory,
      async apply(change) {
        await laterTurn();
        const { nonce } = change;
        if (nonce === undefined) return memory.apply(change);
        const isDeferred = held.has(nonce);
        storeDeferred(nonce);
        const applied = await memory.apply(change);
        if (!applied.applied && isDeferred) {
          stored.delete(formatKey(nonce.user, nonce.nonce));
          held.add(nonce);
        }
        return applied;
      },
    },
  };
}

/** Resolves in a later turn of the event loop. */
function laterTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
