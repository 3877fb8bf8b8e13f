import { rejectedParameters } from '../../auth/oauth1/error.ts';
import type { Clock } from '../../clock.ts';
import type { Resource } from '../../pipeline/resource.ts';
import type { Scope } from '../../principal.ts';
import type { Consumer } from '../clients.ts';
import { firstOf, type Grants } from '../grants.ts';
import type { Lifetimes } from '../lifetimes.ts';
import { isWithin, parseScope } from '../scopes.ts';
import { type SignedEndpointParts, signedAction } from './endpoint.ts';
import { type OAuth1Parameters, valuesOf } from './parameters.ts';
import type { TokenSecrets } from './secrets.ts';

/** What the endpoint is made of. */
export interface RequestTokenParts extends SignedEndpointParts {
  readonly grants: Grants;
  readonly clock: Clock;
  readonly lifetimes: Lifetimes;
  readonly secretOf: TokenSecrets;
}

/** Gives request tokens, the temporary credentials of RFC 5849 §2.1. */
export function requestTokenResource(parts: RequestTokenParts): Resource {
  const { grants, clock, lifetimes, secretOf } = parts;
  return {
    ownCredentials: true,
    POST: signedAction(parts, 'request_token', async ({ consumer, parameters }) => {
      const callback = parameters.protocol.get('oauth_callback') ?? '';
      if (!consumer.callbacks.includes(callback))
        throw rejectedParameters('The callback is not one that the consumer is registered with.', [
          'oauth_callback',
        ]);
      const scopes = scopesAsked(parameters, consumer);
      const expires = clock.now() + lifetimes.requestToken;
      const draft = { mechanism: 'oauth1', kind: 'request', client: consumer.key } as const;
      const issued = firstOf(await grants.issue([{ ...draft, scopes, expires, details: { callback } }]));
      return {
        oauth_token: issued.value,
        oauth_token_secret: secretOf('request', issued.value),
        oauth_callback_confirmed: 'true',
      };
    }),
  };
}

/** What `scope` asks for, which the protocol does not know; without it all that the consumer may have. */
function scopesAsked(parameters: OAuth1Parameters, consumer: Consumer): readonly Scope[] {
  const [asked = '', ...others] = valuesOf(parameters, 'scope');
  if (asked === '' && others.length === 0) return consumer.scopes;
  const scopes = parseScope(asked);
  if (others.length > 0 || scopes === undefined || !isWithin(scopes, consumer.scopes))
    throw rejectedParameters('The scope is not one word or more out of those that the consumer may have.', [
      'scope',
    ]);
  return scopes;
}
