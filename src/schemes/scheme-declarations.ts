import type { SignatureAlgorithm } from '../algorithms.ts';
import type { Duration } from '../duration.ts';
// The declarations of schemes, as configurations and options of a service contain them.
import type { Scheme } from './defined/definition.ts';

/** HTTP Message Signatures (RFC 9421). */
export interface MessageSignaturesDeclaration {
  /**
   * The components that a signature must cover, such as `@method` or `content-type;sf`. `content-digest` is required in addition if
   * there is content. Default: `@method`, `@authority`, `@path` and `@query`.
   */
  readonly components?: readonly string[] | undefined;
  /**
   * By how much `created` may differ from the clock, in both directions: whole seconds, or text such as `5m`. Range: 1 to 86 400 s. Default:
   * 300.
   */
  readonly window?: Duration | undefined;
  /** Whether a signature must have a nonce. A nonce is accepted once, unless this is `off`. Default: `optional`. */
  readonly nonce?: 'off' | 'optional' | 'required' | undefined;
  /** The value of the parameter `tag`. Default: any, or none. */
  readonly tag?: string | undefined;
  /** The types of structured fields that are not registered, for the component parameters `sf` and `key`. */
  readonly structuredFields?: Readonly<Record<string, 'item' | 'list' | 'dictionary'>> | undefined;
  /** Signs responses: those for which a request has Accept-Signature, or, with `components`, all. Default: none. */
  readonly signResponses?: ResponseSigningDeclaration | undefined;
}

/** How a service signs its responses (RFC 9421). */
export interface ResponseSigningDeclaration {
  /** The key: with `secret` for `hmac-sha256`, otherwise with `privateKey` in PEM format, without a passphrase. */
  readonly key:
    | {
        /** The id of the key, as the parameter `keyid`. */
        readonly id: string;
        /** HMAC with SHA-256. */
        readonly algorithm: 'hmac-sha256';
        /** The shared secret. */
        readonly secret: string;
      }
    | {
        /** The id of the key, as the parameter `keyid`. */
        readonly id: string;
        /** The algorithm of the private key (RFC 9421 §3.3). */
        readonly algorithm: SignatureAlgorithm;
        /** The private key in PEM (PKCS #8), without a passphrase. */
        readonly privateKey: string;
      };
  /** The components of a signature that every response has, with `@status`, such as `content-digest` or `@method;req`. */
  readonly components?: readonly string[] | undefined;
}

/** AWS Signature Version 4. */
export interface Aws4Declaration {
  /** The region of the scope: `eu-central-1`. */
  readonly region: string;
  /** The service of the scope: `execute-api`. */
  readonly service: string;
  /**
   * By how much the date may differ from the clock, in both directions: whole seconds, or text such as `5m`. Range: 1 to 86 400 s. Default:
   * 900.
   */
  readonly window?: Duration | undefined;
  /** Whether the signed path is normalized. Default: true, for the service `s3` false. */
  readonly normalizePath?: boolean | undefined;
  /** Whether the signed path is percent-encoded twice. Default: true, for the service `s3` false. */
  readonly doubleEncode?: boolean | undefined;
  /**
   * What a `+` in the path is, sent as it is: `space` (signed as `%20`) or `plus` (signed as `%2B`, as MinIO does). Default: `plus`, for
   * the service `s3` `space`, as Amazon S3 does.
   */
  readonly plusInPath?: 'space' | 'plus' | undefined;
  /** Whether `UNSIGNED-PAYLOAD` is accepted. Default: false. */
  readonly unsignedPayload?: boolean | undefined;
  /** The form of errors. Default: `problem`. */
  readonly errors?: 'aws' | 'problem' | undefined;
  /** Whether a signature is accepted only once. AWS allows replays. Default: `allow`. */
  readonly replay?: 'refuse' | 'allow' | undefined;
}

/** Signing HTTP Messages (draft-cavage-http-signatures-12). */
export interface DraftCavageDeclaration {
  /**
   * The fields that a signature must cover. A time (`date` or `(created)`) is required in addition, and `digest` or `content-digest`
   * if there is content. Default: `(request-target)` and `host`.
   */
  readonly headers?: readonly string[] | undefined;
  /**
   * By how much the time may differ from the clock, in both directions: whole seconds, or text such as `5m`. Range: 1 to 86 400 s. Default:
   * 300.
   */
  readonly window?: Duration | undefined;
  /** Whether a signature is accepted only once within the window. Default: `accept`. */
  readonly replay?: 'accept' | 'refuse' | undefined;
}

/** A field that contains a part of the credentials, by its name. */
interface CredentialField {
  /** The name of the field, in any letter case. */
  readonly field: string;
}

/** A field that contains the signature, or a list of up to 16 fields, of which one must have a valid one (Box, DocuSign). */
interface SignatureField {
  /** The name of the field in any letter case, or a list of names. */
  readonly field: string | readonly string[];
}

/** A parameter of the query that contains a part of the credentials, by its exact name. */
interface CredentialParameter {
  /** The name of the parameter of the query. */
  readonly query: string;
}

/** A part of the credentials in the content: at a JSON Pointer (RFC 6901), or a parameter of a form. */
type CredentialMember =
  | {
      /** The JSON Pointer of a member of the content (RFC 6901): `/signature`. */
      readonly json: string;
    }
  | {
      /** The name of a parameter of a form. */
      readonly form: string;
    };

/** An API key with a secret, sent in two fields over TLS; or a single key. */
export interface ApiKeyDeclaration {
  /**
   * The field with the name of a user or the id of a key, or the name of the only user. Default: the secret itself identifies its
   * user.
   */
  readonly user?: string | CredentialField | undefined;
  /** The place of the secret; `authorization` is a scheme such as `Bearer` before it in Authorization. */
  readonly secret:
    | CredentialField
    | CredentialParameter
    | {
        /** The name of the cookie. */
        readonly cookie: string;
      }
    | {
        /** The name of the scheme in Authorization: `Bearer`. */
        readonly authorization: string;
      };
}

/** The provider whose scheme a preset describes. */
export type PresetName =
  | 'standard-webhooks'
  | 'stripe'
  | 'github'
  | 'slack'
  | 'shopify'
  | 'twilio'
  | 'zoom'
  | 'svix'
  | 'paddle'
  | 'square'
  | 'hubspot'
  | 'zendesk'
  | 'discord'
  | 'sendgrid'
  | 'coinbase'
  | 'binance'
  | 'mailgun'
  | 'adyen';

/** The scheme of a provider. */
export interface PresetDeclaration {
  /** The provider: `stripe`. */
  readonly preset: PresetName;
  /** The name of the user that signs, or the place of its name. `coinbase` and `binance` have none: their requests name the key. */
  readonly user?: string | CredentialField | CredentialParameter | CredentialMember | undefined;
  /** Another window than the provider's: seconds, or text such as `5m`. */
  readonly timestamp?:
    | {
        /** How much the time may differ from the clock, in both directions: seconds, or text such as `5m`. Above 0, up to 86 400 s. */
        readonly window: Duration;
      }
    | undefined;
  /** Whether a signature is accepted only once within the window. Default: `accept`. */
  readonly replay?: 'accept' | 'refuse' | undefined;
}

/** A scheme that is declared by the message that it signs. */
export interface HmacDeclaration {
  /** The signed message: literal text and placeholders such as `{timestamp}`, `{method}`, `{target}`, `{body}`. */
  readonly message: string;
  /**
   * HMAC with a shared secret; a private key of the user; or a plain digest of a message that contains `{secret}`, which is weak.
   * Default: `hmac`.
   */
  readonly algorithm?: 'hmac' | 'ed25519' | 'ecdsa-p256' | 'rsa-pss' | 'rsa-v1_5' | 'digest' | undefined;
  /** `md5` is for plain digests only. Default: `sha256`. */
  readonly hash?: 'md5' | 'sha1' | 'sha256' | 'sha384' | 'sha512' | undefined;
  /** The encoding of the signature. Default: `hex`. */
  readonly encoding?: 'hex' | 'base64' | 'base64url' | undefined;
  /** The form of a signature of ECDSA. Default: `der`. */
  readonly dsaEncoding?: 'der' | 'ieee-p1363' | undefined;
  /** How the secret is decoded. Default: `utf8`. */
  readonly key?: 'utf8' | 'hex' | 'base64' | undefined;
  /** Text that is removed from the secret before it is decoded: `whsec_`. */
  readonly keyPrefix?: string | undefined;
  /**
   * The place of the signature, and its format with `{signature}`, and possibly `{timestamp}`, `{nonce}`, `{user}` and `{key-id}`.
   * Default format: `{signature}`. Of several fields, one must have a valid signature, and others may be missing. `names` are further names of the scheme that are accepted in Authorization.
   */
  readonly signature: (SignatureField | CredentialParameter | CredentialMember) & {
    /** The value as sent, with `{signature}`: `v1={signature}`. Default: `{signature}`. */
    readonly format?: string | undefined;
    /** Further names of the scheme that are accepted in Authorization. Default: none. */
    readonly names?: readonly string[] | undefined;
  };
  /** The text between several signatures, of which one must be valid. At most 16 are examined. */
  readonly separator?: string | undefined;
  /** The name of the user that signs, or the place with the name of a user or the id of a key, unless `signature.format` has it. */
  readonly user?: string | CredentialField | CredentialParameter | CredentialMember | undefined;
  /** The place of the signed time, and its unit. Default: the scheme has none. */
  readonly timestamp?: {
    /** The field that contains the time. Default: `signature.format` has it. */
    readonly field?: string | undefined;
    /** The parameter of the query that contains the time. */
    readonly query?: string | undefined;
    /** The JSON Pointer of the member of the content that contains the time. */
    readonly json?: string | undefined;
    /** The parameter of a form that contains the time. */
    readonly form?: string | undefined;
    /** Default: `s`. */
    readonly unit?: 's' | 'fractional-s' | 'ms' | 'rfc3339' | 'http-date' | undefined;
    /**
     * By how much the time may differ from the clock, in both directions: seconds, or text such as `5m`. Range: above 0, up to
     * 86 400 s. Default: 300.
     */
    readonly window?: Duration | undefined;
  };
  /** The place of the nonce, which a user may use once. Default: the scheme has none. */
  readonly nonce?: CredentialField | CredentialParameter | CredentialMember | undefined;
  /** The field with the id of the message. Default: the scheme has none. */
  readonly id?: CredentialField | undefined;
  /** The field with the passphrase of the key. Default: keys have none. */
  readonly passphrase?: CredentialField | undefined;
  /** Whether a signature is accepted only once within the window. Default: `accept`. */
  readonly replay?: 'accept' | 'refuse' | undefined;
}

/** A declared scheme. */
export type SchemeDeclaration =
  | MessageSignaturesDeclaration
  | Aws4Declaration
  | DraftCavageDeclaration
  | ApiKeyDeclaration
  | PresetDeclaration
  | HmacDeclaration;

/** Schemes by name. `message-signatures`, `aws4` and `draft-cavage` are reserved for those; any other name is for a scheme of its own, declared or defined in code. */
export interface SchemeDeclarations {
  /** HTTP Message Signatures (RFC 9421). Default: not accepted. */
  readonly 'message-signatures'?: MessageSignaturesDeclaration;
  /** AWS Signature Version 4. Default: not accepted. */
  readonly aws4?: Aws4Declaration | undefined;
  /** Signing HTTP Messages (draft-cavage-http-signatures-12). Default: not accepted. */
  readonly 'draft-cavage'?: DraftCavageDeclaration;
  readonly [name: string]: SchemeDeclaration | Scheme | undefined;
}
