import { decodeText } from './syntax/percent.ts';

/** Describes the usual differences of two URIs, in parentheses; empty if there is none of them. */
export function uriDifference(sent: string, expected: string): string {
  const differences: readonly (readonly [what: string, normalize: (uri: string) => string])[] = [
    ['the trailing slash', (uri) => uri.replace(/\/$/, '')],
    ['the letter case', (uri) => uri.toLowerCase()],
    ['http instead of https, or the reverse', (uri) => uri.replace(/^https?:/i, '')],
    ['the port', (uri) => uri.replace(/^([a-z]+:\/\/[^/:?#]*):\d+/i, '$1')],
    ['the query', (uri) => uri.replace(/\?.*$/s, '')],
    ['the percent-encoding', (uri) => decodeText(uri) ?? uri],
    ['localhost instead of 127.0.0.1, or the reverse', (uri) => uri.replace('127.0.0.1', 'localhost')],
  ];
  const found = differences.find(([, normalize]) => normalize(sent) === normalize(expected));
  return found === undefined ? '' : ` (different: ${found[0]})`;
}

/** Returns the usual difference of a URI from the one that is nearest, as `uriDifference` does. */
export function nearestUriDifference(sent: string, expected: readonly string[]): string {
  return expected.map((each) => uriDifference(sent, each)).find((each) => each !== '') ?? '';
}
