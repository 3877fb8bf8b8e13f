import type { FieldLine } from '../../http/fields.ts';
import { encodeSegment } from '../../http/syntax/percent.ts';
import { quote } from '../../http/syntax/quoted-string.ts';
import type { StoredItem } from '../../store/store.ts';
import type { Shape } from '../fields/schema.ts';
import { type ListItem, StoredValueError } from '../formats/list-item.ts';
import type { PageWriter } from '../formats/page.ts';
import { showValues } from '../server-values.ts';

/**
 * Adds an item to the page if it fits, but skips an item that was stored under another declaration and cannot be written.
 * Returns false if it does not fit.
 */
export function addShown(page: PageWriter, item: ListItem): boolean {
  try {
    return page.add(item);
  } catch (error) {
    if (error instanceof StoredValueError) return true;
    throw error;
  }
}

/** Returns an item of the collection at `path` as its list shows it. */
export function toListItem(
  { shape, showId }: { readonly shape: Shape; readonly showId: boolean },
  path: string,
  item: StoredItem,
): ListItem {
  const value = showValues(shape, item);
  const href = formatHref(path, item.id);
  return showId ? { href, id: item.id, value } : { href, value };
}

/** Returns the path of an item of the collection at `path`. */
export function formatHref(path: string, id: string): string {
  return `${path}/${encodeSegment(id)}`;
}

/**
 * Returns the links to the first page and, if `cursor` is defined, to the page after that place.
 * @param query the parameters that all pages have; '' for none
 */
export function linkField(path: string, query: string, cursor: string | undefined): FieldLine {
  const links = [{ href: appendQuery(path, query), rel: 'first' }];
  if (cursor !== undefined) {
    const after = `after=${cursor}`;
    links.unshift({ href: appendQuery(path, query === '' ? after : `${query}&${after}`), rel: 'next' });
  }
  return ['Link', formatLink(links)];
}

function appendQuery(path: string, query: string): string {
  return query === '' ? path : `${path}?${query}`;
}

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
