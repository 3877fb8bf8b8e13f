import { type Duration, readDuration } from '../duration.ts';
import type { OAuth2Options } from './oauth2-options.ts';

/** Lifetimes of codes, tokens and tickets: seconds, or text such as `10m`. */
export interface LifetimeOptions {
  /** The lifetime of an authorization code of OAuth 2.0: seconds, or text such as `10m`. Default: 60. */
  readonly code?: Duration | undefined;
  /** The lifetime of an access token of OAuth 2.0: seconds, or text such as `10m`. Default: an hour. */
  readonly access?: Duration | undefined;
  /** The lifetime of one refresh token: seconds, or text such as `7d`. Rotation starts the time anew. Default: 14 days. */
  readonly refresh?: Duration | undefined;
  /** The lifetime of all refresh tokens of a grant together: seconds, or text such as `30d`. Default: 30 days. */
  readonly refreshTotal?: Duration | undefined;
  /** The lifetime of a request token of OAuth 1.0a: seconds, or text such as `10m`. Default: 10 minutes. */
  readonly requestToken?: Duration | undefined;
  /** The lifetime of an access token of OAuth 1.0a: seconds, or text such as `24h`. Default: a day. */
  readonly oauth1Access?: Duration | undefined;
  /** The lifetime of a consent page: seconds, or text such as `5m`. Default: 5 minutes. */
  readonly ticket?: Duration | undefined;
  /**
   * The maximum difference between the timestamp of an OAuth 1.0a request and the clock, in either direction: seconds, or text such as
   * `5m`. Default: 300.
   */
  readonly oauth1Window?: Duration | undefined;
}

/** Lifetimes of codes, tokens and tickets, in ms. See `LifetimeOptions`. */
export type Lifetimes = { readonly [Name in keyof LifetimeOptions]-?: number };

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
export function readLifetimes(given: LifetimeOptions = {}): Lifetimes {
  const lifetimes: { -readonly [Name in keyof Lifetimes]: number } = { ...defaultLifetimes };
  for (const name of lifetimeNames) lifetimes[name] = readLifetime(given[name], name) ?? lifetimes[name];
  return lifetimes;
}

const lifetimeNames = Object.keys(defaultLifetimes).filter(isLifetime);

function isLifetime(name: string): name is keyof Lifetimes {
  return name in defaultLifetimes;
}

function readLifetime(given: Duration | undefined, name: string): number | undefined {
  if (given === undefined) return undefined;
  const parsed = readDuration(given, 1000);
  if (parsed !== undefined) return parsed;
  throw new RangeError(
    `lifetimes.${name} is ${JSON.stringify(given)}, not seconds or a duration such as '10m'`,
  );
}

/** The maximum time (ms) from now to the expiry of an assertion. */
export const maxAssertionLifetime = hour;

/** The maximum age (ms) of a proof of possession. */
export const proofWindow = 5 * minute;

/** Returns how far (ms) the times of assertions and proofs, each of which is accepted once, may be from the clock. */
export function onceWindow({ clientAuthentication = [], dpop = 'off' }: OAuth2Options = {}): number {
  // A nonce is stored for two windows.
  if (clientAuthentication.some((method) => method.endsWith('_jwt'))) return maxAssertionLifetime / 2;
  return dpop === 'off' ? 0 : proofWindow;
}
