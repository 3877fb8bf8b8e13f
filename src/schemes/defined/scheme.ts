import type { IncomingRequest } from '../../http/message.ts';
import { type AuthScheme, type CredentialPlace, problemsOfDates, type SchemeTraits } from '../auth-scheme.ts';
import { fieldIn, isInContent, parameterIn } from '../declared/place.ts';
import { locateContent } from '../declared/places.ts';
import { checkId, checkSecret } from '../signing.ts';
import { listKeyKinds, readWindows, usesBody } from './defaults.ts';
import type { Definition } from './definition.ts';
import { type DefinitionPlaces, findPlaces, listDeclaredPlaces } from './places.ts';
import { createSchemeRequest } from './request.ts';
import { signByDefinition } from './sign.ts';

/** Creates the scheme of a definition. */
export function createDefinedScheme(name: string, definition: Definition): AuthScheme<'defined', Definition> {
  const { verify, nonce, replay } = definition;
  const places = findPlaces(definition);
  const kinds = listKeyKinds(definition);
  const { dated, undated } = readWindows(definition);
  const window = places.isDated ? dated : undated;
  const inContent = listDeclaredPlaces(definition).filter(isInContent);
  return {
    kind: 'defined',
    name,
    options: definition,
    choices: ['nonce'],
    privateKeys: verify && 'usual',
    comparesDigests: definition.digestFault !== undefined,
    dateWindow: places.isDated ? dated : 0,
    window: nonce !== 'off' || replay === 'refuse' ? window : 0,
    places: listPlaces(definition, places),
    locateContent: inContent.length === 0 ? undefined : (limit) => locateContent(inContent, limit),
    challengeParameters: definition.challenge,
    problems: problemsOfDates,
    check(identity) {
      checkId(identity, name);
      if (identity.privateKey !== undefined) return;
      if (!kinds.includes('secret')) throw new RangeError(`the scheme ${name} requires a private key`);
      checkSecret(identity, name);
    },
    sign: (request, identity, options) => signByDefinition(request, definition, places, identity, options),
    readsContent: inContent.length > 0,
    traits: () => describeTraits(definition, places),
    claimedUser: (_rest, request) => findClaimedUser(request, definition),
    async load(context) {
      const { createDefinedSignature } = await import('./signature.ts');
      return createDefinedSignature(name, definition, places, context);
    },
  };
}

function describeTraits(
  { headers = [], replay }: Definition,
  { place, valueForm, dateField }: DefinitionPlaces,
): SchemeTraits {
  const field = fieldIn(place);
  return {
    place: {
      in: field === undefined ? { query: parameterIn(place) ?? '' } : { field },
      otherFields: headers.filter((name) => name !== field),
      form: valueForm,
    },
    dateField,
    acceptedOnce: replay === 'refuse',
  };
}

function listPlaces(
  { headers = [], query = [], authorization, unless, credentialHeaders }: Definition,
  { place }: DefinitionPlaces,
): readonly CredentialPlace[] {
  const about =
    authorization === undefined ? 'The signature' : `The scheme \`${authorization}\` with its signature`;
  const describe = (name: string, isProof: boolean) =>
    isProof ? { role: '', description: about } : { role: name, description: 'A part of the credentials' };
  // With Authorization, other fields are parts of its credentials, and no credentials without it.
  const shown = credentialHeaders ?? (authorization === undefined ? headers : []);
  return [
    ...headers.map((name): CredentialPlace => {
      const described = describe(name.toLowerCase(), 'field' in place && place.field === name);
      if (name.toLowerCase() === 'authorization' && authorization !== undefined)
        return { ...described, in: 'authorization', name: authorization };
      return { ...described, in: 'header', name, unless, isDependent: !shown.includes(name) };
    }),
    ...query.map((name): CredentialPlace => {
      const described = describe(name, 'query' in place && place.query === name);
      return { ...described, in: 'query', name };
    }),
  ];
}

/** Returns the user that the fields or the query name; undefined if the credentials are malformed, or stand in the content. */
function findClaimedUser(incoming: IncomingRequest, definition: Definition): string | undefined {
  let isNeeded = false;
  const request = createSchemeRequest(incoming, () => {
    isNeeded = usesBody(definition);
    return Buffer.alloc(0);
  });
  try {
    const user = [definition.parse(request)].flat()[0]?.user;
    return !isNeeded && typeof user === 'string' && user !== '' ? user : undefined;
  } catch {
    return undefined; // reported when the credentials are verified
  }
}
