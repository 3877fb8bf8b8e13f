// Mistakes that only clients of AWS Signature Version 4 make, beside those of the catalogue.

import { createHash, createHmac } from 'node:crypto';
import { takeParameter } from '../../http/form.ts';
import { bytesOf } from '../../http/syntax/octets.ts';
import { splitTarget } from '../../http/target.ts';
import { explainDigest } from '../explain/content.ts';
import { capitalize, lineMistakes } from '../explain/lines.ts';
import { listTextVariants, permutations, type Variant } from '../explain/mistake.ts';
import { canonical, listCanonicalMistakes } from '../explain/parameters.ts';
import { octetsOfPiece, type Part } from '../message.ts';
import type { MessageMistake } from '../scheme.ts';
import {
  aws4Algorithm,
  canonicalPath,
  canonicalQuery,
  canonicalValue,
  decodeParameter,
  emptyHash,
  formatCanonicalRequest,
  formatStringToSign,
  hashContent,
  hashOctets,
  headerPrefix,
  stringToSign,
  unsignedPayload,
} from './canonical-request.ts';
import { signatureParameter } from './credentials.ts';
import type { Aws4Options } from './options.ts';
import type { Aws4Presented } from './presented.ts';
import {
  deriveKey,
  formatStamp,
  keyPrefix,
  prepareSecret,
  type Scope,
  scopeEnd,
  scopeText,
} from './signing-key.ts';

/** Returns the values that clients sign in place of a part. */
export function partMistakes(
  part: Part,
  presented: Aws4Presented,
  content: Uint8Array,
  options: Aws4Options,
): Iterable<Variant> {
  const value = octetsOfPiece(part.value);
  switch (part.kind) {
    case 'path':
      return pathMistakes(value, presented, options);
    case 'query':
      return queryMistakes(value, presented);
    case 'digest':
      return payloadMistakes(value, content);
    case 'header':
      return headerMistakes(part.name.slice(headerPrefix.length), presented);
    case 'host':
      return hostMistakes(presented);
    default:
      return part.name === 'scope' ? scopeMistakes(presented) : listMistakes(part, value, presented);
  }
}

function pathMistakes(path: string, { request }: Aws4Presented, options: Aws4Options): Variant[] {
  const sent = splitTarget(request.target).path;
  const { normalizePath, doubleEncode, plusInPath } = options;
  const byOtherRules = (changed: Partial<Aws4Options>): string =>
    canonicalPath(sent, { normalizePath, doubleEncode, plusInPath, ...changed });
  return [
    [
      doubleEncode
        ? 'the path was encoded once; this service signs the path as sent, encoded again'
        : 'the path was encoded twice; this service signs it encoded once',
      byOtherRules({ doubleEncode: !doubleEncode }),
    ],
    [
      normalizePath
        ? 'the path was not normalized; this service signs it without dot segments and repeated slashes'
        : 'the path was normalized; this service signs dot segments and repeated slashes as sent',
      byOtherRules({ normalizePath: !normalizePath }),
    ],
    plusInPath === 'space'
      ? [
          '+ of the path was signed as %2B; this service reads it as a space, %20',
          byOtherRules({ plusInPath: 'plus' }),
        ]
      : [
          '+ of the path was signed as a space, %20; this service signs it as %2B',
          byOtherRules({ plusInPath: 'space' }),
        ],
    ['spaces of the path were signed as +; they must be %20', path.replace(/%(?:25)?20/g, '+')],
    ['%2B of the path was signed as a space, %20', path.replace(/%(?<again>25)?2B/g, '%$<again>20')],
    [
      'the slashes of the path were percent-encoded as %2F; only other characters are',
      path.replaceAll('/', '%2F').replace(/^%2F/, '/'),
    ],
    ['the path was signed decoded', decodeParameter(sent.replaceAll('+', '%2B'))],
  ];
}

/** The mistakes in the parameters of a query. A percent sign that begins no escape stands for itself. */
const parameterMistakes = listCanonicalMistakes('query', { ...canonical, decode: decodeParameter });

/** Yields the mistakes one by one: a query may have thousands of parameters, and the first mistakes are the most frequent. */
function* queryMistakes(value: string, { request, presigned }: Aws4Presented): Generator<Variant> {
  const sent = splitTarget(request.target).query;
  const signed = presigned ? (takeParameter(sent, signatureParameter).rest ?? '') : sent;
  yield* listTextVariants(parameterMistakes, 'the query', signed, value);
  yield ['X-Amz-Signature was signed as a part of the query', canonicalQuery(sent)];
}

function payloadMistakes(payloadHash: string, content: Uint8Array): Variant[] {
  if (payloadHash === unsignedPayload)
    return [
      [`the hash of no content was signed; this request must be signed with ${unsignedPayload}`, emptyHash],
      [
        `the hash of the content was signed; this request must be signed with ${unsignedPayload}, as it says itself`,
        hashContent(content),
      ],
      [`the line of the payload hash is empty; ${unsignedPayload} is expected`, ''],
    ];
  return [
    [`the payload hash was signed as ${unsignedPayload}, and the request does not say so`, unsignedPayload],
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
    [`the lines of ${name} were sorted before they were joined`, [...values].sort().join(',')],
  ];
}

/** Returns the hosts of AWS, which a client signs if only its connection goes elsewhere. */
function hostMistakes({ credentials: { scope }, request }: Aws4Presented): Variant[] {
  const { service, region } = scope;
  const [, bucket = ''] = /^\/([a-z0-9][a-z0-9.-]+)/.exec(request.target) ?? [];
  const hosts = [`${service}.${region}`, service, `${service}-${region}`].map(
    (name) => `${name}.amazonaws.com`,
  );
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

function listMistakes({ name }: Part, list: string, { request }: Aws4Presented): Variant[] {
  if (name !== 'signed headers') return [];
  const names = request.headers.raw.filter((_, at) => at % 2 === 0);
  const sent = new Map(names.map((each) => [each.toLowerCase(), each]));
  const rename = (write: (name: string) => string): string => list.split(';').map(write).join(';');
  const isCapital = 'the names in the list of signed headers are not in lower case';
  return [
    [isCapital, rename((each) => sent.get(each) ?? each)],
    [isCapital, rename(capitalize)],
    ['the signed headers were joined by commas; semicolons are expected', list.replaceAll(';', ',')],
  ];
}

/** Yields the strings to sign that clients make by mistake. */
export function* messageMistakes(
  presented: Aws4Presented,
  parts: readonly Part[],
): Generator<MessageMistake> {
  const { stamp, credentials, headers, request } = presented;
  const scope = scopeText(credentials.scope);
  const canonical = formatCanonicalRequest(parts);
  const lines = headers.map(([name, value]) => `${name}:${value}\n`).join('');
  const list = credentials.signedHeaders.join(';');
  /** Returns the canonical request with this text in place of its headers and their list. */
  const replaceHeaders = (block: string, names = list): string =>
    canonical.replace(`\n${lines}\n${list}\n`, () => `\n${block}\n${names}\n`);
  const toSign = (text: string): Buffer => bytesOf(stringToSign(stamp, scope, text));
  yield* lineMistakes(
    headers.map(([name, value]) => ({ name, value })),
    {
      item: 'header',
      list: 'SignedHeaders',
      colon: ':',
      isSorted: true,
      fields: request.headers,
      lineOf: (name) => ({ name, value: canonicalValue(request.headers.getAll(name).join(',')) }),
      build(block, names) {
        const lists = names === undefined ? [list] : [names.join(';'), list];
        const missing = headers.find(([name]) => names?.includes(name) === false);
        return lists.map((named) => ({
          message: toSign(replaceHeaders(`${block}\n`, named)),
          differs:
            missing !== undefined && named === list
              ? { name: headerPrefix + missing[0], signed: '' }
              : { name: 'signed headers', signed: names?.join(';') ?? block },
        }));
      },
    },
  );
  const capitals = headers.map(([name, value]) => `${capitalize(name)}:${value}\n`).join('');
  const withOtherHeaders: readonly (readonly [hint: string, text: string, signed: string])[] = [
    [
      'the names of the headers, and those in their list, were signed in upper case; lower case is expected',
      replaceHeaders(capitals, list.split(';').map(capitalize).join(';')),
      capitals,
    ],
    ['the blank line after the headers is missing', replaceHeaders(lines.slice(0, -1)), lines],
    // With a query, it is the blank line that is missing.
    ['the line of the query is missing, which is empty without a query', canonical.replace('\n\n', '\n'), ''],
    ['there is a blank line too many after the headers', replaceHeaders(`${lines}\n`), lines],
    ['the list of signed headers was left out', replaceHeaders(lines.slice(0, -1), ''), ''],
  ];
  for (const [hint, text, signed] of withOtherHeaders)
    yield { hint, message: toSign(text), differs: { name: 'signed headers', signed } };
  const right = formatStringToSign(parts);
  const hash = createHash('sha256').update(bytesOf(canonical)).digest();
  const replaceHash = (last: string): string => right.slice(0, -hash.toString('hex').length) + last;
  const wholes: readonly (readonly [hint: string, signed: string])[] = [
    ['the canonical request was hashed with a trailing newline', replaceHash(hashOctets(`${canonical}\n`))],
    [
      'the canonical request was hashed with CR LF line endings',
      replaceHash(hashOctets(canonical.replaceAll('\n', '\r\n'))),
    ],
    ['the canonical request was hashed in hexadecimal twice', replaceHash(hashOctets(hash.toString('hex')))],
    ['the canonical request was signed without being hashed', replaceHash(canonical)],
    ['the canonical request itself was signed in place of the string to sign', canonical],
    ['the hash of the canonical request is in base64', replaceHash(hash.toString('base64'))],
    ['the hash of the canonical request is in upper case', replaceHash(hash.toString('hex').toUpperCase())],
    [
      'the payload hash was signed in place of the canonical request',
      replaceHash(canonical.slice(canonical.lastIndexOf('\n') + 1)),
    ],
    ['the string to sign lacks the algorithm', right.slice(aws4Algorithm.length + 1)],
    ['the string to sign lacks the scope', right.replace(`${scope}\n`, '')],
    [
      'the canonical request lacks its last line, the payload hash',
      replaceHash(hashOctets(canonical.slice(0, canonical.lastIndexOf('\n')))),
    ],
  ];
  for (const [hint, signed] of wholes)
    yield { hint, message: bytesOf(signed), differs: { name: 'string to sign', signed } };
}

/** Explains why content does not have the hash that was sent with it. */
export function contentMistake(content: Uint8Array, sentHash: string, isLimited: boolean): string {
  if (sentHash === emptyHash && content.length > 0)
    return 'the hash is that of no content; it must be that of the content sent';
  const form = { hash: 'sha256', format: (digest: Buffer) => digest.toString('hex') };
  return explainDigest(form, content, sentHash, isLimited);
}

/** Returns the signing keys that clients derive by mistake. Their number does not depend on the secret. */
export function keyMistakes(secret: Buffer, scope: Scope): (readonly [hint: string, key: Buffer])[] {
  const { date, region, service } = scope;
  const prefixed = Buffer.concat([keyPrefix, secret]);
  const steps = [date, region, service, scopeEnd];
  const derived = deriveKey(prepareSecret(secret), scope);
  return [
    ...otherDates(date).map(
      (other) =>
        [
          `the signing key was derived with the date ${other}, and the scope has ${date}`,
          deriveKey(prepareSecret(secret), { ...scope, date: other }),
        ] as const,
    ),
    [
      `the last step of the signing key is not ${scopeEnd}, in lower case`,
      chain(prefixed, steps.with(3, scopeEnd.toUpperCase())),
    ],
    ['the signing key was derived without the prefix AWS4 before the secret', chain(secret, steps)],
    ['the secret itself was used as the signing key', secret],
    ['the secret with the prefix AWS4 was used as the signing key', prefixed],
    [
      'the steps of the signing key were passed on in hexadecimal; each key is the bytes of the HMAC',
      steps.reduce<Buffer>((key, step) => Buffer.from(hmac(key, step).toString('hex')), prefixed),
    ],
    [
      'the signing key was used in hexadecimal; it must be used as bytes',
      Buffer.from(derived.toString('hex')),
    ],
    [
      'key and message of the HMACs were swapped when the signing key was derived',
      steps.reduce<Buffer>((key, step) => hmac(step, key), prefixed),
    ],
    [`the signing key was derived without the last step, ${scopeEnd}`, chain(prefixed, steps.slice(0, -1))],
    [
      'the signing key was derived with region and service in the wrong order',
      chain(prefixed, [date, service, region, scopeEnd]),
    ],
    [
      'the prefix before the secret is in lower case; AWS4 is expected',
      chain(Buffer.concat([Buffer.from('aws4'), secret]), steps),
    ],
    ...permutations(steps).map(
      (order) =>
        [
          'the steps of the signing key were made in another order; date, region, service and aws4_request are expected',
          chain(prefixed, order),
        ] as const,
    ),
  ];
}

/** Returns the days before and after, and another form of the date. */
function otherDates(date: string): string[] {
  const written = date.replace(/(\d{4})(\d\d)(\d\d)/, '$1-$2-$3');
  const neighbours = [-1, 1].map((days) => formatStamp(Date.parse(written) + days * 86_400_000).slice(0, 8));
  return [...neighbours, written];
}

function hmac(key: Buffer | string, message: Buffer | string): Buffer {
  return createHmac('sha256', key).update(message).digest();
}

function chain(first: Buffer, steps: readonly string[]): Buffer {
  return steps.reduce((key, step) => hmac(key, step), first);
}
