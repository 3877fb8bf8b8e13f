// A scheme that a configuration adds to a service: it signs, verifies, and says what others ask of it.

import type { ProblemType } from '../http/problem-types.ts';
import type { SchemeKind, Scheme as SigningScheme } from '../signature/signing.ts';
import type { ResponseSigningOptions } from './message-signatures/response-signing.ts';
import type { Presented, Scheme } from './scheme.ts';
import type { SchemeContext } from './scheme-context.ts';
import type { Verifier } from './verifier.ts';

/** A field, a parameter of the query or a cookie with a part of credentials. */
export interface CredentialPlace {
  /** The part, such as `timestamp`; '' for the proof: the signature, or the secret that is sent alone. */
  readonly role: string;
  readonly in: 'header' | 'query' | 'cookie';
  /** The name as declared. */
  readonly name: string;
  /** What stands there, for documents. */
  readonly description: string;
  /** Whether it can be sent in place of another one. Default: a request needs it. */
  readonly isAlternative?: boolean;
}

/** A scheme of a configuration. */
export interface VerifiedScheme<Kind extends SchemeKind = SchemeKind, Options = unknown>
  extends SigningScheme<Kind> {
  /** Its options, read and checked. */
  readonly options: Options;
  /** Maximum difference (ms) between the date of a request and the clock; 0 if requests have no date. */
  readonly dateWindow: number;
  /** How long (ms) nonces or signatures are stored, in both directions; 0 if none are. */
  readonly window: number;
  /** The places of its credentials outside the content. */
  readonly places: readonly CredentialPlace[];
  /** The name of its credentials in Authorization; undefined if they stand elsewhere. */
  readonly authorization?: string | undefined;
  /** Whether the content contains credentials, or may contain some. Default: false. */
  readonly readsContent?: boolean;
  /** The problems of its credentials, beside those of every scheme. */
  readonly problems: readonly ProblemType[];
  /** Whether its refusals have the form of the partner whose scheme it is. Default: they are problem documents. */
  readonly hasOwnErrors?: boolean;
  /** The fields of a 401 beside WWW-Authenticate. Default: none. */
  readonly challengeFields?: readonly 'Accept-Signature'[];
  /** How responses are signed. Default: not at all. */
  readonly signResponses?: ResponseSigningOptions | undefined;
  /** The only user, if requests do not name one. */
  readonly user?: string | undefined;
  /** Returns what a secret has to be if it cannot be used: `hexadecimal`. Default: each can be. */
  secretFault?(secret: string): string | undefined;
  /** Creates the verifier for a service. */
  createVerifier(context: SchemeContext): Verifier;
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

/** Returns a function that verifies the requests of a scheme, which is loaded for the first one. */
export function loadOnFirstUse<Own extends Presented>(
  context: SchemeContext,
  load: () => Promise<Scheme<Own>>,
): Verifier['authenticate'] {
  let verify: Verifier['authenticate'] | undefined;
  return (request, rest, authTrace, deferrable) => {
    if (verify !== undefined) return verify(request, rest, authTrace, deferrable);
    return Promise.all([import('./verify.ts'), load()]).then(([{ createVerification }, scheme]) => {
      verify ??= createVerification(scheme, context);
      return verify(request, rest, authTrace, deferrable);
    });
  };
}
