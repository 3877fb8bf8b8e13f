import { isUtf8 } from 'node:buffer';
import { isEscape } from './uri-character.ts';

/** The parameters of a form or a query, decoded, in the order sent; a name may stand more than once. */
export type Form = readonly (readonly [name: string, value: string])[];

/**
 * Reads `application/x-www-form-urlencoded` (WHATWG URL §5.1), each octet one character. Unlike there, nothing is mended:
 * undefined where a percent sign is not followed by two hexadecimal digits, or where something decodes to no UTF-8.
 */
export function parseForm(text: string): Form | undefined {
  const form: (readonly [string, string])[] = [];
  for (const pair of text.split('&')) {
    if (pair === '') continue;
    const equals = pair.indexOf('=');
    const name = decodeFormText(equals < 0 ? pair : pair.slice(0, equals));
    const value = decodeFormText(equals < 0 ? '' : pair.slice(equals + 1));
    if (name === undefined || value === undefined) return undefined;
    form.push([name, value]);
  }
  return form;
}

/** The parameters in the query of a request target, each octet of which is one character; undefined as above. */
export function parseQueryOf(target: string): Form | undefined {
  const question = target.indexOf('?');
  return question < 0 ? [] : parseForm(target.slice(question + 1));
}

/** Reads one name or value: `+` is a space, `%XX` an octet, and the octets are UTF-8. Undefined where they are not. */
export function decodeFormText(text: string): string | undefined {
  if (/^[\w.*-]*$/.test(text)) return text;
  const octets = Buffer.alloc(text.length);
  let length = 0;
  for (let at = 0; at < text.length; length += 1) {
    const escaped = text.charAt(at) === '%';
    if (escaped && !isEscape(text, at)) return undefined;
    const octet = escaped ? Number.parseInt(text.slice(at + 1, at + 3), 16) : text.charCodeAt(at);
    octets[length] = !escaped && octet === 0x2b ? 0x20 : octet;
    at += escaped ? 3 : 1;
  }
  const decoded = octets.subarray(0, length);
  return isUtf8(decoded) ? decoded.toString('utf8') : undefined;
}
