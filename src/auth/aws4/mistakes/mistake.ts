/** A mistake in the signed request. */
export interface MessageMistake {
  readonly hint: string;
  /** The part that differs. */
  readonly part: string;
  /** What the client signed in its place. */
  readonly signed: string;
  readonly stringToSign: string;
}

/** A mistake in one part: a hint, and what the client signs in place of the part. */
export type PartMistake = readonly [hint: string, signed: string];

/** The number of headers and of parameters that are tried one by one: a request may have thousands. */
export const maxTried = 32;
