/** Writes problem documents (RFC 9457). */
import type { ForeignDocument, Problem, ProblemMember } from '../http/problem.ts';
import { writeDocumentJson, writeDocumentXml } from './document-writer.ts';

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
export function writeForeignDocument({ root, body: content }: ForeignDocument): string {
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
