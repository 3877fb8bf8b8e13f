// Mistakes in the canonical request and the string to sign of AWS Signature Version 4.
import { createHash } from 'node:crypto';
import { bytesOf } from '../../http/syntax/octets.ts';
import {
  aws4Algorithm,
  canonicalValue,
  formatStringToSign,
  hashOctets,
  stringToSign,
} from '../../signature/aws4/canonical-request.ts';
import { formatStamp, scopeText } from '../../signature/aws4/signing-key.ts';
import { octetsOfPiece, type Part } from '../../signature/message.ts';
import type { MessageMistake } from '../scheme.ts';
import type { Aws4Presented } from './presented.ts';

/** The number of headers that are tried one by one: a request may have thousands. */
const maxTried = 32;

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

/** Returns the names of the headers as sent, by their names in lower case. */
export function readSentNames({ request }: Aws4Presented): ReadonlyMap<string, string> {
  const names = request.headers.raw.filter((_, at) => at % 2 === 0);
  return new Map(names.map((name) => [name.toLowerCase(), name]));
}
