import { listElements } from '../syntax/token.ts';

/**
 * Parses a Content-Encoding value (RFC 9110 §8.4). Returns `identity` for none, and undefined for an unsupported coding or several.
 */
export function parseContentCoding(value: string | undefined): 'identity' | 'gzip' | undefined {
  if (value === undefined) return 'identity';
  let coding: 'identity' | 'gzip' = 'identity';
  for (const element of listElements(value)) {
    const name = element.toLowerCase();
    if (name === 'identity') continue;
    // x-gzip is equivalent (RFC 9110 §8.4.1.3).
    if (coding === 'gzip' || (name !== 'gzip' && name !== 'x-gzip')) return undefined;
    coding = 'gzip';
  }
  return coding;
}
