import { findWeakness, type Severity, type WeaknessId } from './weaknesses.ts';

/** One field line of a header section. */
export type HeaderLine = readonly [name: string, value: string];

/** A request to send: `fetch(request.url, request)` accepts it unless a field occurs twice. */
export interface AttackRequest {
  /** The method: `GET`. */
  readonly method: string;
  /** The absolute URL, as serialized by `URL`. */
  readonly url: string;
  /** The field lines in the order to send. A name may occur twice. */
  readonly headers: readonly HeaderLine[];
  /** The content; text is sent as UTF-8. Default: none. */
  readonly body?: string | Uint8Array | undefined;
}

/**
 * Requests of which a correct server must refuse the last one. Some attempts, such as the first, it must accept: their
 * `expected` contains 200.
 */
export interface Attempt {
  /** The weakness of a server that accepts the request, such as `replay`. Several attempts can have the same. */
  readonly id: WeaknessId;
  /** How much an attacker gains by it: `high`, `medium` or `low`. */
  readonly severity: Severity;
  /** What it proves if the server accepts the request. */
  readonly proves: string;
  /** What the server must do. */
  readonly remedy: string;
  /** A unique sentence without a full stop. */
  readonly name: string;
  /**
   * The requests, to be sent in this order. All but the last are good; the verdict is that of the last one. If `together` is
   * true, they are sent at the same time, and the server must accept exactly one.
   */
  readonly requests: readonly AttackRequest[];
  /** The last of `requests`. */
  readonly request: AttackRequest;
  /** The expected statuses of the last request, the most appropriate one first. */
  readonly expected: readonly number[];
  /** The reason for these statuses. */
  readonly why: string;
  /** The transport that the attempt requires. Undefined if it requires none. */
  readonly needs: Transport | undefined;
  /** Whether the last request must be sent on a new connection. */
  readonly anotherConnection: boolean;
  /**
   * Whether the requests are sent at the same time, each over a connection of its own. Exactly one must be accepted; the
   * others get one of the expected statuses.
   */
  readonly together: boolean;
  /**
   * A good request for the representation that the requests change. Each of them must be sent with its entity tag in
   * If-Match. Undefined if the attempt needs none.
   */
  readonly entityTagFrom: AttackRequest | undefined;
}

/** The transport: TLS, or plain TCP. */
export type Transport = 'tls' | 'plain';

/** What cases have in common. A case may differ in each of these. */
export interface Group
  extends Pick<Attempt, 'id' | 'why' | 'expected'>,
    Partial<Pick<Attempt, 'anotherConnection' | 'together' | 'entityTagFrom'>> {
  /** Default: what the good request needs. */
  readonly needs?: Transport;
}

/** One case: its sentence, the forged request or all requests, and how it differs. Without requests it could not be forged. */
export type Row = readonly [
  name: string,
  requests: AttackRequest | readonly AttackRequest[] | undefined,
  differs?: Partial<Group>,
];

/** A case that was forged. */
export interface Case extends Group {
  readonly name: string;
  readonly requests: readonly AttackRequest[];
}

/** The statuses of an accepted request. */
export const accepted: readonly number[] = [200, 201, 202, 203, 204];
/** Well-formed credentials that are wrong. Some servers answer 403 instead of 401. */
export const refused: readonly number[] = [401, 403, 400];
/** Credentials that are malformed or ambiguous. */
export const malformed: readonly number[] = [400, 401, 403];
/** Another path: a server may first check whether the resource exists, or redirect. */
export const elsewhere: readonly number[] = [401, 403, 404, 405, 400, 301, 307, 308];
/** Another method: a server may first check whether the resource implements it, or have no route for it. */
export const otherMethod: readonly number[] = [401, 403, 405, 404, 501, 400];
/** Credentials that must not be sent in clear text (RFC 6750 §5.3, RFC 7617 §4). */
export const inTheClear: readonly number[] = [403, 401, 400, 404, 426, 301, 302, 307, 308];

/** Returns the cases of a group that could be forged. */
export function* group(common: Group, rows: Iterable<Row>): Generator<Case> {
  for (const [name, requests, differs] of rows)
    if (requests !== undefined) yield { ...common, ...differs, name, requests: [requests].flat() };
}

/** Returns the attempt of a case. `usual` is the transport that the good request needs. */
export function toAttempt(
  { id, name, why, requests, expected, needs, anotherConnection, together, entityTagFrom }: Case,
  usual: Transport | undefined,
): Attempt {
  const request = requests.at(-1);
  if (request === undefined) throw new RangeError('an attempt has at least one request');
  const sent = { requests, request, expected, needs: needs ?? usual };
  const ways = { anotherConnection: anotherConnection === true, together: together === true, entityTagFrom };
  return { id, ...findWeakness(id), name, why, ...sent, ...ways };
}

/** Returns the lines without those of the given names, ignoring case. */
export function removeLines(lines: readonly HeaderLine[], ...names: readonly string[]): HeaderLine[] {
  const removed = new Set(names.map((name) => name.toLowerCase()));
  return lines.filter(([name]) => !removed.has(name.toLowerCase()));
}

/** Returns the first line with one of the names, ignoring case. */
export function findLine(lines: readonly HeaderLine[], ...names: readonly string[]): HeaderLine | undefined {
  const wanted = new Set(names.map((name) => name.toLowerCase()));
  return lines.find(([name]) => wanted.has(name.toLowerCase()));
}

/** Appends lines to a request. */
export function appendLines(request: AttackRequest, ...lines: readonly HeaderLine[]): AttackRequest {
  return { ...request, headers: [...request.headers, ...lines] };
}

/** Replaces the lines of the same name by one line. */
export function replaceLine(request: AttackRequest, line: HeaderLine): AttackRequest {
  return { ...request, headers: [...removeLines(request.headers, line[0]), line] };
}

/** Changes the value of each line of a name, ignoring case. */
export function changeLine(
  request: AttackRequest,
  name: string,
  change: (value: string) => string,
): AttackRequest {
  const headers = request.headers.map(([each, value]): HeaderLine => {
    return [each, each.toLowerCase() === name.toLowerCase() ? change(value) : value];
  });
  return { ...request, headers };
}
