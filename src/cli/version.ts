import { readFileSync } from 'node:fs';

/** The package's version, from the package.json that lies two directories up from here, in src and in dist. */
export function version(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  const about: unknown = JSON.parse(text);
  if (typeof about === 'object' && about !== null && 'version' in about) return String(about.version);
  throw new Error('package.json says no version');
}
