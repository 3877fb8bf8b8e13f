import { didYouMean } from '../../did-you-mean.ts';
import type { Duration } from '../../duration.ts';
import { checkMembers, checkString, checkText } from '../../service/argument-checks.ts';
import type { DoubleFaults } from '../faults/faults.ts';
import { type FaultMatchParts, faultMatchNames } from '../faults/match.ts';
import type { MatchPath, RuleHandle } from '../match.ts';

/** How an OAuth endpoint fails. */
export interface EndpointFailure {
  /** The status. Default: 503. */
  readonly status?: number;
  /** The error code: `error` in OAuth 2.0, `oauth_problem` in OAuth 1.0a. Default: no content. */
  readonly error?: string;
  /** The number of requests that fail. Default: 1. */
  readonly times?: number;
  /** The delay of the response: ms of the host's time, or text such as `2s`. Default: none. */
  readonly delay?: Duration;
  /** Selects requests to the endpoint. Default: all. */
  readonly match?: Omit<FaultMatchParts, 'path'>;
}

/** The names of the members. The type checks that the list is complete. */
const failureNames: Readonly<Record<keyof EndpointFailure, true>> = {
  status: true,
  error: true,
  times: true,
  delay: true,
  match: true,
};

/** Throws RangeError on an unknown member. The fault that is planned for it checks the values. */
function checkFailure(failure: EndpointFailure): void {
  checkMembers(failure, Object.keys(failureNames), 'the failure of an endpoint');
  const { error, match = {} } = failure;
  checkText(error, 'error of the failure of an endpoint');
  const names = faultMatchNames.filter((name) => name !== 'path');
  checkMembers(match, names, 'the match of an endpoint');
}

/** Disturbs the endpoints of an OAuth version. */
export interface Endpoints<Endpoint extends string> {
  /**
   * Makes the next requests to an endpoint fail. The server does not process them. Throws RangeError on an unknown endpoint or member.
   * @example double.oauth2.failNext('token', { status: 400, error: 'invalid_grant' });
   */
  failNext(endpoint: Endpoint, failure?: EndpointFailure): RuleHandle;
}

/** The parts from which `createEndpoints` builds. */
export interface EndpointsParts<Endpoint extends string> {
  readonly faults: DoubleFaults;
  readonly paths: Readonly<Record<Endpoint, MatchPath>>;
  /** Encodes an error code as content. */
  readonly write: (error: string) => string;
  /** The media type of that content. */
  readonly type: string;
}

/** Creates the control of an OAuth version's endpoints. */
export function createEndpoints<Endpoint extends string>(
  parts: EndpointsParts<Endpoint>,
): Endpoints<Endpoint> {
  const { faults, paths, write, type } = parts;
  const findPath = (endpoint: Endpoint): MatchPath => {
    checkString(endpoint, 'an endpoint');
    if (Object.hasOwn(paths, endpoint)) return paths[endpoint];
    throw new RangeError(
      `${JSON.stringify(endpoint)} is not an endpoint${didYouMean(endpoint, Object.keys(paths))}`,
    );
  };
  return {
    failNext(endpoint, failure = {}) {
      checkFailure(failure);
      const { status = 503, error, times = 1, delay, match } = failure;
      const content =
        error === undefined
          ? {}
          : { body: write(error), headers: { 'Content-Type': type, 'Cache-Control': 'no-store' } };
      return faults.times(
        times,
        { ...match, path: findPath(endpoint) },
        { status, ...content, ...(delay !== undefined && { delay }) },
      );
    },
  };
}
