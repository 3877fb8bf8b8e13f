export type {
  Client,
  ClientSecret,
  Consumer,
  GrantType,
  SignatureMethod,
} from '../accounts/registered.ts';

/** The registered clients or consumers; a replacement takes effect with the next request. */
export interface Registry<T> {
  find(name: string): T | undefined;
  /** Whether `is` holds for at least one of them. */
  some(is: (one: T) => boolean): boolean;
  /** How many there are; a mechanism without any is not offered. */
  readonly size: number;
  replace(all: ReadonlyMap<string, T>): void;
}

/** A registry in memory. */
export function createRegistry<T>(all: ReadonlyMap<string, T>): Registry<T> {
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
    },
  };
}
