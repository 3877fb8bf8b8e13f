import { quote } from '../syntax/quoted-string.ts';

/** Where a link goes and what that is to the resource. */
export interface Link {
  /** A URI reference: `/articles?after=7`. */
  readonly href: string;
  /** One relation type or several with a space between them: `next`. */
  readonly rel: string;
}

/** What a URI cannot contain (RFC 3986 §2); a percent sign is taken for the start of an escape. */
const notOfUri = /[^!#-;=?-[\]_a-z~]/gu;

/**
 * Writes the value of a Link field (RFC 8288 §3), '' for no links. What an href may not contain is
 * percent-encoded. Throws a RangeError for a relation with a character that no quoted string can hold.
 */
export function formatLink(links: readonly Link[]): string {
  return links.map(({ href, rel }) => `<${href.replace(notOfUri, escaped)}>; rel=${quote(rel)}`).join(', ');
}

function escaped(character: string): string {
  return Buffer.from(character).toString('hex').toUpperCase().replace(/../g, '%$&');
}
