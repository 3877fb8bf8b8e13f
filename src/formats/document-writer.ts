/** Writes the server's own documents from one value as XML or JSON. */

import { toRepresentable } from '../schema/characters.ts';
import { escapeAttribute, escapeText } from '../xml/writer.ts';

/** A value to write. Its member names are chosen by the server and are XML names. */
export type DocumentValue =
  | string
  | number
  | boolean
  | readonly DocumentValue[]
  | { readonly [name: string]: DocumentValue };

/** Options for writing XML. */
interface XmlDocumentOptions {
  /** The default namespace. */
  readonly namespace?: string | undefined;
  /** Returns the element name for the items of an array. Default: `item`. */
  readonly item?: ((arrayName: string) => string) | undefined;
}

/**
 * Writes a value as XML. Members become elements; the items of an array become child elements. U+FFFD
 * replaces characters that XML does not allow, so that writing never fails.
 */
export function writeDocumentXml(root: string, doc: DocumentValue, options: XmlDocumentOptions = {}): string {
  const { namespace, item = () => 'item' } = options;
  const declared = namespace === undefined ? '' : ` xmlns="${escapeAttribute(toRepresentable(namespace))}"`;
  return `<${root}${declared}>${writeContent(root, doc, item)}</${root}>`;
}

/** Writes a value as JSON. */
export function writeDocumentJson(doc: DocumentValue): string {
  return JSON.stringify(doc);
}

function writeContent(name: string, doc: DocumentValue, item: (arrayName: string) => string): string {
  if (typeof doc !== 'object') return escapeText(toRepresentable(String(doc)));
  if (isArray(doc)) {
    const each = item(name);
    return doc.map((value) => `<${each}>${writeContent(each, value, item)}</${each}>`).join('');
  }
  return Object.entries(doc)
    .map(([member, value]) => `<${member}>${writeContent(member, value, item)}</${member}>`)
    .join('');
}

function isArray(doc: DocumentValue): doc is readonly DocumentValue[] {
  return Array.isArray(doc);
}
