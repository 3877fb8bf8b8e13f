/** Writes the server's own documents: descriptions, problems (RFC 9457) and those of other APIs. */
import { selectPreferred } from '../http/headers/accept.ts';
import type { ForeignDocument, Problem, ProblemMember } from '../http/problem.ts';
import type { Description } from '../pipeline/options-response.ts';
import type { DocumentFormat, Representation, Variant } from '../pipeline/resource.ts';
import { type DocumentValue, writeDocumentJson, writeDocumentXml } from './document-writer.ts';

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
  if (mark === json.mark) return { type, body: writeDocumentJson(doc) };
  return { type, body: writeDocumentXml(root, doc, { item: itemName }) };
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
 * replaces it, whatever `accept` prefers.
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
  if (selectPreferred(accept, variants)?.json ?? defaultFormat === 'json') {
    return { type: 'application/problem+json', body: writeProblemJson(problem, instance, basePath) };
  }
  return {
    type: 'application/problem+xml; charset=utf-8',
    body: writeProblemXml(problem, instance, basePath),
  };
}

/** The namespace of problem documents in XML (RFC 9457 Appendix B), which is still named after RFC 7807. */
const namespace = 'urn:ietf:rfc:7807';

/**
 * Writes a problem as XML (RFC 9457 Appendix B). Never fails, whatever text the problem contains.
 * @param instance identifies the occurrence (§3.1.5): the path of the request
 * @param basePath the path prefix that a proxy removes
 */
export function writeProblemXml(problem: Problem, instance: string, basePath = ''): string {
  return writeDocumentXml('problem', listMembers(problem, instance, basePath), {
    namespace,
    item: () => 'i',
  });
}

/** Writes a problem as JSON (RFC 9457 §3). */
export function writeProblemJson(problem: Problem, instance: string, basePath = ''): string {
  return writeDocumentJson(listMembers(problem, instance, basePath));
}

/** Writes a document of another API, XML with a declaration. Never fails, whatever text it contains. */
function writeForeignDocument({ root, body: content }: ForeignDocument): string {
  if (root === undefined) return writeDocumentJson(content);
  return `<?xml version="1.0" encoding="UTF-8"?>\n${writeDocumentXml(root, content)}`;
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
