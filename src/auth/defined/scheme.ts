import { formatChallenge } from '../../http/headers/authorization.ts';
import type { IncomingRequest } from '../../http/message.ts';
import { fieldIn, type Place, parameterIn } from '../../signature/declared/places.ts';
import { checkId, checkSecret, chooseId, type SchemeTraits } from '../../signature/signing.ts';
import { locateContent } from '../declared/places.ts';
import type { SchemeContext } from '../scheme-context.ts';
import {
  type CredentialPlace,
  headerPlace,
  loadOnFirstUse,
  problemsOfDates,
  type VerifiedScheme,
} from '../verified-scheme.ts';
import type { CredentialLocation, Verifier } from '../verifier.ts';
import { kindsOf, usesBody, windowsOf } from './defaults.ts';
import type { Definition } from './definition.ts';
import { type DefinitionPlaces, findPlaces } from './places.ts';
import { createSchemeRequest, toSource } from './request.ts';
import { signByDefinition } from './sign.ts';

/** Creates the scheme of a definition. */
export function createDefinedScheme(
  name: string,
  definition: Definition,
): VerifiedScheme<'defined', Definition> {
  const { verify, nonce, replay, json = [], form = [] } = definition;
  const places = findPlaces(definition);
  const kinds = kindsOf(definition);
  const { dated, undated } = windowsOf(definition);
  const window = places.isDated ? dated : undated;
  return {
    kind: 'defined',
    name,
    options: definition,
    choices: ['nonce'],
    privateKeys: verify === undefined ? 'never' : 'usual',
    comparesDigests: definition.digestFault !== undefined,
    emptySecret: '\0',
    dateWindow: places.isDated ? dated : 0,
    window: nonce !== 'off' || replay === 'refuse' ? window : 0,
    authorization: definition.authorization,
    places: listPlaces(definition, places),
    problems: problemsOfDates,
    claimedBy: chooseId,
    check(identity) {
      checkId(identity, name);
      if (identity.privateKey !== undefined) return;
      if (!kinds.includes('secret')) throw new RangeError(`the scheme ${name} requires a private key`);
      checkSecret(identity, name);
    },
    sign: (request, identity, options) => signByDefinition(request, definition, places, identity, options),
    readsContent: json.length + form.length > 0,
    traits: () => traitsOf(definition, places),
    createVerifier: (context) => createDefinedVerifier(name, definition, places, context),
  };
}

function traitsOf(
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
  { headers = [], query = [], authorization }: Definition,
  { place }: DefinitionPlaces,
): readonly CredentialPlace[] {
  const about =
    authorization === undefined ? 'The signature' : `The scheme \`${authorization}\` with its signature`;
  const further = 'A part of the credentials';
  return [
    ...headers.map((name) =>
      'field' in place && place.field === name
        ? headerPlace('', name, about)
        : headerPlace(name.toLowerCase(), name, further),
    ),
    ...query.map((name): CredentialPlace => {
      const isSigned = 'query' in place && place.query === name;
      return { role: isSigned ? '' : name, in: 'query', name, description: isSigned ? about : further };
    }),
  ];
}

function createDefinedVerifier(
  name: string,
  definition: Definition,
  places: DefinitionPlaces,
  context: SchemeContext,
): Verifier {
  const { authorization, headers = [], query = [], json = [], form = [], unless } = definition;
  const inContent: readonly Place[] = [
    ...json.map((pointer) => ({ json: pointer })),
    ...form.map((parameter) => ({ form: parameter })),
  ];
  // With Authorization, other fields are parts of its credentials, and no credentials without it.
  const { credentialHeaders = authorization === undefined ? headers : [] } = definition;
  const fields = credentialHeaders.map(toLowerCase);
  const challenge = formatChallenge(authorization ?? name, [
    ['realm', context.realm],
    ...(definition.challenge ?? []),
  ]);
  return {
    name,
    locations: [
      ...(authorization === undefined ? [] : [{ authorization: authorization.toLowerCase() }]),
      ...fields.map((field): CredentialLocation => ({ field, unless })),
      ...query.map((parameter): CredentialLocation => ({ query: parameter })),
      ...(inContent.length === 0 ? [] : [locateContent(inContent, context.bodyLimit)]),
    ],
    requestHeaders: headers.map(toLowerCase),
    authenticate: loadOnFirstUse(context, async () => {
      const { createDefinedSignature } = await import('./signature.ts');
      return createDefinedSignature(name, definition, places, context);
    }),
    claimedUser: (_rest, request) => findClaimedUser(request, definition),
    challenge: () => challenge,
  };
}

function toLowerCase(text: string): string {
  return text.toLowerCase();
}

/** Returns the user that the fields or the query name; undefined if the credentials are malformed, or stand in the content. */
function findClaimedUser(incoming: IncomingRequest, definition: Definition): string | undefined {
  let isNeeded = false;
  const request = createSchemeRequest(toSource(incoming), () => {
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
