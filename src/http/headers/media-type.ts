import { parseParameters } from '../syntax/parameters.ts';
import { tokenEnd } from '../syntax/token.ts';

const slash = 0x2f;

/** A parsed media type (RFC 9110 §8.3.1). */
export interface MediaType {
  /** Type and subtype in lower case: `application/xml`. */
  readonly type: string;
  /** The parameters by lower-case name; the values are as sent, without quotes. */
  readonly parameters: ReadonlyMap<string, string>;
}

/** Parses a Content-Type value. Returns undefined if it is malformed or has a parameter twice. */
export function parseMediaType(value: string): MediaType | undefined {
  const typeEnd = tokenEnd(value, 0);
  if (typeEnd === 0 || value.charCodeAt(typeEnd) !== slash) return undefined;
  const end = tokenEnd(value, typeEnd + 1);
  if (end === typeEnd + 1) return undefined;
  const parameters = parseParameters(value, end);
  return parameters && { type: value.slice(0, end).toLowerCase(), parameters };
}

/** The media type of forms. */
export const formType = 'application/x-www-form-urlencoded';

/**
 * Returns whether a Content-Type value is that of a form. Type and subtype are case-insensitive, and parameters may follow
 * (RFC 9110 §8.3.1). A malformed value is not.
 */
export function isFormType(contentType: string | undefined): boolean {
  return contentType !== undefined && parseMediaType(contentType)?.type === formType;
}
