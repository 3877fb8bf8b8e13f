import { formatChallenge } from '../../http/headers/authorization.ts';
import type { Scheme } from '../scheme.ts';
import type { SchemeContext } from '../scheme-context.ts';
import { userOf } from '../user-name.ts';
import type { DeclaredOptions } from './options.ts';

/** Returns the fields beside that of the signature, in lower case. */
function fieldsReadBy({ message, user, timestamp, nonce, id }: DeclaredOptions): string[] {
  const places = [
    typeof user === 'string' ? undefined : user.field,
    timestamp?.field,
    nonce?.field,
    id?.field,
  ];
  const signed = message.flatMap((part) => (part.kind === 'field' ? [part.field] : []));
  return [...places, ...signed].flatMap((field) => (field === undefined ? [] : [field.toLowerCase()]));
}

/** Creates a declared scheme. Its verification is loaded on first use. */
export function createDeclaredScheme(name: string, options: DeclaredOptions, context: SchemeContext): Scheme {
  const { place, authorizationName } = options;
  let verify: Scheme['authenticate'] | undefined;
  const load = async (): Promise<Scheme['authenticate']> => {
    const [{ createVerification }, { createDeclaredSignature }] = await Promise.all([
      import('../verify.ts'),
      import('./signature.ts'),
    ]);
    verify ??= createVerification(createDeclaredSignature(name, options, context), context);
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
    requestFields: fieldsReadBy(options),
    ownsParameter: (parameter) => parameter === options.digestParameter,
    authenticate: (request, rest, authTrace, deferrable) =>
      verify === undefined
        ? load().then((loaded) => loaded(request, rest, authTrace, deferrable))
        : verify(request, rest, authTrace, deferrable),
    claimedUser: (_rest, { fields }) => userOf(options.user, fields),
    challenge: () => challenge,
  };
}
