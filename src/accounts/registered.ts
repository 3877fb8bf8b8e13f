import type { Duration } from '../duration.ts';
import type { Scope } from '../principal.ts';
import type { OAuth1Method } from './oauth1-methods.ts';

/** A grant type that a client of OAuth 2.0 may be registered for (RFC 6749 §1.3). */
export type GrantType = 'authorization_code' | 'refresh_token' | 'client_credentials';

/** A stored client secret: plain text in a configuration, SHA-256 of a generated secret, scrypt hash of a chosen one. */
export type ClientSecret =
  | {
      /** The secret in plain text. */
      readonly plain: string;
    }
  | {
      /** The SHA-256 of a generated secret, in base64url. */
      readonly sha256: string;
    }
  | {
      /** The scrypt hash of a chosen secret. */
      readonly scrypt: string;
    };

/** The public keys with which a client of OAuth 2.0 authenticates (RFC 7523). */
export interface ClientKeys {
  /** A set of public keys (RFC 7517 §5). Default: none. */
  readonly jwks?:
    | {
        /** JWKs; each with `alg`, unless its curve determines that or it is RS256. */
        readonly keys: readonly object[];
      }
    | undefined;
  /** One public key: PEM (SPKI). Default: none. */
  readonly publicKey?: string | undefined;
}

/** A registered client of OAuth 2.0. */
export interface Client extends ClientKeys {
  readonly id: string;
  /** Undefined for a client that is public, or authenticates with a key. */
  readonly secret: ClientSecret | undefined;
  /** Redirect URIs, compared character by character. */
  readonly redirectUris: readonly string[];
  readonly grants: readonly GrantType[];
  readonly scopes: readonly Scope[];
  /** Users whose resources the client may access with `client_credentials`; `*` for all users. */
  readonly users: '*' | readonly string[];
  /** The lifetimes of its tokens in seconds. Default: those of the server. */
  readonly lifetimes?: { readonly access?: number; readonly refresh?: number } | undefined;
  /** The URIs to which users return after a logout, compared character by character. Default: none. */
  readonly postLogoutRedirectUris?: readonly string[] | undefined;
  /** Registration time (ms): older tokens belong to a removed client of the same id. Undefined if it was not recorded. */
  readonly since?: number | undefined;
}

/** A signature method that a consumer of OAuth 1.0a may use (RFC 5849 §3.4). */
export type SignatureMethod = OAuth1Method;

/** A registered consumer of OAuth 1.0a. */
export interface Consumer {
  readonly key: string;
  /** Undefined if the consumer signs with RSA only. */
  readonly secret: string | undefined;
  /** SPKI in PEM; undefined if the consumer has none. */
  readonly rsaPublicKey: string | undefined;
  /** Callback URIs, compared character by character; `oob` if the user enters the verifier (RFC 5849 §2.1). */
  readonly callbacks: readonly string[];
  readonly methods: readonly SignatureMethod[];
  readonly scopes: readonly Scope[];
  /** Users whose resources the consumer may access without a token; `*` for all users. */
  readonly users: '*' | readonly string[];
  /** Whether signed requests for resources are accepted over plain HTTP. */
  readonly plainHttp: boolean;
  /** Registration time (ms), as for clients. */
  readonly since?: number | undefined;
}

/** The lifetimes of the tokens of one client. */
export interface ClientLifetimes {
  /** Seconds, or text such as `10m`. Default: that of the server. */
  readonly access?: Duration | undefined;
  /** Seconds, or text such as `7d`. Default: that of the server. */
  readonly refresh?: Duration | undefined;
}

/** A client of OAuth 2.0 as an option. A secret that is a string is the secret itself. */
export interface ClientDeclaration extends ClientKeys {
  /** Default: none, a public client unless it has keys. */
  readonly secret?: string | ClientSecret | undefined;
  /** The redirect URIs, compared character by character. Default: none. */
  readonly redirectUris?: readonly string[] | undefined;
  /** Default: `authorization_code` and `refresh_token`. */
  readonly grants?: readonly GrantType[] | undefined;
  /** Default: `read`. */
  readonly scopes?: readonly Scope[] | undefined;
  /** Users whose resources the client may access with `client_credentials`. Default: none. */
  readonly users?: '*' | readonly string[] | undefined;
  /** The lifetimes of its tokens. Default: those of the server. */
  readonly lifetimes?: ClientLifetimes | undefined;
  /** The URIs to which users return after a logout of OpenID Connect, compared character by character. Default: none. */
  readonly postLogoutRedirectUris?: readonly string[] | undefined;
  /** Registration time (ms); tokens issued earlier to a client of this id are not valid. */
  readonly since?: number | undefined;
}

/** A consumer of OAuth 1.0a as an option: with a secret, an RSA key, or both. */
export interface ConsumerDeclaration {
  /** The shared secret. Default: none, and `rsaPublicKey` is required. */
  readonly secret?: string | undefined;
  /** SPKI in PEM. */
  readonly rsaPublicKey?: string | undefined;
  /** The callbacks that it may use: URLs, or `oob`. Default: none. */
  readonly callbacks?: readonly string[] | undefined;
  /** Default: HMAC-SHA256 and HMAC-SHA1; without a secret, RSA-SHA256 and RSA-SHA1. */
  readonly methods?: readonly OAuth1Method[] | undefined;
  /** Default: `read`. */
  readonly scopes?: readonly Scope[] | undefined;
  /** Users whose resources the consumer may access without a token (two-legged OAuth). Default: none. */
  readonly users?: '*' | readonly string[] | undefined;
  /** Whether signed requests for resources are accepted over plain HTTP. PLAINTEXT is not. Default: false. */
  readonly plainHttp?: boolean | undefined;
  /** Registration time (ms), as for clients. */
  readonly since?: number | undefined;
}

/** Options by client id or consumer key. */
export type RegisteredBy<Option> = Readonly<Record<string, Option>> | ReadonlyMap<string, Option>;

/** Returns users, clients or consumers with their names. */
export function listRegistered<Option>(
  registered: RegisteredBy<Option> = {},
): readonly (readonly [name: string, option: Option])[] {
  return registered instanceof Map ? [...registered] : Object.entries(registered);
}

/** Returns whether one of these consumers requires HTTPS. */
export function requireTls(consumers: RegisteredBy<Pick<ConsumerDeclaration, 'plainHttp'>> = {}): boolean {
  return listRegistered(consumers).some(([, { plainHttp }]) => plainHttp !== true);
}
