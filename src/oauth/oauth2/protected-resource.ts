import type { TokenProofs } from '../../auth/bearer.ts';
import { action, json, type Resource } from '../../pipeline/resource.ts';
import type { OAuthContext } from '../context.ts';
import { issuerFor } from './access-tokens.ts';

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
