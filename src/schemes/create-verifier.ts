import { formatChallenge } from '../http/headers/authorization.ts';
import { type IncomingRequest, isConfidential } from '../http/message.ts';
import type { Problem } from '../http/problem.ts';
import type { AuthScheme } from './auth-scheme.ts';
import type { SchemeContext } from './scheme-context.ts';
import type { Verifier } from './verifier.ts';

/** Creates the verifier of a scheme for a service. The code that verifies is loaded for the first request. */
export function createVerifier(scheme: AuthScheme, context: SchemeContext): Verifier {
  const { challengeParameters = [], express, ...facts } = scheme;
  const { name, places, tlsOnly } = scheme;
  const named = places.find(({ in: kind }) => kind === 'authorization')?.name ?? name;
  const challenge = formatChallenge(named, [['realm', context.realm], ...challengeParameters]);
  return {
    ...facts,
    content: scheme.locateContent?.(context.bodyLimit),
    authenticate: loadOnFirstUse(scheme, context),
    challenge: (connection) => (tlsOnly !== true || isConfidential(connection) ? challenge : undefined),
    ...(express !== undefined && {
      express: (problem: Problem, request: IncomingRequest) => express(problem, request, context.clock.now()),
    }),
  };
}

function loadOnFirstUse({ name, load }: AuthScheme, context: SchemeContext): Verifier['authenticate'] {
  if (load === undefined) throw new Error(`the scheme ${name} does not verify requests itself`);
  let verify: Verifier['authenticate'] | undefined;
  return (request, rest, authTrace) => {
    if (verify !== undefined) return verify(request, rest, authTrace);
    return Promise.all([import('./verify.ts'), load(context)]).then(([{ createVerify }, verification]) => {
      const verifyRead = createVerify(verification, context);
      verify ??= (sent, after = '', trace) => verifyRead(verification.parse(sent, after), trace);
      return verify(request, rest, authTrace);
    });
  };
}
