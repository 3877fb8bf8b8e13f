/** Small documents of the server itself, written in XML or JSON from one value. */

import { isRepresentable } from '../schema/characters.ts';
import { escapeAttribute, escapeText } from '../xml/writer.ts';

/** A value to be written. Names of members are the server's own and are XML names. */
export type DocumentValue =
  | string
  | number
  | boolean
  | readonly DocumentValue[]
  | { readonly [name: string]: DocumentValue };

/** How a document is written in XML. */
export interface XmlDocumentOptions {
  /** The default namespace. */
  readonly namespace?: string;
  /** The element of each item of the array with this name; `item` when left out. */
  readonly item?: (arrayName: string) => string;
}

/**
 * Writes a value as XML: members are elements, the items of an array are elements within that of the array. A
 * character that XML cannot carry is written as U+FFFD, so that writing never fails.
 */
export function writeDocumentXml(root: string, doc: DocumentValue, options: XmlDocumentOptions = {}): string {
  const { namespace, item = () => 'item' } = options;
  const declared = namespace === undefined ? '' : ` xmlns="${escapeAttribute(isRepresentable(namespace))}"`;
  return `<${root}${declared}>${contentOf(root, doc, item)}</${root}>`;
}

/** Writes a value as JSON. */
export function writeDocumentJson(doc: DocumentValue): string {
  return JSON.stringify(doc);
}

function contentOf(name: string, doc: DocumentValue, item: (arrayName: string) => string): string {
  if (typeof doc !== 'object') return escapeText(isRepresentable(String(doc)));
  if (isArray(doc)) {
    const each = item(name);
    return doc.map((value) => `<${each}>${contentOf(each, value, item)}</${each}>`).join('');
  }
  return Object.entries(doc)
    .map(([member, value]) => `<${member}>${contentOf(member, value, item)}</${member}>`)
    .join('');
}

function isArray(doc: DocumentValue): doc is readonly DocumentValue[] {
  return Array.isArray(doc);
}
