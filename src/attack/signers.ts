// The signers of all schemes, as tests create them.
import type { KeyObject } from 'node:crypto';
import { readApiKeyOptions, type SecretPlace } from '../auth/api-key/options.ts';
import { readAws4Options } from '../auth/aws4/options.ts';
import { type DeclaredOptions, readDeclaredOptions } from '../auth/declared/options.ts';
import { readsContent } from '../auth/declared/plan.ts';
import { definitionOf } from '../auth/defined/define-scheme.ts';
import type { Scheme } from '../auth/defined/definition.ts';
import type { SealedDefinition } from '../auth/defined/sealed.ts';
import { readDraftCavage } from '../auth/draft-cavage/definition.ts';
import { readMessageSignaturesOptions } from '../auth/message-signatures/options.ts';
import { type Members, readMembers, readText } from '../auth/option-values.ts';
import type {
  ApiKeyDeclaration,
  DraftCavageDeclaration,
  HmacDeclaration,
  PresetDeclaration,
} from '../auth/scheme-declarations.ts';
import { closestMatch } from '../did-you-mean.ts';
import { fieldIn, parameterIn } from '../signature/declared/places.ts';
import type { MessageAlgorithm, MessageKey } from '../signature/message-signatures/algorithms.ts';
import type { StructuredFieldTypes } from '../signature/message-signatures/structured-field-types.ts';
import { type CredentialPlace, createSchemeSigner, type Signer, type SignerTraits } from './signer.ts';

export type { MessageAlgorithm, MessageKey };

/** The options of `hmacSigner`. */
export interface HmacSignerOptions {
  readonly user: string;
  readonly secret: string;
  /** Default: `full`. */
  readonly form?: 'full' | 'simple';
  /** The field for the date. Default: `Date`. */
  readonly dateField?: 'Date' | 'X-Date';
  /** Whether the digest of the content is sent and signed. Default: false. */
  readonly signBody?: boolean;
}

/**
 * Creates a signer for Countersign's HMAC scheme, by default in the full form.
 * @throws RangeError without a user and a secret, or if the user cannot be sent
 * @example const attempts = adversary({ url }, hmacSigner({ user: 'johndoe', secret: 's3cret' }));
 */
export function hmacSigner(options: HmacSignerOptions): Signer {
  checkSignerOptions(options, 'hmacSigner', ['user', 'secret']);
  const { user, secret, form, dateField, signBody = false } = options;
  const scheme = {
    kind: 'hmac',
    name: 'hmac',
    options: { form, dateField, signBody: signBody },
  } as const;
  return createSchemeSigner({ scheme, identity: { user, secret }, choices: {} }, { user, tlsOnly: false });
}

/** Creates a signer for Basic credentials (RFC 7617). */
export function basicSigner(options: { user: string; password: string }): Signer {
  checkSignerOptions(options, 'basicSigner', ['user', 'password']);
  const { user, password } = options;
  const scheme = { kind: 'basic', name: 'basic' } as const;
  return createSchemeSigner(
    { scheme, identity: { user, secret: password }, choices: {} },
    { user, tlsOnly: true },
  );
}

/** Creates a signer for a bearer token (RFC 6750 §2.1). */
export function bearerSigner(options: { token: string }): Signer {
  checkSignerOptions(options, 'bearerSigner', ['token']);
  const scheme = { kind: 'bearer', name: 'bearer' } as const;
  return createSchemeSigner({ scheme, identity: { secret: options.token }, choices: {} }, { tlsOnly: true });
}

/**
 * Creates a signer for OAuth 1.0a with HMAC-SHA256. The origin is signed, so the good request's URL must be that of the
 * server under attack. `user` of a change is the consumer's key, and `secret` is the token's secret. Timestamps are
 * numbers, so other date formats are not tried.
 */
export function oauth1Signer(options: {
  readonly consumer: { readonly key: string; readonly secret: string };
  readonly token: { readonly token: string; readonly tokenSecret: string };
}): Signer {
  checkSignerOptions(options, 'oauth1Signer', []);
  const { consumer, token } = options;
  checkSignerOptions(consumer, 'oauth1Signer.consumer', ['key', 'secret']);
  checkSignerOptions(token, 'oauth1Signer.token', ['token', 'tokenSecret']);
  const scheme = { kind: 'oauth1', name: 'oauth1' } as const;
  return createSchemeSigner(
    { scheme, identity: { consumer, token }, choices: {} },
    { user: consumer.key, tlsOnly: true },
  );
}

/** The options of `apiKeySigner`. */
export interface ApiKeySignerOptions {
  /** The name of the user, or the id of one of its keys. */
  readonly user: string;
  readonly secret: string;
}

/**
 * Creates a signer for an API key, sent with a user or alone.
 * @example apiKeySigner({ user: { field: 'X-Api-Key' }, secret: { field: 'X-Api-Secret' } }, { user: 'ann', secret })
 */
export function apiKeySigner(declared: ApiKeyDeclaration, options: ApiKeySignerOptions): Signer {
  const { user: userPlace, secret: secretPlace } = checkSignerOptions(declared, 'apiKeySigner', []);
  const places = readApiKeyOptions({ user: userPlace, secret: secretPlace }, 'apiKeySigner');
  checkSignerOptions(options, 'the credentials of apiKeySigner', ['user', 'secret']);
  const { user, secret } = options;
  const scheme = { kind: 'api-key', name: 'api-key', options: places } as const;
  const userField = fieldIn(places.user);
  const place = {
    ...proofPlace(places.secret),
    otherFields: userField === undefined ? [] : [userField],
  };
  return createSchemeSigner(
    { scheme, identity: { user, secret }, choices: {} },
    { ...(userField !== undefined && { user }), tlsOnly: true, traits: { place } },
  );
}

/** Returns where the secret stands in a request. */
function proofPlace(place: SecretPlace): Pick<CredentialPlace, 'in' | 'form'> {
  if ('query' in place || 'field' in place) return { in: place, form: /^()(.*)()$/ };
  if ('cookie' in place) return { in: { field: 'Cookie' }, form: /^([^=]+=)(.*)()$/ };
  return { in: { field: 'Authorization' }, form: /^(\S+ )(.*)()$/ };
}

/** The options of `aws4Signer`. Those of a declared scheme can be passed too. */
export interface Aws4SignerOptions {
  /** The name of the user, or the id of one of its keys. */
  readonly accessKeyId: string;
  readonly secret: string;
  readonly region: string;
  readonly service: string;
  readonly sessionToken?: string;
  /** The lifetime of presigned URLs in seconds. Default: none, so header fields are signed. */
  readonly presign?: number;
  /** Whether the signed path is normalized. Default: true, for the service `s3` false. */
  readonly normalizePath?: boolean;
  /** Whether the signed path is percent-encoded twice. Default: true, for the service `s3` false. */
  readonly doubleEncode?: boolean;
  /** Whether the server accepts content that is not signed, so that it is not tried. Default: false. */
  readonly unsignedPayload?: boolean;
  /** `refuse` if the server accepts a signature only once within the window. Default: `allow`. */
  readonly replay?: 'refuse' | 'allow';
}

/**
 * Creates a signer for AWS Signature Version 4, in header fields or in the query. The host is signed, so the good request's
 * URL must be that of the server under attack. Signed are Host, Content-Type and all X-Amz fields.
 */
export function aws4Signer(options: Aws4SignerOptions): Signer {
  checkSignerOptions(options, 'aws4Signer', ['accessKeyId', 'secret', 'region', 'service']);
  const { accessKeyId: user, secret, sessionToken, presign: presigned, region, service } = options;
  const { normalizePath, doubleEncode, unsignedPayload, replay } = options;
  const declared = { region, service, normalizePath, doubleEncode, unsignedPayload, replay };
  const scheme = { kind: 'aws4', name: 'aws4', options: readAws4Options(declared, 'aws4Signer') } as const;
  const acceptedOnce = replay === 'refuse';
  const traits: SignerTraits =
    presigned === undefined
      ? {
          place: { in: { field: 'Authorization' }, form: /^(.*Signature=)(.*)()$/ },
          dateField: 'X-Amz-Date',
          acceptedOnce,
        }
      : {
          place: { in: { query: 'X-Amz-Signature' }, form: /^()(.*)()$/ },
          lifetime: presigned,
          acceptedOnce,
        };
  return createSchemeSigner(
    { scheme, identity: { user, secret }, choices: { sessionToken, presign: presigned } },
    { user, tlsOnly: false, traits },
  );
}

/** The options of `messageSignaturesSigner`. Those of a declared scheme can be passed too. */
export interface MessageSignaturesSignerOptions {
  /** The key, with the id under which the server knows it. */
  readonly key: MessageKey;
  /** The components that the server requires. Default: `@method`, `@authority`, `@path` and `@query`. */
  readonly components?: readonly string[];
  /** Whether signatures have a nonce. Default: `optional`, so they have one. */
  readonly nonce?: 'off' | 'optional' | 'required';
  /** The value of the parameter `tag`. Default: none. */
  readonly tag?: string;
  /** Whether the parameter `alg` names the algorithm. Default: false. */
  readonly alg?: boolean;
  /** The types of structured fields that are not registered. */
  readonly structuredFields?: StructuredFieldTypes;
}

/**
 * Creates a signer for HTTP Message Signatures (RFC 9421). `user` of a change is the id of another key. If `@authority` is
 * covered, the good request's URL must be that of the server under attack.
 * @example messageSignaturesSigner({ key: { id: 'key-1', algorithm: 'ed25519', privateKey } })
 */
export function messageSignaturesSigner(options: MessageSignaturesSignerOptions): Signer {
  const where = 'messageSignaturesSigner';
  checkSignerOptions(options, where, []);
  checkSignerOptions(options.key, `${where}.key`, ['id', 'algorithm']);
  const { key, components, nonce, tag, alg, structuredFields } = options;
  const declared = readMessageSignaturesOptions({ components, nonce, tag, structuredFields }, where);
  const scheme = { kind: 'message-signatures', name: 'message-signatures', options: declared } as const;
  const place = {
    in: { field: 'Signature' },
    otherFields: ['Signature-Input'],
    form: /^([^=]+=:)([^:]*)(:)$/,
    isPaddingOptional: true,
  };
  return createSchemeSigner(
    { scheme, identity: { keyId: key.id }, choices: { key, alg } },
    { user: key.id, tlsOnly: false, traits: { place } },
  );
}

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
  declared: HmacDeclaration | PresetDeclaration,
  options: DeclaredSignerOptions,
): Signer {
  const declaration = readDeclaredOptions(declared, 'declaration');
  checkSignerOptions(options, 'the credentials of declaredSigner', ['user', 'secret']);
  if (readsContent(declaration))
    throw new RangeError('declaredSigner signs no requests with credentials in their content');
  const { user, secret, privateKey, passphrase } = options;
  const { timestamp, replay } = declaration;
  const isNamed = typeof declaration.user === 'object';
  const dateField = fieldIn(timestamp?.place);
  const scheme = { kind: 'declared', name: 'declared', options: declaration } as const;
  const identity = { ...(isNamed && { user }), secret, privateKey, passphrase };
  const traits: SignerTraits = {
    place: placeOf(declaration),
    ...(dateField === undefined ? {} : { dateField }),
    acceptedOnce: replay === 'refuse',
  };
  return createSchemeSigner(
    // Equal requests have equal ids.
    { scheme, identity, choices: { id: 'msg_1' } },
    { ...(isNamed && { user }), tlsOnly: false, traits },
  );
}

/** The options of `definedSigner`: a secret, or a private key if the scheme has public keys. */
export interface DefinedSignerOptions {
  /** The name of the user, or the id of one of its keys. */
  readonly user: string;
  readonly secret?: string;
  readonly privateKey?: KeyObject;
}

/**
 * Creates a signer for a scheme in code.
 * @throws RangeError if the scheme is none that `defineScheme` returned, or credentials are missing
 * @example const attempts = adversary({ url }, definedSigner(scheme, { user: 'ann', secret }));
 */
export function definedSigner(scheme: Scheme, options: DefinedSignerOptions): Signer {
  const definition = definitionOf(scheme);
  if (definition === undefined)
    throw new RangeError('definedSigner: a scheme that defineScheme returned is expected');
  return signerOfDefinition(definition, options);
}

/**
 * Creates a signer for draft-cavage-http-signatures.
 * @throws RangeError if the declaration is invalid, or credentials are missing
 * @example draftCavageSigner({}, { user: 'ann', secret })
 */
export function draftCavageSigner(
  declaration: DraftCavageDeclaration,
  options: DefinedSignerOptions,
): Signer {
  return signerOfDefinition(readDraftCavage(declaration, 'draftCavageSigner'), options);
}

function signerOfDefinition(definition: SealedDefinition, options: DefinedSignerOptions): Signer {
  const { user, secret, privateKey } = options;
  checkSignerOptions(
    options,
    'the credentials of the signer',
    privateKey === undefined ? ['user', 'secret'] : ['user'],
  );
  const { place, form, headers, dateField, replay } = definition;
  const otherFields = headers.filter((name) => !('field' in place) || name !== place.field);
  const traits: SignerTraits = {
    place: { in: place, otherFields, form },
    acceptedOnce: replay === 'refuse',
    ...(dateField !== undefined && { dateField }),
  };
  const scheme = { kind: 'defined', name: 'defined', options: definition } as const;
  return createSchemeSigner(
    { scheme, identity: { user, secret, privateKey }, choices: {} },
    { user, tlsOnly: false, traits },
  );
}

/** Returns where the signature stands: after the last text of its format, before the next one. */
function placeOf({ place, format, user }: DeclaredOptions): CredentialPlace {
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

/**
 * Returns the members of an object that a signer requires. Throws RangeError unless it has these members, which are non-empty
 * strings. A misspelt one is named. Further members are allowed, since credentials and declarations have more than a signer uses.
 * @param where what the message begins with: `hmacSigner`
 */
function checkSignerOptions(options: unknown, where: string, texts: readonly string[]): Members {
  const members = readMembers(options, where);
  for (const name of texts) {
    const others = Object.keys(members).filter((other) => !texts.includes(other));
    const misspelt = members[name] === undefined ? closestMatch(name, others) : undefined;
    if (misspelt !== undefined)
      throw new RangeError(`${where}.${misspelt}: unknown key; did you mean "${name}"?`);
    readText(members[name], `${where}.${name}`);
  }
  return members;
}
