import { isUnprefixedName } from '../xml/name-form.ts';
import { DeclarationError } from './error.ts';

/**
 * Takes a name for an element or an attribute. Throws DeclarationError for what is no XML name, has a colon,
 * begins with "xml" (XML 1.0 §2.3 keeps those for itself, `xmlns` among them), or is `__proto__`.
 */
export function elementName(source: string, path: string): string {
  if (source === '__proto__') throw new DeclarationError('name', path, 'cannot be a name');
  if (!isUnprefixedName(source)) {
    throw new DeclarationError('name', path, 'must be an XML name without a colon');
  }
  if (/^xml/i.test(source)) {
    throw new DeclarationError('name', path, 'names that begin with "xml" belong to XML itself');
  }
  return source;
}
