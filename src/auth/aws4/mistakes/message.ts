// Strings to sign that clients compute by mistake.
import { createHash } from 'node:crypto';
import {
  aws4Algorithm,
  type CanonicalRequest,
  canonicalText,
  emptyHash,
  hashOctets,
  signedHeadersOf,
  stringToSign,
} from '../../../signature/aws4/canonical-request.ts';
import { formatStamp } from '../../../signature/aws4/date.ts';
import { scopeEnd, scopeText } from '../../../signature/aws4/signing-key.ts';
import { type Presented, type Texts, unsignedPayload } from '../presented.ts';
import { contentMistakes } from './content.ts';
import { headerMistakes } from './header.ts';
import type { MessageMistake, PartMistake } from './mistake.ts';
import { pathMistakes, queryMistakes } from './target.ts';

/** Returns the mistakes that differ from what is expected. Their number does not depend on any secret. */
export function messageMistakes(
  presented: Presented,
  texts: Texts,
  content: Uint8Array | undefined,
): MessageMistake[] {
  const { canonical } = texts;
  const signing = signerOf(presented);
  const inPart = (
    part: string,
    mistakes: readonly PartMistake[],
    change: (signed: string) => Partial<CanonicalRequest>,
  ): MessageMistake[] =>
    mistakes.map(([hint, signed]) => ({
      hint,
      part,
      signed,
      stringToSign: signing(canonicalText({ ...canonical, ...change(signed) })),
    }));
  const all = [
    ...inPart('canonical path', pathMistakes(presented), (path) => ({ path })),
    ...inPart('canonical query', queryMistakes(presented), (query) => ({ query })),
    ...headerMistakes(presented, canonical).map(({ text, ...mistake }) => ({
      ...mistake,
      stringToSign: signing(text),
    })),
    ...inPart('payload hash', payloadMistakes(canonical, content), (payloadHash) => ({ payloadHash })),
    ...inPart('method', methodMistakes(canonical), (method) => ({ method })),
    ...wholeMistakes(presented, texts),
  ];
  return all.filter((mistake) => mistake.stringToSign !== texts.stringToSign);
}

function signerOf({ stamp, credentials }: Presented): (canonicalRequest: string) => string {
  const scope = scopeText(credentials.scope);
  return (canonicalRequest) => stringToSign(stamp, scope, canonicalRequest);
}

function methodMistakes({ method }: CanonicalRequest): PartMistake[] {
  const others = ['GET', 'POST', 'PUT', 'HEAD', 'DELETE', ''].map(
    (other): PartMistake => [`the method ${JSON.stringify(other)} was signed, and ${method} was sent`, other],
  );
  return [['the method was signed in lower case', method.toLowerCase()], ...others];
}

function payloadMistakes({ payloadHash }: CanonicalRequest, content: Uint8Array | undefined): PartMistake[] {
  if (payloadHash === unsignedPayload)
    return [
      [`the hash of no content was signed; this request must be signed with ${unsignedPayload}`, emptyHash],
    ];
  const base64 = Buffer.from(payloadHash, 'hex').toString('base64');
  const fixed: PartMistake[] = [
    ['the payload hash is that of no content; it must be that of the content sent', emptyHash],
    [`the payload hash was signed as ${unsignedPayload}, and the request does not say so`, unsignedPayload],
    ['the payload hash was left out', ''],
    ['the payload hash was signed in upper case', payloadHash.toUpperCase()],
    ['the payload hash was signed in base64; hexadecimal is expected', base64],
  ];
  if (content === undefined) return fixed;
  const text = Buffer.from(content).toString('latin1');
  const hashed = contentMistakes(content).map(([hint, other]): PartMistake => [hint, hashOctets(other)]);
  return [...fixed, ['the content itself was signed in place of its hash', text], ...hashed];
}

/** Mistakes in the canonical request as a whole, and in the string to sign. */
function wholeMistakes(presented: Presented, texts: Texts): MessageMistake[] {
  const { canonicalRequest } = texts;
  const signing = signerOf(presented);
  const crlf = canonicalRequest.replaceAll('\n', '\r\n');
  const canonical = (hint: string, signed: string): MessageMistake => ({
    hint,
    part: 'string to sign',
    signed: signing(signed),
    stringToSign: signing(signed),
  });
  return [
    canonical('the canonical request was hashed with a trailing newline', `${canonicalRequest}\n`),
    canonical('the canonical request was hashed with CR LF line endings', crlf),
    canonical('the canonical request was hashed in hexadecimal twice', hashOctets(canonicalRequest)),
    ...stampMistakes(presented, texts),
    ...scopeMistakes(presented, texts),
    ...textMistakes(texts),
  ];
}

/** A string to sign of which one line differs. */
function withLine({ stringToSign: text }: Texts, line: number, value: string): string {
  const lines = text.split('\n');
  lines[line] = value;
  return lines.join('\n');
}

const hour = 3_600_000;

function stampMistakes({ stamp, time, request }: Presented, texts: Texts): MessageMistake[] {
  const iso = new Date(time).toISOString();
  const wrong: PartMistake[] = [
    ['the timestamp was signed in another form than 20150830T123600Z', iso],
    ['the timestamp was signed in another form than 20150830T123600Z', iso.replace('.000', '')],
    ['the timestamp was signed without its time', stamp.slice(0, 8)],
    ['the timestamp was signed without the Z at its end', stamp.slice(0, -1)],
    ['the timestamp was signed in seconds since 1970', String(time / 1000)],
    ['the timestamp was signed in milliseconds since 1970', String(time)],
  ];
  const date = request.fields.get('date');
  if (date !== undefined) wrong.push(['the value of Date was signed as the timestamp', date]);
  for (let offset = -14; offset <= 14; offset += 0.5)
    wrong.push([
      `the timestamp was signed for another time zone (${offset} h); it must be the UTC time that is sent`,
      formatStamp(time + offset * hour),
    ]);
  for (const offset of [-2, -1, 1, 2])
    wrong.push([
      'the timestamp was taken twice: another second was signed than was sent',
      formatStamp(time + offset * 1000),
    ]);
  return wrong.map(([hint, signed]) => ({
    hint,
    part: 'timestamp',
    signed,
    stringToSign: withLine(texts, 1, signed),
  }));
}

function scopeMistakes({ credentials, stamp }: Presented, texts: Texts): MessageMistake[] {
  const { scope, accessKeyId } = credentials;
  const { date, region, service } = scope;
  const wrong: PartMistake[] = [
    ['the scope was signed with the access key id', `${accessKeyId}/${scopeText(scope)}`],
    [`the scope was signed without ${scopeEnd}`, `${date}/${region}/${service}`],
    ['the scope was signed with region and service swapped', `${date}/${service}/${region}/${scopeEnd}`],
    ['the scope was signed without the date', `${region}/${service}/${scopeEnd}`],
    ['the scope was signed with date and time', `${stamp}/${region}/${service}/${scopeEnd}`],
  ];
  return wrong.map(([hint, signed]) => ({
    hint,
    part: 'scope',
    signed,
    stringToSign: withLine(texts, 2, signed),
  }));
}

/** Mistakes in the first and the last line, and in the string to sign as a whole. */
function textMistakes(texts: Texts): MessageMistake[] {
  const { canonicalRequest, canonical, stringToSign: text } = texts;
  const hash = createHash('sha256').update(canonicalRequest, 'latin1').digest();
  const wrong: PartMistake[] = [
    ['the string to sign has a trailing newline', `${text}\n`],
    ['the string to sign has CR LF line endings', text.replaceAll('\n', '\r\n')],
    ['the canonical request was signed without being hashed', withLine(texts, 3, canonicalRequest)],
    ['the canonical request itself was signed in place of the string to sign', canonicalRequest],
    ['the hash of the canonical request is in base64', withLine(texts, 3, hash.toString('base64'))],
    [
      'the hash of the canonical request is in upper case',
      withLine(texts, 3, hash.toString('hex').toUpperCase()),
    ],
    [
      'the payload hash was signed in place of the canonical request',
      withLine(texts, 3, canonical.payloadHash),
    ],
    ['the string to sign lacks the algorithm', text.slice(aws4Algorithm.length + 1)],
    ['the string to sign was hashed before it was signed', hashOctets(text)],
    ['the signed headers were signed in place of the scope', withLine(texts, 2, signedHeadersOf(canonical))],
  ];
  return wrong.map(([hint, signed]) => ({ hint, part: 'string to sign', signed, stringToSign: signed }));
}
