import type { FieldLine } from '../http/fields.ts';
import type { Connection, IncomingRequest } from '../http/message.ts';
import { Problem } from '../http/problem.ts';
import type { Principal } from '../principal.ts';
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

/** Returns the names of a scheme in Authorization, in lower case. */
export function listAuthorizationNames({ places }: Pick<Verifier, 'places'>): readonly string[] {
  return places.flatMap((place) => (place.in === 'authorization' ? [place.name.toLowerCase()] : []));
}

/** Credentials in content, which has to be read to find out whether there are any. */
export interface ContentLocation {
  /** Returns whether the content may have some, by the header section. */
  isPossible(request: IncomingRequest): boolean;
  /** Resolves to whether the content has some. Rejects with a Problem if it cannot be read. */
  isPresent(request: IncomingRequest): Promise<boolean>;
}

/** A place of a part of credentials outside the content: Authorization, another field, a parameter of the query, or a cookie. */
export interface CredentialPlace {
  /** The part, such as `timestamp`; '' for the proof: the signature, or the secret that is sent alone. */
  readonly role: string;
  readonly in: 'authorization' | 'header' | 'query' | 'cookie';
  /** The name as declared; in Authorization that of the scheme, such as `AWS4-HMAC-SHA256`. */
  readonly name: string;
  /** What stands there, for documents. Default: documents do not show the place. */
  readonly description?: string | undefined;
  /** Whether it can be sent in place of another one. Default: a request needs it. */
  readonly isAlternative?: boolean;
  /** Whether it is read only with another place. Default: its presence means that a request has credentials of the scheme. */
  readonly isDependent?: boolean;
  /** The name of a field, in lower case, whose presence means that this one belongs to another scheme. Default: none. */
  readonly unless?: string | undefined;
}

/**
 * The schemes that a resource accepts: alternatives in order, each the name of a scheme, or of several whose credentials are required
 * together. An empty list stands for no credentials.
 */
export type AcceptedSchemes = readonly (string | readonly string[])[];

/** What a scheme says of its credentials, to those who find them and to those who describe them. */
export interface CredentialFacts {
  /** The name of the scheme, in configurations, traces and principals: `hmac`. */
  readonly name: string;
  /** The places of its credentials outside the content. */
  readonly places: readonly CredentialPlace[];
  /**
   * The fields that it reads beside `places`, in lower case, such as a date or those that are signed. Pages of other origins may send them (CORS).
   * Default: none.
   */
  readonly requestHeaders?: readonly string[] | undefined;
  /**
   * A text that is equal for schemes that differ in nothing but their only user and the field of the signature. Several of these may
   * sign a request while a key is rotated, of which one valid signature is enough (Box, DocuSign). Default: it signs alone.
   */
  readonly rotation?: string | undefined;
  /** Whether its credentials are refused unread over plain HTTP, because an eavesdropper could use them. Default: false. */
  readonly tlsOnly?: boolean | undefined;
  /** Returns whether a query parameter beside `places` belongs to its credentials. Default: none does. */
  ownsParameter?(name: string): boolean;
  /** Returns the user that credentials outside the content name; undefined if they are malformed. Default: they name none. */
  claimedUser?(rest: string, request: IncomingRequest): string | undefined;
}

/** An authentication scheme: it verifies credentials and formats challenges. */
export interface Verifier extends CredentialFacts {
  /** Returns whether a query has credentials by several of its parameters. Default: only `places` show them. */
  isInQuery?(query: string): boolean;
  /** The content as a place of credentials. Default: it has none. */
  readonly content?: ContentLocation | undefined;
  /** Whether it refuses its own credentials in two places itself, in a form of its own. Default: false. */
  readonly refusesSeveral?: boolean;
  /**
   * Returns whether `bearer`, `basic` or `oauth` reads credentials over plain HTTP, and itself refuses those that require TLS. Default: it
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
  /** Returns further field lines of a 401, such as `Accept-Signature` (RFC 9421 §5.1). Default: none. */
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
