import { knownScopes, type Scope } from '../principal.ts';
import type { SigningAlgorithm } from '../schemes/jwt/algorithms.ts';
import { type OAuth2Paths, oauth2Paths } from './paths.ts';

/** An authorization server whose access tokens are accepted. */
export interface IssuerDeclaration {
  /** The identifier of this API in the claim `aud`. */
  readonly audience: string | readonly string[];
  /** The URL of its public keys (RFC 7517), or the keys. A URL is `https`, or `http` of this host. */
  readonly jwks: string | { readonly keys: readonly object[] };
  /** The claim that names the user. Default: `sub`. */
  readonly user?: string | undefined;
  /** The claim with the scopes: a text of words separated by spaces, or an array. A path has dots. Default: `scope`. */
  readonly scopes?: string | undefined;
  /**
   * The claim with the roles of the user, in addition to those that the user has here: a text of words separated by spaces, or an array.
   * A path has dots: `realm_access.roles`. Default: none.
   */
  readonly roles?: string | undefined;
  /**
   * The type of its access tokens. `JWT` is for issuers whose tokens are not of the type of RFC 9068, or have none; ID tokens are refused
   * either way. Default: `at+jwt`.
   */
  readonly type?: 'at+jwt' | 'JWT' | undefined;
}

/** The methods with which clients authenticate (OpenID Connect Core 1.0 §9); `none` is that of public clients. */
export const clientAuthenticationMethods = [
  'client_secret_basic',
  'client_secret_post',
  'none',
  'private_key_jwt',
  'client_secret_jwt',
] as const;
export type ClientAuthenticationMethod = (typeof clientAuthenticationMethods)[number];

/** The options of OAuth 2.0. Without them, access tokens are opaque, and the scopes are `read` and `write`. */
export interface OAuth2Options {
  /**
   * The scopes that exist. `read` permits GET, HEAD and OPTIONS, and `write` all other methods, if they are listed; the others have the
   * meaning that access rules such as `scope:orders.read` give them. Default: `read` and `write`. The scopes of a partner's document exist too.
   */
  readonly scopes?: readonly Scope[] | undefined;
  /** The form of access tokens: random text, or a JWT (RFC 9068), which resource servers verify with the published keys. Default: `opaque`. */
  readonly accessTokens?: 'opaque' | 'jwt' | undefined;
  /** The algorithm that signs JWTs. Default: `ES256`. */
  readonly signing?: SigningAlgorithm | undefined;
  /** The claims of users that access tokens in the form of a JWT, ID tokens and `userinfo` carry. Default: none. */
  readonly claims?: readonly string[] | undefined;
  /** The resource indicators (RFC 8707) that clients may request as the audience of a token. The first one is the default. Default: the issuer alone. */
  readonly resources?: readonly string[] | undefined;
  /** Whether OpenID Connect is offered: the scope `openid`, ID tokens, `userinfo` and logout. Default: false. */
  readonly openid?: boolean | undefined;
  /** Whether confidential clients may omit PKCE. A code that was requested with a challenge needs its verifier anyway. Default: `required`. */
  readonly pkce?: 'required' | 'optional' | undefined;
  /**
   * The methods with which clients can authenticate. `private_key_jwt` is for clients with keys (`jwks` or `publicKey`), `client_secret_jwt`
   * for those whose secret is in the configuration. Default: `client_secret_basic`, `client_secret_post` and `none`.
   */
  readonly clientAuthentication?: readonly ClientAuthenticationMethod[] | undefined;
  /**
   * Whether tokens are bound to a key of the client, which proves with each request that it has it (RFC 9449): those that a client
   * requests with a proof, or all. Default: `off`.
   */
  readonly dpop?: 'off' | 'optional' | 'required' | undefined;
  /** The paths of the endpoints, such as `{ token: '/oauth/token' }`. Default: those below `/oauth2`. */
  readonly paths?: Partial<OAuth2Paths> | undefined;
  /** The issuer in metadata and tokens. Default: the origin that a request was addressed to. */
  readonly issuer?: string | undefined;
  /** Other authorization servers whose access tokens are accepted, by issuer. Default: none. */
  readonly issuers?: Readonly<Record<string, IssuerDeclaration>> | undefined;
}

/** The options with a value each. */
type Complete = { readonly [Name in keyof OAuth2Options]-?: Exclude<OAuth2Options[Name], undefined> };

/** The options of OAuth 2.0 with their defaults. */
export interface OAuth2Settings extends Omit<Complete, 'paths' | 'issuer'> {
  /** The scopes of a partner's document, which exist too. */
  readonly documented: readonly Scope[];
  /** Whether a requested resource is ignored, as it is without any option of OAuth 2.0. */
  readonly ignoresResources: boolean;
  readonly paths: OAuth2Paths;
  readonly issuer: string | undefined;
}

/**
 * Returns the options of OAuth 2.0 with their defaults.
 * @param documented the scopes of a partner's document
 */
export function readOAuth2(
  options: OAuth2Options | undefined,
  documented: readonly Scope[] = [],
): OAuth2Settings {
  const { scopes = knownScopes, openid = false, paths = {}, ...others } = options ?? {};
  return {
    accessTokens: 'opaque',
    signing: 'ES256',
    claims: [],
    resources: [],
    ignoresResources: options === undefined,
    pkce: 'required',
    clientAuthentication: ['client_secret_basic', 'client_secret_post', 'none'],
    dpop: 'off',
    issuer: undefined,
    issuers: {},
    ...withoutUndefined(others),
    openid,
    documented,
    paths: { ...oauth2Paths, ...withoutUndefined(paths) },
    scopes: [...new Set<Scope>([...scopes, ...documented, ...(openid ? [openidScope] : [])])],
  };
}

/** The scope that requests an ID token (OpenID Connect Core 1.0 §3.1.2.1). */
export const openidScope = 'openid';

/** Returns whether tokens are signed, so that keys are needed. */
export function signsTokens({
  accessTokens,
  openid,
}: Pick<OAuth2Settings, 'accessTokens' | 'openid'>): boolean {
  return accessTokens === 'jwt' || openid;
}

type Defined<T> = { readonly [Name in keyof T]?: Exclude<T[Name], undefined> };

function withoutUndefined<T extends object>(members: T): Defined<T>;
function withoutUndefined(members: object): object {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}
