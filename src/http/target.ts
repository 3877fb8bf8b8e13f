import { isValidHost } from './host.ts';
import { Problem } from './problem.ts';
import { isEscape, isPathCharacter, isQueryCharacter, isUnreserved } from './syntax/uri-character.ts';

const hash = 0x23;
const percent = 0x25;
const slash = 0x2f;
const question = 0x3f;

/** An origin form without escapes (RFC 3986 §3.3, §3.4), which nearly every target is. */
const plainOriginForm = /^\/[\w\-.~!$&'()*+,;=:@/]*(?:\?[\w\-.~!$&'()*+,;=:@/?[\]{}|^`]*)?$/;

/** A request target, taken apart. */
export interface Target {
  /**
   * The path with percent-encoded unreserved octets decoded and the other escapes in upper case; nothing else is
   * changed: `%2F` stays, dot segments and double slashes too. `*` for the asterisk form.
   */
  readonly path: string;
  /** The segments after the leading slash, decoded: `['']` for `/`, `['a', '']` for `/a/`, none for `*`. */
  readonly segments: readonly string[];
  /** The query as sent, without its question mark; '' when there is none. */
  readonly search: string;
  /** Whether it is the server as a whole that is meant (RFC 9112 §3.2.4). */
  readonly asterisk: boolean;
}

/**
 * Reads a request target in origin form, absolute form or, with OPTIONS, asterisk form (RFC 9112 §3.2). Throws the
 * Problem `malformed-target` for everything else. Each octet of the target is one character.
 */
export function parseTarget(target: string, method: string): Target {
  if (plainOriginForm.test(target)) return parted(target, 0, queryStart(target), false);
  if (target.charCodeAt(0) === slash) return takeApart(target, 0);
  if (target !== '*') return parseAbsoluteForm(target, method);
  if (method === 'OPTIONS') return asteriskForm();
  throw new Problem('malformed-target', 'The target * goes with OPTIONS only.');
}

function asteriskForm(): Target {
  return { path: '*', segments: [], search: '', asterisk: true };
}

/** RFC 9112 §3.2.2. The authority must be a host with or without a port, never with user information. */
function parseAbsoluteForm(target: string, method: string): Target {
  const scheme = /^https?:\/\//i.exec(target)?.[0];
  if (scheme === undefined)
    throw new Problem('malformed-target', 'The target is neither a path nor an http or https URI.');
  const end = authorityEnd(target, scheme.length);
  if (!isValidHost(target.slice(scheme.length, end)))
    throw new Problem(
      'malformed-target',
      'The authority of the target is not a host with or without a port.',
    );
  // An absolute form without path and query is the asterisk form (RFC 9112 §3.2.4).
  if (end === target.length && method === 'OPTIONS') return asteriskForm();
  return takeApart(target, end);
}

function authorityEnd(target: string, start: number): number {
  let at = start;
  while (at < target.length) {
    const code = target.charCodeAt(at);
    if (code === slash || code === question || code === hash) return at;
    at += 1;
  }
  return at;
}

/** The path from `start` on, with a slash in front or empty, and the query behind it. */
function takeApart(target: string, start: number): Target {
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
  return parted(target, start, at, escaped);
}

function queryStart(target: string): number {
  const at = target.indexOf('?');
  return at < 0 ? target.length : at;
}

/** What has been checked: the path from `start` to `end`, then the query. */
function parted(target: string, start: number, end: number, escaped: boolean): Target {
  const sent = end === start ? '/' : target.slice(start, end);
  const path = escaped ? normalized(sent) : sent;
  const segments = segmentsOf(path);
  return {
    path,
    segments: escaped ? segments.map(decoded) : segments,
    search: target.slice(end + 1),
    asterisk: false,
  };
}

/** What stands between the slashes after the first one: faster than `split` for the few that there are. */
function segmentsOf(path: string): string[] {
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

/** RFC 3986 §6.2.2.1 and §6.2.2.2 */
function normalized(path: string): string {
  return path.replace(/%../g, (sent) => {
    const octet = Number.parseInt(sent.slice(1), 16);
    return isUnreserved(octet) ? String.fromCharCode(octet) : sent.toUpperCase();
  });
}

function decoded(segment: string, index: number): string {
  if (!segment.includes('%')) return segment;
  try {
    return decodeURIComponent(segment);
  } catch {
    throw new Problem('malformed-target', `Segment ${index + 1} of the path does not decode to UTF-8.`);
  }
}

function unexpected(target: string, at: number): Problem {
  const code = target.charCodeAt(at);
  if (code === hash) return malformed(at, 'A fragment is not part of a target: # stands in it');
  const visible = code > 0x20 && code < 0x7f;
  const name = visible ? target.charAt(at) : `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
  return malformed(at, `The character ${name} must be percent-encoded`);
}

function malformed(at: number, fault: string): Problem {
  const position = at + 1;
  return new Problem('malformed-target', `${fault} (position ${position}).`, { members: { position } });
}
