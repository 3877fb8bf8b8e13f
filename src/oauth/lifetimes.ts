import { type Duration, readDuration } from '../duration.ts';

/** Lifetimes of codes, tokens and tickets, in ms. */
export interface Lifetimes {
  /** An authorization code of OAuth 2.0. */
  readonly code: number;
  /** An access token of OAuth 2.0. */
  readonly access: number;
  /** One refresh token. Rotation starts the time anew. */
  readonly refresh: number;
  /** All refresh tokens of a grant together. */
  readonly refreshTotal: number;
  /** A request token of OAuth 1.0a. */
  readonly requestToken: number;
  /** An access token of OAuth 1.0a. */
  readonly oauth1Access: number;
  /** The ticket of a consent page. */
  readonly ticket: number;
  /** Maximum difference between the timestamp of an OAuth 1.0a request and the clock, in either direction. */
  readonly oauth1Window: number;
}

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

/** The default lifetimes. */
export const defaultLifetimes: Lifetimes = {
  code: 60 * second,
  access: hour,
  refresh: 14 * day,
  refreshTotal: 30 * day,
  requestToken: 10 * minute,
  oauth1Access: 24 * hour,
  ticket: 5 * minute,
  oauth1Window: 300 * second,
};

/**
 * Returns the lifetimes (ms) of an option, whose numbers are seconds; the others have their defaults.
 * @throws RangeError if text is not a duration
 */
export function readLifetimes(given: { readonly [Name in keyof Lifetimes]?: Duration } = {}): Lifetimes {
  const lifetimes: { -readonly [Name in keyof Lifetimes]: number } = { ...defaultLifetimes };
  for (const name of lifetimeNames) lifetimes[name] = readLifetime(given[name], name) ?? lifetimes[name];
  return lifetimes;
}

const lifetimeNames = [
  'code',
  'access',
  'refresh',
  'refreshTotal',
  'requestToken',
  'oauth1Access',
  'ticket',
  'oauth1Window',
] as const satisfies readonly (keyof Lifetimes)[];

function readLifetime(given: Duration | undefined, name: string): number | undefined {
  if (given === undefined) return undefined;
  const parsed = readDuration(given, 1000);
  if (parsed !== undefined) return parsed;
  throw new RangeError(
    `lifetimes.${name} is ${JSON.stringify(given)}, not seconds or a duration such as '10m'`,
  );
}
