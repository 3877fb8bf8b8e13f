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
  [/\ufffd|77\+9|\u00ef\u00bf\u00bd/, 'bytes were turned into text before they were encoded'],
];

/** Returns the likely cause of a malformed signature that no scheme expects; undefined if its form suggests none. */
export function describeForm(text: string): string | undefined {
  if (text.length > 1024) return undefined;
  return forms.find(([form]) => form.test(text))?.[1];
}
