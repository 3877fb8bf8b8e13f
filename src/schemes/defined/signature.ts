// A scheme in code as a signature scheme. Whatever its functions throw refuses the request, and is reported.

import { createHash, createHmac } from 'node:crypto';
import { createKeyring, deriveOnce, type Key } from '../../accounts/keyring.ts';
import { hashNames } from '../../algorithms.ts';
import { findQueryValues, removeParameters } from '../../http/form.ts';
import { Problem } from '../../http/problem.ts';
import { octetsOf } from '../../http/syntax/octets.ts';
import { maxSignatures } from '../declared/signature-format.ts';
import { contentVariants, digestMistakes } from '../explain/content.ts';
import type { Variant } from '../explain/mistake.ts';
import { type DigestForm, messageBytes, type Part, type Piece } from '../message.ts';
import {
  type Fault,
  keepReadable,
  type Mac,
  type Presented,
  type RequestVerification,
  sentence,
  wrongKey,
} from '../scheme.ts';
import type { SchemeContext } from '../scheme-context.ts';
import {
  decodeSignature,
  digestForm,
  encodings,
  isSameSignature,
  type SignatureForm,
  signatureFault,
} from '../signature-form.ts';
import { listKeyKinds, readKeyForm, readWindows, usesBody } from './defaults.ts';
import {
  CredentialsFault,
  type Definition,
  type ReadCredentials,
  type SchemeRequest,
  type SigningContext,
} from './definition.ts';
import { findExtension, joinParts, readCredentials, readParts } from './message.ts';
import type { DefinitionPlaces } from './places.ts';
import { createSchemeRequest, toBuffer } from './request.ts';

/** The credentials of a request, and its message. */
interface DefinedPresented extends Presented {
  readonly credentials: ReadCredentials;
  /** The request as `message` receives it; its content is empty until it was read. */
  readonly shown: SchemeRequest;
  /** The message; empty until the content was read, if that is needed. */
  readonly parts: readonly Part[];
  /** Whether credentials stand in the content, which was not read yet. */
  readonly isWaiting: boolean;
}

/** What `parse` found: credentials, several of which one is enough, or a fault. */
type Parsed = DefinedPresented | readonly DefinedPresented[] | Fault;

const noContent = Buffer.alloc(0);
const noCredentials: ReadCredentials = { user: '', signature: '' };

/** Creates the signature scheme of a definition. */
export function createDefinedSignature(
  name: string,
  definition: Definition,
  { place }: DefinitionPlaces,
  { accounts, bodyLimit, onError }: SchemeContext,
): RequestVerification<DefinedPresented> {
  const needsBody = usesBody(definition);
  const kinds = listKeyKinds(definition);
  const windows = readWindows(definition);
  const keyForm = readKeyForm(definition);
  const needs: Presented['needs'] = needsBody ? 'content' : undefined;
  const isPublic = (algorithm: string): boolean => kinds.some((kind) => kind === algorithm);
  const report = (what: string, cause: unknown): void =>
    onError?.(new Error(`the scheme ${name}: ${what}`, { cause }));
  const keyFor = (secret: Buffer): Buffer | undefined => attempt(() => keyForm.key(secret));
  const prepared = deriveOnce((secret) => {
    const key = keyFor(secret);
    return { key: key ?? Buffer.from(secret), isReadable: key !== undefined };
  });
  const hasSecrets = kinds.includes('secret');
  // With public keys, signatures have several forms.
  const known = hasSecrets && definition.verify === undefined ? recognizeHmac(definition, {}) : undefined;
  const reported = new WeakSet<SchemeRequest>();

  const refuse = (what: string, error: unknown, claimed?: string): Fault => {
    if (error instanceof CredentialsFault) return error.fault;
    if (error instanceof Problem) return { detail: error.detail, problem: error };
    report(what, error);
    const hint = error instanceof Error ? error.message : String(error);
    return { detail: `The credentials cannot be read.`, hint, claimed };
  };

  /** Adds the message. */
  const complete = (presented: DefinedPresented, content: Buffer): DefinedPresented | Fault => {
    const { request, credentials } = presented;
    const target = 'query' in place ? removeParameters(request.target, [place.query]) : request.target;
    const shown = createSchemeRequest(request, () => content, target);
    try {
      const parts = readParts(definition.message(shown, credentials), definition.join);
      joinParts(parts, definition);
      const extension = findExtension(parts);
      if (extension !== undefined) return { detail: extension, claimed: credentials.user };
      return { ...presented, shown, parts, target };
    } catch (error) {
      return refuse('message threw', error, credentials.user);
    }
  };

  /** Reads credentials that `parse` returned. */
  const present = (
    parsed: unknown,
    request: Presented['request'],
    shown: SchemeRequest,
    usesBody: boolean,
  ): DefinedPresented | Fault => {
    const read = readCredentials(parsed, definition, usesBody);
    if (read instanceof Error) return refuse('parse returned something else', read);
    if ('detail' in read) return read;
    const { user, signature, date, expires, nonce } = read;
    const canonical = known && decodeSignature(signature, known);
    if (known !== undefined && canonical === undefined)
      return { detail: `${sentence(signatureFault(signature, known))}.`, claimed: user };
    return {
      request,
      user,
      signatures: [canonical ?? octetsOfSignature(signature, definition).toString('base64')],
      kinds,
      needs,
      time: date,
      expires,
      nonce: definition.nonce === 'off' || nonce === '' ? undefined : nonce,
      credentials: read,
      shown,
      parts: [],
      isWaiting: false,
    };
  };

  const parse = (request: Presented['request'], content: Buffer | undefined): Parsed => {
    let needed = false;
    const shown = createSchemeRequest(request, () => {
      needed = true;
      return content ?? noContent;
    });
    let parsed: unknown;
    let thrown: Fault | undefined;
    try {
      parsed = definition.parse(shown);
    } catch (error) {
      if (content !== undefined || !needed || !needsBody) thrown = refuse('parse threw', error);
    }
    if (thrown !== undefined) return thrown;
    const waiting = { request, user: '', signatures: [], kinds, needs, time: undefined, nonce: undefined };
    if (needed && needsBody && content === undefined)
      return { ...waiting, credentials: noCredentials, shown, parts: [], isWaiting: true };
    const several: readonly unknown[] | undefined = Array.isArray(parsed) ? parsed : undefined;
    if (several === undefined) return present(parsed, request, shown, needed && needsBody);
    if (needed)
      return refuse('parse returned a list', new TypeError('credentials in the content are not a list'));
    if (several.length === 0 || several.length > maxSignatures)
      return { detail: `1 to ${maxSignatures} signatures are expected, not ${several.length}.` };
    return keepReadable(several.map((each) => present(each, request, shown, false)));
  };

  /** Adds the message to credentials, or to each of several. */
  const completeAll = (read: Parsed, content: Buffer): Parsed => {
    if (!isSeveral(read)) return 'detail' in read ? read : complete(read, content);
    return keepReadable(read.map((each) => complete(each, content)));
  };

  return {
    rules: {
      check: 'signature',
      wrong,
      time: {
        subject: 'The date',
        window: windows.dated,
        undated: windows.undated,
        resolution: 1000,
      },
      refusesReplays: definition.replay === 'refuse',
      ...(definition.digestFault !== undefined && { digestCheck: 'content' }),
    },
    parse(request) {
      const repeated = findRepeated(request, definition);
      if (repeated !== undefined) return { detail: repeated };
      const presented = parse(request, undefined);
      return needsBody ? presented : completeAll(presented, noContent);
    },
    complete(presented, content) {
      const bytes = toBuffer(content);
      const read = presented.isWaiting ? parse(presented.request, bytes) : presented;
      if (isSeveral(read)) throw new TypeError('parse returned a list for the content');
      return 'detail' in read ? read : complete(read, bytes);
    },
    find: createKeyring(accounts, name, {
      ofUser: ({ algorithm }) => isPublic(algorithm),
      byId: ({ algorithm }) => isPublic(algorithm) || (algorithm === 'hmac-sha256' && hasSecrets),
    }),
    messages: ({ parts }) => [parts],
    ...(typeof definition.join === 'function' && {
      join: (parts: readonly Part[]) => attempt(() => joinParts(parts, definition)) ?? [],
    }),
    verify(key, message, { credentials, shown }) {
      const bytes = messageBytes(message);
      try {
        if (key.kind !== 'secret')
          return (
            definition.verify?.(bytes, key.publicKey, credentials.signature, {
              kind: key.kind,
              credentials,
            }) === true
          );
        const own = prepared(key.secret);
        return (
          isSameSignature(definition.sign(bytes, own.key, { credentials }), credentials.signature) &&
          own.isReadable
        );
      } catch (error) {
        if (!isDecoy(key) && !reported.has(shown)) {
          reported.add(shown);
          report(key.kind === 'secret' ? 'sign threw' : 'verify threw', error);
        }
        return false;
      }
    },
    ...(definition.accept !== undefined && {
      accept({ credentials }: DefinedPresented, key: Key) {
        const hint = definition.accept?.(credentials, key);
        return hint === undefined ? undefined : wrongKey(wrong, hint);
      },
    }),
    ...(definition.digestFault !== undefined && {
      digestFault: ({ request, shown, credentials }: DefinedPresented) =>
        definition.digestFault?.(shown, credentials, () =>
          request.body.present ? request.body.hold(bodyLimit) : Promise.resolve(noContent),
        ),
    }),
    mistakes: {
      mac: ({ credentials }) =>
        hasSecrets
          ? {
              ...keyForm,
              key: keyFor,
              ...describeMac(definition, known ?? recognizeHmac(definition, { credentials })),
            }
          : undefined,
      part: (part, presented, content) => partMistakes(part, presented, content, definition),
      message: ({ request }, parts) => definition.mistakes?.(parts, request.headers) ?? [],
      withSignature: (presented, signature) => ({
        ...presented,
        signatures: [signature],
        credentials: { ...presented.credentials, signature },
      }),
    },
  };
}

const wrong = 'The user, the secret or the signed message is wrong.';

function isSeveral(read: Parsed): read is readonly DefinedPresented[] {
  return Array.isArray(read);
}

function attempt<Value>(compute: () => Value): Value | undefined {
  try {
    return compute();
  } catch {
    return undefined;
  }
}

function isDecoy({ until }: Key): boolean {
  return until === Number.NEGATIVE_INFINITY;
}

/** Returns what is wrong if a place of credentials occurs twice: it would be open which one counts. */
function findRepeated(
  { headers: fields, target }: Presented['request'],
  { headers = [], query = [] }: Definition,
): string | undefined {
  if (fields.repeated)
    for (const name of headers)
      if (fields.getAll(name.toLowerCase()).length > 1) return `The field ${name} was sent twice.`;
  for (const name of query)
    if (findQueryValues(target, name).length > 1) return `The query parameter ${name} was sent twice.`;
  return undefined;
}

const probeMessage = Buffer.from('message');
const probeKey = Buffer.alloc(32, 7);

/** Returns which HMAC `sign` computes; undefined if it is none. Then mistakes in the hash function cannot be explained. */
function recognizeHmac(definition: Definition, context: SigningContext): SignatureForm | undefined {
  const signature = attempt(() => definition.sign(probeMessage, probeKey, context));
  for (const hash of hashNames) {
    const digest = createHmac(hash, probeKey).update(probeMessage).digest();
    const encoding = encodings.find((each) => digest.toString(each) === signature);
    if (encoding !== undefined) return digestForm(hash, encoding);
  }
  return undefined;
}

function describeMac(definition: Definition, known: SignatureForm | undefined): Pick<Mac, 'hash' | 'sign'> {
  if (known !== undefined) return { hash: known.hash };
  const sign: Mac['sign'] = (key, message) => octetsOfSignature(definition.sign(message, key), definition);
  return { hash: undefined, sign };
}

/** Returns the octets of a signature: of one by a private key what it encodes, otherwise its characters. */
function octetsOfSignature(signature: string, { verify }: Definition): Buffer {
  if (verify === undefined) return Buffer.from(signature, 'utf8');
  const isHex = /^(?:[0-9a-f]{2})+$/i.test(signature);
  return Buffer.from(signature, isHex ? 'hex' : 'base64');
}

/** Yields the mistakes in a digest, and in bytes that are signed as such. */
function* partMistakes(
  part: Part,
  presented: DefinedPresented,
  content: Uint8Array,
  definition: Definition,
): Generator<Variant> {
  const { kind, name, value } = part;
  if (typeof value !== 'string' && kind !== 'content') {
    const bytes = toBuffer(value);
    yield [`the ${name} was signed in hexadecimal, not as bytes`, bytes.toString('hex')];
    yield [`the ${name} was signed in base64, not as bytes`, bytes.toString('base64')];
  }
  if (kind !== 'digest') return;
  const form = recognizeDigest(value, content);
  if (form === undefined) yield* computedDigests(part, presented, content, definition);
  else yield* digestMistakes(form, content);
}

/** Yields the digests that `message` computes without the nonce or the content, or of other content. */
function* computedDigests(
  { name }: Part,
  { credentials, shown }: DefinedPresented,
  content: Uint8Array,
  definition: Definition,
): Generator<Variant> {
  const compute = (hint: string, body: Buffer, changed: ReadCredentials): Variant[] => {
    const parts = attempt(() => readParts(definition.message({ ...shown, body }, changed), definition.join));
    const digest = parts?.find((part) => part.kind === 'digest' && part.name === name);
    return digest === undefined ? [] : [[hint, digest.value]];
  };
  const sent = toBuffer(content);
  yield* compute(`the nonce was left out of the ${name}`, sent, { ...credentials, nonce: '' });
  yield* compute(`the content was left out of the ${name}`, noContent, credentials);
  for (const [hint, value] of contentVariants(octetsOf(sent)))
    yield* compute(hint, messageBytes([value]), credentials);
}

/** Returns the form of a digest of the content; undefined if the value is something else. */
function recognizeDigest(value: Piece, content: Uint8Array): DigestForm | undefined {
  if (typeof value !== 'string') return undefined;
  for (const hash of ['sha256', 'sha512', 'sha1', 'md5', 'sha384']) {
    const digest = createHash(hash).update(content).digest();
    for (const encoding of encodings) {
      const text = digest.toString(encoding);
      const at = value.indexOf(text);
      if (at < 0) continue;
      const [before, after] = [value.slice(0, at), value.slice(at + text.length)];
      return { hash, format: (other) => before + other.toString(encoding) + after };
    }
  }
  return undefined;
}
