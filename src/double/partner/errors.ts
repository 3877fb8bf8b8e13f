// Problems in the form that the document of a partner has for their status.

import type { Problem } from '../../http/problem.ts';
import { isObject } from './located.ts';

/** Members with a sentence, in lower case and without underscores. */
const sentences: readonly string[] = [
  'message',
  'messages',
  'msg',
  'detail',
  'details',
  'description',
  'reason',
  'err',
  'errors',
  'errormessage',
  'errormsg',
  'errordescription',
  'errordetail',
  'errordetails',
  'developermessage',
  'usermessage',
  'displaymessage',
  'longmessage',
];

/** Members with a code, and with the status, written in the same way. */
const codes: readonly string[] = ['code', 'errorcode', 'type'];
const statuses: readonly string[] = ['status', 'statuscode', 'httpstatus'];

/** Returns what a member says of why a request failed; nothing for one that says nothing of it. `others` are the names beside it. */
function reasonFor(
  name: string,
  others: readonly string[],
  { type, title, detail, status }: Problem,
): readonly (string | number)[] {
  const plain = normalizeName(name);
  if (sentences.includes(plain)) return [detail];
  switch (plain) {
    case 'title':
      return [title];
    case 'error':
      // Without a sentence beside it, it is the sentence; otherwise it is a code (RFC 6749 §5.2).
      return others.some((each) => sentences.includes(normalizeName(each)))
        ? [type, status, String(status)]
        : [detail, type, status, String(status)];
    default:
      if (codes.includes(plain)) return [type, status, String(status)];
      return statuses.includes(plain) ? [status, String(status)] : [];
  }
}

function normalizeName(name: string): string {
  return name.toLowerCase().replaceAll('_', '');
}

/** Returns whether a member of an error says why the request failed. */
export function saysReason(name: string): boolean {
  const plain = normalizeName(name);
  return (
    sentences.includes(plain) ||
    codes.includes(plain) ||
    statuses.includes(plain) ||
    ['title', 'error'].includes(plain)
  );
}

/** How deep members are looked for: `errors[0].message`. */
const deepest = 4;

/** How many values are tried: each is a check of the whole content, and a request without credentials is enough to cause them. */
const mostTries = 64;

/**
 * Returns the content of an error with the reason in its members, as far as its schema permits. In a long list the later
 * members keep what they have.
 *
 * @param allows returns whether the schema permits a content
 */
export function fillReason(
  content: unknown,
  problem: Problem,
  allows: (content: unknown) => boolean,
): unknown {
  let filled = content;
  let tries = 0;
  const replace = (path: readonly string[], value: string | number): boolean => {
    if (tries === mostTries) return false;
    tries += 1;
    const changed = withValue(filled, path, value);
    if (!allows(changed)) return false;
    filled = changed;
    return true;
  };
  const visit = (value: unknown, path: readonly string[]): void => {
    if (path.length > deepest || typeof value !== 'object' || value === null) return;
    const names = Object.keys(value);
    for (const [name, each] of Object.entries(value)) {
      const at = [...path, name];
      // An item of a list says what its list is called after.
      const called = Array.isArray(value) ? (path.at(-1) ?? '') : name;
      const isOfKind = (reason: string | number): boolean => typeof reason === typeof each;
      const isReplaced = reasonFor(called, names, problem)
        .filter(isOfKind)
        .some((reason) => replace(at, reason));
      if (!isReplaced) visit(each, at);
    }
  };
  visit(content, []);
  return filled;
}

/** Returns a copy of content with another value at a path. */
function withValue(content: unknown, [name, ...path]: readonly string[], value: string | number): unknown {
  if (name === undefined) return value;
  if (Array.isArray(content))
    return content.map((each, at) => (String(at) === name ? withValue(each, path, value) : each));
  return isObject(content) ? { ...content, [name]: withValue(content[name], path, value) } : content;
}
