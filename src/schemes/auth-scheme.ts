// A scheme that a configuration adds to a service: it signs, verifies, and says what others ask of it.

import { formatChallenge } from '../http/headers/authorization.ts';
import { type IncomingRequest, isConfidential } from '../http/message.ts';
import type { Problem } from '../http/problem.ts';
import type { ProblemType } from '../http/problem-types.ts';
import type { Place } from './declared/place.ts';
import { locateContent } from './declared/places.ts';
import type { ResponseSigningOptions } from './rfc9421/options.ts';
import type { RequestVerification } from './scheme.ts';
import type { SchemeContext } from './scheme-context.ts';
import type { ClientScheme, SchemeKind } from './signing.ts';
import type { CredentialFacts, CredentialPlace, Verifier } from './verifier.ts';

/** A scheme of a configuration. */
export interface AuthScheme<Kind extends SchemeKind = SchemeKind, Options = unknown>
  extends ClientScheme<Kind>,
    CredentialFacts {
  /** Its options, read and checked. */
  readonly options: Options;
  /** The option that determines what is signed. Default: none does. */
  readonly messageOption?: 'components' | 'message';
  /** The preset that it is; undefined if it is none. */
  readonly preset?: string | undefined;
  /** Maximum difference (ms) between the date of a request and the clock; 0 if requests have no date. */
  readonly dateWindow: number;
  /** How long (ms) nonces or signatures are stored, in both directions; 0 if none are. */
  readonly window: number;
  /** The places in the content whose values are credentials. Default: none. */
  readonly contentPlaces?: readonly Place[] | undefined;
  /** The parameters of its challenge after the realm. Default: none. */
  readonly challengeParameters?: readonly (readonly [name: string, value: string])[] | undefined;
  /** The fields of a 401 beside WWW-Authenticate. Default: none. */
  readonly challengeFields?: readonly [name: 'Accept-Signature', value: string][];
  /** The problems of its credentials, beside those of every scheme. */
  readonly problems: readonly ProblemType[];
  /** How responses are signed. Default: not at all. */
  readonly signResponses?: ResponseSigningOptions | undefined;
  /** Returns what a secret has to be if it cannot be used: `hexadecimal`. Default: each can be. */
  secretFault?(secret: string): string | undefined;
  /** Expresses the refusal of a request without its credentials at a time (ms). Default: it stays a problem document. */
  express?(problem: Problem, request: IncomingRequest, now: number): Problem;
  /** Loads how requests are verified. */
  load(context: SchemeContext): Promise<RequestVerification>;
}

/** Creates the verifier of a scheme for a service. The code that verifies is loaded for the first request. */
export function createVerifier(scheme: AuthScheme, context: SchemeContext): Verifier {
  const { challengeParameters = [], challengeFields = [], express, ...facts } = scheme;
  const { name, places, contentPlaces, tlsOnly } = scheme;
  const named = places.find(({ in: kind }) => kind === 'authorization')?.name ?? name;
  const challenge = formatChallenge(named, [['realm', context.realm], ...challengeParameters]);
  return {
    ...facts,
    content: contentPlaces && locateContent(contentPlaces, context.bodyLimit),
    authenticate: loadOnFirstUse(scheme, context),
    challenge: (connection) => (tlsOnly !== true || isConfidential(connection) ? challenge : undefined),
    challengeFields: () => challengeFields,
    ...(express !== undefined && {
      express: (problem: Problem, request: IncomingRequest) => express(problem, request, context.clock.now()),
    }),
  };
}

function loadOnFirstUse(scheme: AuthScheme, context: SchemeContext): Verifier['authenticate'] {
  let verify: Verifier['authenticate'] | undefined;
  return (request, rest, authTrace) => {
    if (verify !== undefined) return verify(request, rest, authTrace);
    return Promise.all([import('./verify.ts'), scheme.load(context)]).then(
      ([{ createVerification }, verification]) => {
        verify ??= createVerification(verification, context);
        return verify(request, rest, authTrace);
      },
    );
  };
}

/** Problems of credentials with a date, and a nonce or a signature that is accepted once. */
export const problemsOfDates: readonly ProblemType[] = [
  'date-out-of-window',
  'nonce-replayed',
  'nonces-lost',
  'too-many-nonces',
];

/** Returns the place of a field. */
export function headerPlace(role: string, name: string, description: string): CredentialPlace {
  return { role, in: 'header', name, description };
}
