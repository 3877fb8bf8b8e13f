// The scheme of an API key: the secret of a user is sent, and compared instead of computed.

import { readUser } from '../../accounts/user-name.ts';
import { toOctets } from '../../http/syntax/octets.ts';
import { type AuthScheme, type CredentialPlace, headerPlace, type SchemeTraits } from '../auth-scheme.ts';
import type { ApiKeyDeclaration } from '../scheme-declarations.ts';
import { checkId, checkSecret, chooseId } from '../signing.ts';
import { locateSecret } from './options.ts';

/** Creates the scheme of an API key, which is sent with a user or alone. */
export function createApiKeyScheme(
  name: string,
  options: ApiKeyDeclaration,
): AuthScheme<'api-key', ApiKeyDeclaration> {
  const { user } = options;
  const isNamed = typeof user === 'object';
  return {
    kind: 'api-key',
    name,
    options,
    choices: [],
    tlsOnly: true,
    sentSecret: 'an API key',
    dateWindow: 0,
    window: 0,
    places: listPlaces(options),
    problems: [],
    user: typeof user === 'string' ? user : undefined,
    check(identity) {
      if (isNamed) checkId(identity, name);
      checkSecret(identity, name);
    },
    sign: createSignFunction(options),
    traits: () => describeTraits(options),
    ...(user !== undefined && { claimedUser: (_rest, { headers: fields }) => readUser(user, fields) }),
    async load(context) {
      const { createApiKeySignature } = await import('./signature.ts');
      return createApiKeySignature(name, options, context);
    },
  };
}

function listPlaces({ user, secret }: ApiKeyDeclaration): readonly CredentialPlace[] {
  const place = locateSecret(secret);
  const isNamed = typeof user === 'object';
  const what = place.in === 'authorization' ? `\`${place.name} KEY\`` : `The ${isNamed ? 'secret' : 'key'}`;
  const own = { role: isNamed ? 'secret' : '', ...place, description: `${what}, over TLS only` };
  if (!isNamed) return [own];
  const aboutUser = 'The name of the user or the id of a key, over TLS only';
  // The field of the user alone is no credential: another scheme may use the same field.
  return [{ ...headerPlace('user', user.field, aboutUser), isDependent: true }, own];
}

/** Returns the function that adds the secret, and the user if the scheme sends one, to each request. */
function createSignFunction({ user, secret: place }: ApiKeyDeclaration): AuthScheme['sign'] {
  const { in: kind, name } = locateSecret(place);
  return ({ target, fields: given }, identity) => {
    const secret = toOctets(identity.secret ?? '');
    const named: readonly (readonly [string, string])[] =
      typeof user === 'object' ? [[user.field, toOctets(chooseId(identity))]] : [];
    const signed = (line: readonly [string, string]) => ({ fields: [...named, line], target, parts: [] });
    if (kind === 'header') return signed([name, secret]);
    if (kind === 'authorization') return signed(['Authorization', `${name} ${secret}`]);
    if (kind === 'cookie') {
      const before = given.flatMap(([field, value]) => (field.toLowerCase() === 'cookie' ? [value] : []));
      return signed(['Cookie', [...before, `${name}=${secret}`].join('; ')]);
    }
    const pair = `${name}=${encodeURIComponent(identity.secret ?? '')}`;
    return { fields: named, target: `${target}${target.includes('?') ? '&' : '?'}${pair}`, parts: [] };
  };
}

function describeTraits({ user, secret }: ApiKeyDeclaration): SchemeTraits {
  const { in: kind, name } = locateSecret(secret);
  const otherFields = typeof user === 'object' ? [user.field] : [];
  if (kind === 'query') return { place: { in: { query: name }, form: /^()(.*)()$/, otherFields } };
  if (kind === 'header') return { place: { in: { field: name }, form: /^()(.*)()$/, otherFields } };
  return kind === 'cookie'
    ? { place: { in: { field: 'Cookie' }, form: /^([^=]+=)(.*)()$/, otherFields } }
    : { place: { in: { field: 'Authorization' }, form: /^(\S+ )(.*)()$/, otherFields } };
}
