import { createHash, type KeyObject } from 'node:crypto';
import { readDeclaredOptions } from '../../auth/declared/options.ts';
import { readsContent } from '../../auth/declared/plan.ts';
import type { DeclaredHmacDeclaration, PresetDeclaration } from '../../auth/scheme-declarations.ts';
import { hasPrivateKey } from '../../signature/declared/asymmetric.ts';
import type { Declaration } from '../../signature/declared/declaration.ts';
import { fieldIn, parameterIn } from '../../signature/declared/places.ts';
import { signDeclared } from '../../signature/declared/sign.ts';
import { lineOf, type OutgoingRequest } from '../attempt.ts';
import { checkSignerOptions } from './check-options.ts';
import { type DeclaredChanges, type DeclaredSigning, withScheme } from './schemes.ts';
import type { SignedParts } from './signed-parts.ts';
import type { CredentialPlace, RequestSigner, SignerTraits } from './signer.ts';
import { bytesOf, splitUrl, withParameters } from './target.ts';

/** The options of `declaredSigner`. */
export interface DeclaredSignerOptions {
  /** The name of the user, or the id of one of its keys. Not sent if the declaration names the user. */
  readonly user: string;
  readonly secret: string;
  /** The private key of the scheme, or an Ed25519 key, whose signature is sent in addition (Standard Webhooks, `v1a`). */
  readonly privateKey?: KeyObject;
  /** The passphrase of the key, if the scheme has one. */
  readonly passphrase?: string;
}

/**
 * Creates a signer for a scheme that is declared by its message, or a preset. Dates are only tried in the declared unit and
 * in the other ones. If `{url}` or `{host}` is signed, the good request's URL must be that of the server under attack.
 * @throws RangeError if the declaration is invalid, or a secret is not in its encoding
 * @example declaredSigner({ preset: 'stripe', user: 'ann' }, { user: 'ann', secret: 'whsec_…' })
 */
export function declaredSigner(
  declared: DeclaredHmacDeclaration | PresetDeclaration,
  options: DeclaredSignerOptions,
): RequestSigner {
  const declaration = readDeclaredOptions(declared, 'declaration');
  checkSignerOptions(options, 'the credentials of declaredSigner', ['user', 'secret']);
  if (readsContent(declaration))
    throw new RangeError('declaredSigner signs no requests with credentials in their content');
  const named = typeof declaration.user === 'object';
  const scheme: DeclaredSigning = {
    kind: 'declared',
    declaration,
    sign: (request, changes, other = declaration) => signAs(request, changes, other, options),
  };
  const sign: RequestSigner = (request, changes) => scheme.sign(request, changes);
  const { timestamp, replay } = declaration;
  const dateField = fieldIn(timestamp?.place);
  const traits: SignerTraits = {
    place: placeOf(declaration),
    ...(dateField === undefined ? {} : { dateField }),
    acceptedOnce: replay === 'refuse',
  };
  return Object.assign(sign, {
    ...(named ? { user: options.user } : {}),
    tlsOnly: false,
    traits: withScheme(traits, scheme),
  });
}

function signAs(
  request: OutgoingRequest,
  changes: DeclaredChanges,
  declaration: Declaration,
  options: DeclaredSignerOptions,
): SignedParts | undefined {
  const { date = 0, nonce = 'none', user = options.user, secret = options.secret } = changes;
  // A private key has no other secret.
  if (hasPrivateKey(declaration.algorithm) && secret !== options.secret) return undefined;
  // A field value has no white space at its ends, so such a name cannot be sent.
  if (typeof date === 'string' || user !== user.trim()) return undefined;
  const { query = digestParameterOf(request, declaration), id = 'msg_1' } = changes;
  const { host, secure, target } = splitUrl(withParameters(request.url, query));
  const content = bytesOf(request);
  const unsigned = {
    ...{ method: request.method, target, secure, host },
    ...{ fields: request.headers, ...(content === undefined ? {} : { content }) },
  };
  const { privateKey, passphrase } = options;
  const parts = {
    user,
    secrets: [secretIn(declaration, secret)],
    ...{ now: date, nonce, id, ...(privateKey === undefined ? {} : { privateKey }) },
    ...(passphrase === undefined ? {} : { passphrase }),
  };
  const signed = attempted(() => signDeclared(unsigned, declaration, parts));
  if (signed === undefined) return undefined;
  const own = splitUrl(request.url).target;
  return { fields: Object.fromEntries(signed.fields), query: signed.target.slice(own.length + 1) };
}

/** Returns undefined for a secret that is not in the declared encoding. */
function attempted<Value>(compute: () => Value): Value | undefined {
  try {
    return compute();
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** Returns the secret as written. An empty one is replaced by an equivalent one: keys are padded with zeros (RFC 2104 §2). */
function secretIn({ key, keyPrefix = '' }: Declaration, secret: string): string {
  if (secret !== '') return secret;
  return keyPrefix + { utf8: '\0', hex: '00', base64: 'AA==' }[key];
}

/** Returns the parameter with the digest of content that is not a form, if the scheme has one (Twilio). */
function digestParameterOf(request: OutgoingRequest, { digestParameter }: Declaration): string {
  const content = bytesOf(request);
  const type = lineOf(request.headers, 'Content-Type')?.[1] ?? '';
  const isForm = /^application\/x-www-form-urlencoded\b/i.test(type);
  if (digestParameter === undefined || content === undefined || isForm) return '';
  return `${digestParameter}=${createHash('sha256').update(content).digest('hex')}`;
}

/** Returns where the signature stands: after the last text of its format, before the next one. */
function placeOf({ place, format, user }: Declaration): CredentialPlace {
  const element = format.elements.find(({ names }) => names.includes('signature'));
  const at = element?.names.indexOf('signature') ?? 0;
  const [before = '', after = ''] = [element?.literals[at] ?? '', element?.literals[at + 1] ?? ''];
  const separator = format.separator === undefined ? undefined : escaped(format.separator);
  const preceding = at > 0 ? '.*' : separator === undefined ? '' : `(?:.*${separator}\\s*)?`;
  const following = separator === undefined ? '' : `(?:${separator}.*)?`;
  const form = new RegExp(`^(${preceding}${escaped(before)})([^,;\\s]*)(${escaped(after)}${following})$`);
  const isList = format.separator?.trim() === ',';
  const userField = fieldIn(user);
  const otherFields = userField === undefined ? [] : [userField];
  return { in: 'field' in place ? place : { query: parameterIn(place) ?? '' }, otherFields, form, isList };
}

function escaped(literal: string): string {
  return literal.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
}
