import { escapeLiteral } from '../../http/syntax/character-class.ts';
import {
  type AuthScheme,
  type CredentialPlace,
  headerPlace,
  problemsOfDates,
  type SchemeTraits,
} from '../auth-scheme.ts';
import { type Declaration, findKeyAlgorithm } from './declaration.ts';
import { keyBytes } from './key.ts';
import { fieldIn, isInContent, parameterIn, type RolePlace } from './place.ts';
import { locateContent } from './places.ts';
import { claimedUser, readsContent } from './presented.ts';
import { listRoles, type Role, roles } from './roles.ts';
import { checkIdentity, createSignFunction, listChoices } from './signing.ts';

/** Creates a declared scheme. */
export function createDeclaredScheme(
  name: string,
  options: Declaration,
): AuthScheme<'declared', Declaration> {
  const { algorithm, format, user, timestamp, nonce, replay, lifetime, place, message } = options;
  const isStored = nonce !== undefined || replay === 'refuse';
  const longest = Math.max(timestamp?.window ?? 0, lifetime?.longest ?? 0);
  return {
    kind: 'declared',
    name,
    options,
    messageOption: 'message',
    preset: options.preset,
    choices: listChoices(options),
    privateKeys: findKeyAlgorithm(algorithm) === undefined ? format.asymmetric && 'accepted' : 'usual',
    emptySecret: encodeEmptySecret(options),
    dateWindow: timestamp?.window ?? 0,
    window: isStored ? longest : 0,
    places: listPlaces(options),
    locateContent: isInContent(place) ? (limit) => locateContent([place], limit) : undefined,
    requestHeaders: message.flatMap(({ field }) => field?.toLowerCase() ?? []),
    rotation: typeof user === 'string' ? describeRotation(options) : undefined,
    problems: problemsOfDates,
    readsContent: readsContent(options),
    user: typeof user === 'string' ? user : undefined,
    secretFault: (secret) => findSecretFault(secret, options),
    check: (identity) => checkIdentity(name, options, identity),
    sign: createSignFunction(options),
    traits: () => describeTraits(options),
    ownsParameter: (parameter) => parameter === options.digestParameter || parameter === lifetime?.parameter,
    claimedUser: (rest, request) => claimedUser(request, rest, options),
    async load(context) {
      const { createDeclaredSignature } = await import('./signature.ts');
      return createDeclaredSignature(name, options, context);
    },
  };
}

function encodeEmptySecret({ key, keyPrefix = '' }: Declaration): string {
  return keyPrefix + { utf8: '\0', hex: '00', base64: 'AA==' }[key];
}

/** Returns the encoding that a secret is not in; undefined if the key can be decoded. */
function findSecretFault(secret: string, options: Declaration): string | undefined {
  const { key } = options;
  if (key === 'utf8' || keyBytes(Buffer.from(secret, 'utf8'), options) !== undefined) return undefined;
  return key === 'hex' ? 'hexadecimal' : key;
}

function listPlaces(options: Declaration): readonly CredentialPlace[] {
  const { place, queryOrForm = false } = options;
  // If the form may have the other parameters, the user alone stands in a field.
  const isShown = (role: Role): boolean => role === 'user' && queryOrForm && 'query' in place;
  const others = listRoles(options).flatMap(([role, own]) =>
    describe(role, own, roles[role].describe(options), !isShown(role)),
  );
  return [...listProofPlaces(options), ...others];
}

/** Returns the places of the signature. */
function listProofPlaces(options: Declaration): readonly CredentialPlace[] {
  const { place, otherFields, otherNames, authorizationName, format } = options;
  const about = `\`${format.text}\`, where the signature is ${describeSignature(options)}`;
  if (authorizationName !== undefined)
    return [authorizationName, ...otherNames].map((name, at) => ({
      role: '',
      in: 'authorization',
      name,
      description: at === 0 ? about : undefined,
      isAlternative: at > 0,
    }));
  const isList = otherFields.length > 0;
  return [
    ...describe('', place, isList ? `${about}; or in ${otherFields.join(', ')}` : about, false),
    ...otherFields.map((field) => ({ ...headerPlace('', field, about), isAlternative: true })),
  ];
}

function describeSignature({ algorithm, hash, encoding }: Declaration): string {
  if (algorithm === 'hmac') return `an HMAC-${hash.toUpperCase()} in ${encoding}`;
  return `${algorithm === 'digest' ? `a ${hash.toUpperCase()} digest` : `one of ${algorithm}`} in ${encoding}`;
}

/** Returns the place of a part; none for one in the content. */
function describe(
  role: string,
  place: RolePlace,
  description: string,
  isDependent: boolean,
): CredentialPlace[] {
  const field = fieldIn(place);
  if (field !== undefined) return [{ ...headerPlace(role, field, description), isDependent }];
  const name = parameterIn(place);
  return name === undefined ? [] : [{ role, in: 'query', name, description, isDependent }];
}

/** Returns what an adversary has to know. The proof follows the last text of the format before it, up to the next text. */
function describeTraits({ place, format, user, timestamp, replay }: Declaration): SchemeTraits {
  const element = format.elements.find(({ names }) => names.includes('signature'));
  const at = element?.names.indexOf('signature') ?? 0;
  const [before = '', after = ''] = [element?.literals[at] ?? '', element?.literals[at + 1] ?? ''];
  const separator = format.separator === undefined ? undefined : escapeLiteral(format.separator);
  const preceding = at > 0 ? '.*' : separator === undefined ? '' : `(?:.*${separator}\\s*)?`;
  const following = separator === undefined ? '' : `(?:${separator}.*)?`;
  const userField = fieldIn(user);
  return {
    place: {
      in: 'field' in place ? place : { query: parameterIn(place) ?? '' },
      otherFields: userField === undefined ? [] : [userField],
      form: new RegExp(
        `^(${preceding}${escapeLiteral(before)})([^,;\\s]*)(${escapeLiteral(after)}${following})$`,
      ),
      isList: format.separator?.trim() === ',',
    },
    dateField: fieldIn(timestamp?.place),
    acceptedOnce: replay === 'refuse',
  };
}

/** Returns what schemes have in common that differ in the user and in the field of the signature. */
function describeRotation({ place, user: _, otherFields: __, ...others }: Declaration): string | undefined {
  return 'field' in place ? JSON.stringify(others) : undefined;
}
