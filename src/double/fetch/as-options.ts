// The options of `double.as`.

import type { KeyObject } from 'node:crypto';
import { type OAuth1Method, oauth1Methods } from '../../accounts/oauth1-methods.ts';
import { type SignatureAlgorithm, signatureAlgorithms } from '../../algorithms.ts';
import type { DateLike } from '../../clock.ts';
import { type Duration, requireSeconds } from '../../duration.ts';
import { anything, flag, object, optional, read, type ShapesOf, text, word } from '../../shape/shape.ts';
import { toTime } from '../state/clock.ts';

/** The named options, and no others. */
type Only<Names extends keyof SignerOptions> = Pick<SignerOptions, Names> & {
  readonly [Name in Exclude<keyof SignerOptions, Names>]?: never;
};

/** The full form of `hmac`, which is the default. */
type FullForm = Only<'scheme' | 'form' | 'nonce' | 'date' | 'dateField' | 'signBody' | 'secret'> & {
  /** The scheme: `hmac`. */
  readonly scheme?: 'hmac';
  /** The form with a date and a nonce. */
  readonly form?: 'full';
};

/** The simple form of `hmac`, which has neither a nonce nor a date. */
type SimpleForm = Only<'scheme' | 'form' | 'signBody' | 'secret'> & {
  /** The scheme: `hmac`. */
  readonly scheme?: 'hmac';
  /** The form without a date and a nonce. */
  readonly form: 'simple';
};

/**
 * The options of `double.as`: `scheme`, and those of the scheme.
 * @example { scheme: 'basic', password: 'wrong' }
 */
export type AsOptions =
  | Only<'scheme'>
  | FullForm
  | SimpleForm
  | (Only<'scheme' | 'password'> & {
      /** HTTP Basic (RFC 7617). */
      readonly scheme: 'basic';
    })
  | (Only<'scheme' | 'client'> & {
      /** A bearer token (RFC 6750). */
      readonly scheme: 'bearer';
    })
  | (Only<'scheme' | 'token'> & {
      /** A bearer token (RFC 6750). */
      readonly scheme: 'bearer';
    })
  | (Only<
      'scheme' | 'client' | 'nonce' | 'date' | 'privateKey' | 'signatureMethod' | 'bodyHash' | 'twoLegged'
    > & {
      /** OAuth 1.0a (RFC 5849). */
      readonly scheme: 'oauth1';
    });

/** The options of `double.as` for a scheme of the option `schemes`. The names of other schemes have options of their own. */
export type ConfiguredAsOptions<Name extends string = string> = ConfiguredSchemeOptions & {
  readonly scheme: Name & (Name extends SchemeName ? never : unknown);
};

/** A scheme that needs no configuration. */
type SchemeName = 'hmac' | 'basic' | 'bearer' | 'oauth1';

/** The options of all schemes that need no configuration. */
interface SignerOptions {
  /** The scheme. All but `hmac` require TLS, so with them a path counts as requested over TLS. Default: `hmac`. */
  readonly scheme?: SchemeName;
  /** For `hmac`: the form. Default: `full`. */
  readonly form?: 'full' | 'simple';
  /** For `hmac` and `oauth1`: the nonce of every request. Default: a new one for each. */
  readonly nonce?: string;
  /** For `hmac` and `oauth1`: the signed date. Default: the time of the double's clock. */
  readonly date?: DateLike;
  /** For `hmac`: the field that contains the date. Default: `Date`. */
  readonly dateField?: 'Date' | 'X-Date';
  /** For `hmac`: whether content is signed by means of Content-Digest. Default: true. */
  readonly signBody?: boolean;
  /** For `hmac`: the secret. Default: the user's. Another one makes the server refuse the request. */
  readonly secret?: string;
  /** For `basic`: the password. Default: the user's. */
  readonly password?: string;
  /** For `bearer`: the token. Default: one issued on first use for the user, with all scopes of the client. */
  readonly token?: string;
  /** For `bearer` and `oauth1`: the client's id or the consumer's key. Default: the first registered one. */
  readonly client?: string;
  /** For `oauth1`: the RSA key of the consumer, PEM (PKCS #8) or a key of node:crypto. Default: the secret of the consumer. */
  readonly privateKey?: string | KeyObject;
  /** For `oauth1`: the signature method. Default: the first one of the consumer for its key. */
  readonly signatureMethod?: OAuth1Method;
  /** For `oauth1`: whether requests whose content is not a form have `oauth_body_hash`. Default: false. */
  readonly bodyHash?: boolean;
  /** For `oauth1`: whether the user of `as` is a consumer that signs without a token. Default: false. */
  readonly twoLegged?: boolean;
}

const hmac = ['hmac'] as const;
const oauth1 = ['oauth1'] as const;

/** The options with the schemes that have them. */
const asMembers = {
  scheme: [optional(anything), ['hmac', 'basic', 'bearer', 'oauth1']],
  form: [optional(word(['full', 'simple'])), hmac],
  nonce: [optional(text()), ['hmac', 'oauth1']],
  date: [optional(anything), ['hmac', 'oauth1']],
  dateField: [optional(word(['Date', 'X-Date'])), hmac],
  signBody: [optional(flag()), hmac],
  secret: [optional(text()), hmac],
  password: [optional(text()), ['basic']],
  token: [optional(text()), ['bearer']],
  client: [optional(text()), ['bearer', 'oauth1']],
  privateKey: [optional(anything), oauth1],
  signatureMethod: [optional(word(oauth1Methods)), oauth1],
  bodyHash: [optional(flag()), oauth1],
  twoLegged: [optional(flag()), oauth1],
} satisfies {
  readonly [Name in keyof SignerOptions]-?: readonly [
    shape: ShapesOf<SignerOptions>[Name],
    schemes: readonly SchemeName[],
  ];
};

const asShape = object(
  Object.fromEntries(Object.entries(asMembers).map(([name, [shape]]) => [name, shape])),
  undefined,
  { expected: "an object such as { scheme: 'basic' }" },
);

/**
 * Throws RangeError if an option is unknown, has a value that it cannot have, or would be ignored because it belongs to another
 * scheme or form.
 */
export function checkAsOptions(options: AsOptions): void {
  read(asShape, options, { optionsOf: 'as' });
  if (options.date !== undefined) toTime(options.date);
  checkCombination(options);
}

function checkCombination(options: SignerOptions): void {
  const { scheme = 'hmac', form, token, client } = options;
  for (const [name, [, schemes]] of Object.entries<readonly [unknown, readonly SchemeName[]]>(asMembers)) {
    if (Reflect.get(options, name) !== undefined && !schemes.includes(scheme))
      throw new RangeError(`${name} is an option of the scheme ${schemes.join(' or ')}, not of ${scheme}`);
  }
  for (const name of ['nonce', 'date', 'dateField'] as const) {
    if (form === 'simple' && options[name] !== undefined)
      throw new RangeError(
        `${name} is an option of the full form; the simple form has neither a nonce nor a date`,
      );
  }
  if (token !== undefined && client !== undefined)
    throw new RangeError('token and client exclude each other: a token belongs to a client already');
  if (options.twoLegged === true && client !== undefined)
    throw new RangeError('twoLegged and client exclude each other: the user of as is the consumer');
}

/** The options of `double.as` for a scheme of the option `schemes`. */
export interface ConfiguredSchemeOptions {
  /** The name of the scheme. */
  readonly scheme: string;
  /**
   * The id of the user's key. Default: for HTTP Message Signatures, the key that `generateKey` added last; otherwise the user's
   * name and secret.
   */
  readonly keyId?: string | undefined;
  /** The private key, PEM (PKCS #8) or a key of node:crypto. Default: the one that `generateKey` generated. */
  readonly privateKey?: string | KeyObject | undefined;
  /** The algorithm of the private key. Default: that of the user's key with this id, or else of the type of the private key. */
  readonly algorithm?: SignatureAlgorithm | undefined;
  /** The secret. Default: that of the key or of the user. Another one makes the server refuse the request. */
  readonly secret?: string | undefined;
  /** The nonce of every request, if the scheme has one. Default: a new one for each. */
  readonly nonce?: string | undefined;
  /** The id of the message, if the scheme has one. Default: a new one for each. */
  readonly id?: string | undefined;
  /** The time of the signature. Default: that of the double's clock. */
  readonly date?: DateLike | undefined;
  /** The covered components of HTTP Message Signatures. Default: those that the scheme requires. */
  readonly components?: readonly string[] | undefined;
  /** How long a presigned URL of AWS is valid: seconds, or text such as `5m`. Default: the signature is in Authorization. */
  readonly presign?: Duration | undefined;
  /** The session token of AWS. */
  readonly sessionToken?: string | undefined;
}

const configuredShape = object(
  {
    scheme: text(),
    keyId: optional(text()),
    privateKey: optional(anything),
    algorithm: optional(word(signatureAlgorithms, undefined, 'an algorithm with a private key')),
    secret: optional(text()),
    nonce: optional(text()),
    id: optional(text()),
    date: optional(anything),
    components: optional(anything),
    presign: optional(anything),
    sessionToken: optional(text()),
  } satisfies ShapesOf<ConfiguredSchemeOptions>,
  undefined,
  { expected: 'an object such as { scheme: … }' },
);

/** Returns the seconds for which a presigned URL is valid. Throws RangeError if they are invalid. */
export function readPresign(presign: Duration): number {
  const length = requireSeconds(presign, 'presign', 1, maxPresign) / 1000;
  if (Number.isInteger(length)) return length;
  throw new RangeError('presign is not a whole number of seconds');
}

/** The maximum lifetime (s) of a presigned URL of AWS: a week. */
const maxPresign = 604_800;

/** Throws RangeError if an option is unknown, or has a value that it cannot have. */
export function checkConfiguredOptions(options: ConfiguredSchemeOptions): void {
  read(configuredShape, options, { optionsOf: 'as' });
  if (options.presign !== undefined) readPresign(options.presign);
  if (options.date !== undefined) toTime(options.date);
}
