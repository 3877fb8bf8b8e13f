import type { Scope } from '../principal.ts';
import type { OAuth1Method } from '../signature/oauth1.ts';

/** What a client of OAuth 2.0 may ask for. */
export type GrantType = 'authorization_code' | 'refresh_token' | 'client_credentials';

/** A client secret as it is kept: in the clear in a configuration, else as SHA-256 (generated ones) or scrypt hash (chosen ones). */
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
  /** When this client was registered (ms): older tokens are those of a former client. Undefined where that was not recorded. */
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
  /** When this consumer was registered (ms), as with clients. */
  readonly since?: number | undefined;
}

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
