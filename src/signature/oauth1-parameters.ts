// The parameters of OAuth 1.0a as they are sent (RFC 5849 §3.5). Each character of a string is one octet: what is signed need
// not be UTF-8, and decoding it as that would change it.

/** A parameter, decoded. */
export type Parameter = readonly [name: string, value: string];

const percent = 0x25;
const digits = '0123456789ABCDEF';
const isUnreserved = Array.from({ length: 256 }, (_, octet) => /[\w.~-]/.test(String.fromCharCode(octet)));

/** Encodes octets as RFC 5849 §3.6 has it: all but the unreserved ones of RFC 3986, in upper case. */
export function encodeOctets(octets: string): string {
  if (/^[\w.~-]*$/.test(octets)) return octets;
  // A form may have a million, and whoever sends it is nobody yet: a replacement for each takes five times as long.
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

/** Whether each character is one of ASCII, and so one octet in UTF-8 and the same in a text and as octets. */
export function isAscii(text: string): boolean {
  return /^[\0-\x7f]*$/.test(text);
}

/** The octets of a text in UTF-8. */
export function octetsOf(text: string): string {
  if (isAscii(text)) return text;
  return Buffer.from(text, 'utf8').toString('latin1');
}

/** Decodes `%XX`, and leaves everything else as it is; undefined where a percent sign is not followed by two digits. */
export function decodeOctets(encoded: string): string | undefined {
  if (!encoded.includes('%')) return encoded;
  if (/%(?![0-9A-Fa-f]{2})/.test(encoded)) return undefined;
  return encoded.replace(/%(..)/g, (_, digits) => String.fromCharCode(Number.parseInt(digits, 16)));
}

/** Reads a query or a form, in which `+` is a space too, in the order sent; undefined where an escape is malformed. */
export function parseFormOctets(octets: string): Parameter[] | undefined {
  const parameters: Parameter[] = [];
  for (const pair of octets.split('&')) {
    if (pair === '') continue;
    const equals = pair.indexOf('=');
    const name = decodeOctets(spaced(equals < 0 ? pair : pair.slice(0, equals)));
    const value = decodeOctets(spaced(equals < 0 ? '' : pair.slice(equals + 1)));
    if (name === undefined || value === undefined) return undefined;
    parameters.push([name, value]);
  }
  return parameters;
}

function spaced(octets: string): string {
  return octets.replaceAll('+', ' ');
}

/** The realm as RFC 9110 §11.5 has it, with its own way of quoting; it is no part of what is signed. */
const realmForm = /realm="(?:[^"\\]|\\.)*"/iy;
/** A name and a value in the encoding of RFC 5849 §3.6, whose characters need no quoting. */
const parameterForm = /([A-Za-z0-9\-._~%]+)="([A-Za-z0-9\-._~%]*)"/y;
const separatorForm = /[ \t]*(?:,[ \t]*)+/y;

/**
 * Reads what stands behind `OAuth` in the Authorization field (RFC 5849 §3.5.1): its parameters in the order sent, without
 * the realm. Gives the fault as a sentence where it is malformed; nothing of what was sent is in it.
 */
export function parseHeaderParameters(rest: string): Parameter[] | string {
  const parameters: Parameter[] = [];
  let realms = 0;
  let at = endOf(separatorForm, rest, 0) ?? 0;
  while (at < rest.length) {
    const realmEnd = endOf(realmForm, rest, at);
    if (realmEnd === undefined) {
      const parameter = parameterAt(rest, at);
      if (typeof parameter === 'string') return parameter;
      parameters.push(parameter);
    } else realms += 1;
    at = realmEnd ?? parameterForm.lastIndex;
    if (at === rest.length) break;
    const next = endOf(separatorForm, rest, at);
    if (next === undefined) return `a comma is expected at position ${at + 1}`;
    at = next;
  }
  return realms > 1 ? 'the realm stands there twice' : parameters;
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

/** Where the form that begins at `at` ends; undefined where there is none. */
function endOf(form: RegExp, text: string, at: number): number | undefined {
  form.lastIndex = at;
  return form.test(text) ? form.lastIndex : undefined;
}
