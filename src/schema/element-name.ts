import { isUnprefixedName } from '../xml/name-form.ts';
import { DeclarationError } from './error.ts';

/**
 * Checks the name of an element or an attribute and returns it.
 * @throws {DeclarationError} if it is not an XML name, has a colon, begins with "xml" (reserved by XML 1.0
 * §2.3; `xmlns` is one), or is `__proto__`
 */
export function elementName(source: string, path: string): string {
  if (source === '__proto__') throw new DeclarationError('name', path, 'is not allowed as a name');
  if (!isUnprefixedName(source)) {
    throw new DeclarationError('name', path, 'must be an XML name without a colon');
  }
  if (/^xml/i.test(source)) {
    throw new DeclarationError('name', path, 'names that begin with "xml" are reserved by XML');
  }
  return source;
}
