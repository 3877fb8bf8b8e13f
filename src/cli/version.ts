import { readFileSync } from 'node:fs';

/** The version that the package.json in the package's own folder says. */
export function version(root: URL): string {
  const text = readFileSync(new URL('package.json', root), 'utf8');
  const about: unknown = JSON.parse(text);
  if (typeof about === 'object' && about !== null && 'version' in about) return String(about.version);
  throw new Error('package.json says no version');
}
