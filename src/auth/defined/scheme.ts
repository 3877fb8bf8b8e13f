import { formatChallenge } from '../../http/headers/authorization.ts';
import type { IncomingRequest } from '../../http/message.ts';
import type { CredentialLocation, Scheme } from '../scheme.ts';
import type { SchemeContext } from '../scheme-context.ts';
import { createSchemeRequest, toSource } from './request.ts';
import type { SealedDefinition } from './sealed.ts';

/** Creates the scheme of a definition. Its verification is loaded on first use. */
export function createDefinedScheme(
  name: string,
  definition: SealedDefinition,
  context: SchemeContext,
): Scheme {
  const { authorization, headers, query, unless, credentialHeaders = headers } = definition;
  let verify: Scheme['authenticate'] | undefined;
  const load = async (): Promise<Scheme['authenticate']> => {
    const [{ createVerification }, { createDefinedSignature }] = await Promise.all([
      import('../verify.ts'),
      import('./signature.ts'),
    ]);
    verify ??= createVerification(createDefinedSignature(name, definition, context), context);
    return verify;
  };
  const fields = credentialHeaders.map(toLowerCase).filter((field) => field !== 'authorization');
  const challenge = formatChallenge(authorization ?? name, [
    ['realm', context.realm],
    ...(definition.challenge ?? []),
  ]);
  return {
    name,
    authorizationNames: authorization === undefined ? [] : [authorization.toLowerCase()],
    locations: [
      ...fields.map((field): CredentialLocation => ({ field, unless })),
      ...query.map((parameter): CredentialLocation => ({ query: parameter })),
    ],
    requestHeaders: headers.map(toLowerCase),
    authenticate: (request, rest, authTrace, deferrable) =>
      verify === undefined
        ? load().then((loaded) => loaded(request, rest, authTrace, deferrable))
        : verify(request, rest, authTrace, deferrable),
    claimedUser: (_rest, request) => findClaimedUser(request, definition),
    challenge: () => challenge,
  };
}

function toLowerCase(text: string): string {
  return text.toLowerCase();
}

/** Returns the user that the fields or the query name; undefined if the credentials are malformed, or stand in the content. */
function findClaimedUser(
  incoming: IncomingRequest,
  { parse, needsBody }: SealedDefinition,
): string | undefined {
  let isNeeded = false;
  const request = createSchemeRequest(toSource(incoming), () => {
    isNeeded = needsBody;
    return Buffer.alloc(0);
  });
  try {
    const user = [parse(request)].flat()[0]?.user;
    return !isNeeded && typeof user === 'string' && user !== '' ? user : undefined;
  } catch {
    return undefined; // reported when the credentials are verified
  }
}
