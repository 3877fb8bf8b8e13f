/** One line of a header section. */
export type HeaderLine = readonly [name: string, value: string];

/** A request as it is to be sent: `fetch(request.url, request)` takes it, except where a field stands in it twice. */
export interface OutgoingRequest {
  readonly method: string;
  /** Absolute, as `URL` writes it. */
  readonly url: string;
  /** In the order sent; a name may stand there twice. */
  readonly headers: readonly HeaderLine[];
  readonly body?: string | Uint8Array;
}

/** Something that a correct server must refuse, or (the first one, and some with a header that must mean nothing) must take. */
export interface Attempt {
  /** A sentence without its full stop; no two attempts have the same. */
  readonly name: string;
  /** To be sent one after the other. All but the last one are good, and only the last one is judged. */
  readonly requests: readonly OutgoingRequest[];
  /** The last of `requests`. */
  readonly request: OutgoingRequest;
  /** The statuses that are right for the last request, the most fitting one first. */
  readonly expected: readonly number[];
  /** Why these. */
  readonly why: string;
  /** The transport without which the attempt means nothing; undefined where either will do. */
  readonly needs: Transport | undefined;
  /** Whether the last request goes over another connection than those before it. */
  readonly anotherConnection: boolean;
}

/** What is under HTTP. */
export type Transport = 'tls' | 'plain';

/** What an attempt is made of; the rest follows from it. */
export interface AttemptParts {
  readonly name: string;
  readonly why: string;
  readonly requests: readonly OutgoingRequest[];
  readonly expected: readonly number[];
  readonly needs?: Transport | undefined;
  readonly anotherConnection?: boolean;
}

/** The statuses of a request that was taken. */
export const taken: readonly number[] = [200, 201, 202, 203, 204];
/** Well-formed credentials that do not fit; some servers forbid where they could ask. */
export const refused: readonly number[] = [401, 403, 400];
/** Credentials that nobody can read in one way only. */
export const malformed: readonly number[] = [400, 401, 403];
/** Another address: a server may look first whether there is anything, or send elsewhere. */
export const elsewhere: readonly number[] = [401, 403, 404, 400, 301, 307, 308];
/** Another method: a server may look first whether it has it. */
export const otherMethod: readonly number[] = [401, 403, 405, 501, 400];
/** What must not come in the clear (RFC 6750 §5.3, RFC 7617 §4). */
export const inTheClear: readonly number[] = [403, 401, 400, 404, 426, 301, 302, 307, 308];

/** Makes an attempt. Throws RangeError where there is no request. */
export function attempt(parts: AttemptParts): Attempt {
  const { name, why, requests, expected, needs, anotherConnection = false } = parts;
  const request = requests.at(-1);
  if (request === undefined) throw new RangeError('an attempt has at least one request');
  return { name, why, requests, request, expected, needs, anotherConnection };
}

/** The lines with another name than this, whatever its case. */
export function without(lines: readonly HeaderLine[], ...names: readonly string[]): HeaderLine[] {
  const left = new Set(names.map((name) => name.toLowerCase()));
  return lines.filter(([name]) => !left.has(name.toLowerCase()));
}

/** The first line of this name, whatever its case. */
export function lineOf(lines: readonly HeaderLine[], ...names: readonly string[]): HeaderLine | undefined {
  const wanted = new Set(names.map((name) => name.toLowerCase()));
  return lines.find(([name]) => wanted.has(name.toLowerCase()));
}

/** The request with more lines behind its own. */
export function adding(request: OutgoingRequest, ...lines: readonly HeaderLine[]): OutgoingRequest {
  return { ...request, headers: [...request.headers, ...lines] };
}

/** The request with this line in the place of those of the same name. */
export function replacing(request: OutgoingRequest, line: HeaderLine): OutgoingRequest {
  return { ...request, headers: [...without(request.headers, line[0]), line] };
}
