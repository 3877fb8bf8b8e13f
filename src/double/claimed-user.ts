import { parseCredentials } from '../http/headers/authorization.ts';
import type { IncomingRequest } from '../http/message.ts';
import { decodeText } from '../http/syntax/percent.ts';
import type { Grants } from '../oauth/grants.ts';
import type { Mechanism } from '../oauth/records.ts';
import type { DoubleUsers } from './state/users.ts';

/** Returns the user that a request's credentials name, valid or not, in any scheme; undefined if they name none, as a token does. */
export type ClaimedUser = (request: IncomingRequest) => string | undefined;

/**
 * Creates a function that returns the user whom credentials of any scheme name. Credentials that name a key name its user.
 * @param claimedName returns the user, or the id of the key, that the credentials name
 */
export function claimedUserBy(users: Pick<DoubleUsers, 'ownerOf'>, claimedName: ClaimedUser): ClaimedUser {
  return (request) => {
    const name = claimedName(request);
    return name === undefined ? undefined : (users.ownerOf(name) ?? name);
  };
}

/** A token that a request carries, valid or not. */
interface ClaimedToken {
  readonly value: string;
  readonly mechanism: Mechanism;
}

/**
 * Returns the access token of a request: that of Bearer (RFC 6750 §2.1) or DPoP (RFC 9449 §7.1), or that of OAuth 1.0a in the field
 * or in the query (RFC 5849 §3.5). Undefined if there is none.
 */
export function claimedToken({
  headers: fields,
  target,
}: Pick<IncomingRequest, 'headers' | 'target'>): ClaimedToken | undefined {
  const credentials = parseCredentials(fields.getAll('authorization')[0] ?? '');
  if (credentials?.scheme === 'bearer' || credentials?.scheme === 'dpop')
    return { value: credentials.rest, mechanism: 'oauth2' };
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
