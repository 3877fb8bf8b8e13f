import { action, json, type Resource } from '../../pipeline/resource.ts';
import type { TokenProofs } from '../../schemes/bearer.ts';
import type { OAuthContext } from '../context.ts';
import { type OAuth2Settings, signsTokens } from '../oauth2-options.ts';
import { issuerFor } from './access-tokens.ts';
import { assertionAlgorithms } from './client-assertion.ts';

/**
 * Creates the resource of the authorization server metadata (RFC 8414 §2, OpenID Connect Discovery 1.0 §3). Endpoints are at the origin
 * that the request was addressed to; so is the issuer by default.
 */
export function metadataResource(
  context: Pick<OAuthContext, 'origins' | 'settings'>,
  proofs: TokenProofs | undefined,
): Resource {
  const { origins, settings } = context;
  return {
    ownCredentials: true,
    GET: action('anyone', async ({ incoming: request }) => {
      const base = origins.forLinks(request);
      const { paths } = settings;
      return json({
        issuer: issuerFor(context, request),
        authorization_endpoint: base + paths.authorize,
        token_endpoint: base + paths.token,
        revocation_endpoint: base + paths.revoke,
        introspection_endpoint: base + paths.introspect,
        ...(signsTokens(settings) && { jwks_uri: base + paths.jwks }),
        response_types_supported: ['code'],
        response_modes_supported: ['query'],
        grant_types_supported: ['authorization_code', 'refresh_token', 'client_credentials'],
        code_challenge_methods_supported: ['S256'],
        ...describeAuthentication(settings),
        scopes_supported: settings.scopes,
        authorization_response_iss_parameter_supported: true,
        ...(proofs !== undefined && { dpop_signing_alg_values_supported: proofs.algorithms.split(' ') }),
        ...(settings.openid && openidMetadata(base, settings)),
      });
    }),
  };
}

/** Describes how clients authenticate at each endpoint. Introspection is not for public ones. */
function describeAuthentication({ clientAuthentication: methods }: OAuth2Settings): object {
  const algorithms = methods.some((method) => method.endsWith('_jwt')) ? assertionAlgorithms(methods) : [];
  const at = (endpoint: string, supported: readonly string[]): object => ({
    [`${endpoint}_endpoint_auth_methods_supported`]: supported,
    ...(algorithms.length > 0 && { [`${endpoint}_endpoint_auth_signing_alg_values_supported`]: algorithms }),
  });
  const confidential = methods.filter((method) => method !== 'none');
  return { ...at('token', methods), ...at('revocation', methods), ...at('introspection', confidential) };
}

function openidMetadata(base: string, { paths, signing, claims }: OAuth2Settings): object {
  return {
    userinfo_endpoint: base + paths.userinfo,
    end_session_endpoint: base + paths.logout,
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: [signing],
    claims_supported: ['sub', 'iss', 'aud', 'exp', 'iat', 'auth_time', 'nonce', 'at_hash', ...claims],
    prompt_values_supported: ['none', 'login', 'consent', 'select_account'],
    request_parameter_supported: false,
    request_uri_parameter_supported: false,
  };
}

/** Creates the metadata of this API as a protected resource (RFC 9728 §2), which names the authorization servers. */
export function protectedResource(context: OAuthContext, proofs: TokenProofs | undefined): Resource {
  const { settings, origins, clients } = context;
  return {
    ownCredentials: true,
    GET: action('anyone', ({ incoming: request }) => {
      const own = clients.size > 0 ? [issuerFor(context, request)] : [];
      return json({
        resource: settings.resources[0] ?? origins.forLinks(request),
        authorization_servers: [...own, ...Object.keys(settings.issuers)],
        scopes_supported: settings.scopes,
        bearer_methods_supported: ['header'],
        ...(proofs !== undefined && {
          dpop_signing_alg_values_supported: proofs.algorithms.split(' '),
          dpop_bound_access_tokens_required: proofs.areRequired,
        }),
      });
    }),
  };
}
