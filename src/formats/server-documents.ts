import { selectPreferred } from '../http/headers/accept.ts';
import type { Problem } from '../http/problem.ts';
import type { Description } from '../pipeline/options-response.ts';
import type { DocumentFormat, Representation, Variant } from '../pipeline/resource.ts';
import { type DocumentValue, writeDocumentJson, writeDocumentXml } from './document-writer.ts';
import { writeForeignDocument, writeProblemJson, writeProblemXml } from './problem.ts';

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
