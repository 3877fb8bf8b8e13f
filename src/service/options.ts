import type { ClientOption, ConsumerOption, RegisteredBy } from '../accounts/registered.ts';
import type { UserDeclaration } from '../auth/accounts.ts';
import type { Clock } from '../clock.ts';
import type { Collection, CollectionDeclaration } from '../collections/declaration.ts';
import type { Lifetimes } from '../oauth/lifetimes.ts';
import type { PipelineOptions } from '../pipeline/options.ts';
import type { Resource } from '../pipeline/resource.ts';
import type { Nonces } from '../store/nonces/nonces.ts';
import type { Store } from '../store/store.ts';

export type { AccessEntry } from '../pipeline/options.ts';
export type { ClientOption, ConsumerOption };

/** The limits on what a client may send. */
export interface Limits {
  /** Bytes of content, as sent and as unpacked. */
  readonly body: number;
  /** Bytes of request target. */
  readonly target: number;
  /** Bytes of header section. */
  readonly headers: number;
  readonly xmlDepth: number;
  /** Attributes of one element. */
  readonly xmlAttributes: number;
  /** Open connections. For another one, the one that has asked for nothing the longest is ended; if all are busy, it is answered 503. */
  readonly connections: number;
  /** Milliseconds in which a header section must have arrived. */
  readonly headerTimeout: number;
  /** Milliseconds in which a request must have arrived. */
  readonly requestTimeout: number;
}

/** The limits where nothing else is said. */
export const defaultLimits: Limits = {
  body: 1_048_576,
  target: 8_192,
  headers: 16_384,
  xmlDepth: 32,
  xmlAttributes: 64,
  connections: 1_000,
  headerTimeout: 10_000,
  requestTimeout: 60_000,
};

/** A user: one secret and perhaps a password, or secrets as they are kept, several while they are rotated. */
export type UserOption =
  | UserDeclaration
  | { readonly secret: string; readonly password?: string; readonly disabled?: boolean };

/** Every option there is. The compiler holds the list complete. */
export const optionNames: Readonly<Record<keyof ServiceOptions, true>> = {
  clock: true,
  random: true,
  store: true,
  users: true,
  collections: true,
  seed: true,
  resources: true,
  realm: true,
  window: true,
  notBefore: true,
  hmacSimple: true,
  requireBodyDigest: true,
  clients: true,
  consumers: true,
  lifetimes: true,
  publicUrl: true,
  masterKey: true,
  nonces: true,
  maxNonces: true,
  maxNoncesPerUser: true,
  maxAuthFailures: true,
  trustProxy: true,
  explain: true,
  limits: true,
  log: true,
  observer: true,
  onError: true,
};

/** What a service is made of. Everything has a default, and the default users are none. */
export interface ServiceOptions extends PipelineOptions {
  readonly clock?: Clock;
  /** Gives that many random bytes. */
  readonly random?: (size: number) => Uint8Array;
  /**
   * Where items are kept, and what OAuth grants; in memory when left out. Whoever passes one closes it. Tokens there of users,
   * clients and consumers who are not among those given end.
   */
  readonly store?: Store;
  readonly users?: Readonly<Record<string, UserOption>> | ReadonlyMap<string, UserOption>;
  /** By path, or as `defineCollection` made them; the two of the default configuration when left out. */
  readonly collections?: Readonly<Record<string, CollectionDeclaration>> | readonly Collection[];
  /** Items for collections in which nothing ever was, by the collection's path. */
  readonly seed?: Readonly<Record<string, readonly unknown[]>>;
  /** Resources in code, by path template. */
  readonly resources?: Readonly<Record<string, Resource>>;
  readonly realm?: string;
  /** Seconds that a date may differ from the clock, either way; 600 when left out. */
  readonly window?: number;
  /**
   * Signed dates before the second of this time (ms since 1970-01-01T00:00:00Z) are refused: a server that forgot the nonces
   * of an earlier life passes when it began. None are when left out.
   */
  readonly notBefore?: number;
  /** Which requests the simple form may sign; safe ones when left out. */
  readonly hmacSimple?: 'safe' | 'all' | 'off';
  readonly requireBodyDigest?: boolean;
  /** Clients of OAuth 2.0 by their ids; without any it is not offered. */
  readonly clients?: RegisteredBy<ClientOption>;
  /** Consumers of OAuth 1.0a by their keys; without any it is not offered. */
  readonly consumers?: RegisteredBy<ConsumerOption>;
  /** How long tokens and what leads to them last. */
  readonly lifetimes?: Partial<Lifetimes>;
  /** The origin in issuer and absolute links behind a proxy; the HTTPS listener's own when left out. */
  readonly publicUrl?: string;
  /** 32 secret bytes that the token secrets of OAuth 1.0a are derived with; drawn when left out, so that they last as long as the service. */
  readonly masterKey?: Uint8Array;
  /** Where nonces are remembered; in memory when left out. Whoever passes some makes them for the same window, and closes them. */
  readonly nonces?: Nonces;
  /** How many nonces are remembered at most, when none are passed; 10 million when left out. */
  readonly maxNonces?: number;
  /**
   * How many of these are of one user at most, when no `nonces` are passed; default: a tenth of `maxNonces`. Requests
   * of a user beyond are answered 429.
   */
  readonly maxNoncesPerUser?: number;
  /** Failed authentications a minute; 100 when left out, 0 is no limit. */
  readonly maxAuthFailures?: number;
  /** Refusals carry what was checked. */
  readonly explain?: boolean;
  readonly limits?: Partial<Limits>;
}
