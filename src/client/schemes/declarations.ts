import type { KeyObject } from 'node:crypto';
import type { SignatureAlgorithm } from '../../auth/account-key.ts';
import type { Scheme } from '../../auth/defined/definition.ts';
import type {
  ApiKeyDeclaration,
  Aws4Declaration,
  CredentialField,
  HmacDeclaration,
  MessageSignaturesDeclaration,
  PresetDeclaration,
} from '../../auth/scheme-declarations.ts';

/** The key of an HTTP Message Signature. */
export type MessageSignatureKey =
  | {
      /** The parameter `keyid`. */
      readonly id: string;
      /** Default: the algorithm of the key's type. An RSA key requires one. */
      readonly algorithm?: SignatureAlgorithm;
      /** PEM (PKCS #8), or a key of node:crypto. */
      readonly privateKey: string | KeyObject;
    }
  | { readonly id: string; readonly algorithm?: 'hmac-sha256'; readonly secret: string };

/** HTTP Message Signatures (RFC 9421). The members of the server's declaration have the same meaning. */
export interface MessageSignaturesSigning extends MessageSignaturesDeclaration {
  readonly type: 'message-signatures';
  readonly key: MessageSignatureKey;
  /** Seconds until the parameter `expires`. Default: the signature has none. */
  readonly lifetime?: number;
  /** Whether the parameter `alg` names the algorithm. Default: false. */
  readonly alg?: boolean;
  /** The label of the signature. Default: `sig1`. */
  readonly label?: string;
}

/** AWS Signature Version 4. The members of the server's declaration have the same meaning. */
export interface Aws4Signing extends Aws4Declaration {
  readonly type: 'aws4';
  readonly accessKeyId: string;
  readonly secret: string;
  readonly sessionToken?: string;
  /** Seconds for which a presigned URL is valid, from 1 to 604 800; `signUrl` returns it. Default: the fields are signed. */
  readonly presign?: number;
}

/** The scheme of a provider. */
export interface PresetSigning extends Omit<PresetDeclaration, 'user'> {
  readonly user?: string | CredentialField;
}

/** A declared HMAC scheme. */
export interface HmacSigning extends Omit<HmacDeclaration, 'user'> {
  readonly user?: string | CredentialField;
}

/** A scheme to sign with, and the keys of HTTP Message Signatures and AWS Signature Version 4. */
export type SigningScheme =
  | MessageSignaturesSigning
  | Aws4Signing
  | PresetSigning
  | HmacSigning
  | ApiKeyDeclaration
  | Scheme;
