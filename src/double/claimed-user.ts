import { parseCredentials } from '../http/headers/authorization.ts';
import { parseBasicCredentials } from '../http/headers/basic-credentials.ts';
import type { IncomingRequest } from '../http/message.ts';
import { splitHmacCredentials } from '../signature/hmac.ts';
import type { DoubleUsers } from './state/users.ts';

/** Returns the user that a request's credentials name, valid or not. Undefined if they name none, as a token does. */
export function claimedUser({ headers: fields }: Pick<IncomingRequest, 'headers'>): string | undefined {
  const value = fields.getAll('authorization')[0] ?? fields.getAll('authentication')[0];
  const credentials = value === undefined ? undefined : parseCredentials(value);
  if (credentials?.scheme === 'hmac') return userIn(splitHmacCredentials(credentials.rest));
  if (credentials?.scheme === 'basic') return userIn(parseBasicCredentials(credentials.rest));
  return undefined;
}

function userIn(credentials: { readonly user: string } | string): string | undefined {
  return typeof credentials === 'string' ? undefined : credentials.user;
}

/** Returns the user that a request's credentials name, valid or not, in any scheme. */
export type ClaimedUser = (request: IncomingRequest) => string | undefined;

/**
 * Creates a function that returns the user whom credentials of any scheme name. Credentials that name a key name its user.
 * @param claimedName returns the user, or the id of the key, that the credentials of a configured scheme name
 */
export function claimedUserBy(
  users: Pick<DoubleUsers, 'ownerOf'>,
  claimedName: (request: IncomingRequest) => string | undefined,
): ClaimedUser {
  return (request) => {
    const user = claimedUser(request);
    if (user !== undefined) return user;
    const name = claimedName(request);
    return name === undefined ? undefined : (users.ownerOf(name) ?? name);
  };
}
