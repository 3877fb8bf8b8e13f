// The public types of signature schemes in code.

import type { KeyObject } from 'node:crypto';
import type { Key, KeyKind } from '../../accounts/keyring.ts';
import type { SignatureAlgorithm } from '../../algorithms.ts';
import type { DateLike } from '../../clock.ts';
import type { Duration } from '../../duration.ts';
import type { HttpHeaders } from '../../http/fields.ts';
import type { MaybePromise } from '../../maybe-promise.ts';
import type { Part, publicKinds } from '../message.ts';
import type { DigestFault, Fault, MessageMistake } from '../scheme.ts';

/** The header fields of a request, by name in any letter case. UTF-8 is decoded. */
export interface SchemeHeaders {
  /** Returns the value of a field; several lines are joined with a comma. Undefined if it is absent. */
  get(name: string): string | undefined;
  /** Returns the value of each line of a field, in the order sent. */
  getAll(name: string): readonly string[];
  /** Returns whether a field is present. */
  has(name: string): boolean;
}

/** A request, as the functions of a scheme receive it. */
export interface SchemeRequest {
  /** The method as sent: `GET`. */
  readonly method: string;
  /**
   * The request target as sent: path and query. `message` receives it without the query parameter that contains the signature.
   */
  readonly target: string;
  /** The path as sent, percent-encoded. */
  readonly path: string;
  /** The query as sent, without its question mark; '' if there is none. */
  readonly query: string;
  readonly headers: SchemeHeaders;
  /** Whether the request is sent over TLS. */
  readonly secure: boolean;
  /** The content; empty if there is none, or without `needsBody`. */
  readonly body: Buffer;
  /** Whether the request has content, also without `needsBody`. Content of length 0 (`Content-Length: 0`) is none. */
  readonly hasBody: boolean;
}

/**
 * The credentials that `parse` finds in a request. A member that is null, undefined or empty is missing, and the refusal names
 * it; a member that is left out does not belong to the scheme. `message` also receives further members of one's own.
 */
export interface ParsedCredentials {
  /** The name of a user, or the id of one of its keys. */
  readonly user: string | null | undefined;
  /** The signature as sent. */
  readonly signature: string | null | undefined;
  /** The signed time: ms since 1970-01-01T00:00:00Z, a Date, or text that `Date` parses. It must be within the window. */
  readonly date?: DateLike | null | undefined;
  /** The time after which the signature is refused, in the same forms, with or without a date. It never extends the window. */
  readonly expires?: DateLike | null | undefined;
  /** A text of at most 128 characters that the user may use once. */
  readonly nonce?: string | null | undefined;
}

/** The credentials that `message` receives: those that `parse` returned, with times in ms. An optional nonce may be ''. */
type CompleteCredentials<Parsed extends ParsedCredentials> = {
  readonly [Name in keyof Parsed]: Name extends 'date' | 'expires' ? number : NonNullable<Parsed[Name]>;
};

/** The credentials that `format` writes into a request. */
export interface SchemeCredentials {
  /** The name of the user, or the id of its key. */
  readonly user: string;
  /** The time of the signature (ms since 1970-01-01T00:00:00Z). */
  readonly date: number;
  /** The nonce; a random one if none is chosen. */
  readonly nonce: string;
  /** The signature, as `sign` returned it. */
  readonly signature: string;
}

/** What signs a request. Each value replaces a field or parameter of the same name. */
export interface SignedParts {
  /** The header fields by name. Default: none. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The parameters of the query by name, not percent-encoded. Default: none. */
  readonly query?: Readonly<Record<string, string>>;
}

/**
 * A part of a message: its name in explanations, its value, and its kind if the name is no kind. The names of the catalogue are
 * `method`, `target`, `path`, `query`, `search` (the query with its question mark), `url`, `host`, `time`, `nonce`, `id`, `user`, `body`, `digest`, `form` and `header`: the usual
 * mistakes in such a part are explained. A part with the name '' is fixed text. Text is signed in UTF-8.
 */
export type SchemeMessagePart = readonly [
  name: string,
  value: string | Uint8Array,
  kind?: SchemePartKind | undefined,
];

/** The kind of a part, which determines the mistakes that are explained. */
export type SchemePartKind = (typeof publicKinds)[number] | 'body';

/** The members of all definitions. */
interface CommonDefinition<Parsed extends ParsedCredentials> {
  /**
   * The names of the header fields that contain credentials. A request with one of them has credentials of this scheme, and pages of
   * other origins may send them (CORS). Default: none.
   */
  readonly headers?: readonly string[];
  /** The names of the query parameters that contain credentials. Default: none. */
  readonly query?: readonly string[];
  /** The members of JSON content that contain credentials, as JSON Pointers (RFC 6901). They imply `needsBody`. Default: none. */
  readonly json?: readonly string[];
  /** The parameters of a form that contain credentials. They imply `needsBody`. Default: none. */
  readonly form?: readonly string[];
  /** The name of the scheme in `Authorization`, if `headers` has that field: `Signature`. */
  readonly authorization?: string;
  /** Whether `parse` or `message` reads the content. It is read up to `limits.body`. Default: false. */
  readonly needsBody?: boolean;
  /**
   * Maximum difference between `date` and the clock, in either direction: seconds, or text such as `5m`; at most a day. Without a
   * date, nonces are remembered for so long. Default: 5 minutes; a day for a request without a date.
   */
  readonly window?: Duration;
  /** Whether a request must have the nonce that `parse` returns; `off` remembers none. Default: `required`. */
  readonly nonce?: 'off' | 'optional' | 'required';
  /** Whether a message without a nonce is accepted only once within the window. Default: `accept`. */
  readonly replay?: 'accept' | 'refuse';
  /**
   * Reads the credentials. What it throws refuses the request, and is reported to `onError`, unless it is a `Problem`. It may be called
   * several times for a request, and `body` is only read if this function uses it. It can return up to 16 credentials of which one
   * must be valid, unless they depend on `body`.
   */
  parse(request: SchemeRequest): Parsed | readonly Parsed[];
  /** Returns the signed message in parts. Called to verify, to sign and to explain. */
  message(request: SchemeRequest, credentials: CompleteCredentials<Parsed>): readonly SchemeMessagePart[];
  /**
   * Makes the signed message of the parts: the text between them, or a function. Default: they are joined as they stand.
   * @example '\n'
   */
  readonly join?: string | ((parts: readonly SchemeMessagePart[]) => string | Uint8Array);
  /**
   * Writes credentials into a request. When a request is signed, it is called twice: first with the signature of an empty message,
   * so that `message` finds the other credentials where they are sent.
   */
  format(
    credentials: SchemeCredentials,
    request: SchemeRequest,
  ): SignedParts & {
    /** The members of JSON content by JSON Pointer; missing ones are added. Default: none. */
    readonly json?: Readonly<Record<string, string>>;
    /** The parameters of a form by name. Default: none. */
    readonly form?: Readonly<Record<string, string>>;
  };
}

/** A scheme with shared secrets. */
export interface SecretSchemeDefinition<Parsed extends ParsedCredentials = ParsedCredentials>
  extends CommonDefinition<Parsed> {
  /** How a secret contains the key: its characters, encoded bytes, or a function. Default: `utf8`. */
  readonly key?: 'utf8' | 'hex' | 'base64' | ((secret: string) => string | Uint8Array);
  /**
   * Returns the signature of a message. Must return the same for the same arguments. An explanation calls it a thousand times, so
   * it must be fast.
   */
  sign(message: Buffer, key: Buffer): string;
  /** Only in a scheme with public keys. */
  readonly verify?: undefined;
  /** Only in a scheme with public keys. */
  readonly algorithms?: undefined;
}

/** A scheme with public keys. */
export interface PublicKeySchemeDefinition<Parsed extends ParsedCredentials = ParsedCredentials>
  extends CommonDefinition<Parsed> {
  /** The algorithms of the users' keys that may sign. Default: all of them. */
  readonly algorithms?: readonly SignatureAlgorithm[];
  /** Returns whether a key made the signature of a message. What it throws counts as false, and is reported to `onError`. */
  verify(message: Buffer, key: KeyObject, signature: string): boolean;
  /** Returns the signature of a message by a private key. */
  sign(message: Buffer, privateKey: KeyObject): string;
  /** Only in a scheme with shared secrets. */
  readonly key?: undefined;
}

/** A signature scheme in code. */
export type SchemeDefinition<Parsed extends ParsedCredentials = ParsedCredentials> =
  | SecretSchemeDefinition<Parsed>
  | PublicKeySchemeDefinition<Parsed>;

/** Credentials with times in ms, and the further members of a definition. @internal */
export interface ReadCredentials {
  readonly user: string;
  readonly signature: string;
  readonly date?: number;
  readonly expires?: number;
  readonly nonce?: string;
}

/** What a signature depends on beside message and key. @internal */
export interface SigningContext {
  /** The algorithm of the private key. Default: that of its type. */
  readonly kind?: KeyKind | undefined;
  /** The credentials of the request that is verified. Default: a request is signed. */
  readonly credentials?: ReadCredentials;
}

/** Thrown by `parse` and `message` of a built-in scheme: a fault of the client, which is not reported. @internal */
export class CredentialsFault extends Error {
  readonly fault: Fault;

  constructor(fault: Fault) {
    super(fault.detail);
    this.fault = fault;
  }
}

/** A definition of either kind. Built-in schemes have secrets and public keys, and members that `defineScheme` does not offer. */
export interface Definition extends CommonDefinition<ParsedCredentials> {
  readonly key?: SecretSchemeDefinition['key'];
  readonly algorithms?: PublicKeySchemeDefinition['algorithms'];
  sign(message: Buffer, key: Buffer | KeyObject, context?: SigningContext): string;
  readonly verify?:
    | ((message: Buffer, key: KeyObject, signature: string, context: SigningContext) => boolean)
    | undefined;
  /** The kinds of keys that may sign. Default: the algorithms with `verify`, otherwise secrets. */
  readonly kinds?: readonly KeyKind[];
  /** Those of `headers` whose presence means that a request has credentials. Default: all, with `authorization` none but that field. */
  readonly credentialHeaders?: readonly string[];
  /** A field whose presence means that the credentials belong to another scheme. Default: none. */
  readonly unless?: string;
  /** Further parameters of the challenge. Default: none. */
  readonly challenge?: readonly (readonly [name: string, value: string])[];
  /** Returns why a valid signature is refused for the key that made it. Default: it is not. */
  accept?(credentials: ReadCredentials, key: Key): string | undefined;
  /** Returns why the content does not have the signed digest. Default: none is signed. */
  digestFault?(
    request: SchemeRequest,
    credentials: ReadCredentials,
    read: () => Promise<Uint8Array>,
  ): MaybePromise<DigestFault | undefined>;
  /** Returns the messages that clients sign by mistake, beside those of every scheme. Default: none. */
  mistakes?(parts: readonly Part[], fields: HttpHeaders): Iterable<MessageMistake>;
}

/** Marks schemes, so that no other object has their type. */
export const schemeBrand: unique symbol = Symbol('scheme');

/** A scheme that `defineScheme` returned: a value of the option `schemes`. */
export interface Scheme {
  readonly [schemeBrand]: true;
}
