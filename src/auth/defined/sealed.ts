import type { KeyObject } from 'node:crypto';
import type { MaybePromise } from '../../maybe-promise.ts';
import type { Place } from '../../signature/declared/places.ts';
import type { Key, KeyKind } from '../keyring.ts';
import type { DigestFault, Fault, MessageMistake } from '../scheme.ts';
import type {
  ParsedCredentials,
  SchemeCredentials,
  SchemeDefinition,
  SchemeMessagePart,
  SchemeRequest,
} from './definition.ts';

/** Credentials with times in ms, and the further members of a definition. */
export interface ReadCredentials {
  readonly user: string;
  readonly signature: string;
  readonly date?: number;
  readonly expires?: number;
  readonly nonce?: string;
}

/** Thrown by `parse` of a built-in scheme: a fault of the client, which is not reported. */
export class CredentialsFault extends Error {
  readonly fault: Fault;

  constructor(fault: Fault) {
    super(fault.detail);
    this.fault = fault;
  }
}

/** What a signature depends on beside message and key. */
export interface SigningContext {
  /** The algorithm of the private key. Default: that of its type. */
  readonly kind?: KeyKind | undefined;
  /** The credentials of the request that is verified. Default: a request is signed. */
  readonly credentials?: ReadCredentials;
}

/** A definition with its options read and checked. Built-in schemes use it too, and more of it than `defineScheme` offers. */
export interface UnplacedDefinition {
  readonly headers: readonly string[];
  /** Those of `headers` whose presence means that a request has credentials. Default: all, with `authorization` none but that field. */
  readonly credentialHeaders?: readonly string[];
  readonly query: readonly string[];
  /** The members of JSON content, by JSON Pointer, and the parameters of a form. Default: none. */
  readonly json?: readonly string[];
  readonly form?: readonly string[];
  /** The name of the scheme in Authorization. */
  readonly authorization: string | undefined;
  readonly needsBody: boolean;
  /** Maximum difference (ms) between the date and the clock, and how long nonces without a date are remembered; undefined for the defaults. */
  readonly window: number | undefined;
  readonly nonce: 'off' | 'optional' | 'required';
  readonly replay: 'accept' | 'refuse';
  /** The kinds of keys that may sign. */
  readonly kinds: readonly KeyKind[];
  /** How a secret contains the key; a function is `utf8`. */
  readonly keyEncoding: 'utf8' | 'hex' | 'base64';
  /** Returns the key in a secret; undefined if the secret is not in the encoding. May throw. */
  readonly key: (secret: Buffer) => Buffer | undefined;
  parse(request: SchemeRequest): ParsedCredentials | readonly ParsedCredentials[];
  message(request: SchemeRequest, credentials: ReadCredentials): readonly SchemeMessagePart[];
  readonly join?: string | ((parts: readonly SchemeMessagePart[]) => string | Uint8Array) | undefined;
  sign(message: Buffer, key: Buffer | KeyObject, context?: SigningContext): string;
  readonly verify?:
    | ((message: Buffer, key: KeyObject, signature: string, kind: KeyKind) => boolean)
    | undefined;
  format(credentials: SchemeCredentials, request: SchemeRequest): ReturnType<SchemeDefinition['format']>;
  /** Further parameters of the challenge. Default: none. */
  readonly challenge?: readonly (readonly [name: string, value: string])[];
  /** Returns why a valid signature is refused for the key that made it. Default: it is not. */
  keyFault?(credentials: ReadCredentials, key: Key): string | undefined;
  /** Returns why the content does not have the signed digest. Default: none is signed. */
  digestFault?(
    request: SchemeRequest,
    credentials: ReadCredentials,
    read: () => Promise<Uint8Array>,
  ): MaybePromise<DigestFault | undefined>;
  /** Returns the messages that clients sign by mistake, beside those of every scheme. Default: none. */
  mistakes?(request: SchemeRequest, parts: readonly SchemeMessagePart[]): Iterable<MessageMistake>;
  /** A field whose presence means that the credentials belong to another scheme. Default: none. */
  readonly unless?: string;
}

/** What `format` shows of a definition. */
export interface DefinitionPlaces {
  /** The place of the signature. */
  readonly place: Place;
  /** Matches the value there: what precedes the signature, the signature, and what follows it. */
  readonly valueForm: RegExp;
  /** The field that contains the date; undefined if none does. */
  readonly dateField: string | undefined;
  /** Whether the credentials contain the date. */
  readonly isDated: boolean;
}

/** A definition, and the places of what it signs with. */
export interface SealedDefinition extends Omit<UnplacedDefinition, 'window'>, DefinitionPlaces {
  /** Maximum difference (ms) between the date and the clock. */
  readonly window: number;
  /** How long (ms) the nonce of a request without a date is remembered. */
  readonly undatedWindow: number;
}
