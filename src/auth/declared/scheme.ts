import { hasForm, holdForm, isCoded, isDeclaredLonger, maxFormLength } from '../../http/form.ts';
import { formatChallenge } from '../../http/headers/authorization.ts';
import type { IncomingRequest } from '../../http/message.ts';
import { isMethod, isSafe } from '../../http/method.ts';
import { fieldIn, isInContent, parameterIn } from '../../signature/declared/places.ts';
import type { CredentialLocation, Scheme } from '../scheme.ts';
import type { SchemeContext } from '../scheme-context.ts';
import type { DeclaredOptions } from './options.ts';
import { hasJson, readContent, readPlace } from './places.ts';
import { claimedUser } from './presented.ts';

/** Returns the fields beside that of the signature, in lower case. */
function fieldsReadBy({ message, user, timestamp, nonce, id, passphrase }: DeclaredOptions): string[] {
  const places = [user, timestamp?.place, nonce, id, passphrase].map(fieldIn);
  const signed = message.flatMap((part) => (part.kind === 'field' ? [part.field] : []));
  return [...places, ...signed].flatMap((field) => (field === undefined ? [] : [field.toLowerCase()]));
}

/** Returns the places whose presence means that a request has credentials of the scheme. */
function listLocations({
  place,
  otherFields,
  user,
  queryOrForm = false,
}: DeclaredOptions): CredentialLocation[] {
  if ('field' in place) return [place.field, ...otherFields].map((field) => ({ field: field.toLowerCase() }));
  if ('query' in place) {
    const field = fieldIn(user);
    const inForm = queryOrForm && field !== undefined ? [{ field: field.toLowerCase() }] : [];
    return [{ query: place.query }, ...inForm];
  }
  return [];
}

/** Creates a declared scheme. Its verification is loaded on first use. */
export function createDeclaredScheme(name: string, options: DeclaredOptions, context: SchemeContext): Scheme {
  const { place, authorizationName, otherNames } = options;
  let verify: Scheme['authenticate'] | undefined;
  const load = async (): Promise<Scheme['authenticate']> => {
    const [{ createVerification }, { createDeclaredSignature }] = await Promise.all([
      import('../verify.ts'),
      import('./signature.ts'),
    ]);
    verify ??= createVerification(createDeclaredSignature(name, options, context), context);
    return verify;
  };
  const authenticate: Scheme['authenticate'] = (request, rest, authTrace, deferrable) =>
    verify === undefined
      ? load().then((loaded) => loaded(request, rest, authTrace, deferrable))
      : verify(request, rest, authTrace, deferrable);
  const challenge = formatChallenge(authorizationName ?? name, [['realm', context.realm]]);
  const ownParameters = [options.user, options.timestamp?.place, options.nonce]
    .map(parameterIn)
    .concat(options.digestParameter, options.lifetime?.parameter);
  return {
    name,
    ...(authorizationName === undefined
      ? { authorizationNames: [], locations: listLocations(options) }
      : { authorizationNames: [authorizationName, ...otherNames].map((each) => each.toLowerCase()) }),
    requestHeaders: fieldsReadBy(options),
    ownsParameter: (parameter) => ownParameters.includes(parameter),
    authenticate,
    ...(isInContent(place)
      ? {
          elsewhere: (request: IncomingRequest) =>
            mayContain(request, options) ? ('content' as const) : undefined,
          isInContent: async (request: IncomingRequest) =>
            containsSignature(request, await holdForm(request, context.bodyLimit), options),
        }
      : {}),
    claimedUser: (rest, request) => claimedUser(request, rest, options),
    challenge: () => challenge,
  };
}

/** Returns whether the content may contain a signature. Content of a safe method has no meaning (RFC 9110 §9.3.1). */
function mayContain(request: IncomingRequest, { place }: DeclaredOptions): boolean {
  const { method } = request;
  if ((isMethod(method) && isSafe(method)) || isCoded(request) || isDeclaredLonger(request, maxFormLength))
    return false;
  return 'json' in place ? hasJson(request) : hasForm(request);
}

function containsSignature(
  request: IncomingRequest,
  content: Uint8Array,
  { place }: DeclaredOptions,
): boolean {
  const read = readContent(request, content);
  if ('detail' in read) return true;
  return readPlace(place, 'nonce', { request, values: {}, content: read, queryOrForm: false }) !== undefined;
}
