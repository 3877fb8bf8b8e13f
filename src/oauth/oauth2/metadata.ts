import { action, json, type Resource } from '../../pipeline/resource.ts';
import type { OAuthContext } from '../context.ts';
import { oauth2Paths as paths } from '../paths.ts';

const secretMethods = ['client_secret_basic', 'client_secret_post'];

/**
 * Creates the resource of the authorization server metadata (RFC 8414 §2). The issuer is the origin that the request was
 * addressed to.
 */
export function metadataResource({
  origins,
  settings,
}: Pick<OAuthContext, 'origins' | 'settings'>): Resource {
  return {
    ownCredentials: true,
    GET: action('anyone', async ({ incoming: request }) => {
      const issuer = origins.forLinks(request);
      return json({
        issuer,
        authorization_endpoint: issuer + paths.authorize,
        token_endpoint: issuer + paths.token,
        revocation_endpoint: issuer + paths.revoke,
        introspection_endpoint: issuer + paths.introspect,
        response_types_supported: ['code'],
        response_modes_supported: ['query'],
        grant_types_supported: ['authorization_code', 'refresh_token', 'client_credentials'],
        code_challenge_methods_supported: ['S256'],
        token_endpoint_auth_methods_supported: [...secretMethods, 'none'],
        revocation_endpoint_auth_methods_supported: [...secretMethods, 'none'],
        introspection_endpoint_auth_methods_supported: secretMethods,
        scopes_supported: settings.scopes,
        authorization_response_iss_parameter_supported: true,
      });
    }),
  };
}
