import { parseCredentials } from '../http/headers/authorization.ts';
import { parseBasicCredentials } from '../http/headers/basic-credentials.ts';
import type { Request } from '../http/message.ts';
import { splitHmacCredentials } from '../signature/hmac.ts';

/** The user that a request's credentials name, be they good or not; undefined where they name none, as those of a token. */
export function claimedUser({ fields }: Pick<Request, 'fields'>): string | undefined {
  const value = fields.lines('authorization')[0] ?? fields.lines('authentication')[0];
  const credentials = value === undefined ? undefined : parseCredentials(value);
  if (credentials?.scheme === 'hmac') return userIn(splitHmacCredentials(credentials.rest));
  if (credentials?.scheme === 'basic') return userIn(parseBasicCredentials(credentials.rest));
  return undefined;
}

function userIn(credentials: { readonly user: string } | string): string | undefined {
  return typeof credentials === 'string' ? undefined : credentials.user;
}
