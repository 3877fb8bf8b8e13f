import type { ApiKeyOptions } from '../../auth/api-key/options.ts';
import {
  requiredId,
  requiredSecret,
  type SchemeCredentials,
  type SchemeSigner,
  type SigningScheme,
} from './scheme-signer.ts';

/** Creates a signer for an API key, which adds the user and the secret to each request. */
export function createApiKeySigner(
  { name, options }: Extract<SigningScheme, { kind: 'api-key' }>,
  credentials: SchemeCredentials,
): SchemeSigner {
  const octets = (text: string): string => Buffer.from(text, 'utf8').toString('latin1');
  const { user, secret: place } = options;
  const secret = octets(requiredSecret(credentials, name));
  const named: readonly (readonly [string, string])[] =
    typeof user === 'object' ? [[user.field, octets(requiredId(credentials, name))]] : [];
  return ({ target, fields: given }) => {
    if ('query' in place) {
      const pair = `${place.query}=${encodeURIComponent(requiredSecret(credentials, name))}`;
      return { fields: named, target: `${target}${target.includes('?') ? '&' : '?'}${pair}`, parts: [] };
    }
    return { fields: [...named, secretLine(place, secret, given)], target, parts: [] };
  };
}

/** Returns the field line with the secret. A cookie is added to those of the request. */
function secretLine(
  place: Exclude<ApiKeyOptions['secret'], { readonly query: string }>,
  secret: string,
  given: readonly (readonly [name: string, value: string])[],
): readonly [string, string] {
  if ('field' in place) return [place.field, secret];
  if ('authorization' in place) return ['Authorization', `${place.authorization} ${secret}`];
  const cookies = given.flatMap(([field, value]) => (field.toLowerCase() === 'cookie' ? [value] : []));
  return ['Cookie', [...cookies, `${place.cookie}=${secret}`].join('; ')];
}
