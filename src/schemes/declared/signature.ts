// A declared scheme as a signature scheme: its message is a template, and its keys are the user's secrets.

import { createHash, timingSafeEqual } from 'node:crypto';
import { createKeyring, deriveOnce, type Key, type KeyHolder } from '../../accounts/keyring.ts';
import { verifyWith } from '../../algorithms.ts';
import { findQueryValues, hasTooManyParameters, maxFormParameters } from '../../http/form.ts';
import type { IncomingRequest } from '../../http/message.ts';
import { octetsOf } from '../../http/syntax/octets.ts';
import { decodeEscapes } from '../../http/syntax/percent.ts';
import { splitTarget } from '../../http/target.ts';
import { andThen } from '../../maybe-promise.ts';
import type { Variant } from '../explain/mistake.ts';
import { messageBytes, type Part } from '../message.ts';
import { type DigestFault, type Fault, type RequestVerification, wrongKey } from '../scheme.ts';
import type { SchemeContext } from '../scheme-context.ts';
import { isSameSignature } from '../signature-form.ts';
import { type Declaration, findKeyAlgorithm } from './declaration.ts';
import { createDeclaredKey, digestWithSecret, keyBytes } from './key.ts';
import { type MessageSource, sortForm } from './message.ts';
import { buildSources, readParts, removeSignature } from './message-source.ts';
import {
  type CompiledDeclaration,
  compileDeclaration,
  type DeclaredPresented,
  present,
  presentAll,
} from './presented.ts';
import { isOfContent } from './template.ts';

/** Creates the signature scheme of a declaration. */
export function createDeclaredSignature(
  name: string,
  declared: Declaration,
  { accounts, publicOrigin }: SchemeContext,
): RequestVerification<DeclaredPresented> {
  const options = compileDeclaration(declared);
  const { hash, dsaEncoding, timestamp } = options;
  // Those of Standard Webhooks (`v1a`) are among those of HMAC.
  const keyKind = findKeyAlgorithm(options.algorithm) ?? 'ed25519';
  // The salt of RSASSA-PSS may have any length.
  const variant = { hash, dsaEncoding, anySalt: true };
  const find = createKeyring(accounts, name, {
    ofUser: ({ algorithm }) => algorithm === keyKind,
    byId: ({ algorithm }) => algorithm === keyKind || algorithm === 'hmac-sha256',
  });
  const macAlgorithm = options.algorithm === 'digest' ? 'digest' : 'hmac';
  const keyFor = (secret: Buffer): Buffer | undefined => keyBytes(secret, options);
  const prepared = deriveOnce((secret) => {
    const bytes = keyFor(secret);
    const key = createDeclaredKey(bytes ?? secret, hash, macAlgorithm);
    return { key, isReadable: bytes !== undefined };
  });
  return {
    rules: {
      check: 'signature',
      wrong,
      time: timestamp && {
        subject: 'The timestamp',
        window: timestamp.window,
        resolution: timestamp.unit === 'ms' || timestamp.unit === 'fractional-s' ? 1 : 1000,
        expiryReplacesWindow: options.lifetime !== undefined,
      },
      refusesReplays: options.replay === 'refuse',
    },
    parse: (request, rest) => pathFault(request, options) ?? presentAll(request, rest, options),
    complete: (presented, content) =>
      options.readsContent || options.coversForm
        ? readContent(presented, content, options, publicOrigin)
        : presented,
    find: (presented) => andThen(find(presented), (holder) => requireOwner(holder, presented.owner)),
    messages: (presented, content) =>
      listSources(presented, content, options, publicOrigin).map((source) => readParts(options, source)),
    verify(key, message, { signatures }) {
      if (key.kind === 'secret') {
        const own = prepared(key.secret);
        return own.key.signs(message, signatures) && own.isReadable;
      }
      const bytes = messageBytes(message);
      const valid = signatures.filter((each) =>
        verifyWith(keyKind, key.publicKey, bytes, Buffer.from(each, 'base64'), variant),
      );
      return valid.length > 0;
    },
    ...(options.passphrase !== undefined && { accept: passphraseFault }),
    variant: { hash, dsaEncoding },
    digestFault: ({ target }, content) => parameterFault(target, content, options),
    mistakes: {
      mac: () => ({
        encoding: options.key,
        prefix: options.keyPrefix,
        key: keyFor,
        ...(options.algorithm === 'digest'
          ? { hash: undefined, sign: (key, message) => digestWithSecret(message, key, options.hash) }
          : { hash: options.hash }),
      }),
      part: (part, presented, content) => listOwnMistakes(part, presented, content, options),
    },
  };
}

const wrong = 'The user, the secret or the signed message is wrong.';

/** Reads what the content presents. Returns a fault if it is malformed, or if the signature cannot cover the content. */
function readContent(
  presented: DeclaredPresented,
  content: Uint8Array,
  declaration: CompiledDeclaration,
  publicOrigin: string | undefined,
): DeclaredPresented | Fault {
  const { request, rest, place } = presented;
  const { readsContent, coversForm } = declaration;
  const whole = readsContent ? present(request, rest, { ...declaration, place }, content) : presented;
  if ('detail' in whole || !coversForm) return whole;
  return formFault(listSources(whole, content, declaration, publicOrigin)[0], declaration) ?? whole;
}

/** Returns the data of the request that messages contain; several if the authority may be signed in several forms. */
function listSources(
  { request, target, isInForm, signed }: DeclaredPresented,
  content: Uint8Array,
  declaration: Declaration,
  publicOrigin: string | undefined,
): ReturnType<typeof buildSources> {
  const covered = isInForm ? removeSignature(content, declaration) : content;
  return buildSources(request, target, covered, signed, declaration, publicOrigin);
}

/** Returns the holder of a key unless the request names another user beside the id of the key. */
function requireOwner(holder: KeyHolder | undefined, owner: string | undefined): KeyHolder | undefined {
  return owner === undefined || holder?.principal.name === owner ? holder : undefined;
}

const noPassphrase = Buffer.alloc(32);

/** Returns a fault if the passphrase is not that of the key. Only the holder of the key learns about it. */
function passphraseFault({ passphrase = noPassphrase }: DeclaredPresented, key: Key): Fault | undefined {
  const own = key.kind === 'secret' ? key.passphrase : undefined;
  if (own === undefined)
    return wrongKey(wrong, 'the key has no passphrase; set passphrase of the key of the user');
  return timingSafeEqual(own, passphrase)
    ? undefined
    : wrongKey(wrong, 'the passphrase is not that of the key');
}

/** Returns a fault if `{url}` contains the path without escapes of delimiters, so that another resource has the same message. */
function pathFault({ target }: IncomingRequest, { decodedInUrl }: Declaration): Fault | undefined {
  if (decodedInUrl === undefined || !/%(?:2f|3f)/i.test(splitTarget(target).path)) return undefined;
  const detail =
    'The path contains %2F or %3F, which is signed without its escape, so the signature does not cover it as sent.';
  return { detail };
}

/** Returns a fault if the signature covers the content only as a form, and it is not one, or if the form cannot be parsed. */
function formFault(source: MessageSource, { message, digestParameter }: Declaration): Fault | undefined {
  if (source.content.length === 0) return undefined;
  const form = source.hasForm ? octetsOf(source.content) : undefined;
  // Counted before the form is decoded, because its sender is not authenticated yet.
  if (form !== undefined && hasTooManyParameters(form))
    return { detail: `A signed form can have at most ${maxFormParameters} parameters.` };
  if (message.some(isOfContent)) return undefined;
  if (digestParameter !== undefined && findQueryValues(source.target, digestParameter).length === 1)
    return undefined;
  if (form !== undefined)
    return sortForm(form) === undefined
      ? { detail: 'The form has a malformed escape, so the signature cannot cover it.' }
      : undefined;
  const further =
    digestParameter === undefined ? '' : `, or its SHA-256 in the query parameter ${digestParameter}`;
  return { detail: `The signature does not cover this content; it must be a form${further}.` };
}

/** Returns a fault if the content does not have the digest that the signed target contains. */
function parameterFault(
  target: string,
  content: Uint8Array,
  { digestParameter }: Declaration,
): DigestFault | undefined {
  if (digestParameter === undefined) return undefined;
  const values = findQueryValues(target, digestParameter);
  const [given] = values;
  if (given === undefined) return undefined;
  const digest = createHash('sha256').update(content).digest('hex');
  if (values.length === 1 && isSameSignature(digest, given)) return undefined;
  const detail = `The content does not have the SHA-256 in the query parameter ${digestParameter}.`;
  return {
    detail,
    explain: async () => {
      const { explainDigest } = await import('../explain/content.ts');
      const form = { hash: 'sha256', format: (bytes: Buffer) => bytes.toString('hex') };
      return (isLimited) => ({ detail, hint: explainDigest(form, content, decodeEscapes(given), isLimited) });
    },
  };
}

/** Returns the mistakes that only declarations have: the parameter of the signature was signed, or the order of a sorted query. */
function listOwnMistakes(
  { kind, value }: Part,
  { request }: DeclaredPresented,
  _content: Uint8Array,
  { place }: Declaration,
): Variant[] {
  if (!('query' in place) || typeof value !== 'string') return [];
  if (kind !== 'target' && kind !== 'query' && kind !== 'url') return [];
  const hint = `the query parameter ${place.query} was signed; the message does not contain it`;
  const isEmpty = kind === 'query' ? value === '' : !value.includes('?');
  const separator = isEmpty ? (kind === 'query' ? '' : '?') : '&';
  const sent = kind === 'target' ? [request.target] : [];
  const variants = [`${place.query}=`, place.query].map((pair) => value + separator + pair);
  return [...variants, ...sent].map((signed): Variant => [hint, signed]);
}
