// What is signed, by whom, and what becomes of it. The client, the command, the double and the control interface check the identity
// and the choices of a client before they sign. The adversary does not: it passes a wrong identity, or overrides that no client
// may choose. Signer and verifier build a message with the same functions. The console signs through the control interface.

import type { KeyObject } from 'node:crypto';
import type { MessageKey, SignatureAlgorithm } from '../algorithms.ts';
import { createRequest, type IncomingRequest } from '../http/message.ts';
import type { BareItem } from '../http/structured-fields/value.ts';
import type { Scope } from './aws4/signing-key.ts';
import type { Declaration } from './declared/declaration.ts';
import type { NamedPart } from './message.ts';

/** A request to sign. Each character of a string is one octet. */
export interface UnsignedRequest {
  readonly method: string;
  readonly url: URL;
  /** Path and query as sent. */
  readonly target: string;
  /** The field lines that are already set. */
  readonly fields: readonly (readonly [name: string, value: string])[];
  readonly content?: Uint8Array | undefined;
}

/** Who signs, and with which key. */
export interface SigningIdentity {
  readonly user?: string | undefined;
  /** The id of the key. Default: the name of the user. */
  readonly keyId?: string | undefined;
  /** The secret. For Basic it is the password, for a bearer token the token itself. */
  readonly secret?: string | undefined;
  /** The second secret of the key, if the scheme sends one. */
  readonly passphrase?: string | undefined;
  readonly privateKey?: KeyObject | undefined;
  /** The algorithm of the private key. Default: that of its type; RSA keys have two. */
  readonly algorithm?: SignatureAlgorithm | undefined;
  /** For OAuth 1.0a. The secret is undefined if the consumer signs with `privateKey`. */
  readonly consumer?: { readonly key: string; readonly secret?: string | undefined } | undefined;
  /** For OAuth 1.0a. Default: the consumer acts on its own behalf. */
  readonly token?: { readonly token: string; readonly tokenSecret: string } | undefined;
}

/** The time and the random numbers of a signature. */
export interface SigningMoment {
  /** The time (ms since 1970-01-01T00:00:00Z). */
  readonly now: number;
  /** Returns `size` random bytes. */
  readonly random: (size: number) => Uint8Array;
}

/** What a client can choose beyond the options of the scheme. */
export interface SigningChoices {
  /** The nonce of every request. Default: a new one for each. */
  readonly nonce?: string | undefined;
  /** The id of the message (`{id}`). Default: a new one for each. */
  readonly id?: string | undefined;
  /** The date as it is sent, for `hmac`. Default: the time, formatted. */
  readonly date?: string | undefined;
  /** The covered components. Default: those that the scheme requires. */
  readonly components?: readonly string[] | undefined;
  /** Seconds until the parameter `expires`. Default: the signature has none. */
  readonly lifetime?: number | undefined;
  /** Whether the parameter `alg` names the algorithm. Default: false. */
  readonly alg?: boolean | undefined;
  /** The label of the signature. Default: `sig1`. */
  readonly label?: string | undefined;
  /** Seconds for which a presigned URL is valid. Default: the signature is in Authorization. */
  readonly presign?: number | undefined;
  readonly sessionToken?: string | undefined;
}

/** What a signature of AWS can have otherwise than the options of the scheme say. */
export interface Aws4Overrides {
  /** Whether the content is not signed. Default: false, for a presigned URL of Amazon S3 true. */
  readonly unsignedPayload?: boolean | undefined;
  /** The value of X-Amz-Content-Sha256. Default: the SHA-256 of the content. */
  readonly payloadHash?: string | undefined;
  /** The names of the signed headers, in lower case. One that is absent is signed as empty. Default: all of the request. */
  readonly signedHeaders?: readonly string[] | undefined;
  /** Other parts of the scope; `end` is the last one: `aws4_request`. */
  readonly scope?: Partial<Scope & { readonly end: string }> | undefined;
  /** Other parts of the scope for which the key is derived. Default: those of the scope as sent. */
  readonly keyScope?: Partial<Scope> | undefined;
  /** The algorithm of a presigned URL as sent. */
  readonly algorithm?: string | undefined;
  /** The lifetime of a presigned URL as sent. */
  readonly expires?: string | undefined;
}

/** What a signature can have otherwise than the scheme requires. A server has to refuse most of it. */
export interface SigningOverrides extends SigningChoices {
  /** Members of the declaration of a declared scheme: its hash function, its timestamp, its message, its places. */
  readonly declaration?: Partial<Declaration> | undefined;
  /** The covered components of a message signature, no others. */
  readonly covered?: readonly string[] | undefined;
  /** The parameters of a message signature; undefined removes one. */
  readonly parameters?: Readonly<Record<string, BareItem | undefined>> | undefined;
  /** The key of a message signature. Default: that of the identity. */
  readonly key?: MessageKey | undefined;
  readonly aws4?: Aws4Overrides | undefined;
}

/** A signature in the places where it is sent. */
export interface Signature {
  /** The field lines to add to the request. They replace lines of the same name. */
  readonly fields: readonly (readonly [name: string, value: string])[];
  /** The target to send. It differs from that of the request if the signature is in the query. */
  readonly target: string;
  /** The content to send, if the signature is in it. Default: that of the request. */
  readonly content?: Uint8Array | undefined;
  /** The parts of the signed message, in order; none if the scheme signs nothing. */
  readonly parts: readonly NamedPart[];
}

/** Signs requests as one identity. Throws RangeError if a request cannot be signed. */
export type Sign = (request: UnsignedRequest, moment: SigningMoment) => Signature;

/** Returns the value of Host that is sent. */
export function readHost({ fields, url }: UnsignedRequest): string {
  return findField(fields, 'host') ?? url.host;
}

/** Returns a request with other fields, target and content, in the form in which a server receives it. */
export function toIncoming(
  { method, url }: UnsignedRequest,
  { fields, target, content }: Pick<UnsignedRequest, 'fields' | 'target' | 'content'>,
): IncomingRequest {
  const headers = findField(fields, 'host') === undefined ? [['Host', url.host] as const, ...fields] : fields;
  return createRequest({ method, target, headers, body: content, secure: url.protocol === 'https:' });
}

/** Returns the first value of a field by its name in lower case; undefined if it is absent. */
export function findField(fields: UnsignedRequest['fields'], sought: string): string | undefined {
  return fields.find(([name]) => name.toLowerCase() === sought)?.[1];
}

/** Returns 128 random bits in base64url. */
export function generateText({ random }: SigningMoment): string {
  return Buffer.from(random(16)).toString('base64url');
}

/** Throws RangeError unless there is a secret. */
export function checkSecret({ secret }: SigningIdentity, name: string): void {
  if (typeof secret === 'string' && secret !== '') return;
  throw new RangeError(
    `the scheme ${name} requires a secret${secret === '' ? ', which must not be empty' : ''}`,
  );
}

/** Returns the id of the key, or the name of the user; '' if both are missing. */
export function chooseId({ keyId, user = '' }: SigningIdentity): string {
  return keyId ?? user;
}

/** Throws RangeError unless there is the id of a key or the name of a user. */
export function checkId(identity: SigningIdentity, name: string): void {
  if (chooseId(identity) === '')
    throw new RangeError(`the scheme ${name} requires a user or the id of a key`);
}
