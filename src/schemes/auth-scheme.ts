// An authentication scheme with its options: one object that says where its credentials are, signs with them, verifies them, and
// answers what the client, the command, the double, the adversary and the documents ask of it.

import type { IncomingRequest } from '../http/message.ts';
import type { Problem } from '../http/problem.ts';
import type { ProblemType } from '../http/problem-types.ts';
import type { ResponseSigningOptions } from './rfc9421/options.ts';
import type { RequestVerification } from './scheme.ts';
import type { SchemeContext } from './scheme-context.ts';
import type {
  Sign,
  Signature,
  SigningChoices,
  SigningIdentity,
  SigningMoment,
  SigningOverrides,
  UnsignedRequest,
} from './signing.ts';

/** The kinds of schemes. */
type SchemeKind =
  | 'hmac'
  | 'basic'
  | 'bearer'
  | 'oauth1'
  | 'api-key'
  | 'aws4'
  | 'message-signatures'
  | 'declared'
  | 'defined';

/** A place of a part of credentials outside the content: Authorization, another field, a parameter of the query, or a cookie. */
export interface CredentialPlace {
  /** The part, such as `timestamp`; '' for the proof: the signature, or the secret that is sent alone. */
  readonly role: string;
  readonly in: 'authorization' | 'header' | 'query' | 'cookie';
  /** The name as declared; in Authorization that of the scheme, such as `AWS4-HMAC-SHA256`. */
  readonly name: string;
  /** What stands there, for documents. Default: documents do not show the place. */
  readonly description?: string | undefined;
  /** Whether it can be sent in place of another one. Default: a request needs it. */
  readonly isAlternative?: boolean;
  /** Whether it is read only with another place. Default: its presence means that a request has credentials of the scheme. */
  readonly isDependent?: boolean;
  /** The name of a field, in lower case, whose presence means that this one belongs to another scheme. Default: none. */
  readonly unless?: string | undefined;
}

/** Credentials in content, which has to be read to find out whether there are any. */
export interface ContentLocation {
  /** Returns whether the content may have some, by the header section. */
  isPossible(request: IncomingRequest): boolean;
  /** Resolves to whether the content has some. Rejects with a Problem if it cannot be read. */
  isPresent(request: IncomingRequest): Promise<boolean>;
}

/** What an adversary has to know of the requests of a scheme. */
export interface SchemeTraits {
  /** Where the credentials are. */
  readonly place: {
    /** The field, or the parameter of the query, that contains the proof. */
    readonly in:
      | {
          /** The name of the field. */
          readonly field: string;
        }
      | {
          /** The name of the parameter. */
          readonly query: string;
        };
    /** Other fields of the credentials. Default: none. */
    readonly otherFields?: readonly string[] | undefined;
    /** Matches the value, with a group each for what precedes the proof, the proof, and what follows it. */
    readonly form: RegExp;
    /** Whether several values are a list of which one must be valid. Default: false. */
    readonly isList?: boolean | undefined;
    /** Whether base64 may be unpadded, as in structured fields (RFC 9651 §4.2.7). Default: false. */
    readonly isPaddingOptional?: boolean | undefined;
  };
  /** The field that contains the date. Default: none. */
  readonly dateField?: string | undefined;
  /**
   * Whether the server accepts a signature only once although it has no nonce. Then each good request gets a date of its own.
   * Default: false.
   */
  readonly acceptedOnce?: boolean | undefined;
  /** The number of seconds for which a signature is valid. Default: the window. */
  readonly lifetime?: number | undefined;
}

/** A scheme with its options. */
export interface AuthScheme<Kind extends SchemeKind = SchemeKind, Options = unknown> {
  readonly kind: Kind;
  /** The name in configurations, traces and principals: `hmac`. */
  readonly name: string;
  /** Its options, read and checked. */
  readonly options: Options;
  /** The name for people: `OAuth 1.0a`. Default: `name`. */
  readonly label?: string | undefined;
  /** The preset that it is; undefined if it is none. */
  readonly preset?: string | undefined;

  // Where its credentials are.

  /** The places of its credentials outside the content. */
  readonly places: readonly CredentialPlace[];
  /** Returns the content as a place of its credentials, of at most `limit` bytes. Default: it has none. */
  readonly locateContent?: ((limit: number) => ContentLocation) | undefined;
  /**
   * The fields that it reads beside `places`, in lower case, such as a date or those that are signed. Pages of other origins may send them (CORS).
   * Default: none.
   */
  readonly requestHeaders?: readonly string[] | undefined;
  /** Whether its credentials are refused unread over plain HTTP, because an eavesdropper could use them. Default: false. */
  readonly tlsOnly?: boolean | undefined;
  /** Whether the content contains parts of credentials, or may contain some. Default: false. */
  readonly readsContent?: boolean;
  /**
   * A text that is equal for schemes that differ in nothing but their only user and the field of the signature. Several of these may
   * sign a request while a key is rotated, of which one valid signature is enough (Box, DocuSign). Default: it signs alone.
   */
  readonly rotation?: string | undefined;
  /** Returns whether a query parameter beside `places` belongs to its credentials. Default: none does. */
  readonly ownsParameter?: ((name: string) => boolean) | undefined;
  /** Returns the user that credentials outside the content name; undefined if they are malformed. Default: they name none. */
  claimedUser?(rest: string, request: IncomingRequest): string | undefined;

  // How requests are verified, and refused.

  /** Maximum difference (ms) between the date of a request and the clock; 0 if requests have no date. */
  readonly dateWindow: number;
  /** How long (ms) nonces or signatures are stored, in both directions; 0 if none are. */
  readonly window: number;
  /** The parameters of its challenge after the realm. Default: none. */
  readonly challengeParameters?: readonly (readonly [name: string, value: string])[] | undefined;
  /** Returns the fields of a 401 beside WWW-Authenticate, such as `Accept-Signature` (RFC 9421 §5.1). Default: none. */
  challengeFields?(): readonly [name: 'Accept-Signature', value: string][];
  /** The problems of its credentials, beside those of every scheme. */
  readonly problems: readonly ProblemType[];
  /** How responses are signed. Default: not at all. */
  readonly signResponses?: ResponseSigningOptions | undefined;
  /** Expresses the refusal of a request without its credentials at a time (ms). Default: it stays a problem document. */
  express?(problem: Problem, request: IncomingRequest, now: number): Problem;
  /** Loads how requests are verified. Omitted if they are verified by a module that depends on more than this context. */
  load?(context: SchemeContext): Promise<RequestVerification>;

  // How requests are signed.

  /** What a client can choose. */
  readonly choices: readonly (keyof SigningChoices)[];
  /**
   * Whether private keys sign: if a client has one in place of a secret, or usually, so that the key of a user is taken rather than
   * its secret. Default: not at all.
   */
  readonly privateKeys?: 'accepted' | 'usual' | undefined;
  /** The only user, if requests do not name one. */
  readonly user?: string | undefined;
  /** What a client signs with, beside private keys. Default: `secret`. */
  readonly key?: 'password' | 'token' | 'consumer';
  /** The secret that is sent as it is: `a password`. Default: none, the scheme signs. */
  readonly sentSecret?: 'a password' | 'a token' | 'an API key' | 'the secret of a consumer' | undefined;
  /** The option that determines what is signed. Default: none does. */
  readonly messageOption?: 'components' | 'message';
  /** Whether it signs each field of a request that it is given. Default: only those that it requires. */
  readonly signsAllFields?: boolean;
  /** Whether a digest of the content that the request has and signs is compared with the content. Default: false. */
  readonly comparesDigests?: boolean;
  /**
   * A secret that signs as an empty one would, which is refused: keys are padded with zeros (RFC 2104 §2). Default: a null character.
   */
  readonly emptySecret?: string;
  /** Returns what a secret has to be if it cannot be used: `hexadecimal`. Default: each can be. */
  secretFault?(secret: string): string | undefined;
  /** Returns what an adversary has to know. Default: as in the schemes that need no configuration. */
  traits?(choices: SigningChoices): SchemeTraits;
  /** Throws RangeError if the identity lacks something that the scheme requires, or if a choice is not one that it permits. */
  check(identity: SigningIdentity, choices: SigningChoices): void;
  /**
   * Signs a request. It checks neither the identity nor the overrides, which may be wrong on purpose.
   * @throws RangeError if the request cannot be signed
   */
  sign(
    request: UnsignedRequest,
    identity: SigningIdentity,
    options: SigningMoment & SigningOverrides,
  ): Signature;
}

/**
 * Creates the function that signs requests as an identity.
 * @throws RangeError if credentials are missing, or something is chosen that the scheme does not have
 */
export function createSign(
  scheme: AuthScheme,
  identity: SigningIdentity,
  choices: SigningChoices = {},
): Sign {
  const permitted: readonly string[] = scheme.choices;
  for (const [choice, value] of Object.entries(choices))
    if (value !== undefined && !permitted.includes(choice))
      throw new RangeError(`${choice} is not an option of the scheme ${scheme.name}`);
  if (identity.privateKey !== undefined && scheme.privateKeys === undefined)
    throw new RangeError(`the scheme ${scheme.name} has signatures by secrets only, not by private keys`);
  scheme.check(identity, choices);
  return (request, moment) => scheme.sign(request, identity, { ...moment, ...choices });
}

/** Returns the names of a scheme in Authorization, in lower case. */
export function listAuthorizationNames({ places }: Pick<AuthScheme, 'places'>): readonly string[] {
  return places.flatMap((place) => (place.in === 'authorization' ? [place.name.toLowerCase()] : []));
}

/** Returns the places whose presence means that a request has credentials of a scheme. */
export function listOwnPlaces({ places }: Pick<AuthScheme, 'places'>): readonly CredentialPlace[] {
  return places.filter(({ isDependent = false }) => !isDependent);
}

/** Problems of credentials with a date, and a nonce or a signature that is accepted once. */
export const problemsOfDates: readonly ProblemType[] = [
  'date-out-of-window',
  'nonce-replayed',
  'nonces-lost',
  'too-many-nonces',
];

/** Returns the place of a field. */
export function headerPlace(role: string, name: string, description: string): CredentialPlace {
  return { role, in: 'header', name, description };
}
