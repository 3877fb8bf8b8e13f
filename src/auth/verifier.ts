import type { FieldLine } from '../http/fields.ts';
import type { Connection, IncomingRequest } from '../http/message.ts';
import { Problem } from '../http/problem.ts';
import type { Principal } from '../principal.ts';
import type { RefusedNonce } from './nonce-claim.ts';
import type { AuthenticationTrace } from './trace.ts';

/** The result of a check of credentials that are valid. */
interface GoodVerdict {
  readonly outcome: 'good';
  readonly principal: Principal;
  /** Returns the verdict if the nonce of the principal is claimed with the change of the request, and then refused. */
  readonly refuse?: RefuseNonce;
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

/** Returns the verdict on a request whose nonce is refused, and records it in the trace. */
export type RefuseNonce = (claimed: RefusedNonce) => BadVerdict;

/** Credentials in content, which has to be read to find out whether there are any. */
export interface ContentLocation {
  /** Returns whether the content may have some, by the header section. */
  isPossible(request: IncomingRequest): boolean;
  /** Resolves to whether the content has some. Rejects with a Problem if it cannot be read. */
  isPresent(request: IncomingRequest): Promise<boolean>;
}

/**
 * A place whose presence means that a request has credentials of a scheme: a name in `Authorization`, in lower case
 * (`aws4-hmac-sha256`), a field, by its name in lower case, a parameter of the query or a cookie, by its exact name, a query by its
 * parameters, or content.
 */
export type CredentialLocation =
  | { readonly authorization: string }
  | {
      readonly field: string;
      /** The name of a field, in lower case, whose presence means that `field` belongs to another scheme. Default: none. */
      readonly unless?: string | undefined;
    }
  | { readonly query: string }
  | { readonly cookie: string }
  | { readonly parameters: (query: string) => boolean }
  | { readonly content: ContentLocation };

/**
 * The schemes that a resource accepts: alternatives in order, each the name of a scheme, or of several whose credentials are required
 * together. An empty list stands for no credentials.
 */
export type AcceptedSchemes = readonly (string | readonly string[])[];

/** An authentication scheme: it verifies credentials and formats challenges. */
export interface Verifier {
  /** The name of the scheme, in configurations, traces and principals: `hmac`. */
  readonly name: string;
  /** The places of its credentials. */
  readonly locations: readonly CredentialLocation[];
  /** Whether it refuses its own credentials in two places itself, in a form of its own. Default: false. */
  readonly refusesSeveral?: boolean;
  /** Returns whether a query parameter beside `locations` belongs to its credentials. Default: none does. */
  ownsParameter?(name: string): boolean;
  /**
   * The further fields that it reads, in lower case, such as a timestamp or a nonce. Pages of other origins may send them (CORS).
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
   * @param deferrable Whether the nonce may be claimed with the change of the request. Default: false.
   */
  authenticate(
    request: IncomingRequest,
    rest: string | undefined,
    authTrace?: AuthenticationTrace,
    deferrable?: boolean,
  ): Verdict | Promise<Verdict>;
  /** Returns the user that credentials outside the content name; undefined if they are malformed. Default: they name none. */
  claimedUser?(rest: string, request: IncomingRequest): string | undefined;
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
