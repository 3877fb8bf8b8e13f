import type { FieldLine, Request } from './http/message.ts';
import type { Method } from './http/method.ts';
import type { Decoder } from './representation/decoder.ts';

/** Somebody whose credentials were good. Nobody is `undefined`. */
export interface Principal {
  readonly name: string;
  /** The scheme that vouches for the name: `hmac`. */
  readonly scheme: string;
}

/** Who may: anyone, anyone known, the user whom the path parameter names, nobody, or these users. */
export type Access = 'anyone' | 'authenticated' | 'nobody' | `owner:${string}` | readonly string[];

/** The values of a path template's parameters, decoded. */
export type Parameters = Readonly<Record<string, string>>;

/** A media type that a resource is written in. */
export interface Variant {
  /** The value of Content-Type: `application/xml; charset=utf-8`. */
  readonly type: string;
  /** What tells its entity tag from that of the other variants. */
  readonly mark: string;
}

/** A media type that an action reads. */
export interface Reading {
  /** Type and subtype in lower case: `application/xml`, or the range of every type. */
  readonly type: string;
  /** Makes what turns the bytes into `call.content`. */
  decoder(call: Call): Decoder;
}

/** What the target names now: the base of its entity tags and when it was changed (ms). */
export interface Found {
  readonly tag: string;
  readonly modified: number;
}

/** Everything a resource is told about the request it acts on. */
export interface Call {
  readonly request: Request;
  readonly method: Method;
  /** The path, normalised: unreserved octets decoded, hexadecimal digits in upper case. */
  readonly path: string;
  readonly parameters: Parameters;
  readonly query: URLSearchParams;
  readonly principal: Principal | undefined;
  /** The variant that the client prefers of those the resource is written in. */
  readonly variant: Variant | undefined;
  /** What is here now, when the resource can tell. */
  readonly found: Found | undefined;
  /** What was sent, as the action's reading decoded it. */
  readonly content: unknown;
  /** Whether the client asked for a reply without a representation (RFC 7240 §4.2). */
  readonly minimal: boolean;
  /** Milliseconds since 1970-01-01T00:00:00Z. */
  readonly now: number;
}

/** What is sent back: bytes or text of one media type. */
export interface Representation {
  readonly type: string;
  readonly content: string | Uint8Array;
}

/** What an action did. */
export interface Outcome {
  readonly status: number;
  /** `Location`, `Link` and the like. */
  readonly fields?: readonly FieldLine[];
  readonly representation?: Representation;
  /** The state that the representation shows; its entity tag and Last-Modified are sent when it is given. */
  readonly shows?: Found;
}

/** Said by an action whose target changed between being found and being acted on: it is judged again. */
export const changedMeanwhile: unique symbol = Symbol('changed meanwhile');

/** What a resource does for one method, and who may ask for it. */
export interface Action {
  readonly access: Access;
  /** May give a representation alone: it is sent with 200. */
  handle(call: Call): Promise<Outcome | Representation | typeof changedMeanwhile>;
  /** The media types it reads; empty or left out, it takes no content. */
  readonly reads?: readonly Reading[];
  /** Whether it may act where nothing is found (PUT). Throws a Problem when this target can never be. */
  mayCreate?(call: Call): boolean;
}
