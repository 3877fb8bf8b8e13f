/** The paths of the endpoints of OAuth 2.0 and OpenID Connect. */
export interface OAuth2Paths {
  readonly metadata: string;
  readonly authorize: string;
  readonly token: string;
  readonly revoke: string;
  readonly introspect: string;
  /** The public keys that verify tokens. */
  readonly jwks: string;
  readonly userinfo: string;
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
