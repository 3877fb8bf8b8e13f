// Finds known secrets and tokens in texts, as they are and in the encodings that the catalogue of mistakes tries.

import { createHash } from 'node:crypto';
import { octetsOf, toOctets } from '../../http/syntax/octets.ts';
import { decodeSecret, removePrefix } from '../decoded-secret.ts';
import { type Layer, listLayers, locate, toLayer } from './encodings.ts';

/** Where a secret stands in a text. */
type Span = readonly [from: number, to: number];

/** The text that replaces a credential. */
export const redacted = '[redacted]';

/** Shorter secrets are not searched for. */
const shortest = 6;
/** Secrets that are replaced as whole words only, since they occur within other words. */
const word = /^[A-Za-z]{1,11}$/;

/** Returns whether a secret looks like a word, which texts contain that have nothing to do with it. */
export function isWord(secret: string): boolean {
  return word.test(secret);
}

/** Returns a function that replaces known secrets and tokens in a text. Its work is linear in the length of the text. */
export type Mask = (text: string) => string;

/**
 * Creates a mask.
 * @param secrets returns all secrets: the same object until one is added
 * @param isToken returns whether a text of 43 characters was issued as a token
 */
export function createMask(
  secrets: () => Iterable<string>,
  isToken: (text: string) => boolean = () => false,
): Mask {
  // A query can have thousands of parameters, so the forms are computed again only if the secrets have changed.
  let known: Iterable<string> | undefined;
  let forms: Forms | undefined;
  const formsOf = new Map<string, readonly Form[]>();
  return (text) => {
    if (text.length < shortest) return text;
    const current = secrets();
    if (forms === undefined || current !== known) {
      forms = new Forms();
      for (const secret of current) {
        if (secret.length < shortest) continue;
        const own = formsOf.get(secret) ?? listForms(secret);
        formsOf.set(secret, own);
        for (const form of own) forms.add(form);
      }
    }
    known = current;
    const found = findSpans(toLayer(text), forms, isToken, maxNested);
    return found.length === 0 ? text : replaceSpans(text, found);
  };
}

/** The number of times that base64 or hexadecimal is decoded. */
const maxNested = 2;

function findSpans(text: Layer, forms: Forms, isToken: (text: string) => boolean, nested: number): Span[] {
  return listLayers(text).flatMap((layer) =>
    [
      ...forms.find(layer.octets),
      ...findTokens(layer.octets, isToken),
      ...(nested === 0 ? [] : findEncoded(layer, forms, isToken, nested - 1)),
    ].map(([from, to]) => locate(layer, from, to)),
  );
}

/** Replaces spans, each run of overlapping or adjacent ones by one text. */
function replaceSpans(text: string, spans: Span[]): string {
  let result = '';
  let end = 0;
  for (const [from, to] of spans.toSorted(([first], [second]) => first - second)) {
    if (from > end || result === '') result += text.slice(end, from) + redacted;
    end = Math.max(end, to);
  }
  return result + text.slice(end);
}

/** A form of a secret. */
interface Form {
  /** The octets without a distinction of letter cases and of the alphabets of base64 and base64url. */
  readonly folded: string;
  /** The octets if they are replaced only as a whole word, as written. */
  readonly word?: string;
}

/** The forms of secrets, by their first octets. */
class Forms {
  readonly #byStart = new Map<string, Form[]>();
  readonly #added = new Set<string>();
  /** A filter by the hash of the first octets, so that most positions of a text take no look-up. */
  readonly #starts = new Uint8Array(0x1_0000);

  /** Adds a form, unless it is too short to be searched for. */
  add(form: Form): void {
    const key = JSON.stringify([form.folded, form.word]);
    if (form.folded.length < shortest || this.#added.has(key)) return;
    this.#added.add(key);
    const start = form.folded.slice(0, shortest);
    const same = this.#byStart.get(start);
    if (same === undefined) this.#byStart.set(start, [form]);
    else same.push(form);
    this.#starts[hashStart(form.folded, 0)] = 1;
  }

  /** Returns where forms stand among octets. */
  find(octets: string): Span[] {
    if (this.#byStart.size === 0) return [];
    const folded = fold(octets);
    const found: Span[] = [];
    for (let at = 0; at + shortest <= folded.length; at += 1) {
      if (this.#starts[hashStart(folded, at)] === 0) continue;
      for (const form of this.#byStart.get(folded.slice(at, at + shortest)) ?? []) {
        const length = measureMatch(form, folded, octets, at);
        if (length > 0) found.push([at, at + length]);
      }
    }
    return found;
  }
}

/** Returns the length of a form at a position, also of one that a sentence shortened; 0 if it does not stand there. */
function measureMatch({ folded, word }: Form, text: string, octets: string, at: number): number {
  if (text.startsWith(folded, at)) {
    if (word === undefined) return folded.length;
    const isBounded = !isAlphanumeric(octets[at - 1]) && !isAlphanumeric(octets[at + word.length]);
    return isBounded && octets.startsWith(word, at) ? folded.length : 0;
  }
  if (word !== undefined) return 0;
  let length = shortest;
  while (length < folded.length && folded[length] === text[at + length]) length += 1;
  shortened.lastIndex = at + length;
  return shortened.test(octets) ? length : 0;
}

/** The ellipsis of a shortened quotation, possibly within an escape. */
const ellipsis = toOctets('…');
const shortened = new RegExp(`(?:%[0-9a-f]?|\\\\u?[0-9a-f]{0,3}|&#?[0-9a-z]{0,7}|["'])?${ellipsis}`, 'iy');

function isAlphanumeric(character = ''): boolean {
  return /^[A-Za-z0-9]$/.test(character);
}

function hashStart(text: string, at: number): number {
  let hash = 0;
  for (let index = at; index < at + shortest; index += 1)
    hash = (Math.imul(hash, 31) + text.charCodeAt(index)) | 0;
  return hash & 0xffff;
}

/** Letter cases, and the alphabets of base64 (RFC 4648 §4 and §5), are the same. The length is kept. */
function fold(octets: string): string {
  return octets.toLowerCase().replaceAll('+', '-').replaceAll('/', '_');
}

/** Returns the forms in which a text can contain a secret. Escapes are undone in the text instead. */
function listForms(secret: string): Form[] {
  const own = Buffer.from(secret);
  const once = encodeBytes(own);
  // Encoded twice, in case that a name of a scheme was converted to lower case, after which nothing can be decoded.
  const twice = once.flatMap((text) => encodeBytes(Buffer.from(text)));
  if (isWord(secret)) return [{ folded: fold(secret), word: secret }, ...toForms([...once, ...twice])];
  const read = listReadings(secret);
  const written = [own, ...read].map((bytes) => octetsOf(bytes).replace(/[\r\n]+/g, ''));
  const digest = createHash('sha256').update(own).digest();
  const further = [...read, digest, Buffer.from(secret, 'utf16le')].flatMap(encodeBytes);
  return toForms([...written, ...listSpellings(secret).map(toOctets), ...once, ...twice, ...further]);
}

function toForms(texts: readonly string[]): Form[] {
  return [...new Set(texts.map(fold))].map((folded) => ({ folded }));
}

/** Returns a secret as forms write and read its spaces, and in other letter cases outside of ASCII, which are not folded. */
function listSpellings(secret: string): string[] {
  const isFolded = toOctets(secret) === secret;
  const cases = isFolded ? [secret] : [secret, secret.toUpperCase(), secret.toLowerCase()];
  return cases.flatMap((text) => [text, text.replaceAll(' ', '+'), text.replaceAll('+', ' ')]);
}

/** Returns the keys that clients read from a secret: a part of it, or what it encodes. */
function listReadings(secret: string): Buffer[] {
  const rest = removePrefix(secret);
  const texts = [secret.trim(), ...(rest === undefined ? [] : [rest])];
  const bare = texts.map((text) => text.replace(/(?<!=)=+$/, '')).filter((text) => text.length >= shortest);
  const decoded = texts.flatMap((text) => [decodeSecret(text, 'hex'), decodeSecret(text, 'base64')]);
  const latin1 = isLatin1(secret) ? [Buffer.from(secret, 'latin1')] : [];
  return [
    ...[...texts, ...bare, ...listPemLines(secret)].map((text) => Buffer.from(text)),
    ...decoded.filter((bytes) => bytes !== undefined),
    ...latin1,
  ];
}

function isLatin1(text: string): boolean {
  return /[\x80-\xff]/.test(text) && !/[^\0-\xff]/.test(text);
}

/** Returns the content of a private key in PEM (RFC 7468), which files and variables break differently. */
function listPemLines(secret: string): string[] {
  if (!secret.includes('PRIVATE KEY-----')) return [];
  return secret.split(/[\r\n]+/).filter((line) => line.length >= 16 && !line.startsWith('-----'));
}

/** Returns bytes in hexadecimal, and in base64 at each of the three positions that they can have in a group. */
function encodeBytes(bytes: Buffer): string[] {
  const base64 = [0, 1, 2].map((before) => {
    const encoded = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64url');
    const bits = 8 * (before + bytes.length);
    // Characters that also depend on neighbouring bytes are left out.
    return encoded.slice(Math.ceil((8 * before) / 6), Math.floor(bits / 6));
  });
  return [bytes.toString('hex'), ...base64];
}

/** The shortest run of which something is decoded. */
const encodedRun = /[A-Za-z0-9+/_-]{24,}={0,2}/g;

/** Returns the runs of base64 or hexadecimal that contain a secret or token which is encoded again, or among others. */
function findEncoded(
  { octets }: Layer,
  forms: Forms,
  isToken: (text: string) => boolean,
  nested: number,
): Span[] {
  return [...octets.matchAll(encodedRun)].flatMap(({ 0: run, index }): Span[] => {
    const rest = octets.startsWith(ellipsis, index + run.length) ? ellipsis : '';
    const isSecret = listDecoded(run).some(
      (decoded) =>
        findSpans({ octets: decoded + rest, starts: undefined }, forms, isToken, nested).length > 0,
    );
    return isSecret ? [[index, index + run.length]] : [];
  });
}

/** Returns what a run encodes from each of the positions at which a group can begin, since other text can stand before it. */
function listDecoded(run: string): string[] {
  const base64 = [0, 1, 2, 3].map((from) => octetsOf(Buffer.from(run.slice(from), 'base64')));
  const digits = /[0-9a-f]{24,}/i.exec(run)?.[0] ?? '';
  const hex = [0, 1].map((from) =>
    Buffer.from(digits.slice(from, from + 2 * ((digits.length - from) >> 1)), 'hex'),
  );
  return [...base64, ...hex.map((bytes) => octetsOf(bytes))];
}

/** The length of a token: 32 bytes in base64url. */
const tokenLength = 43;
/** Characters among which tokens can be. */
const tokenRun = new RegExp(`[A-Za-z0-9_-]{${tokenLength},}`, 'g');

function findTokens(octets: string, isToken: (text: string) => boolean): Span[] {
  const found: Span[] = [];
  for (const { 0: run, index } of octets.matchAll(tokenRun))
    for (let at = 0; at + tokenLength <= run.length; at += 1)
      if (isToken(run.slice(at, at + tokenLength))) found.push([index + at, index + at + tokenLength]);
  return found;
}
