import { isUtf8 } from 'node:buffer';
import { parseFormOctets } from '../../http/form.ts';
import type { IncomingRequest } from '../../http/message.ts';
import { decodeSome } from '../../http/syntax/percent.ts';
import { splitTarget } from '../../http/target.ts';
import { textAt } from './place.ts';

/** The credentials that a message can contain. Each character is one octet. */
export interface SignedValues {
  /** The user as sent. */
  readonly user: string;
  /** The id of the key as sent, or the user. */
  readonly keyId: string;
  readonly timestamp: string;
  readonly nonce: string;
  readonly id: string;
}

/** The data of a request that a message can contain. Each character of a string is one octet. */
export interface MessageSource {
  readonly request: Pick<IncomingRequest, 'method' | 'headers' | 'connection'>;
  /** The request target as sent, without the parameter that contains the signature. */
  readonly target: string;
  /** The value of Host. */
  readonly host: string;
  /** The public origin that `{url}` begins with: `https://api.example`. Default: the scheme and Host. */
  readonly origin?: string | undefined;
  /** The characters of `{url}` that are signed without their escapes. Default: none. */
  readonly decodedInUrl?: string | undefined;
  /** The content as sent. */
  readonly content: Uint8Array;
  readonly json: ReadJson;
  /** Whether the content is a form. `{form-sorted}` is empty for other content. */
  readonly hasForm: boolean;
  readonly signed: SignedValues;
}

/** The piece that stands for the secret in a message. A plain digest is computed with the secret in its place. */
export const secretPiece: Uint8Array = Buffer.from('\0the place of the secret\0', 'latin1');

/** Returns the text at a JSON Pointer of the content; undefined if there is none, or the content is not JSON. */
type ReadJson = (pointer: string) => string | undefined;

/** Creates a function that reads members of content, which it parses once. */
export function createJsonReader(content: Uint8Array): ReadJson {
  let parsed: { readonly value: unknown } | undefined;
  return (pointer) => {
    parsed ??= { value: isUtf8(content) ? parseText(Buffer.from(content).toString('utf8')) : undefined };
    return textAt(parsed.value, pointer);
  };
}

function parseText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Returns the URL of a request. */
export function formatUrl({ request, target, host, origin, decodedInUrl }: MessageSource): string {
  const { path, query } = splitTarget(target);
  const isWhole = origin === undefined && !target.startsWith('/');
  const own = target.startsWith('/') ? target : path + (query === '' ? '' : `?${query}`);
  const url = isWhole
    ? target
    : `${origin ?? `${request.connection.secure ? 'https' : 'http'}://${host}`}${own}`;
  return decodedInUrl === undefined ? url : decodeSome(url, (character) => decodedInUrl.includes(character));
}

/** Returns the parameters of a query as sent, sorted by their octets. */
export function sortQuery(query: string): string {
  return query.split('&').sort().join('&');
}

/**
 * Returns the parameters of a form (`application/x-www-form-urlencoded`) as Twilio signs them: decoded, sorted by name and then by
 * value, without repetitions, each as its name followed by its value. Each character is one octet. Returns undefined if an escape
 * is malformed.
 */
export function sortForm(form: string): string | undefined {
  const pairs = parseFormOctets(form);
  if (pairs === undefined) return undefined;
  const sorted = pairs.toSorted(
    ([name, value], [other, otherValue]) => compare(name, other) || compare(value, otherValue),
  );
  return sorted
    .filter(([name, value], at) => sorted[at - 1]?.[0] !== name || sorted[at - 1]?.[1] !== value)
    .map(([name, value]) => name + value)
    .join('');
}

/** The order of octets. */
function compare(one: string, other: string): number {
  return one === other ? 0 : one < other ? -1 : 1;
}
