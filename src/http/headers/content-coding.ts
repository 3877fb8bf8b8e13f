import { listElements } from '../syntax/token.ts';

/**
 * Reads a Content-Encoding value (RFC 9110 §8.4): the coding to be undone, `identity` for none. Undefined for a
 * coding that is not known here, and for more than one.
 */
export function parseContentCoding(value: string | undefined): 'identity' | 'gzip' | undefined {
  if (value === undefined) return 'identity';
  let coding: 'identity' | 'gzip' = 'identity';
  for (const element of listElements(value)) {
    const name = element.toLowerCase();
    if (name === 'identity') continue;
    // x-gzip is the same coding (RFC 9110 §8.4.1.3).
    if (coding === 'gzip' || (name !== 'gzip' && name !== 'x-gzip')) return undefined;
    coding = 'gzip';
  }
  return coding;
}
