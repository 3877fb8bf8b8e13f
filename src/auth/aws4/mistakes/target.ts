// Canonical paths and queries that clients compute by mistake.
import {
  canonicalPairs,
  canonicalPath,
  comparePairs,
  decodeParameter,
  encodePath,
  splitTarget,
} from '../../../signature/aws4/canonical-request.ts';
import { signatureParameter } from '../../../signature/aws4/credentials.ts';
import { encodeOctets } from '../../../signature/oauth1-parameters.ts';
import type { Presented } from '../presented.ts';
import { maxTried, type PartMistake } from './mistake.ts';

const once = 'the path was encoded once; this service signs the path as sent, encoded again';
const twice = 'the path was encoded twice; this service signs it encoded once';
const unnormalized =
  'the path was not normalized; this service signs it without dot segments and repeated slashes';
const normalized = 'the path was normalized; this service signs dot segments and repeated slashes as sent';

/** Returns paths that are signed by mistake. */
export function pathMistakes({ request, path, rules }: Presented): PartMistake[] {
  const sent = splitTarget(request.target).path;
  const { normalizePath, doubleEncode } = rules;
  const decoded = decodeParameter(sent.replaceAll('+', '%2B'));
  return [
    [doubleEncode ? once : twice, canonicalPath(sent, { normalizePath, doubleEncode: !doubleEncode })],
    [
      normalizePath ? unnormalized : normalized,
      canonicalPath(sent, { normalizePath: !normalizePath, doubleEncode }),
    ],
    [
      'the path was normalized and encoded by the rules of other services',
      canonicalPath(sent, { normalizePath: !normalizePath, doubleEncode: !doubleEncode }),
    ],
    ['the path was signed decoded', decoded],
    ['the path was signed as sent, without encoding', sent],
    ['the path was encoded once more than it must be', encodePath(path)],
    ['the escapes of the path are in lower case', lowerCaseEscapes(path)],
    ['the slashes of the path were encoded', path.replaceAll('/', '%2F')],
    ['the path was signed without its first slash', path.slice(1)],
    ['the path was signed with a slash at its end', `${path}/`],
    ['the path was signed without the slash at its end', path.replace(/\/$/, '')],
    ['the path was signed with the query', request.target],
    ['the path "/" was signed in place of the path sent', '/'],
    ['the URL was signed in place of the path', `https://${request.fields.get('host') ?? ''}${path}`],
    ['the URL was signed in place of the path', `http://${request.fields.get('host') ?? ''}${path}`],
  ];
}

function lowerCaseEscapes(encoded: string): string {
  return encoded.replace(/%../g, (sent) => sent.toLowerCase());
}

/** Returns queries that are signed by mistake. */
export function queryMistakes({ request, presigned, query: canonical }: Presented): PartMistake[] {
  const sent = splitTarget(request.target).query;
  const all = canonicalPairs(sent);
  const pairs = presigned ? all.filter(([name]) => name !== signatureParameter) : all;
  const raw = sent.split('&').filter((pair) => !(presigned && pair.startsWith(`${signatureParameter}=`)));
  const join = (of: readonly (readonly [string, string])[]): string =>
    of.map(([name, value]) => `${name}=${value}`).join('&');
  const without = (omitted: string): string =>
    join(pairs.filter(([name]) => name !== omitted).sort(comparePairs));
  const lower = (text: string): string => text.toLowerCase();
  return [
    ['the parameters of the query are not sorted by name and value', join(pairs)],
    [
      'the parameters of the query were sorted as text, not by name and then by value',
      join(pairs).split('&').sort().join('&'),
    ],
    [
      'the parameters of the query were sorted without regard to case',
      join([...pairs].sort(([one], [other]) => (lower(one) < lower(other) ? -1 : 1))),
    ],
    [
      'the values of a repeated parameter are not sorted',
      join([...pairs].sort(([one], [other]) => compareText(one, other))),
    ],
    ['spaces in the query were signed as +; they must be %20', canonical.replaceAll('%20', '+')],
    ['+ was signed as %2B; in a query it is a space, %20', canonical.replaceAll('%20', '%2B')],
    ['the escapes of the query are in lower case', lowerCaseEscapes(canonical)],
    ['the query was signed as sent, without encoding and sorting', raw.join('&')],
    ['the query was sorted, but not encoded again', [...raw].sort().join('&')],
    ['a parameter without a value was signed without the equals sign', canonical.replace(/=(?=&|$)/g, '')],
    ['the query was signed decoded', decodeParameter(canonical)],
    ["the characters !'()* of the query were not encoded", withPlainMarks(canonical)],
    ['the slashes of the query were not encoded', canonical.replaceAll('%2F', '/')],
    ['the tilde of the query was encoded', canonical.replaceAll('~', '%7E')],
    [
      'the query was encoded twice',
      join(pairs.map(([name, value]) => [encodeOctets(name), encodeOctets(value)])),
    ],
    ['the query was left out', ''],
    ['the query was signed with its question mark', `?${canonical}`],
    ['X-Amz-Signature was signed as a part of the query', join([...all].sort(comparePairs))],
    ['the session token was added to the query after signing', without('X-Amz-Security-Token')],
    ['X-Amz-Expires was added to the query after signing', without('X-Amz-Expires')],
    ...pairs
      .slice(0, maxTried)
      .map(
        ([name]): PartMistake => [
          `the parameter ${name} was added to the query after signing`,
          without(name),
        ],
      ),
  ];
}

function compareText(one: string, other: string): number {
  return one === other ? 0 : one < other ? -1 : 1;
}

/** The characters that encodeURIComponent of JavaScript leaves as they are. */
function withPlainMarks(encoded: string): string {
  return encoded.replace(/%2[1789A]/g, (sent) => decodeURIComponent(sent));
}
