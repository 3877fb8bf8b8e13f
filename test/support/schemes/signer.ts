// What the independent signers of the schemes share. None of them uses code of the server, so that a fault of it cannot hide.
import { createHash, createHmac } from 'node:crypto';

export type Line = readonly [name: string, value: string];

/** A request as its client means it. */
export interface PlainRequest {
  readonly method: string;
  /** As sent. */
  readonly path: string;
  /** As sent, without "?". Undefined if there is none. */
  readonly query?: string | undefined;
  readonly host: string;
  readonly secure: boolean;
  readonly lines: readonly Line[];
  readonly content?: string | undefined;
}

/** A signed request, to be sent as it is. */
export interface Sent {
  readonly method: string;
  readonly target: string;
  readonly secure: boolean;
  /** With Host. */
  readonly lines: readonly Line[];
  readonly content: string | undefined;
}

/** Who signs, with what and when. */
export interface Identity {
  readonly user: string;
  readonly secret: string;
  /** The time in ms. */
  readonly now: number;
  readonly nonce: string;
}

/**
 * The values that a scheme signs, by kind and in the form in which it signs them. A value that is undefined is left out of the
 * message, with its separator.
 */
export interface Values {
  readonly method?: string | undefined;
  readonly protocol?: string | undefined;
  readonly host?: string | undefined;
  readonly path?: string | undefined;
  /** "?" if it is signed before the query. */
  readonly mark?: string | undefined;
  readonly query?: string | undefined;
  readonly time?: string | undefined;
  readonly nonce?: string | undefined;
  readonly user?: string | undefined;
  readonly content?: string | undefined;
  /** The digest of the content. */
  readonly digest?: string | undefined;
  /** The value of a signed field. */
  readonly field?: string | undefined;
  /** The fixed text at the beginning of the message. */
  readonly start?: string | undefined;
}

/** The values that are signed, and the request with which they are sent. */
interface Signable {
  readonly values: Values;
  readonly request: PlainRequest;
  readonly identity: Identity;
}

/** A mistake of a client. Each member changes one step of signing. */
export interface Mistake {
  /** The request with which it matters, in place of the usual one. */
  readonly request?: Partial<PlainRequest>;
  /** The content that is signed, or whose digest is sent and signed. */
  readonly signedContent?: (content: string) => string;
  /** The digest that is sent and signed, as the scheme writes it. */
  readonly sentDigest?: (content: string) => string;
  /** The time (ms) that is signed, if another is sent. */
  readonly signedNow?: (now: number) => number;
  /** Changes the clock (ms) of the client. */
  readonly now?: (now: number) => number;
  /** Changes the time, the nonce, or the user that is sent and signed. The time is in ms; the text is as the scheme writes it. */
  readonly time?: (text: string, now: number) => string;
  readonly nonce?: (text: string) => string;
  readonly user?: (text: string) => string;
  /** Changes signed values that are sent otherwise. */
  readonly values?: (values: Values, request: PlainRequest, identity: Identity) => Values;
  /** Changes the message. The parts are those that a separator joins. */
  readonly message?: (message: string, parts: readonly string[]) => string | Buffer;
  readonly key?: (secret: string) => string | Buffer;
  /** Computes the signature in place of the HMAC of the scheme, which has this many bytes. */
  readonly sign?: (message: Buffer, key: Buffer, length: number) => Buffer;
  /** Writes the signature in place of the encoding of the scheme. */
  readonly encode?: (signature: Buffer, usual: string) => string;
  /** Whether a written signature shows the mistake; otherwise another nonce is drawn. Default: it does. */
  readonly isShown?: (written: string) => boolean;
  /** Changes what is sent after signing. */
  readonly sent?: (sent: Sent) => Sent;
}

/** Signs a request, with a mistake if one is given. */
export type Sign = (request: PlainRequest, identity: Identity, mistake?: Mistake) => Sent;

export function formatTarget({ path, query }: Pick<PlainRequest, 'path' | 'query'>): string {
  return query === undefined ? path : `${path}?${query}`;
}

export function computeHash(hash: string, text: string | Uint8Array): Buffer {
  return createHash(hash).update(text).digest();
}

export function computeHmac(hash: string, key: string | Uint8Array, text: string | Uint8Array): Buffer {
  return createHmac(hash, key).update(text).digest();
}

export function toBytes(text: string | Buffer): Buffer {
  return typeof text === 'string' ? Buffer.from(text, 'utf8') : text;
}

/** Returns the value of a field; undefined if it is absent. */
export function fieldIn(lines: readonly Line[], name: string): string | undefined {
  const values = lines.filter(([each]) => each.toLowerCase() === name.toLowerCase());
  return values.length === 0 ? undefined : values.map(([, value]) => value).join(', ');
}

/** Returns the request with a field added. */
export function withLine(sent: Sent, name: string, value: string): Sent {
  return { ...sent, lines: [...sent.lines, [name, value]] };
}

/** Returns the request with the values of a field changed. Fails if the change has no effect. */
export function withField(sent: Sent, name: string, change: (value: string) => string): Sent {
  let changed = false;
  const lines = sent.lines.map(([own, value]): Line => {
    if (own.toLowerCase() !== name.toLowerCase()) return [own, value];
    const other = change(value);
    changed ||= other !== value;
    return [own, other];
  });
  if (!changed) throw new RangeError(`the field ${name} did not change: ${JSON.stringify(sent.lines)}`);
  return { ...sent, lines };
}

/** Returns the request with its signed values and the mistake applied to them. */
export function signable(
  request: PlainRequest,
  identity: Identity,
  values: Values,
  mistake: Mistake,
): Signable {
  return { values: mistake.values?.(values, request, identity) ?? values, request, identity };
}

/** Percent-encodes all but unreserved characters (RFC 3986 §2.3). */
export function escaped(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
