import { quote } from '../syntax/quoted-string.ts';

/** A link of a resource: its target and its relation. */
interface Link {
  /** A URI reference: `/articles?after=7`. */
  readonly href: string;
  /** One or more relation types, separated by spaces: `next`. */
  readonly rel: string;
}

/** Characters that a URI cannot contain (RFC 3986 §2). A percent sign is taken as the start of an escape. */
const notOfUri = /[^!#-;=?-[\]_a-z~]/gu;

/**
 * Formats the value of Link (RFC 8288 §3); '' for no links. Characters that a URI cannot contain are percent-encoded. Throws
 * RangeError for a relation that cannot be quoted.
 */
export function formatLink(links: readonly Link[]): string {
  return links
    .map(({ href, rel }) => `<${href.replace(notOfUri, escapeCharacter)}>; rel=${quote(rel)}`)
    .join(', ');
}

function escapeCharacter(character: string): string {
  return Buffer.from(character).toString('hex').toUpperCase().replace(/../g, '%$&');
}
