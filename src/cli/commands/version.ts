import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Returns the version in package.json.
 *
 * @param root the folder of the package, a path or a `file:` URL
 */
export function version(root: string | URL): string {
  const file = typeof root === 'string' ? join(root, 'package.json') : new URL('package.json', root);
  const text = readFileSync(file, 'utf8');
  const about: unknown = JSON.parse(text);
  if (typeof about === 'object' && about !== null && 'version' in about) return String(about.version);
  throw new Error('package.json has no version');
}
