import { parseCredentials } from '../../http/headers/authorization.ts';
import type { IncomingRequest } from '../../http/message.ts';
import { decodeText } from '../../http/syntax/percent.ts';
import type { Grants } from '../../oauth/grants.ts';
import type { Mechanism } from '../../oauth/records.ts';

/** A token that a request carries, valid or not. */
interface ClaimedToken {
  readonly value: string;
  readonly mechanism: Mechanism;
}

/**
 * Returns the access token of a request: that of Bearer (RFC 6750 §2.1), or that of OAuth 1.0a in the field or in the query
 * (RFC 5849 §3.5). Undefined if there is none.
 */
export function claimedToken({
  headers: fields,
  target,
}: Pick<IncomingRequest, 'headers' | 'target'>): ClaimedToken | undefined {
  const credentials = parseCredentials(fields.getAll('authorization')[0] ?? '');
  if (credentials?.scheme === 'bearer') return { value: credentials.rest, mechanism: 'oauth2' };
  const value =
    credentials?.scheme === 'oauth'
      ? decodeText(/(?:^|[\s,])oauth_token="([^"]*)"/.exec(credentials.rest)?.[1] ?? '%')
      : new URLSearchParams(/\?([^#]*)/.exec(target)?.[1]).get('oauth_token');
  return value == null ? undefined : { value, mechanism: 'oauth1' };
}

/** Returns the user to whom the token of a request was issued, or else the client. Undefined if no known token is sent. */
export async function tokenUser(
  request: Pick<IncomingRequest, 'headers' | 'target'>,
  grants: Pick<Grants, 'find'>,
): Promise<string | undefined> {
  const claimed = claimedToken(request);
  const found = claimed && (await grants.find(claimed.value, claimed.mechanism, 'access'));
  return found && (found.token.user ?? found.token.client);
}
