import type { KeyObject } from 'node:crypto';
import type { AsymmetricAlgorithm } from '../../auth/account-key.ts';
import type { ApiKeyOptions } from '../../auth/api-key/options.ts';
import type { Aws4Options } from '../../auth/aws4/options.ts';
import type { DeclaredOptions } from '../../auth/declared/options.ts';
import type { MessageSignaturesOptions } from '../../auth/message-signatures/options.ts';

/** A scheme with its options, as `readSchemes` returns them. */
export type SigningScheme = { readonly name: string } & (
  | { readonly kind: 'message-signatures'; readonly options: MessageSignaturesOptions }
  | { readonly kind: 'aws4'; readonly options: Aws4Options }
  | { readonly kind: 'api-key'; readonly options: ApiKeyOptions }
  | { readonly kind: 'declared'; readonly options: DeclaredOptions }
);

/** The kind of a scheme. */
export type SchemeKind = SigningScheme['kind'];

/** The credentials with which a request is signed. */
export interface SchemeCredentials {
  readonly user?: string | undefined;
  /** The id of the key. Default: the name of the user. */
  readonly keyId?: string | undefined;
  readonly secret?: string | undefined;
  /** The second secret of the key, if the scheme sends one. */
  readonly passphrase?: string | undefined;
  readonly privateKey?: KeyObject | undefined;
  /** The algorithm of the private key. Default: that of its type; RSA keys have two. */
  readonly algorithm?: AsymmetricAlgorithm | undefined;
}

/** What a signer can choose beyond the options of the scheme. */
export interface SigningChoices {
  /** The nonce of every request. Default: a new one for each. */
  readonly nonce?: string | undefined;
  /** The id of the message (`{id}`). Default: a new one for each. */
  readonly id?: string | undefined;
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

/** A request to sign. Each character of a string is one octet. */
export interface UnsignedRequest {
  readonly method: string;
  readonly url: URL;
  /** Path and query as sent. */
  readonly target: string;
  /** The field lines that are already set. */
  readonly fields: readonly (readonly [name: string, value: string])[];
  readonly content: Uint8Array | undefined;
}

/** The time and the random numbers of a signature. */
export interface SigningMoment {
  /** The time (ms since 1970-01-01T00:00:00Z). */
  readonly now: number;
  /** Returns `size` random bytes. */
  readonly random: (size: number) => Uint8Array;
}

/** A named part of a signed message. Literal text has the name ''. */
export interface SignedPart {
  readonly name: string;
  /** Octets as characters, or bytes. */
  readonly value: string | Uint8Array;
}

/** A signature in the places where it is sent. */
export interface SchemeSignature {
  /** The field lines to add to the request. They replace lines of the same name. */
  readonly fields: readonly (readonly [name: string, value: string])[];
  /** The target to send. It differs from that of the request if the signature is in the query. */
  readonly target: string;
  /** The content to send, if the signature is in it. Default: that of the request. */
  readonly content?: Uint8Array | undefined;
  /** The parts of the signed message, in order; none if the scheme signs nothing. */
  readonly parts: readonly SignedPart[];
}

/** Signs requests. Throws RangeError if a request cannot be signed. */
export type SchemeSigner = (request: UnsignedRequest, moment: SigningMoment) => SchemeSignature;

/** Returns the value of Host that is sent. */
export function hostOf({ fields, url }: UnsignedRequest): string {
  return fields.find(([name]) => name.toLowerCase() === 'host')?.[1] ?? url.host;
}

/** Returns 128 random bits in base64url. */
export function randomText({ random }: SigningMoment): string {
  return Buffer.from(random(16)).toString('base64url');
}

/** Returns the secret. Throws RangeError if there is none. */
export function requiredSecret({ secret }: SchemeCredentials, name: string): string {
  if (typeof secret === 'string' && secret !== '') return secret;
  throw new RangeError(
    `the scheme ${name} requires a secret${secret === '' ? ', which must not be empty' : ''}`,
  );
}

/** Returns the id of the key, or the name of the user. Throws RangeError if both are missing. */
export function requiredId({ keyId, user }: SchemeCredentials, name: string): string {
  const id = keyId ?? user;
  if (id !== undefined && id !== '') return id;
  throw new RangeError(`the scheme ${name} requires a user or the id of a key`);
}
