import { formatChallenge } from '../../http/headers/authorization.ts';
import { userOf } from '../named-user.ts';
import type { Scheme } from '../scheme.ts';
import type { SchemeContext } from '../scheme-context.ts';
import type { DeclaredOptions } from './options.ts';

/** Creates a declared scheme. Its verification is loaded on first use. */
export function createDeclaredScheme(name: string, options: DeclaredOptions, context: SchemeContext): Scheme {
  const { place, authorizationName } = options;
  let verify: Scheme['authenticate'] | undefined;
  const load = async (): Promise<Scheme['authenticate']> => {
    const { createVerification } = await import('./verify.ts');
    verify ??= createVerification(name, options, context);
    return verify;
  };
  const challenge = formatChallenge(authorizationName ?? name, [['realm', context.realm]]);
  return {
    name,
    ...(authorizationName === undefined
      ? {
          authorizationNames: [],
          locations: ['field' in place ? { field: place.field.toLowerCase() } : { query: place.query }],
        }
      : { authorizationNames: [authorizationName.toLowerCase()] }),
    ownsParameter: (parameter) => parameter === options.digestParameter,
    authenticate: (request, rest, authTrace, deferrable) =>
      verify === undefined
        ? load().then((loaded) => loaded(request, rest, authTrace, deferrable))
        : verify(request, rest, authTrace, deferrable),
    claimedUser: (_rest, { fields }) => userOf(options.user, fields),
    challenge: () => challenge,
  };
}
