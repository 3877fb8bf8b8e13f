// Mistakes that only clients of AWS Signature Version 4 make, beside those of the catalogue.

import { decodeSome, encodeOctets } from '../../http/syntax/percent.ts';
import { splitTarget } from '../../http/target.ts';
import {
  canonicalPairs,
  canonicalPath,
  canonicalValue,
  comparePairs,
  decodeParameter,
  emptyHash,
  encodePath,
} from '../../signature/aws4/canonical-request.ts';
import { signatureParameter } from '../../signature/aws4/credentials.ts';
import { scopeEnd, scopeText } from '../../signature/aws4/signing-key.ts';
import { octetsOfPiece, type Part } from '../../signature/message.ts';
import { explainDigest } from '../explain/content.ts';
import type { Variant } from '../explain/mistake.ts';
import { readSentNames } from './canonical-mistakes.ts';
import type { Aws4Options } from './options.ts';
import { type Aws4Presented, unsignedPayload } from './presented.ts';

/** The number of headers and of parameters that are tried one by one: a request may have thousands. */
const maxTried = 32;

/** Returns the values that clients sign in place of a part. */
export function partMistakes(part: Part, presented: Aws4Presented, options: Aws4Options): Iterable<Variant> {
  const value = octetsOfPiece(part.value);
  if (part.kind === 'path') return pathMistakes(value, presented, options);
  if (part.kind === 'query') return queryMistakes(value, presented);
  if (part.kind === 'time') return stampMistakes(presented);
  if (part.kind === 'digest') return payloadMistakes(value);
  if (part.kind === 'header') return headerMistakes(part.name.slice('header '.length), presented);
  if (part.kind === 'host') return hostMistakes(presented);
  if (part.name === 'scope') return scopeMistakes(presented);
  return part.name === 'signed headers' ? listMistakes(value, presented) : [];
}

function pathMistakes(path: string, { request }: Aws4Presented, options: Aws4Options): Variant[] {
  const sent = splitTarget(request.target).path;
  const { normalizePath, doubleEncode, plusInPath } = options;
  return [
    [
      doubleEncode
        ? 'the path was encoded once; this service signs the path as sent, encoded again'
        : 'the path was encoded twice; this service signs it encoded once',
      canonicalPath(sent, { normalizePath, doubleEncode: !doubleEncode, plusInPath }),
    ],
    [
      normalizePath
        ? 'the path was not normalized; this service signs it without dot segments and repeated slashes'
        : 'the path was normalized; this service signs dot segments and repeated slashes as sent',
      canonicalPath(sent, { normalizePath: !normalizePath, doubleEncode, plusInPath }),
    ],
    [
      plusInPath === 'space'
        ? '+ of the path was signed as %2B; this service reads it as a space, %20'
        : '+ of the path was signed as a space, %20; this service signs it as %2B',
      canonicalPath(sent, {
        normalizePath,
        doubleEncode,
        plusInPath: plusInPath === 'space' ? 'plus' : 'space',
      }),
    ],
    [
      'the path was normalized and encoded by the rules of other services',
      canonicalPath(sent, { normalizePath: !normalizePath, doubleEncode: !doubleEncode }),
    ],
    ['spaces of the path were signed as +; they must be %20', path.replace(/%(?:25)?20/g, '+')],
    ['%2B of the path was signed as a space, %20', path.replace(/%(?<again>25)?2B/g, '%$<again>20')],
    ['the path was signed decoded', decodeParameter(sent.replaceAll('+', '%2B'))],
    ['the path was signed as sent, without encoding', sent],
    ['the path was encoded once more than it must be', encodePath(path)],
    ['the path was encoded twice more than it must be', encodePath(encodePath(path))],
    ['the escapes of the path are in lower case', lowerEscapes(path)],
    ['the slashes of the path were encoded', path.replaceAll('/', '%2F')],
  ];
}

function lowerEscapes(encoded: string): string {
  return encoded.replace(/%../g, (sent) => sent.toLowerCase());
}

/** Yields the mistakes one by one: a query may have thousands of parameters, and the first mistakes are the most frequent. */
function* queryMistakes(canonical: string, { request, presigned }: Aws4Presented): Generator<Variant> {
  yield ['the query was left out', ''];
  const sent = splitTarget(request.target).query;
  const all = canonicalPairs(sent);
  const pairs = presigned ? all.filter(([name]) => name !== signatureParameter) : all;
  const sorted = [...pairs].sort(comparePairs);
  const raw = sent.split('&').filter((pair) => !(presigned && pair.startsWith(`${signatureParameter}=`)));
  const omitParameter = (omitted: string): string => joinPairs(sorted.filter(([name]) => name !== omitted));
  yield ['the parameters of the query are not sorted by name and value', joinPairs(pairs)];
  yield [
    'the parameters of the query were sorted as text, not by name and then by value',
    pairs
      .map(([name, value]) => `${name}=${value}`)
      .sort()
      .join('&'),
  ];
  yield [
    'the parameters of the query were sorted without regard to letter case',
    joinPairs([...pairs].sort(([one], [other]) => (one.toLowerCase() < other.toLowerCase() ? -1 : 1))),
  ];
  yield [
    'the values of a repeated parameter are not sorted',
    joinPairs([...pairs].sort(([one], [other]) => (one === other ? 0 : one < other ? -1 : 1))),
  ];
  yield ['spaces in the query were signed as +; they must be %20', canonical.replaceAll('%20', '+')];
  yield ['+ was signed as %2B; in a query it is a space, %20', canonical.replaceAll('%20', '%2B')];
  yield ['the escapes of the query are in lower case', lowerEscapes(canonical)];
  yield ['the query was signed as sent, without encoding and sorting', raw.join('&')];
  yield ['the query was sorted, but not encoded again', [...raw].sort().join('&')];
  yield [
    "the characters !'()* of the query were not encoded",
    decodeSome(canonical, (character) => "!'()*".includes(character)),
  ];
  yield ['the slashes of the query were not encoded', canonical.replaceAll('%2F', '/')];
  yield ['the tilde of the query was encoded', canonical.replaceAll('~', '%7E')];
  yield [
    'the query was encoded twice',
    joinPairs(pairs.map(([name, value]) => [encodeOctets(name), encodeOctets(value)])),
  ];
  yield ['X-Amz-Signature was signed as a part of the query', joinPairs([...all].sort(comparePairs))];
  yield ['the session token was added to the query after signing', omitParameter('X-Amz-Security-Token')];
  yield ['X-Amz-Expires was added to the query after signing', omitParameter('X-Amz-Expires')];
  for (const [name] of pairs.slice(0, maxTried))
    yield [`the parameter ${name} was added to the query after signing`, omitParameter(name)];
}

function joinPairs(pairs: readonly (readonly [name: string, value: string])[]): string {
  return pairs.map(([name, value]) => `${name}=${value}`).join('&');
}

function stampMistakes({ stamp }: Aws4Presented): Variant[] {
  return [
    ['the timestamp was signed without its time', stamp.slice(0, 8)],
    ['the timestamp was signed without the Z at its end', stamp.slice(0, -1)],
  ];
}

function payloadMistakes(payloadHash: string): Variant[] {
  if (payloadHash === unsignedPayload)
    return [
      [`the hash of no content was signed; this request must be signed with ${unsignedPayload}`, emptyHash],
    ];
  return [
    [`the payload hash was signed as ${unsignedPayload}, and the request does not say so`, unsignedPayload],
    ['the payload hash was signed in upper case', payloadHash.toUpperCase()],
    [
      'the payload hash was signed in base64; hexadecimal is expected',
      Buffer.from(payloadHash, 'hex').toString('base64'),
    ],
  ];
}

function headerMistakes(name: string, { request }: Aws4Presented): Variant[] {
  const lines = request.headers.getAll(name);
  const values = lines.map(canonicalValue);
  return [
    [
      `the value of ${name} was signed with its inner spaces; each run of spaces must be one`,
      lines.join(','),
    ],
    [
      `the lines of ${name} were joined by a comma and a space; they must be joined by a comma`,
      values.join(', '),
    ],
    [`the lines of ${name} were sorted before they were joined`, [...values].sort().join(',')],
    [`only the first line of ${name} was signed`, values[0] ?? ''],
    [`only the last line of ${name} was signed`, values.at(-1) ?? ''],
  ];
}

/** Returns the hosts of AWS, which a client signs if only its connection goes elsewhere. */
function hostMistakes({ credentials: { scope }, request }: Aws4Presented): Variant[] {
  const { service, region } = scope;
  const [, bucket = ''] = /^\/([a-z0-9][a-z0-9.-]+)/.exec(request.target) ?? [];
  const hosts = [
    `${service}.${region}.amazonaws.com`,
    `${service}.amazonaws.com`,
    `${service}-${region}.amazonaws.com`,
  ];
  const all = bucket === '' ? hosts : [...hosts, ...hosts.map((host) => `${bucket}.${host}`)];
  return all.map((host) => [
    `the host of AWS was signed, ${host}, but the request was sent elsewhere: set the endpoint of the client`,
    host,
  ]);
}

function scopeMistakes({ credentials: { scope, accessKeyId }, stamp }: Aws4Presented): Variant[] {
  const { date, region, service } = scope;
  return [
    ['the scope was signed with the access key id', `${accessKeyId}/${scopeText(scope)}`],
    [`the scope was signed without ${scopeEnd}`, `${date}/${region}/${service}`],
    ['the scope was signed with region and service swapped', `${date}/${service}/${region}/${scopeEnd}`],
    ['the scope was signed without the date', `${region}/${service}/${scopeEnd}`],
    ['the scope was signed with date and time', `${stamp}/${region}/${service}/${scopeEnd}`],
  ];
}

function listMistakes(list: string, presented: Aws4Presented): Variant[] {
  const names = list.split(';');
  const sent = readSentNames(presented);
  return [
    [
      'the names in the list of signed headers are not in lower case',
      names.map((name) => sent.get(name) ?? name).join(';'),
    ],
    ['the signed headers were joined by commas; semicolons are expected', list.replaceAll(';', ',')],
    ['the list of signed headers was signed with a semicolon at its end', `${list};`],
    ['the list of signed headers was left out', ''],
  ];
}

/** Explains why content does not have the hash that was sent with it. */
export function contentMistake(content: Uint8Array, sentHash: string, isLimited: boolean): string {
  if (sentHash === emptyHash && content.length > 0)
    return 'the hash is that of no content; it must be that of the content sent';
  const form = { hash: 'sha256', format: (digest: Buffer) => digest.toString('hex') };
  return explainDigest(form, content, sentHash, isLimited);
}
