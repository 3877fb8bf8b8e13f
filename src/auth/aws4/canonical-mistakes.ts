// Mistakes in the canonical request and the string to sign of AWS Signature Version 4.
import { createHash } from 'node:crypto';
import { bytesOf } from '../../http/syntax/octets.ts';
import {
  aws4Algorithm,
  canonicalValue,
  hashOctets,
  stringToSign,
} from '../../signature/aws4/canonical-request.ts';
import { scopeText } from '../../signature/aws4/signing-key.ts';
import { octetsOfPiece, type Part } from '../../signature/message.ts';
import { lineMistakes } from '../explain/lines.ts';
import type { MessageMistake } from '../scheme.ts';
import type { Aws4Presented } from './presented.ts';

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
  const canonical = formatCanonical(text, formatHeaders(text));
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
    ...headerMistakes(presented, text, (changed) => bytesOf(stringToSign(stamp, scope, changed))),
    ...[...layouts(text), ...wholes(canonical)].map(buildHashedMistake),
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

function formatHeaders({ headers }: CanonicalText): string {
  return headers.map(([name, value]) => `${name}:${value}\n`).join('');
}

/** Returns the canonical request with this text in place of its headers. */
function formatCanonical({ head, list, payloadHash }: CanonicalText, headers: string): string {
  return `${head}\n${headers}\n${list}\n${payloadHash}`;
}

function wholes(canonical: string): Canonical[] {
  return [
    ['the canonical request was hashed with a trailing newline', `${canonical}\n`],
    ['the canonical request was hashed with CR LF line endings', canonical.replaceAll('\n', '\r\n')],
    ['the canonical request was hashed in hexadecimal twice', hashOctets(canonical)],
  ];
}

/** Yields strings to sign whose headers were written in another form or order, or are others than the list names. */
function headerMistakes(
  { request }: Aws4Presented,
  text: CanonicalText,
  toSign: (canonical: string) => Buffer,
): Iterable<MessageMistake> {
  const { headers: fields } = request;
  const lines = text.headers.map(([name, value]) => ({ name, value }));
  return lineMistakes(lines, {
    item: 'header',
    list: 'SignedHeaders',
    colon: ':',
    isSorted: true,
    fields,
    lineOf: (name) => ({ name, value: canonicalValue(fields.getAll(name).join(',')) }),
    build(block, names) {
      const lists = names === undefined ? [text.list] : [names.join(';'), text.list];
      const missing = text.headers.find(([name]) => names?.includes(name) === false);
      return lists.map((list) => ({
        message: toSign(formatCanonical({ ...text, list }, `${block}\n`)),
        differs:
          missing !== undefined && list === text.list
            ? { name: `header ${missing[0]}`, signed: '' }
            : { name: 'signed headers', signed: names?.join(';') ?? block },
      }));
    },
  });
}

/** Mistakes in the lines around the headers. */
function layouts(text: CanonicalText): Canonical[] {
  const lines = formatHeaders(text);
  const differs = { name: 'signed headers', signed: lines };
  return [
    ['the blank line after the headers is missing', formatCanonical(text, lines.slice(0, -1)), differs],
    ['there is a blank line too many after the headers', formatCanonical(text, `${lines}\n`), differs],
    [
      'the list of signed headers was left out',
      formatCanonical({ ...text, list: '' }, lines.slice(0, -1)),
      { name: 'signed headers', signed: '' },
    ],
  ];
}

/** Returns the names of the headers as sent, by their names in lower case. */
export function readSentNames({ request }: Aws4Presented): ReadonlyMap<string, string> {
  const names = request.headers.raw.filter((_, at) => at % 2 === 0);
  return new Map(names.map((name) => [name.toLowerCase(), name]));
}
