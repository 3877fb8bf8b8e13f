// The scheme of an API key: the secret of a user is sent, and compared instead of computed.

import { formatChallenge } from '../../http/headers/authorization.ts';
import { isConfidential } from '../../http/message.ts';
import { toOctets } from '../../http/syntax/octets.ts';
import {
  checkId,
  checkSecret,
  chooseId,
  type Scheme,
  type SchemeTraits,
  type UnsignedRequest,
} from '../../signature/signing.ts';
import type { SchemeContext } from '../scheme-context.ts';
import { readUser } from '../user-name.ts';
import {
  type CredentialPlace,
  headerPlace,
  loadOnFirstUse,
  type VerifiedScheme,
} from '../verified-scheme.ts';
import type { CredentialLocation, Verifier } from '../verifier.ts';
import type { ApiKeyOptions, SecretPlace } from './options.ts';

/** Creates the scheme of an API key, which is sent with a user or alone. */
export function createApiKeyScheme(
  name: string,
  options: ApiKeyOptions,
): VerifiedScheme<'api-key', ApiKeyOptions> {
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
    authorization: 'authorization' in secret ? secret.authorization : undefined,
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
    createVerifier: (context) => createApiKeyVerifier(name, options, context),
  };
}

function listPlaces({ user, secret }: ApiKeyOptions): readonly CredentialPlace[] {
  const isNamed = typeof user === 'object';
  const role = isNamed ? 'secret' : '';
  const about = `The ${isNamed ? 'secret' : 'key'}, over TLS only`;
  const named = isNamed
    ? [headerPlace('user', user.field, 'The name of the user or the id of a key, over TLS only')]
    : [];
  if ('field' in secret) return [...named, headerPlace(role, secret.field, about)];
  if ('query' in secret) return [...named, { role, in: 'query', name: secret.query, description: about }];
  if ('cookie' in secret) return [...named, { role, in: 'cookie', name: secret.cookie, description: about }];
  return [...named, headerPlace(role, 'Authorization', `\`${secret.authorization} KEY\`, over TLS only`)];
}

/** Returns the function that adds the secret, and the user if the scheme sends one, to each request. */
function createSignFunction({ user, secret: place }: ApiKeyOptions): Scheme['sign'] {
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

function createApiKeyVerifier(name: string, options: ApiKeyOptions, context: SchemeContext): Verifier {
  const { user, secret } = options;
  const challenge = formatChallenge('authorization' in secret ? secret.authorization : name, [
    ['realm', context.realm],
  ]);
  return {
    name,
    // The field of the user alone is no credential: another scheme may use the same field.
    locations: [toLocation(secret)],
    requestHeaders: typeof user === 'object' ? [user.field.toLowerCase()] : [],
    tlsOnly: true,
    authenticate: loadOnFirstUse(context, async () => {
      const { createApiKeySignature } = await import('./signature.ts');
      return createApiKeySignature(name, options, context);
    }),
    claimedUser: (_rest, { headers: fields }) => (user === undefined ? undefined : readUser(user, fields)),
    challenge: (connection) => (isConfidential(connection) ? challenge : undefined),
  };
}

function toLocation(place: SecretPlace): CredentialLocation {
  if ('authorization' in place) return { authorization: place.authorization.toLowerCase() };
  return 'field' in place ? { field: place.field.toLowerCase() } : place;
}
