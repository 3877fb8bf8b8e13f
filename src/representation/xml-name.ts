import { DeclarationError } from './declaration-error.ts';

const starts =
  'A-Z_a-z\\u00c0-\\u00d6\\u00d8-\\u00f6\\u00f8-\\u02ff\\u0370-\\u037d\\u037f-\\u1fff\\u200c\\u200d\\u2070-\\u218f' +
  '\\u2c00-\\u2fef\\u3001-\\ud7ff\\uf900-\\ufdcf\\ufdf0-\\ufffd\\u{10000}-\\u{effff}';
/** NCName (Namespaces in XML 1.0 §3): a Name (XML 1.0 §2.3) without a colon. */
const ncName = new RegExp(`^[${starts}][${starts}\\-.0-9\\u00b7\\u0300-\\u036f\\u203f\\u2040]*$`, 'u');

/**
 * Takes a name for an element or an attribute. Throws DeclarationError for what is no XML name, has a colon,
 * begins with "xml" (XML 1.0 §2.3 keeps those for itself, `xmlns` among them), or is `__proto__`.
 */
export function elementName(source: string, path: string): string {
  if (source === '__proto__') throw new DeclarationError('name', path, 'cannot be a name');
  if (!ncName.test(source)) {
    throw new DeclarationError('name', path, 'must be an XML name without a colon');
  }
  if (/^xml/i.test(source)) {
    throw new DeclarationError('name', path, 'names that begin with "xml" belong to XML itself');
  }
  return source;
}
