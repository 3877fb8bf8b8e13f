import type { FieldLine } from './fields.ts';

/** Converts a flat list of alternating names and values, as node:http uses it, to field lines. */
export function linesInTurn(flat: readonly string[]): FieldLine[] {
  const lines: FieldLine[] = [];
  for (let at = 0; at + 1 < flat.length; at += 2) lines.push([flat[at] ?? '', flat[at + 1] ?? '']);
  return lines;
}

type Line = readonly [name: string, value: string];

/**
 * Header fields by name, a list of values for several lines (`Set-Cookie`), or as lines in the order sent: an array of pairs, a Map, or
 * the `Headers` of the platform.
 */
export type HeadersInput = Readonly<Record<string, string | readonly string[]>> | Iterable<Line>;

/** A request to send, as it is passed to `fetch`. */
export interface RequestInput {
  /** Default: `GET`. */
  readonly method?: string | undefined;
  /** The absolute URL. */
  readonly url: string | URL;
  /** Default: none. */
  readonly headers?: HeadersInput | undefined;
  /** The content; text is sent as UTF-8. Default: none. */
  readonly body?: string | Uint8Array | undefined;
}

/** The members of a request to send. The type checks that the list is complete. */
export const requestInputNames: Readonly<Record<keyof RequestInput, true>> = {
  method: true,
  url: true,
  headers: true,
  body: true,
};

/** Returns header fields as lines, in order. */
export function toLines(fields: HeadersInput): readonly Line[] {
  if (isLines(fields)) return Array.isArray(fields) ? fields : Array.from(fields);
  return Object.entries(fields).flatMap(([name, value]) => [value].flat().map((each): Line => [name, each]));
}

function isLines(fields: HeadersInput): fields is Iterable<Line> {
  return Symbol.iterator in fields;
}

/** Returns whether the content of a response is compressed with gzip. */
export function isCompressed({ headers: fields }: { readonly headers: readonly Line[] }): boolean {
  return fields.some(([name, value]) => name.toLowerCase() === 'content-encoding' && value === 'gzip');
}
