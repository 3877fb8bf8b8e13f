import { octetsOf } from '../http/syntax/octets.ts';

/** Forms in which clients send a signature by mistake, whatever the scheme expects. None of them is a signature. */
const forms: readonly (readonly [form: RegExp, cause: string])[] = [
  [
    /^\s*(?:\{\{.*\}\}|\$\{.*\}|<[^>]*>|%[A-Z_]+%|\$[A-Z_]+)\s*$/s,
    'it is a placeholder that was not replaced',
  ],
  [/^(?:undefined|null|none|nil|nan|true|false)$/i, 'it is a word for no value'],
  [/^b'.*'$|^b".*"$/s, "it is the notation of bytes in Python; decode them to text (b'…')"],
  [
    /^(?:\[B@[0-9a-f]+|System\.Byte\[\]|<Buffer.*|\[object .*\])$/s,
    'it is the name of an object instead of its bytes',
  ],
  [/^\{"type":"Buffer"|^\[? *-?\d{1,3}(?:, *-?\d{1,3}){7,} *\]?$/, 'it is a list of bytes'],
  [/^[0-9a-f]{2}(?:[-: ][0-9a-f]{2}){15,}$/i, 'its hexadecimal digits are separated'],
  [
    /^(?:[\w-]+ *)?\(stdin\) *= *|^[0-9a-f]{32,} +\*?-$/i,
    'it is the output of a tool, with more than the signature',
  ],
  [/^0x[0-9a-f]{32,}$/i, 'it begins with 0x'],
  [/^\S{0,8}\*{3}\**\S{0,8}$/, 'it is masked, as a page shows it'],
  [/^$/, 'it is empty'],
  [/^[ \t]/, 'it begins with a space'],
  [/%[0-9A-F]{2}/i, 'it is percent-encoded'],
  [/^".*"$/s, 'it is in quotes'],
  [/(?:\\[nr]|[\r\n])$/, 'it ends with a line feed'],
  [/^[A-Za-z][A-Za-z0-9-]{1,15}[=:](?=[\w+/-]{20})/, 'it has a prefix that is not expected here'],
  [/\ufffd|77\+9|\u00ef\u00bf\u00bd/, 'bytes were turned into text before they were encoded'],
];

/** Returns the likely cause of a malformed signature that no scheme expects; undefined if its form suggests none. */
export function describeForm(text: string): string | undefined {
  if (text.length > 1024) return undefined;
  return forms.find(([form]) => form.test(text))?.[1] ?? describeSecondEncoding(text);
}

/** Returns the likely cause of bytes that are not in canonical base64 (RFC 4648 §3.5); undefined if their form suggests none. */
export function describeBase64(text: string): string | undefined {
  const cause = describeForm(text);
  if (cause !== undefined) return cause;
  if (/[_-]/.test(text) && /^[\w-]+={0,2}$/.test(text))
    return 'it is base64url; base64 with "+" and "/" is expected';
  if (/\s/.test(text)) return 'it is wrapped: there is white space in it';
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(text)) return undefined;
  return text.length % 4 === 0 ? 'the bits before the padding are not zero' : 'the padding "=" is missing';
}

/** Describes base64 that contains hexadecimal or base64 again; undefined if it is none. */
function describeSecondEncoding(text: string): string | undefined {
  if (!/^[A-Za-z0-9+/_-]{40,}={0,2}$/.test(text)) return undefined;
  const inner = octetsOf(Buffer.from(text, 'base64'));
  if (/^(?:[0-9a-f]{2}){16,64}$/i.test(inner)) return 'it is hexadecimal, encoded in base64 again';
  return /^[A-Za-z0-9+/]{22,86}={1,2}$/.test(inner)
    ? 'it is base64 that was encoded in base64 again'
    : undefined;
}
