import type { Scope } from '../principal.ts';
import type { OAuth1Method } from '../signature/oauth1.ts';

/** What a client of OAuth 2.0 may ask for. */
export type GrantType = 'authorization_code' | 'refresh_token' | 'client_credentials';

/** A secret as it is known: itself where configuration has it, else its SHA-256 (generated ones) or its scrypt hash (chosen ones). */
export type ClientSecret =
  | { readonly plain: string }
  | { readonly sha256: string }
  | { readonly scrypt: string };

/** A client of OAuth 2.0. */
export interface Client {
  readonly id: string;
  /** Undefined for a public client. */
  readonly secret: ClientSecret | undefined;
  /** Exactly as they must be sent. */
  readonly redirectUris: readonly string[];
  readonly grants: readonly GrantType[];
  readonly scopes: readonly Scope[];
  /** Whose resources it may touch with `client_credentials`: all users' with `*`. */
  readonly users: '*' | readonly string[];
  /** Since when (ms) the id is this client's: what was issued before was another's. Undefined where nobody noted it. */
  readonly since?: number | undefined;
}

/** How a consumer of OAuth 1.0a may sign (RFC 5849 §3.4). */
export type SignatureMethod = OAuth1Method;

/** A consumer of OAuth 1.0a. */
export interface Consumer {
  readonly key: string;
  /** Undefined where it signs with RSA alone. */
  readonly secret: string | undefined;
  /** SPKI in PEM; undefined where it has none. */
  readonly rsaPublicKey: string | undefined;
  /** Exactly as they must be sent; `oob` where the user carries the verifier. */
  readonly callbacks: readonly string[];
  readonly methods: readonly SignatureMethod[];
  readonly scopes: readonly Scope[];
  /** Since when (ms) the key is this consumer's, as with clients. */
  readonly since?: number | undefined;
}

/** Where clients or consumers are looked up; what is put in their place counts from the next request on. */
export interface Registry<T> {
  find(name: string): T | undefined;
  /** Whether one of them is so. */
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
