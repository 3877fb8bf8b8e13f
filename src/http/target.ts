import { isValidHost } from './host.ts';
import { Problem } from './problem.ts';
import { decodeText, normalizeEscapes } from './syntax/percent.ts';
import { isEscape, isPathCharacter, isQueryCharacter } from './syntax/uri-character.ts';

const hash = 0x23;
const percent = 0x25;
const slash = 0x2f;
const question = 0x3f;

/** An origin form without percent-encoding (RFC 3986 §3.3, §3.4), as nearly every target is. */
const plainOriginForm = /^\/[\w\-.~!$&'()*+,;=:@/]*(?:\?[\w\-.~!$&'()*+,;=:@/?[\]{}|^`]*)?$/;

/** A parsed request target. */
export interface Target {
  /**
   * The path with percent-encoded unreserved octets decoded, and other escapes in upper case. Nothing else is changed: `%2F`, dot
   * segments and double slashes stay. `*` for the asterisk form.
   */
  readonly path: string;
  /** The decoded segments after the leading slash: `['']` for `/`, `['a', '']` for `/a/`, none for `*`. */
  readonly segments: readonly string[];
  /** The query as sent, without its question mark; '' if there is none. */
  readonly search: string;
  /** Whether the target is the server as a whole (RFC 9112 §3.2.4). */
  readonly asterisk: boolean;
}

/**
 * Parses a request target in origin form, absolute form or, with OPTIONS, asterisk form (RFC 9112 §3.2). Each octet of the target
 * is one character. Throws the Problem `malformed-target` for anything else.
 */
export function parseTarget(target: string, method: string): Target {
  if (plainOriginForm.test(target)) return split(target, 0, queryStart(target), false);
  if (target.charCodeAt(0) === slash) return validateAndSplit(target, 0);
  if (target !== '*') return parseAbsoluteForm(target, method);
  if (method === 'OPTIONS') return asteriskForm();
  throw new Problem('malformed-target', 'The target * is valid with OPTIONS only.');
}

function asteriskForm(): Target {
  return { path: '*', segments: [], search: '', asterisk: true };
}

/** Parses the absolute form (RFC 9112 §3.2.2). The authority must be a host with an optional port, without user information. */
function parseAbsoluteForm(target: string, method: string): Target {
  const end = originEnd(target);
  const authority = authorityOf(target);
  if (authority === undefined)
    throw new Problem('malformed-target', 'The target is neither a path nor an http or https URI.');
  if (!isValidHost(authority))
    throw new Problem('malformed-target', 'The authority of the target is not a host with an optional port.');
  // An absolute form without path and query is the asterisk form (RFC 9112 §3.2.4).
  if (end === target.length && method === 'OPTIONS') return asteriskForm();
  return validateAndSplit(target, end);
}

/** The parts of a request target as sent. */
interface TargetParts {
  /** Scheme and authority of the absolute form (RFC 9112 §3.2.2): `http://a.example`; '' in any other form. */
  readonly origin: string;
  /** `/` for an absolute form without a path. */
  readonly path: string;
  /** The query without its question mark; '' if there is none. */
  readonly query: string;
}

/** Splits a request target without checking it. */
export function splitTarget(target: string): TargetParts {
  const end = originEnd(target);
  const question = queryStart(target);
  return {
    origin: target.slice(0, end),
    path: target.slice(end, question) || '/',
    query: target.slice(question + 1),
  };
}

/** Returns where scheme and authority of an absolute form end; 0 for any other form. */
function originEnd(target: string): number {
  return target.charCodeAt(0) === slash ? 0 : (/^https?:\/\/[^/?#]*/i.exec(target)?.[0].length ?? 0);
}

/** Returns the query of a request target without its question mark; '' if there is none. */
export function findQuery(target: string): string {
  return target.slice(queryStart(target) + 1);
}

/** Returns the authority that a request addresses: that of an absolute form, or else Host (RFC 9112 §3.2.2); '' without both. */
export function addressedAuthority(
  target: string,
  fields: { get(name: string): string | undefined },
): string {
  return authorityOf(target) ?? fields.get('host') ?? '';
}

/** Returns the authority of an absolute form; undefined for any other form. */
export function authorityOf(target: string): string | undefined {
  const end = originEnd(target);
  return end === 0 ? undefined : target.slice(target.indexOf('/') + 2, end);
}

/** Validates and splits what follows the authority: a path, which begins with a slash or is empty, and a query. */
function validateAndSplit(target: string, start: number): Target {
  let escaped = false;
  let at = start;
  while (at < target.length) {
    const code = target.charCodeAt(at);
    if (isPathCharacter(code)) at += 1;
    else if (code === percent) {
      at = escapeEnd(target, at);
      escaped = true;
    } else if (code === question) break;
    else throw unexpected(target, at);
  }
  checkQuery(target, at + 1);
  return split(target, start, at, escaped);
}

function queryStart(target: string): number {
  const at = target.indexOf('?');
  return at < 0 ? target.length : at;
}

/** Splits a validated target: the path from `start` to `end`, then the query. */
function split(target: string, start: number, end: number, escaped: boolean): Target {
  const sent = end === start ? '/' : target.slice(start, end);
  const path = escaped ? normalizeEscapes(sent) : sent;
  const segments = splitSegments(path);
  return {
    path,
    segments: escaped ? segments.map(decodeSegment) : segments,
    search: target.slice(end + 1),
    asterisk: false,
  };
}

/** Returns the parts between slashes, after the first slash. Faster than `String.prototype.split` for few parts. */
function splitSegments(path: string): string[] {
  const segments: string[] = [];
  let start = 1;
  for (let end = path.indexOf('/', 1); end >= 0; end = path.indexOf('/', start)) {
    segments.push(path.slice(start, end));
    start = end + 1;
  }
  segments.push(path.slice(start));
  return segments;
}

function checkQuery(target: string, start: number): void {
  let at = start;
  while (at < target.length) {
    const code = target.charCodeAt(at);
    if (isQueryCharacter(code)) at += 1;
    else if (code === percent) at = escapeEnd(target, at);
    else throw unexpected(target, at);
  }
}

function escapeEnd(target: string, at: number): number {
  if (isEscape(target, at)) return at + 3;
  throw malformed(at, 'The percent sign is not followed by two hexadecimal digits');
}

function decodeSegment(segment: string, index: number): string {
  const decoded = segment.includes('%') ? decodeText(segment) : segment;
  if (decoded !== undefined) return decoded;
  throw new Problem('malformed-target', `Segment ${index + 1} of the path does not decode to UTF-8.`);
}

function unexpected(target: string, at: number): Problem {
  const code = target.charCodeAt(at);
  if (code === hash) return malformed(at, 'A target has no fragment, but contains #');
  const visible = code > 0x20 && code < 0x7f;
  const name = visible ? target.charAt(at) : `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
  return malformed(at, `The character ${name} must be percent-encoded`);
}

function malformed(at: number, fault: string): Problem {
  const position = at + 1;
  return new Problem('malformed-target', `${fault} (position ${position}).`, { members: { position } });
}
