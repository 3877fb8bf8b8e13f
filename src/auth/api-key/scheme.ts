// The scheme of an API key: the secret of a user is sent, and compared instead of computed.

import { toOctets } from '../../http/syntax/octets.ts';
import {
  type ClientScheme,
  checkId,
  checkSecret,
  chooseId,
  type SchemeTraits,
  type UnsignedRequest,
} from '../../signature/signing.ts';
import { type AuthScheme, headerPlace } from '../auth-scheme.ts';
import { readUser } from '../user-name.ts';
import type { CredentialPlace } from '../verifier.ts';
import type { ApiKeyOptions, SecretPlace } from './options.ts';

/** Creates the scheme of an API key, which is sent with a user or alone. */
export function createApiKeyScheme(
  name: string,
  options: ApiKeyOptions,
): AuthScheme<'api-key', ApiKeyOptions> {
  const { user, secret } = options;
  const isNamed = typeof user === 'object';
  return {
    kind: 'api-key',
    name,
    options,
    choices: [],
    privateKeys: 'never',
    tlsOnly: true,
    sentSecret: 'an API key',
    dateWindow: 0,
    window: 0,
    places: listPlaces(options),
    problems: [],
    user: typeof user === 'string' ? user : undefined,
    claimedBy: (identity) => (isNamed ? chooseId(identity) : undefined),
    check(identity) {
      if (isNamed) checkId(identity, name);
      checkSecret(identity, name);
    },
    sign: createSignFunction(options),
    traits: () => ({ place: { ...locateProof(secret), otherFields: isNamed ? [user.field] : [] } }),
    claimedUser: (_rest, { headers: fields }) => (user === undefined ? undefined : readUser(user, fields)),
    async load(context) {
      const { createApiKeySignature } = await import('./signature.ts');
      return createApiKeySignature(name, options, context);
    },
  };
}

function listPlaces({ user, secret }: ApiKeyOptions): readonly CredentialPlace[] {
  const isNamed = typeof user === 'object';
  const role = isNamed ? 'secret' : '';
  const about = `The ${isNamed ? 'secret' : 'key'}, over TLS only`;
  const aboutUser = 'The name of the user or the id of a key, over TLS only';
  // The field of the user alone is no credential: another scheme may use the same field.
  const named = isNamed ? [{ ...headerPlace('user', user.field, aboutUser), isDependent: true }] : [];
  if ('field' in secret) return [...named, headerPlace(role, secret.field, about)];
  if ('query' in secret) return [...named, { role, in: 'query', name: secret.query, description: about }];
  if ('cookie' in secret) return [...named, { role, in: 'cookie', name: secret.cookie, description: about }];
  const { authorization: scheme } = secret;
  return [
    ...named,
    { role, in: 'authorization', name: scheme, description: `\`${scheme} KEY\`, over TLS only` },
  ];
}

/** Returns the function that adds the secret, and the user if the scheme sends one, to each request. */
function createSignFunction({ user, secret: place }: ApiKeyOptions): ClientScheme['sign'] {
  return ({ target, fields: given }, identity) => {
    const { secret = '' } = identity;
    const named: readonly (readonly [string, string])[] =
      typeof user === 'object' ? [[user.field, toOctets(chooseId(identity))]] : [];
    if (!('query' in place))
      return { fields: [...named, secretLine(place, toOctets(secret), given)], target, parts: [] };
    const pair = `${place.query}=${encodeURIComponent(secret)}`;
    return { fields: named, target: `${target}${target.includes('?') ? '&' : '?'}${pair}`, parts: [] };
  };
}

/** Returns the field line with the secret. A cookie is added to those of the request. */
function secretLine(
  place: Exclude<SecretPlace, { readonly query: string }>,
  secret: string,
  given: UnsignedRequest['fields'],
): readonly [string, string] {
  if ('field' in place) return [place.field, secret];
  if ('authorization' in place) return ['Authorization', `${place.authorization} ${secret}`];
  const cookies = given.flatMap(([field, value]) => (field.toLowerCase() === 'cookie' ? [value] : []));
  return ['Cookie', [...cookies, `${place.cookie}=${secret}`].join('; ')];
}

function locateProof(place: SecretPlace): Pick<SchemeTraits['place'], 'in' | 'form'> {
  if ('query' in place || 'field' in place) return { in: place, form: /^()(.*)()$/ };
  if ('cookie' in place) return { in: { field: 'Cookie' }, form: /^([^=]+=)(.*)()$/ };
  return { in: { field: 'Authorization' }, form: /^(\S+ )(.*)()$/ };
}
