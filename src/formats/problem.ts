/** Problem documents (RFC 9457). */
import type { Problem, ProblemMember } from '../http/problem.ts';
import { writeDocumentJson, writeDocumentXml } from './document-writer.ts';

/** The namespace of problem documents in XML (RFC 9457 Appendix B); it kept the number of the RFC before. */
const namespace = 'urn:ietf:rfc:7807';

/**
 * Writes a problem as XML (RFC 9457 Appendix B). Never fails, whatever text the problem holds.
 * @param instance what identifies this occurrence (§3.1.5): the path of the request
 */
export function writeProblemXml(problem: Problem, instance: string): string {
  return writeDocumentXml('problem', membersOf(problem, instance), { namespace, item: () => 'i' });
}

/** Writes a problem as JSON (RFC 9457 §3). */
export function writeProblemJson(problem: Problem, instance: string): string {
  return writeDocumentJson(membersOf(problem, instance));
}

function membersOf(problem: Problem, instance: string): Readonly<Record<string, ProblemMember>> {
  const { type, title, status, detail, members } = problem;
  const standard = { type: `/problems/${type}`, title, status, detail, instance };
  // They come first, and nothing that a problem adds takes the place of one.
  return { ...standard, ...members, ...standard };
}
