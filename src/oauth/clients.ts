import type { Client } from '../accounts/registered.ts';

export type {
  Client,
  ClientSecret,
  Consumer,
  GrantType,
  SignatureMethod,
} from '../accounts/registered.ts';

/** The registered clients or consumers. A replacement takes effect with the next request. */
export interface Registry<T> {
  /** Returns the client or consumer of this name, or undefined. */
  find(name: string): T | undefined;
  /** Returns whether `is` returns true for at least one of them. */
  some(is: (one: T) => boolean): boolean;
  /** Number of registered clients or consumers; with 0 the mechanism is not offered. */
  readonly size: number;
  /** Replaces all of them. */
  replace(all: ReadonlyMap<string, T>): void;
}

/**
 * Creates a registry in memory.
 * @param onReplace called with all names when the clients or consumers are replaced
 */
export function createRegistry<T>(
  all: ReadonlyMap<string, T>,
  onReplace: (names: Iterable<string>) => void = () => {},
): Registry<T> {
  let current = all;
  return {
    find: (name) => current.get(name),
    some(is) {
      for (const one of current.values()) if (is(one)) return true;
      return false;
    },
    get size() {
      return current.size;
    },
    replace(others) {
      current = others;
      onReplace(others.keys());
    },
  };
}

/** Returns whether a client authenticates (RFC 6749 §2.1): with a secret, or with a key. */
export function isConfidential({ secret, jwks, publicKey }: Client): boolean {
  return (secret ?? jwks ?? publicKey) !== undefined;
}
