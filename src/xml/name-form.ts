/** Matches nearly all names. Compiling the complete form would take longer than these tests. */
const simple = /^[A-Za-z_][A-Za-z0-9_.-]*$/;

/** NameStartChar and NameChar (XML 1.0 §2.3 [4], [4a]) without the colon (Namespaces in XML 1.0 §3 [4]). */
const start =
  'A-Z_a-z\\xc0-\\xd6\\xd8-\\xf6\\xf8-\\u02ff\\u0370-\\u037d\\u037f-\\u1fff\\u200c\\u200d\\u2070-\\u218f' +
  '\\u2c00-\\u2fef\\u3001-\\ud7ff\\uf900-\\ufdcf\\ufdf0-\\ufffd\\u{10000}-\\u{effff}';
const further = '\\-.0-9\\xb7\\u0300-\\u036f\\u203f\\u2040';
/** The complete form, compiled for the first name that is not simple. */
let form: RegExp | undefined;

/** Returns whether a text is an NCName, a name without a colon (Namespaces in XML 1.0 §3). */
export function isUnprefixedName(text: string): boolean {
  if (simple.test(text)) return true;
  form ??= new RegExp(`^[${start}][${start}${further}]*$`, 'u');
  return form.test(text);
}

/**
 * Returns whether a text is a QName: an NCName, or two that are separated by a colon (Namespaces in XML 1.0
 * §4).
 */
export function isQualifiedName(text: string): boolean {
  const colon = text.indexOf(':');
  return colon < 0
    ? isUnprefixedName(text)
    : isUnprefixedName(text.slice(0, colon)) && isUnprefixedName(text.slice(colon + 1));
}
