/** The paths of the endpoints of OAuth 2.0. */
export const oauth2Paths = {
  metadata: '/.well-known/oauth-authorization-server',
  authorize: '/oauth2/authorize',
  token: '/oauth2/token',
  revoke: '/oauth2/revoke',
  introspect: '/oauth2/introspect',
} as const;

/** The path of the page where users see and revoke their grants. */
export const grantsPath = '/oauth/grants';

/** The paths of the endpoints of OAuth 1.0a. */
export const oauth1Paths = {
  requestToken: '/oauth1/request_token',
  authorize: '/oauth1/authorize',
  accessToken: '/oauth1/access_token',
} as const;
