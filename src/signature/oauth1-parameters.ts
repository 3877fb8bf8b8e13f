// The parameters of OAuth 1.0a as they are sent (RFC 5849 §3.5). Each character of a string is one octet: a signed request may
// contain octets that are not UTF-8, and decoding would change them.

/** A decoded parameter. */
export type Parameter = readonly [name: string, value: string];

const percent = 0x25;
const digits = '0123456789ABCDEF';
const isUnreserved = Array.from({ length: 256 }, (_, octet) => /[\w.~-]/.test(String.fromCharCode(octet)));

/** Percent-encodes all octets but the unreserved ones of RFC 3986, with upper-case digits (RFC 5849 §3.6). */
export function encodeOctets(octets: string): string {
  if (/^[\w.~-]*$/.test(octets)) return octets;
  // Parameters that were encoded before have no other characters. This takes a third of the time.
  if (/^[\w.~%=&-]*$/.test(octets))
    return octets.replaceAll('%', '%25').replaceAll('=', '%3D').replaceAll('&', '%26');
  // A form of an unauthenticated client may have a million of them, and `replace` with a function takes five times as long.
  const encoded = Buffer.allocUnsafe(octets.length * 3);
  let end = 0;
  for (const octet of Buffer.from(octets, 'latin1')) {
    if (isUnreserved[octet] === true) encoded[end++] = octet;
    else {
      encoded[end++] = percent;
      encoded[end++] = digits.charCodeAt(octet >> 4);
      encoded[end++] = digits.charCodeAt(octet & 15);
    }
  }
  return encoded.toString('latin1', 0, end);
}

/** Returns whether a text is ASCII, so that each character is one octet in UTF-8. */
export function isAscii(text: string): boolean {
  return /^[\0-\x7f]*$/.test(text);
}

/** Returns the UTF-8 octets of a text. */
export function toOctets(text: string): string {
  if (isAscii(text)) return text;
  return Buffer.from(text, 'utf8').toString('latin1');
}

/** Decodes `%XX` and leaves everything else as it is. Returns undefined if two hexadecimal digits do not follow a percent sign. */
export function decodeOctets(encoded: string): string | undefined {
  if (!encoded.includes('%')) return encoded;
  if (/%(?![0-9A-Fa-f]{2})/.test(encoded)) return undefined;
  return encoded.replace(/%(..)/g, (_, digits) => String.fromCharCode(Number.parseInt(digits, 16)));
}

/** Parses a query or a form, in which `+` is a space, in the order sent. Returns undefined if a percent-encoding is malformed. */
export function parseFormOctets(octets: string): Parameter[] | undefined {
  const parameters: Parameter[] = [];
  for (const pair of octets.split('&')) {
    if (pair === '') continue;
    const equals = pair.indexOf('=');
    const name = decodeOctets(replacePlus(equals < 0 ? pair : pair.slice(0, equals)));
    const value = decodeOctets(replacePlus(equals < 0 ? '' : pair.slice(equals + 1)));
    if (name === undefined || value === undefined) return undefined;
    parameters.push([name, value]);
  }
  return parameters;
}

function replacePlus(octets: string): string {
  return octets.replaceAll('+', ' ');
}

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
