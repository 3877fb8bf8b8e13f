import type { QuotaDeclaration } from '../accounts/quota-policy.ts';
import type { ClientDeclaration, ConsumerDeclaration, RegisteredBy } from '../accounts/registered.ts';
import type { UserDeclaration } from '../accounts/user-declaration.ts';
import type { Clock, DateLike } from '../clock.ts';
import type { Collection, CollectionDeclaration } from '../collections/declaration.ts';
import type { Duration } from '../duration.ts';
import type { LifetimeOptions } from '../oauth/lifetimes.ts';
import type { SigningKeyDeclaration } from '../oauth/oauth2/signing-keys.ts';
import type { OAuth2Options } from '../oauth/oauth2-options.ts';
import type { CorsDeclaration } from '../pipeline/cors-policy.ts';
import type { PipelineOptions } from '../pipeline/options.ts';
import type { DocumentFormat, Resource } from '../pipeline/resource.ts';
import type { SchemeDeclarations } from '../schemes/scheme-declarations.ts';
import type { NonceStore } from '../store/nonces/nonces.ts';
import type { Store } from '../store/store.ts';

export type { UserDeclaration } from '../accounts/user-declaration.ts';
export type { AccessLogEntry } from '../pipeline/options.ts';
export type { ClientDeclaration, ConsumerDeclaration, RegisteredBy };

/** The limits on what a client may send. */
export interface Limits {
  /** Bytes of content, both as sent and decompressed. Default: 1 MiB. */
  readonly body: number;
  /**
   * Bytes of content that the server holds of all requests that are not authenticated, or not yet. Beyond it, a request gets the
   * status 503 when its content is read. `body`, if that is more. Default: 64 MiB.
   */
  readonly unverifiedContent: number;
  /** Bytes of the request target. Default: 8 KiB. */
  readonly target: number;
  /** Bytes of the header section. Default: 16 KiB. */
  readonly headers: number;
  /** Nested elements. Default: 32. */
  readonly xmlDepth: number;
  /** Attributes of one element. Default: 64. */
  readonly xmlAttributes: number;
  /**
   * Open connections. Default: 1000. For another one, the longest-idle connection is closed; if all are busy, the new one gets
   * the status 503.
   */
  readonly connections: number;
  /** Milliseconds within which a header section must arrive. Default: 10 000. */
  readonly headerTimeout: number;
  /** Milliseconds within which a request must arrive. Default: 60 000. */
  readonly requestTimeout: number;
}

/** The default limits. */
export const defaultLimits: Limits = {
  body: 1_048_576,
  unverifiedContent: 67_108_864,
  target: 8_192,
  headers: 16_384,
  xmlDepth: 32,
  xmlAttributes: 64,
  connections: 1_000,
  headerTimeout: 10_000,
  requestTimeout: 60_000,
};

/** The options of a service. All are optional; there are no users by default. */
export interface ServiceOptions extends PipelineOptions {
  /** Default: the system's clock. */
  readonly clock?: Clock | undefined;
  /** Returns `size` random bytes. Default: `randomBytes` of node:crypto. @internal */
  readonly random?: ((size: number) => Uint8Array) | undefined;
  /**
   * Stores items, and OAuth grants and tokens. Default: in memory. The caller closes a store that it passes. A store
   * with `nonces` stores the nonces of signed requests, too. Tokens in it of users,
   * clients and consumers that the options do not list are revoked.
   */
  readonly store?: Store | undefined;
  /** Users by name. Default: none. */
  readonly users?:
    | Readonly<Record<string, UserDeclaration>>
    | ReadonlyMap<string, UserDeclaration>
    | undefined;
  /** Collections by path, or as `defineCollection` returns them. Default: the two of the default configuration. */
  readonly collections?: Readonly<Record<string, CollectionDeclaration>> | readonly Collection[] | undefined;
  /** Items by the path of their collection, which are added to collections that never had any. */
  readonly seed?: Readonly<Record<string, readonly unknown[]>> | undefined;
  /** Resources by path template. */
  readonly resources?: Readonly<Record<string, Resource>> | undefined;
  /** The realm in challenges. Default: `Countersign`. */
  readonly realm?: string | undefined;
  /**
   * Seconds, or text such as `10m`, by which a signed date may differ from the clock, in both directions. Range: 0 to a year.
   * Default: 600.
   */
  readonly window?: Duration | undefined;
  /**
   * Signed dates before the second of this time are rejected. A server that lost the nonces of an
   * earlier run passes its start time. Default: no such limit.
   */
  readonly notBefore?: DateLike | undefined;
  /** The requests that the simple form may sign. Default: `safe`, which means GET, HEAD and OPTIONS. */
  readonly hmacSimple?: 'safe' | 'all' | 'off' | undefined;
  /** Whether an HMAC signature of content must cover a digest of it. Default: false. */
  readonly requireBodyDigest?: boolean | undefined;
  /** Further authentication schemes by name. Default: none. */
  readonly schemes?: SchemeDeclarations | undefined;
  /** OAuth 2.0 clients by id. Default: none, and OAuth 2.0 is not offered. */
  readonly clients?: RegisteredBy<ClientDeclaration> | undefined;
  /** The options of OAuth 2.0. Default: opaque tokens with the scopes `read` and `write`. */
  readonly oauth2?: OAuth2Options | undefined;
  /** The keys that sign tokens, the current one first. Default: one is generated. @internal */
  readonly signingKeys?: readonly SigningKeyDeclaration[] | undefined;
  /** OAuth 1.0a consumers by key. Default: none, and OAuth 1.0a is not offered. */
  readonly consumers?: RegisteredBy<ConsumerDeclaration> | undefined;
  /**
   * The lifetimes of tokens, codes and temporary credentials, in seconds or as text.
   * @example { access: '10m', code: 30 }
   */
  readonly lifetimes?: LifetimeOptions | undefined;
  /** The origin in the issuer and in absolute links behind a proxy. Default: that of the HTTPS listener. */
  readonly publicUrl?: string | undefined;
  /**
   * The other origins whose pages may use the service in browsers (the CORS protocol of the Fetch standard). Collections and
   * resources can have their own. Default: none.
   * @example ['https://app.example']
   * @example { origins: ['https://app.example'], maxAge: 60 }
   */
  readonly cors?: CorsDeclaration | undefined;
  /**
   * 32 secret bytes from which the token secrets of OAuth 1.0a are derived. Default: random, so that these tokens are valid only
   * as long as the service runs.
   */
  readonly masterKey?: Uint8Array | undefined;
  /** Stores nonces. Default: those of `store`, or in memory. The caller creates it for the same window, and closes it. */
  readonly nonces?: NonceStore | undefined;
  /**
   * The highest number of stored nonces. Nonces in Redis, PostgreSQL or an engine of your own are counted by each service. An engine with a
   * higher limit of its own is refused. Default: 10 million.
   */
  readonly maxNonces?: number | undefined;
  /**
   * The highest number of stored nonces of one user, as `maxNonces`. Further requests of that user get the status 429.
   * Default: a tenth of `maxNonces`.
   */
  readonly maxNoncesPerUser?: number | undefined;
  /**
   * How long a request with an Idempotency-Key can be repeated, in collections with `idempotency`: seconds, or text such as `24h`.
   * Range: 1 s to a year. Default: 86400, which is a day.
   */
  readonly idempotencyLifetime?: Duration | undefined;
  /** The highest number of stored idempotency keys of one user; further ones get the status 429. Default: 10 000. */
  readonly maxIdempotencyKeysPerUser?: number | undefined;
  /** Failed authentications a minute, per peer, per user and per both together; 0 for no limit. Default: 100. */
  readonly maxAuthFailures?: number | undefined;
  /**
   * How many requests each authenticated user or client, and each peer without credentials, may send within a time window. Further
   * ones get the status 429. Responses have the fields RateLimit and RateLimit-Policy. Default: no limit.
   * @example { requests: 1000, window: '1h' }
   */
  readonly quota?: QuotaDeclaration | undefined;
  /** Whether rejections of credentials explain what was checked. Default: false. */
  readonly explain?: boolean | undefined;
  /**
   * The format of responses to clients that accept both XML and JSON, such as clients without `Accept`; problem documents included.
   * Default: `xml`.
   */
  readonly defaultFormat?: DocumentFormat | undefined;
  /**
   * Whether a GET or HEAD of a collection with an unknown or repeated query parameter gets the status 400. Default: false; in a test
   * double: true.
   */
  readonly strictQuery?: boolean | undefined;
  /** Whether `GET /openapi.json` returns the OpenAPI 3.1 document of the service to everyone. Default: false. */
  readonly openapi?: boolean | undefined;
  /** The limits on what a client may send. Default: each limit has its own. */
  readonly limits?: Partial<Limits> | undefined;
  /** Answers health and readiness checks, which are neither counted nor, unless they fail, logged. Default: none. */
  readonly health?: HealthOptions | undefined;
}

/** The options of health checks. */
export interface HealthOptions {
  /**
   * The path that everyone can read: `/health`. It responds 200, or 503 if the service stops or is not healthy. The path below it,
   * `/health/ready`, also responds 503 while the store cannot be reached.
   */
  readonly path: string;
  /** Returns why the service is not healthy; undefined if it is. Default: it is. */
  readonly check?: (() => string | undefined) | undefined;
}
