// Mistakes that only clients of AWS Signature Version 4 make, beside those of the catalogue.

import { createHash, createHmac } from 'node:crypto';
import { bytesOf } from '../../http/syntax/octets.ts';
import { decodeSome, encodeOctets } from '../../http/syntax/percent.ts';
import { splitTarget } from '../../http/target.ts';
import {
  aws4Algorithm,
  canonicalPairs,
  canonicalPath,
  canonicalValue,
  comparePairs,
  decodeParameter,
  emptyHash,
  encodePath,
  formatStringToSign,
  hashOctets,
  stringToSign,
} from '../../signature/aws4/canonical-request.ts';
import { signatureParameter } from '../../signature/aws4/credentials.ts';
import { formatStamp } from '../../signature/aws4/date.ts';
import {
  deriveKey,
  keyPrefix,
  prepareSecret,
  type Scope,
  scopeEnd,
  scopeText,
} from '../../signature/aws4/signing-key.ts';
import { octetsOfPiece, type Part } from '../../signature/message.ts';
import { explainDigest } from '../explain/content.ts';
import type { Variant } from '../explain/mistake.ts';
import type { MessageMistake } from '../scheme.ts';
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
    ['the escapes of the path are in lower case', lowerEscapes(path)],
    ['the slashes of the path were encoded', path.replaceAll('/', '%2F')],
  ];
}

function lowerEscapes(encoded: string): string {
  return encoded.replace(/%../g, (sent) => sent.toLowerCase());
}

/** Returns the messages of clients that read the clock again for the header after they have signed. */
function secondReadings({ stamp, time }: Aws4Presented, parts: readonly Part[]): MessageMistake[] {
  const shift = (part: Part, other: string): Part => {
    const value = octetsOfPiece(part.value);
    if (part.name === 'scope') return { ...part, value: value.replace(/^\d{8}/, other.slice(0, 8)) };
    return value === stamp ? { ...part, value: other } : part;
  };
  return [-3, -2, -1, 1, 2, 3].map((offset) => {
    const other = formatStamp(time + offset * 1000);
    return {
      hint: 'the clock was read twice: another second was signed than X-Amz-Date has',
      message: Buffer.from(formatStringToSign(parts.map((part) => shift(part, other))), 'latin1'),
      differs: { name: 'timestamp', signed: other },
    };
  });
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
    'a parameter without a value was signed without the equals sign',
    canonical.replace(/=(?=&|$)/g, ''),
  ];
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

const hour = 3_600_000;

function stampMistakes({ stamp, time }: Aws4Presented): Variant[] {
  const iso = new Date(time).toISOString();
  const otherForm = 'the timestamp was signed in another form than 20150830T123600Z';
  const zones = Array.from({ length: 57 }, (_, at) => at / 2 - 14);
  return [
    [otherForm, iso],
    [otherForm, iso.replace('.000', '')],
    ['the timestamp was signed without its time', stamp.slice(0, 8)],
    ['the timestamp was signed without the Z at its end', stamp.slice(0, -1)],
    ...zones.map(
      (offset): Variant => [
        `the timestamp was signed for another time zone (${offset} h); it must be the UTC time that is sent`,
        formatStamp(time + offset * hour),
      ],
    ),
    ...[-2, -1, 1, 2].map(
      (offset): Variant => [
        'the timestamp was taken twice: another second was signed than was sent',
        formatStamp(time + offset * 1000),
      ],
    ),
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

/** Returns the names of the headers as sent, by their names in lower case. */
function readSentNames({ request }: Aws4Presented): ReadonlyMap<string, string> {
  const names = request.headers.raw.filter((_, at) => at % 2 === 0);
  return new Map(names.map((name) => [name.toLowerCase(), name]));
}

/** A canonical request that clients hash by mistake: the hint, the text, and what differs. */
type Canonical = readonly [hint: string, text: string, differs?: MessageMistake['differs']];

/** Returns the strings to sign that clients make by mistake. */
export function messageMistakes(presented: Aws4Presented, parts: readonly Part[]): MessageMistake[] {
  const { stamp, credentials } = presented;
  const scope = scopeText(credentials.scope);
  const value = (name: string): string =>
    octetsOfPiece(parts.find((part) => part.name === name)?.value ?? '');
  const text: CanonicalText = {
    head: [value('method'), value('canonical path'), value('canonical query')].join('\n'),
    headers: presented.headers.map(([name, own]): readonly [string, string] => [name, own]),
    list: value('signed headers'),
    payloadHash: value('payload hash'),
  };
  const canonical = textWith(text);
  const buildHashedMistake = ([hint, changed, differs]: Canonical): MessageMistake => ({
    hint,
    message: bytesOf(stringToSign(stamp, scope, changed)),
    differs: differs ?? { name: 'string to sign', signed: stringToSign(stamp, scope, changed) },
  });
  const buildSignedMistake = (hint: string, own: string): MessageMistake => ({
    hint,
    message: bytesOf(own),
    differs: { name: 'string to sign', signed: own },
  });
  const right = stringToSign(stamp, scope, canonical);
  const replaceLastLine = (last: string): string => [...right.split('\n').slice(0, -1), last].join('\n');
  const hash = createHash('sha256').update(bytesOf(canonical)).digest();
  return [
    ...[...selections(presented, text), ...layouts(presented, text), ...wholes(canonical)].map(
      buildHashedMistake,
    ),
    ...secondReadings(presented, parts),
    buildSignedMistake('the string to sign has a trailing newline', `${right}\n`),
    buildSignedMistake('the string to sign has CR LF line endings', right.replaceAll('\n', '\r\n')),
    buildSignedMistake('the canonical request was signed without being hashed', replaceLastLine(canonical)),
    buildSignedMistake('the canonical request itself was signed in place of the string to sign', canonical),
    buildSignedMistake(
      'the hash of the canonical request is in base64',
      replaceLastLine(hash.toString('base64')),
    ),
    buildSignedMistake(
      'the hash of the canonical request is in upper case',
      replaceLastLine(hash.toString('hex').toUpperCase()),
    ),
    buildSignedMistake(
      'the payload hash was signed in place of the canonical request',
      replaceLastLine(text.payloadHash),
    ),
    buildSignedMistake('the string to sign lacks the algorithm', right.slice(aws4Algorithm.length + 1)),
    buildSignedMistake('the string to sign was hashed before it was signed', hashOctets(right)),
    buildSignedMistake(
      'the signed headers were signed in place of the scope',
      [aws4Algorithm, stamp, text.list, hash.toString('hex')].join('\n'),
    ),
  ];
}

/** The sections of a canonical request. */
interface CanonicalText {
  readonly head: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly list: string;
  readonly payloadHash: string;
}

function textWith({ head, headers, list, payloadHash }: CanonicalText): string {
  const lines = headers.map(([name, value]) => `${name}:${value}\n`).join('');
  return `${head}\n${lines}\n${list}\n${payloadHash}`;
}

function joinNames(headers: CanonicalText['headers']): string {
  return headers.map(([name]) => name).join(';');
}

function wholes(canonical: string): Canonical[] {
  return [
    ['the canonical request was hashed with a trailing newline', `${canonical}\n`],
    ['the canonical request was hashed with CR LF line endings', canonical.replaceAll('\n', '\r\n')],
    ['the canonical request was hashed in hexadecimal twice', hashOctets(canonical)],
  ];
}

/** Headers that were signed without being listed, and listed without being signed. */
function selections({ request }: Aws4Presented, text: CanonicalText): Canonical[] {
  const { headers, list } = text;
  const own = new Set(headers.map(([name]) => name));
  const others = [
    ...new Set(request.headers.raw.filter((_, at) => at % 2 === 0).map((name) => name.toLowerCase())),
  ];
  const added = others
    .filter((name) => !own.has(name) && name !== 'authorization')
    .slice(0, maxTried)
    .flatMap((name): Canonical[] => {
      const value = canonicalValue(request.headers.getAll(name).join(','));
      const more = [...headers, [name, value] as const].sort(([one], [other]) => (one < other ? -1 : 1));
      const hint = `${name} was signed, but is missing in SignedHeaders`;
      const differs = { name: 'signed headers', signed: joinNames(more) };
      return [
        [hint, textWith({ ...text, headers: more, list: joinNames(more) }), differs],
        [hint, textWith({ ...text, headers: more, list }), differs],
      ];
    });
  const dropped = headers.slice(0, maxTried).flatMap(([name]): Canonical[] => {
    const fewer = headers.filter((header) => header[0] !== name);
    const hint = `${name} is in SignedHeaders, but was not signed`;
    return [
      [
        hint,
        textWith({ ...text, headers: fewer, list: joinNames(fewer) }),
        { name: 'signed headers', signed: joinNames(fewer) },
      ],
      [hint, textWith({ ...text, headers: fewer, list }), { name: `header ${name}`, signed: '' }],
    ];
  });
  return [...added, ...dropped];
}

/** Mistakes in the letter case, order and line ends of the headers. */
function layouts(presented: Aws4Presented, text: CanonicalText): Canonical[] {
  const { head, headers, list, payloadHash } = text;
  const sent = readSentNames(presented);
  const order = [...sent.keys()];
  const inOrder = [...headers].sort(([one], [other]) => order.indexOf(one) - order.indexOf(other));
  const asSent = headers.map(([name, value]) => [sent.get(name) ?? name, value] as const);
  const spaced = headers.map(([name, value]) => [name, ` ${value}`] as const);
  const block = headers.map(([name, value]) => `${name}:${value}`).join('\n');
  const differs = (signed: string): MessageMistake['differs'] => ({ name: 'signed headers', signed });
  return [
    [
      'the headers are not sorted by name',
      textWith({ ...text, headers: inOrder }),
      differs(joinNames(inOrder)),
    ],
    [
      'the headers are not sorted by name',
      textWith({ ...text, headers: inOrder, list: joinNames(inOrder) }),
      differs(joinNames(inOrder)),
    ],
    [
      'the names of the headers were signed as sent; they must be in lower case',
      textWith({ ...text, headers: asSent }),
      differs(joinNames(asSent)),
    ],
    [
      'the blank line after the headers is missing',
      `${head}\n${block}\n${list}\n${payloadHash}`,
      differs(block),
    ],
    [
      'there is a blank line too many after the headers',
      `${head}\n${block}\n\n\n${list}\n${payloadHash}`,
      differs(block),
    ],
    [
      'there is a space after the colon of each header',
      textWith({ ...text, headers: spaced }),
      differs(block),
    ],
    ['the list of signed headers was left out', `${head}\n${block}\n\n${payloadHash}`, differs('')],
  ];
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
  const prepared = prepareSecret(secret);
  const steps = [date, region, service, scopeEnd];
  return [
    ...otherDates(date).map(
      (other) =>
        [
          `the signing key was derived with the date ${other}, and the scope has ${date}`,
          deriveKey(prepared, { ...scope, date: other }),
        ] as const,
    ),
    ['the signing key was derived without the prefix AWS4 before the secret', chain(secret, steps)],
    ['the secret itself was used as the signing key', secret],
    ['the secret with the prefix AWS4 was used as the signing key', prefixed],
    [
      'the steps of the signing key were passed on in hexadecimal; each key is the bytes of the HMAC',
      steps.reduce(
        (key, step) => Buffer.from(createHmac('sha256', key).update(step).digest('hex')),
        prefixed,
      ),
    ],
    [
      'the signing key was used in hexadecimal; it must be used as bytes',
      Buffer.from(deriveKey(prepared, scope).toString('hex')),
    ],
    [
      'key and message of the HMACs were swapped when the signing key was derived',
      steps.reduce((key, step) => createHmac('sha256', step).update(key).digest(), prefixed),
    ],
    [`the signing key was derived without the last step, ${scopeEnd}`, chain(prefixed, steps.slice(0, -1))],
    [
      'the signing key was derived with region and service in the wrong order',
      chain(prefixed, [date, service, region, scopeEnd]),
    ],
  ];
}

/** The days before and after, and other forms of the date. */
function otherDates(date: string): string[] {
  const [year, month, day] = [date.slice(0, 4), date.slice(4, 6), date.slice(6)];
  const time = Date.UTC(Number(year), Number(month) - 1, Number(day));
  const neighbour = (days: number): string => formatStamp(time + days * 24 * hour).slice(0, 8);
  return [neighbour(-1), neighbour(1), `${year}-${month}-${day}`];
}

function chain(first: Buffer, steps: readonly string[]): Buffer {
  return steps.reduce((key, step) => createHmac('sha256', key).update(step).digest(), first);
}
