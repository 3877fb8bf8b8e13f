/** The paths of the endpoints of OAuth 2.0 and OpenID Connect. */
export interface OAuth2Paths {
  /** The metadata of the authorization server (RFC 8414 §3). */
  readonly metadata: string;
  /** The authorization endpoint (RFC 6749 §3.1). */
  readonly authorize: string;
  /** The token endpoint (RFC 6749 §3.2). */
  readonly token: string;
  /** The revocation endpoint (RFC 7009 §2). */
  readonly revoke: string;
  /** The introspection endpoint (RFC 7662 §2). */
  readonly introspect: string;
  /** The public keys that verify tokens. */
  readonly jwks: string;
  /** The UserInfo endpoint (OpenID Connect Core 1.0 §5.3). */
  readonly userinfo: string;
  /** The end session endpoint (OpenID Connect RP-Initiated Logout 1.0 §2). */
  readonly logout: string;
}

/** The default paths. */
export const oauth2Paths: OAuth2Paths = {
  metadata: '/.well-known/oauth-authorization-server',
  authorize: '/oauth2/authorize',
  token: '/oauth2/token',
  revoke: '/oauth2/revoke',
  introspect: '/oauth2/introspect',
  jwks: '/oauth2/jwks',
  userinfo: '/oauth2/userinfo',
  logout: '/oauth2/logout',
};

/** The path of the metadata of OpenID Connect Discovery 1.0 §4. */
export const openidMetadataPath = '/.well-known/openid-configuration';

/** The path of the metadata of a protected resource (RFC 9728 §3). */
export const resourceMetadataPath = '/.well-known/oauth-protected-resource';

/** The path of the page where users see and revoke their grants. */
export const grantsPath = '/oauth/grants';

/** The paths of the endpoints of OAuth 1.0a. */
export const oauth1Paths = {
  requestToken: '/oauth1/request_token',
  authorize: '/oauth1/authorize',
  accessToken: '/oauth1/access_token',
} as const;
