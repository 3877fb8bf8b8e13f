// A declared scheme as a signature scheme: its message is a template, and its keys are the user's secrets.

import { createHash, timingSafeEqual } from 'node:crypto';
import { findQueryValues, hasTooManyParameters, maxFormParameters } from '../../http/form.ts';
import type { IncomingRequest } from '../../http/message.ts';
import { octetsOf } from '../../http/syntax/octets.ts';
import { splitTarget } from '../../http/target.ts';
import { andThen } from '../../maybe-promise.ts';
import {
  hasPrivateKey,
  type KeySignatureForm,
  keyKinds,
  verifyByKey,
} from '../../signature/declared/asymmetric.ts';
import { createDeclaredKey, digestWithSecret, isSameDigest, keyBytes } from '../../signature/declared/key.ts';
import { type MessageSource, readPiece, sortForm } from '../../signature/declared/message.ts';
import { parseBodyDigest, partName, type TemplatePart } from '../../signature/declared/template.ts';
import { type DigestForm, messageBytes, type Part, type PartKind } from '../../signature/message.ts';
import type { Variant } from '../explain/mistake.ts';
import { createKeyring, deriveOnce, type Key, type KeyHolder } from '../keyring.ts';
import { type DigestFault, type Fault, type SchemeVerification, wrongKey } from '../scheme.ts';
import type { SchemeContext } from '../scheme-context.ts';
import { type CompiledDeclaration, compileDeclaration } from './compiled.ts';
import type { DeclaredOptions } from './options.ts';
import { buildSources, type DeclaredPresented, present, presentAll } from './presented.ts';

/** Creates the signature scheme of a declaration. */
export function createDeclaredSignature(
  name: string,
  declared: DeclaredOptions,
  { accounts, publicOrigin }: SchemeContext,
): SchemeVerification<DeclaredPresented> {
  const options = compileDeclaration(declared);
  const { algorithm, hash, dsaEncoding } = options;
  const form: KeySignatureForm = hasPrivateKey(algorithm) ? { algorithm, hash, dsaEncoding } : listedForm;
  const keyKind = keyKinds[form.algorithm];
  const find = createKeyring(accounts, name, {
    ofUser: ({ algorithm }) => algorithm === keyKind,
    byId: ({ algorithm }) => algorithm === keyKind || algorithm === 'hmac-sha256',
  });
  const macAlgorithm = options.algorithm === 'digest' ? 'digest' : 'hmac';
  const keyFor = (secret: Buffer): Buffer | undefined => keyBytes(secret, options);
  const prepared = deriveOnce((secret) =>
    createDeclaredKey(keyFor(secret) ?? secret, options.hash, macAlgorithm),
  );
  const readable = deriveOnce((secret) => ({ isReadable: keyFor(secret) !== undefined }));
  const heads = options.message.map(buildHead);
  const { timestamp } = options;
  return {
    name,
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
      options.readsContent || options.needs.form
        ? readContent(presented, content, options, publicOrigin)
        : presented,
    find: ({ user, owner }) => andThen(find(user), (holder) => requireOwner(holder, owner)),
    messages: (presented, content) =>
      buildSources(presented, content, options, publicOrigin).map((source) =>
        heads.map(({ kind, name: part, digest }, at): Part => {
          const value = readPiece(options.message[at] ?? emptyText, source);
          return digest === undefined ? { kind, name: part, value } : { kind, name: part, value, digest };
        }),
      ),
    verify(key, message, { digests, asymmetric }) {
      if (key.kind === 'secret')
        return prepared(key.secret).signs(message, digests) && readable(key.secret).isReadable;
      const bytes = messageBytes(message);
      const valid = asymmetric.filter((each) =>
        verifyByKey(form, key.publicKey, bytes, Buffer.from(each, 'base64')),
      );
      return valid.length > 0;
    },
    ...(options.passphrase !== undefined && { accept: passphraseFault }),
    variant: { hash: options.hash, dsaEncoding: options.dsaEncoding },
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
      withSignature: (presented, signature) => ({
        ...presented,
        signatures: [signature],
        ...(hasPrivateKey(options.algorithm)
          ? { digests: [], asymmetric: [signature] }
          : { digests: [signature], asymmetric: [] }),
      }),
    },
  };
}

const emptyText: TemplatePart = { kind: 'literal', text: '' };

/** The signatures by private keys among those of HMAC (Standard Webhooks, `v1a`). */
const listedForm: KeySignatureForm = { algorithm: 'ed25519', hash: 'sha512', dsaEncoding: 'der' };

const wrong = 'The user, the secret or the signed message is wrong.';

/** Reads what the content presents. Returns a fault if it is malformed, or if the signature cannot cover the content. */
function readContent(
  presented: DeclaredPresented,
  content: Uint8Array,
  declaration: CompiledDeclaration,
  publicOrigin: string | undefined,
): DeclaredPresented | Fault {
  const { request, rest, signatureField } = presented;
  const { readsContent, needs } = declaration;
  const whole = readsContent
    ? present(request, rest, { ...declaration, signatureField }, content)
    : presented;
  if ('detail' in whole || !needs.form) return whole;
  return formFault(buildSources(whole, content, declaration, publicOrigin)[0], declaration) ?? whole;
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

/** The kinds of the placeholders. */
const kinds: Readonly<Partial<Record<TemplatePart['kind'], PartKind>>> = {
  literal: 'text',
  method: 'method',
  'method-lower': 'method',
  target: 'target',
  path: 'path',
  query: 'query',
  'query-sorted': 'query',
  url: 'url',
  host: 'host',
  user: 'user',
  'key-id': 'user',
  timestamp: 'time',
  nonce: 'nonce',
  id: 'id',
  field: 'header',
  body: 'content',
  'form-sorted': 'form',
  json: 'other',
  secret: 'secret',
};

/** Returns how a digest of the content is written; undefined for another part. */
function findDigestForm(kind: TemplatePart['kind']): DigestForm | undefined {
  const known = parseBodyDigest(kind);
  if (known === undefined) return undefined;
  return { hash: known.hash, format: (digest) => digest.toString(known.encoding) };
}

interface Head {
  readonly kind: PartKind;
  readonly name: string;
  readonly digest: DigestForm | undefined;
}

/** The name of literal text in explanations. */
const literalName = '(text)';

/** Returns what is the same for a part in all messages. */
function buildHead(part: TemplatePart): Head {
  const name = part.kind === 'literal' ? literalName : partName(part);
  return { kind: kinds[part.kind] ?? 'digest', name, digest: findDigestForm(part.kind) };
}

/** Returns a fault if `{url}` contains the path without escapes of delimiters, so that another resource has the same message. */
function pathFault({ target }: IncomingRequest, { decodedInUrl }: DeclaredOptions): Fault | undefined {
  if (decodedInUrl === undefined || !/%(?:2f|3f)/i.test(splitTarget(target).path)) return undefined;
  const detail =
    'The path contains %2F or %3F, which is signed without its escape, so the signature does not cover it as sent.';
  return { detail };
}

/** Returns a fault if the signature covers the content only as a form, and it is not one, or if the form cannot be parsed. */
function formFault(source: MessageSource, { message, digestParameter }: DeclaredOptions): Fault | undefined {
  if (source.content.length === 0) return undefined;
  const form = source.hasForm ? octetsOf(source.content) : undefined;
  // Counted before the form is decoded, because its sender is not authenticated yet.
  if (form !== undefined && hasTooManyParameters(form))
    return { detail: `A signed form can have at most ${maxFormParameters} parameters.` };
  if (message.some(({ kind }) => kind.startsWith('body') || kind === 'json')) return undefined;
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
  { digestParameter }: DeclaredOptions,
): DigestFault | undefined {
  if (digestParameter === undefined) return undefined;
  const values = findQueryValues(target, digestParameter);
  const [given] = values;
  if (given === undefined) return undefined;
  const digest = createHash('sha256').update(content).digest('hex');
  // The lengths are compared by the digest of both, because the given one is not a secret.
  if (values.length === 1 && isSameDigest(digest, given)) return undefined;
  const detail = `The content does not have the SHA-256 in the query parameter ${digestParameter}.`;
  return { detail, explain: () => ({ detail }) };
}

/** Returns the mistakes that only declarations have: the parameter of the signature was signed, or the order of a sorted query. */
function listOwnMistakes(
  { kind, value }: Part,
  { request }: DeclaredPresented,
  _content: Uint8Array,
  { place }: DeclaredOptions,
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
