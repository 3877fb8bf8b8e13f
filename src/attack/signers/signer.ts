import type { OutgoingRequest } from '../attempt.ts';
import type { SignedFields, SignedQuery, SigningChanges } from './signed-parts.ts';

/**
 * Returns the header fields that sign a request, or fields and parameters of the query. It ignores changes that its scheme
 * does not have: a bearer token has no nonce. It returns undefined for a change that it cannot sign, such as a date as text.
 * It must be synchronous, and return equal fields for equal requests, dates and nonces.
 */
export interface RequestSigner {
  (request: OutgoingRequest, changes: SigningChanges): SignedFields | SignedQuery | undefined;
  /** The user as whom it signs, if there is one. */
  readonly user?: string;
  /** Whether its credentials require TLS, as a password does. Default: true unless it signs the method. */
  readonly tlsOnly?: boolean;
  /** What the signed fields do not show. Default: as in the schemes that need no configuration. */
  readonly traits?: SignerTraits;
}

/** Properties of a scheme that the signed fields do not show. */
export interface SignerTraits {
  readonly place: CredentialPlace;
  /** The field that contains the date. Default: none. */
  readonly dateField?: string;
  /**
   * Whether the server accepts a signature only once although it has no nonce. Then each good request gets a date of its own.
   * Default: false.
   */
  readonly acceptedOnce?: boolean;
  /** The number of seconds for which a signature is valid, if not for the window. */
  readonly lifetime?: number;
}

/** Where the credentials of a scheme are. */
export interface CredentialPlace {
  /** The field, or the parameter of the query, that contains the proof. */
  readonly in: { readonly field: string } | { readonly query: string };
  /** Other fields of the credentials. */
  readonly otherFields?: readonly string[];
  /** Matches the value, with a group each for what precedes the proof, the proof, and what follows it. */
  readonly form: RegExp;
  /** Whether several values are a list of which one must be valid. Default: false. */
  readonly isList?: boolean;
  /** Whether base64 may be unpadded, as in structured fields (RFC 9651 §4.2.7). Default: false. */
  readonly isPaddingOptional?: boolean;
}
