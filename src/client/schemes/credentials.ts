// Schemes that sign nothing: each request has the same credentials.

import type { ApiKeyOptions } from '../../auth/api-key-options.ts';
import { toOctets } from '../../http/syntax/octets.ts';
import {
  checkId,
  checkSecret,
  chooseId,
  type SchemeSigner,
  type UnsignedRequest,
} from '../../signature/signing.ts';

/** Returns the Authorization value of HTTP Basic (RFC 7617 §2), in UTF-8. */
export function basicHeader(user: string, password: string): string {
  return `Basic ${Buffer.from(`${user}:${password}`, 'utf8').toString('base64')}`;
}

/** The signer of HTTP Basic. The password is the secret. */
export const basicSigner: SchemeSigner = {
  check() {},
  sign: ({ target }, { user = '', secret = '' }) => ({
    fields: [['Authorization', basicHeader(user, secret)]],
    target,
    parts: [],
  }),
};

/** The signer of a bearer token (RFC 6750 §2.1), which is the secret. */
export const bearerSigner: SchemeSigner = {
  check() {},
  sign: ({ target }, { secret = '' }) => ({
    fields: [['Authorization', `Bearer ${secret}`]],
    target,
    parts: [],
  }),
};

/** Creates the signer of an API key, which adds the secret, and the user if the scheme sends one, to each request. */
export function createApiKeySigner(name: string, { user, secret: place }: ApiKeyOptions): SchemeSigner {
  return {
    check(identity) {
      if (typeof user === 'object') checkId(identity, name);
      checkSecret(identity, name);
    },
    sign({ target, fields: given }, identity) {
      const { secret = '' } = identity;
      const named: readonly (readonly [string, string])[] =
        typeof user === 'object' ? [[user.field, toOctets(chooseId(identity))]] : [];
      if (!('query' in place))
        return { fields: [...named, secretLine(place, toOctets(secret), given)], target, parts: [] };
      const pair = `${place.query}=${encodeURIComponent(secret)}`;
      return { fields: named, target: `${target}${target.includes('?') ? '&' : '?'}${pair}`, parts: [] };
    },
  };
}

/** Returns the field line with the secret. A cookie is added to those of the request. */
function secretLine(
  place: Exclude<ApiKeyOptions['secret'], { readonly query: string }>,
  secret: string,
  given: UnsignedRequest['fields'],
): readonly [string, string] {
  if ('field' in place) return [place.field, secret];
  if ('authorization' in place) return ['Authorization', `${place.authorization} ${secret}`];
  const cookies = given.flatMap(([field, value]) => (field.toLowerCase() === 'cookie' ? [value] : []));
  return ['Cookie', [...cookies, `${place.cookie}=${secret}`].join('; ')];
}
