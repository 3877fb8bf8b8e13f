/** Changes to what the signer would sign by default. */
export interface SigningChanges {
  /** The date: ms since 1970-01-01T00:00:00Z, or the literal value of the date field. */
  readonly date?: number | string;
  readonly nonce?: string;
  /** The name of another user, or the id of another key. Secret, password, token or private key stay the same. */
  readonly user?: string;
  /** Another secret, password or token. The user stays the same. */
  readonly secret?: string;
}

/** Header fields by name. */
export type SignedFields = Readonly<Record<string, string>>;

/** What signs a request if a part of it stands in the query. */
export interface SignedQuery {
  readonly fields: SignedFields;
  /** The parameters that are appended to the query. */
  readonly query: string;
}

/** What the signer adds to a request. */
export interface SignedParts {
  readonly fields: SignedFields;
  /** '' if nothing is added to the query. */
  readonly query: string;
}

/** Returns the signed fields and parameters as one form. Undefined if the request was not signed. */
export function partsOf(signed: SignedFields | SignedQuery | undefined): SignedParts | undefined {
  if (signed === undefined) return undefined;
  return isSignedQuery(signed) ? signed : { fields: signed, query: '' };
}

function isSignedQuery(signed: SignedFields | SignedQuery): signed is SignedQuery {
  return typeof signed['fields'] === 'object';
}
