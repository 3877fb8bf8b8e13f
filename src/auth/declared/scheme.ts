import { formatChallenge } from '../../http/headers/authorization.ts';
import type { Request } from '../../http/message.ts';
import { userOf } from '../named-user.ts';
import type { Scheme, Verdict } from '../scheme.ts';
import type { SchemeContext } from '../scheme-context.ts';
import type { AuthenticationTrace } from '../trace.ts';
import type { DeclaredOptions } from './options.ts';

/** Verifies the credentials of a request, like `Scheme.authenticate`. */
type Verify = (
  request: Request,
  rest: string,
  authTrace: AuthenticationTrace | undefined,
) => Verdict | Promise<Verdict>;

/** Creates a declared scheme. Its verification is loaded on first use. */
export function createDeclaredScheme(name: string, options: DeclaredOptions, context: SchemeContext): Scheme {
  const { place, authorizationName } = options;
  let verify: Verify | undefined;
  const load = async (): Promise<Verify> => {
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
    authenticate: (request, rest, authTrace) =>
      verify === undefined
        ? load().then((loaded) => loaded(request, rest, authTrace))
        : verify(request, rest, authTrace),
    claimedUser: (_rest, { fields }) => userOf(options.user, fields),
    challenge: () => challenge,
  };
}
