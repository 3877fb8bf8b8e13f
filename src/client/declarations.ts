import type { KeyObject } from 'node:crypto';
import type { SignatureAlgorithm } from '../algorithms.ts';
import type { Duration } from '../duration.ts';
import type {
  ApiKeyDeclaration,
  Aws4Declaration,
  HmacDeclaration,
  MessageSignaturesDeclaration,
  PresetDeclaration,
  SchemeDeclarations,
} from '../schemes/scheme-declarations.ts';

/** A declared scheme to sign with. The members of the server's declaration have the same meaning. */
export type SigningScheme =
  | (Omit<MessageSignaturesDeclaration, 'signResponses'> & {
      /** HTTP Message Signatures (RFC 9421). */
      readonly type: 'message-signatures';
      /** The key that signs. */
      readonly key:
        | {
            /** The parameter `keyid`. */
            readonly id: string;
            /** Default: the algorithm of the key's type. An RSA key requires one. */
            readonly algorithm?: SignatureAlgorithm | undefined;
            /** PEM (PKCS #8), or a key of node:crypto. */
            readonly privateKey: string | KeyObject;
          }
        | {
            /** The parameter `keyid`. */
            readonly id: string;
            /** HMAC with SHA-256. */
            readonly algorithm?: 'hmac-sha256' | undefined;
            /** The shared secret. */
            readonly secret: string;
          };
      /** The time until the parameter `expires`: whole seconds, or text such as `5m`. Default: the signature has none. */
      readonly lifetime?: Duration | undefined;
      /** Whether the parameter `alg` names the algorithm. Default: false. */
      readonly alg?: boolean | undefined;
      /** The label of the signature. Default: `sig1`. */
      readonly label?: string | undefined;
    })
  | (Aws4Declaration & {
      /** AWS Signature Version 4. */
      readonly type: 'aws4';
      /** The name of the user, or the id of one of its keys. */
      readonly accessKeyId: string;
      /** The shared secret. */
      readonly secret: string;
      /** The session token, which is sent as X-Amz-Security-Token. Default: none. */
      readonly sessionToken?: string | undefined;
      /**
       * How long a presigned URL, which `signUrl` returns, is valid: seconds, or text such as `5m`. Range: 1 to 604 800 s. Default: the
       * fields are signed.
       */
      readonly presign?: Duration | undefined;
    })
  | (NonNullable<SchemeDeclarations['draft-cavage']> & {
      /** Signing HTTP Messages (draft-cavage-http-signatures-12). */
      readonly type: 'draft-cavage';
    })
  | PresetDeclaration
  | HmacDeclaration
  | ApiKeyDeclaration;
