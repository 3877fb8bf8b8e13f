/** Writes the server's own documents, descriptions, problems (RFC 9457) and those of other APIs, from one value as XML or JSON. */
import { selectPreferred } from '../../http/headers/accept.ts';
import type { ForeignDocument, Problem, ProblemMember } from '../../http/problem.ts';
import { toRepresentable } from '../../http/syntax/characters.ts';
import type { Description } from '../../pipeline/options-response.ts';
import type { DocumentFormat, Representation, Variant } from '../../pipeline/resource.ts';
import { escapeText } from '../../xml/writer.ts';

/** A value to write. Its member names are chosen by the server and are XML names. */
type DocumentValue =
  | string
  | number
  | boolean
  | readonly DocumentValue[]
  | { readonly [name: string]: DocumentValue };

const xml: Variant = { type: 'application/xml; charset=utf-8', mark: 'x' };
const textXml: Variant = { type: 'text/xml; charset=utf-8', mark: 't' };
const json: Variant = { type: 'application/json', mark: 'j' };

const documentVariants: readonly Variant[] = [xml, textXml, json];
const documentVariantsJson: readonly Variant[] = [json, xml, textXml];

/** Returns the variants of the server's own documents, the default one first. */
export function documentVariantsFor(defaultFormat: DocumentFormat = 'xml'): readonly Variant[] {
  return defaultFormat === 'xml' ? documentVariants : documentVariantsJson;
}

/**
 * Writes a document of the server. In XML, the items of a list `names` are elements called `name`, and those of any other list are
 * called `item`.
 */
export function writeDocument(
  root: string,
  doc: DocumentValue,
  variant: Variant | undefined,
): Representation {
  const { type, mark } = variant ?? xml;
  return { type, body: mark === json.mark ? JSON.stringify(doc) : writeXml(root, doc, itemName) };
}

function itemName(list: string): string {
  return list.endsWith('s') ? list.slice(0, -1) : 'item';
}

/**
 * Writes the document of an OPTIONS response in the variant that `accept` prefers, or in the default format.
 */
export function writeDescription(
  description: Description,
  accept: string | undefined,
  defaultFormat: DocumentFormat = 'xml',
): Representation {
  const { href, methods, reads, writes, more } = description;
  return writeDocument(
    'resource',
    { href, methods, reads, writes, ...more },
    selectPreferred(accept, documentVariantsFor(defaultFormat)) ?? variantOf[defaultFormat],
  );
}

const variantOf: Readonly<Record<DocumentFormat, Variant>> = { xml, json };

// A client that accepts a format also accepts problems in it.
const problemVariants = [
  { type: 'application/problem+xml; charset=utf-8', json: false },
  { type: 'application/problem+json', json: true },
  { ...xml, json: false },
  { ...textXml, json: false },
  { ...json, json: true },
] as const;

const problemVariantsJson = [...problemVariants].sort((one, other) => Number(other.json) - Number(one.json));

/**
 * Writes a problem document (RFC 9457) in the format that `accept` prefers, or in the default format. The document of another API
 * replaces it, whatever `accept` prefers. Never fails, whatever text the problem contains.
 * @param instance identifies the occurrence (§3.1.5): the path of the request
 * @param basePath the path prefix that a proxy removes
 */
export function writeProblem(
  problem: Problem,
  instance: string,
  accept: string | undefined,
  defaultFormat: DocumentFormat = 'xml',
  basePath = '',
): Representation {
  const { document } = problem;
  if (document !== undefined) return { type: document.type, body: writeForeignDocument(document) };
  const variants = defaultFormat === 'xml' ? problemVariants : problemVariantsJson;
  const members = listMembers(problem, instance, basePath);
  if (selectPreferred(accept, variants)?.json ?? defaultFormat === 'json')
    return { type: 'application/problem+json', body: JSON.stringify(members) };
  // RFC 9457 Appendix B
  const body = writeXml('problem', members, () => 'i', ` xmlns="${namespace}"`);
  return { type: 'application/problem+xml; charset=utf-8', body };
}

/** The namespace of problem documents in XML (RFC 9457 Appendix B), which is still named after RFC 7807. */
const namespace = 'urn:ietf:rfc:7807';

/** Writes a document of another API, XML with a declaration. Never fails, whatever text it contains. */
function writeForeignDocument({ root, body: content }: ForeignDocument): string {
  if (root === undefined) return JSON.stringify(content);
  return `<?xml version="1.0" encoding="UTF-8"?>\n${writeXml(root, content, () => 'item')}`;
}

function listMembers(
  problem: Problem,
  instance: string,
  basePath: string,
): Readonly<Record<string, ProblemMember>> {
  const { type, title, status, detail, members } = problem;
  const standard = { type: `${basePath}/problems/${type}`, title, status, detail, instance };
  // The standard members come first, and a problem's own members cannot replace them.
  return { ...standard, ...members, ...standard };
}

/**
 * Writes a value as XML. Members become elements; the items of an array become child elements with the name that `item` returns for
 * that of the array. U+FFFD replaces characters that XML does not allow, so that writing never fails.
 */
function writeXml(name: string, doc: DocumentValue, item: (array: string) => string, declared = ''): string {
  return `<${name}${declared}>${writeContent(name, doc, item)}</${name}>`;
}

function writeContent(name: string, doc: DocumentValue, item: (array: string) => string): string {
  if (typeof doc !== 'object') return escapeText(toRepresentable(String(doc)));
  if (isArray(doc)) return doc.map((value) => writeXml(item(name), value, item)).join('');
  return Object.entries(doc)
    .map(([member, value]) => writeXml(member, value, item))
    .join('');
}

function isArray(doc: DocumentValue): doc is readonly DocumentValue[] {
  return Array.isArray(doc);
}
