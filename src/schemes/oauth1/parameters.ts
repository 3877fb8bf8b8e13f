// The parameters of OAuth 1.0a in the Authorization field (RFC 5849 §3.5.1). Each character of a string is one octet.
import type { Parameter } from '../../http/form.ts';
import { decodeOctets } from '../../http/syntax/percent.ts';

/** The realm as a quoted string (RFC 9110 §11.5). The signature does not cover it. */
const realmForm = /realm="(?:[^"\\]|\\.)*"/iy;
/** A name, encoded as in RFC 5849 §3.6, and a value, in which some clients leave `+`, `/` and `=` of base64. */
const parameterForm = /([A-Za-z0-9\-._~%]+)="([A-Za-z0-9\-._~%+/=]*)"/y;
const separatorForm = /[ \t]*(?:,[ \t]*)+/y;

/**
 * Parses the credentials after the scheme `OAuth` (RFC 5849 §3.5.1): the parameters in the order sent, without the realm. If they
 * are malformed, returns an error message, which contains nothing of what was sent.
 */
export function parseHeaderParameters(rest: string): Parameter[] | string {
  const parameters: Parameter[] = [];
  let realms = 0;
  let at = findEnd(separatorForm, rest, 0) ?? 0;
  while (at < rest.length) {
    const realmEnd = findEnd(realmForm, rest, at);
    if (realmEnd === undefined) {
      const parameter = parameterAt(rest, at);
      if (typeof parameter === 'string') return parameter;
      parameters.push(parameter);
    } else realms += 1;
    at = realmEnd ?? parameterForm.lastIndex;
    if (at === rest.length) break;
    const next = findEnd(separatorForm, rest, at);
    if (next === undefined) return `a comma is expected at position ${at + 1}`;
    at = next;
  }
  return realms > 1 ? 'the realm is given twice' : parameters;
}

function parameterAt(rest: string, at: number): Parameter | string {
  parameterForm.lastIndex = at;
  const [, sentName = '', sentValue = ''] = parameterForm.exec(rest) ?? [];
  const name = decodeOctets(sentName);
  const value = decodeOctets(sentValue);
  if (sentName === '' || name === undefined || value === undefined)
    return `name="value" with both percent-encoded is expected at position ${at + 1}`;
  return [name, value];
}

/** Returns where the match of `form` that begins at `at` ends; undefined if there is none. */
function findEnd(form: RegExp, text: string, at: number): number | undefined {
  form.lastIndex = at;
  return form.test(text) ? form.lastIndex : undefined;
}

/** Returns whether a parameter is a protocol parameter (RFC 5849 §3.1). */
export function isProtocol([name]: Parameter): boolean {
  return name.startsWith('oauth_');
}
