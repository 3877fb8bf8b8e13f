import type { Faults, PlannedFault } from '../faults/faults.ts';
import type { JournalEntry } from '../journal/entry.ts';
import type { Journal } from '../journal/journal.ts';
import type { Match } from '../match.ts';

/** How an endpoint of OAuth fails. */
export interface EndpointFailure {
  /** 503 when left out. */
  readonly status?: number;
  /** What the reply names as the error: `error` of OAuth 2.0, `oauth_problem` of 1.0a; no content when left out. */
  readonly error?: string;
  /** For how many requests; 1 when left out. */
  readonly times?: number;
  /** The reply is held back for so many milliseconds of the host's time. */
  readonly delayMs?: number;
  /** Which requests to the endpoint are meant; all when left out. */
  readonly match?: Omit<Match, 'path'>;
}

/** The endpoints of a mechanism, as a test sees and disturbs them. */
export interface Endpoints<Endpoint extends string> {
  /**
   * Has the next requests to an endpoint fail; the server does nothing for them.
   * @example double.oauth2.failNext('token', { status: 400, error: 'invalid_grant' });
   */
  failNext(endpoint: Endpoint, failure?: EndpointFailure): PlannedFault;
  /** The requests to an endpoint that are in the journal, oldest first. */
  requests(endpoint: Endpoint): readonly JournalEntry[];
}

/** What the endpoints of a mechanism are made of. */
export interface EndpointsParts<Endpoint extends string> {
  readonly faults: Faults;
  readonly journal: Journal;
  readonly paths: Readonly<Record<Endpoint, string>>;
  /** How the error is written, and the type of that. */
  readonly write: (error: string) => string;
  readonly type: string;
}

/** Makes the endpoints of a mechanism. */
export function createEndpoints<Endpoint extends string>(
  parts: EndpointsParts<Endpoint>,
): Endpoints<Endpoint> {
  const { faults, journal, paths, write, type } = parts;
  const pathOf = (endpoint: Endpoint): string => {
    const path = paths[endpoint];
    if (path !== undefined) return path;
    throw new RangeError(`${endpoint} is no endpoint; there are ${Object.keys(paths).join(', ')}`);
  };
  return {
    failNext(endpoint, { status = 503, error, times = 1, delayMs, match } = {}) {
      const said =
        error === undefined
          ? {}
          : { body: write(error), fields: { 'Content-Type': type, 'Cache-Control': 'no-store' } };
      return faults.times(
        times,
        { ...match, path: pathOf(endpoint) },
        { status, ...said, ...(delayMs !== undefined && { delay: delayMs }) },
      );
    },
    requests: (endpoint) => journal.find({ path: pathOf(endpoint) }),
  };
}
