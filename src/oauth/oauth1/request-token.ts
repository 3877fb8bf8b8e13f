import { Problem } from '../../http/problem.ts';
import { nearestUriDifference } from '../../http/uri-difference.ts';
import type { Resource } from '../../pipeline/resource.ts';
import type { Scope } from '../../principal.ts';
import type { Consumer } from '../clients.ts';
import { requireFirst } from '../grants.ts';
import { type Reason, scopeReason } from '../reasons.ts';
import { isWithin, parseScope } from '../scopes.ts';
import { createSignedAction, type Explain, type SignedEndpointContext } from './endpoint.ts';
import { rejectedParameters } from './error.ts';
import { type OAuth1Parameters, readValues } from './parameters.ts';

/** Creates the endpoint that issues request tokens (temporary credentials, RFC 5849 §2.1). */
export function requestTokenResource(context: SignedEndpointContext): Resource {
  const { grants, clock, lifetimes, deriveSecret } = context;
  return {
    ownCredentials: true,
    POST: createSignedAction(context, 'request_token', async ({ consumer, parameters }, explain) => {
      const callback = parameters.protocol.get('oauth_callback') ?? '';
      if (!consumer.callbacks.includes(callback))
        throw explain(
          rejectedParameters('oauth_callback is not registered for this consumer.', ['oauth_callback']),
          callbackReason(callback, consumer),
        );
      const scopes = readRequestedScopes(parameters, consumer, explain);
      const expires = clock.now() + lifetimes.requestToken;
      const draft = { mechanism: 'oauth1', kind: 'request', client: consumer.key } as const;
      const issued = requireFirst(await grants.issue([{ ...draft, scopes, expires, details: { callback } }]));
      return {
        oauth_token: issued.value,
        oauth_token_secret: deriveSecret('request', issued.value),
        oauth_callback_confirmed: 'true',
      };
    }),
  };
}

/** Returns the scopes in the parameter `scope`, which RFC 5849 does not define. Default: all scopes of the consumer. */
function readRequestedScopes(
  parameters: OAuth1Parameters,
  consumer: Consumer,
  explain: Explain,
): readonly Scope[] {
  const values = readValues(parameters, 'scope');
  if (values instanceof Problem) throw values;
  const [requested = '', ...others] = values;
  if (requested === '' && others.length === 0) return consumer.scopes;
  const scopes = parseScope(requested, consumer.scopes);
  if (others.length > 0 || scopes === undefined || !isWithin(scopes, consumer.scopes))
    throw explain(
      rejectedParameters('scope is not a list of scopes that the consumer is registered for.', ['scope']),
      others.length > 0
        ? { check: 'scope', hint: 'scope was sent more than once' }
        : scopeReason(requested, consumer.scopes, 'registered'),
    );
  return scopes;
}

function callbackReason(callback: string, { key, callbacks }: Consumer): Reason {
  const near = nearestUriDifference(callback, callbacks);
  const listed = callbacks.length === 0 ? 'none' : callbacks.join(', ');
  const hint = `oauth_callback is ${callback}${near}; ${key} is registered with ${listed}`;
  return { check: 'oauth_callback', hint };
}
