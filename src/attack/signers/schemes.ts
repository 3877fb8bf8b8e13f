// The schemes that have attempts of their own, as these use them.
import type { DeclaredOptions } from '../../auth/declared/options.ts';
import type { Aws4SignOptions } from '../../signature/aws4/sign.ts';
import type { Declaration } from '../../signature/declared/declaration.ts';
import type { MessageKey } from '../../signature/message-signatures/algorithms.ts';
import type { StructuredFieldTypes } from '../../signature/message-signatures/structured-field-types.ts';
import type { BareItem, Item } from '../../signature/structured-fields/value.ts';
import type { OutgoingRequest } from '../attempt.ts';
import type { SignedFields, SignedParts, SigningChanges } from './signed-parts.ts';
import type { SignerTraits } from './signer.ts';

/** A scheme with attempts of its own. */
export type SigningScheme = MessageSignaturesSigning | Aws4Signing | DeclaredSigning | ApiKeySigning;

const schemes = new WeakMap<SignerTraits, SigningScheme>();

/** Returns the traits, whose scheme `schemeOf` returns from now on. It is no part of the public interface. */
export function withScheme(traits: SignerTraits, scheme: SigningScheme): SignerTraits {
  schemes.set(traits, scheme);
  return traits;
}

/** Returns the scheme of a signer. Undefined if it has no attempts of its own. */
export function schemeOf(traits: SignerTraits | undefined): SigningScheme | undefined {
  return traits === undefined ? undefined : schemes.get(traits);
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

/** What a signature covers, and by which key. */
export interface SignatureSpec {
  /** Default: `sig1`. */
  readonly label?: string;
  readonly components: readonly Item[];
  readonly parameters: readonly (readonly [name: string, value: BareItem])[];
  readonly key: MessageKey;
}

/** HTTP Message Signatures, for their own attempts. */
export interface MessageSignaturesSigning {
  readonly kind: 'message-signatures';
  readonly options: MessageSignaturesSignerOptions;
  /** Returns what the signer signs by default. Undefined if the key cannot have this secret. */
  spec(request: OutgoingRequest, changes: SigningChanges): SignatureSpec | undefined;
  /** Signs a request. Undefined if the request lacks a component, or a value cannot be sent. */
  sign(request: OutgoingRequest, spec: SignatureSpec): SignedFields | undefined;
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
  readonly presigned?: number;
  /** Whether the signed path is normalized. Default: true, for the service `s3` false. */
  readonly normalizePath?: boolean;
  /** Whether the signed path is percent-encoded twice. Default: true, for the service `s3` false. */
  readonly doubleEncode?: boolean;
  /** Whether the server accepts content that is not signed, so that it is not tried. Default: false. */
  readonly unsignedPayload?: boolean;
  /** `refuse` if the server accepts a signature only once within the window. Default: `allow`. */
  readonly replay?: 'refuse' | 'allow';
}

/** AWS Signature Version 4, for its own attempts. */
export interface Aws4Signing {
  readonly kind: 'aws4';
  readonly options: Aws4SignerOptions;
  /** Signs in header fields. */
  inFields(request: OutgoingRequest, changes: SigningChanges, other?: Aws4Changes): SignedParts | undefined;
  /** Presigns the URL. */
  inQuery(request: OutgoingRequest, changes: SigningChanges, other?: Aws4Changes): SignedParts | undefined;
}

/** Other values than the signer's own. */
export interface Aws4Changes
  extends Partial<Pick<Aws4SignOptions, 'region' | 'service' | 'unsignedPayload'>> {
  /** The lifetime of a presigned URL in seconds. */
  readonly expires?: number;
}

/** A declared scheme, for its own attempts. */
export interface DeclaredSigning {
  readonly kind: 'declared';
  readonly declaration: DeclaredOptions;
  /** Signs as declared, or as another declaration describes. Undefined if that is impossible. */
  sign(request: OutgoingRequest, changes: DeclaredChanges, other?: Declaration): SignedParts | undefined;
}

/** Changes to what the signer signs. */
export interface DeclaredChanges extends SigningChanges {
  /** The message's id. Default: always the same. */
  readonly id?: string;
  /** Appended to the target before it is signed. */
  readonly query?: string;
}

/** An API key, for its own attempts. */
export interface ApiKeySigning {
  readonly kind: 'api-key';
  readonly userField: string;
  readonly secretField: string;
}
