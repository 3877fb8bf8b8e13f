import type { FieldLine } from '../http/fields.ts';
import type { Connection, IncomingRequest } from '../http/message.ts';
import { Problem } from '../http/problem.ts';
import type { Principal } from '../principal.ts';
import type { AuthScheme, ContentLocation } from './auth-scheme.ts';
import type { AuthenticationTrace } from './trace.ts';

/** The result of a check of credentials that are valid. */
interface GoodVerdict {
  readonly outcome: 'good';
  readonly principal: Principal;
}

/** The result of a check of credentials that are refused. */
export interface BadVerdict {
  readonly outcome: 'bad';
  readonly problem: Problem;
  /** The user that the credentials name, if they can be read. Failures are also counted for that name. */
  readonly claimed?: string | undefined;
  /** A challenge of the scheme that describes the error. It replaces the usual one, and is sent with any status. */
  readonly challenge?: string | undefined;
}

/** The result of a check of credentials. */
export type Verdict = GoodVerdict | BadVerdict;

/** Returns the verdict on credentials of a scheme that is not supported. `headers` are the challenges. */
export function refuseScheme(
  headers: readonly FieldLine[] = [],
  members: { readonly hint?: string } = {},
): BadVerdict {
  const detail = 'The authentication scheme is not supported here.';
  return { outcome: 'bad', problem: new Problem('scheme-not-offered', detail, { headers, members }) };
}

/**
 * The schemes that a resource accepts: alternatives in order, each the name of a scheme, or of several whose credentials are required
 * together. An empty list stands for no credentials.
 */
export type AcceptedSchemes = readonly (string | readonly string[])[];

/** What others ask of a scheme whose requests are verified. */
type CredentialFacts = Pick<
  AuthScheme,
  | 'name'
  | 'places'
  | 'requestHeaders'
  | 'rotation'
  | 'tlsOnly'
  | 'sentSecret'
  | 'ownsParameter'
  | 'claimedUser'
>;

/** A scheme in a service: it verifies credentials and formats challenges. */
export interface Verifier extends CredentialFacts {
  /** Returns whether a query has credentials by several of its parameters. Default: only `places` show them. */
  isInQuery?(query: string): boolean;
  /** The content as a place of credentials. Default: it has none. */
  readonly content?: ContentLocation | undefined;
  /** Whether it refuses its own credentials in two places itself, in a form of its own. Default: false. */
  readonly refusesSeveral?: boolean;
  /**
   * Returns whether it reads credentials over plain HTTP although it is `tlsOnly`, and itself refuses those that require TLS. Default: it
   * does not.
   */
  readsPlain?(): boolean;
  /**
   * Verifies credentials, synchronously if possible. Credentials of a user for which the peer has failed too often are refused with
   * 429 before they are verified. Throws only on an internal error.
   *
   * @param rest The part of `Authorization` after the name of the scheme; undefined for credentials in another place.
   * @param authTrace Records the checks, if given.
   */
  authenticate(
    request: IncomingRequest,
    rest: string | undefined,
    authTrace?: AuthenticationTrace,
  ): Verdict | Promise<Verdict>;
  /** Returns the challenge (RFC 9110 §11.3) for a connection; undefined if the scheme is not offered on it. */
  challenge(connection: Connection): string | undefined;
  /** Returns the field lines of a 401 beside WWW-Authenticate. Default: none. */
  challengeFields?(connection: Connection): readonly FieldLine[];
  /**
   * Expresses the refusal of a request that has no credentials, or those of a scheme that is not offered, in the form of the partner
   * whose scheme this is. Default: it stays a problem document.
   */
  express?(problem: Problem, request: IncomingRequest): Problem;
  /** Returns the challenge for a request, sent over TLS, that has credentials of this scheme and others. Default: none. */
  severalChallenge?(): string | undefined;
  /** Returns the challenge (RFC 6750 §3.1) for a token that lacks the scope `needed`. Omitted by schemes without scopes. */
  scopeChallenge?(needed: string): string;
}

/** Returns the alternatives as lists of names. */
export function listAlternatives(accepted: AcceptedSchemes): readonly (readonly string[])[] {
  return accepted.map((names) => (typeof names === 'string' ? [names] : names));
}

/** Returns whether a scheme is accepted, alone or together with others. */
export function isAccepted({ name }: Verifier, accepted: AcceptedSchemes | undefined): boolean {
  return accepted === undefined || listAlternatives(accepted).some((names) => names.includes(name));
}

/** Returns the alternatives for a client: `aws4, key with hmac`. */
export function describeAccepted(accepted: AcceptedSchemes): string {
  const named = listAlternatives(accepted).filter((names) => names.length > 0);
  return [...new Set(named.map((names) => names.join(' with ')))].join(', ');
}

/** A request to authenticate. */
export interface Attempt {
  readonly request: IncomingRequest;
  readonly authTrace: AuthenticationTrace | undefined;
  /** The schemes that the resource accepts; undefined for all. */
  readonly accepted: AcceptedSchemes | undefined;
}
