import { Problem } from '../../http/problem.ts';
import { resolutionOf, type TimestampUnit } from '../../signature/declared/timestamp.ts';
import { describeDistance, wholeSecond, wrongClock, zoneHoursOf } from '../freshness.ts';
import { noRoomForNonce } from '../nonce-claim.ts';
import type { SchemeContext } from '../scheme-context.ts';
import type { DeclaredOptions } from './options.ts';
import type { Presented } from './presented.ts';

/** A fault of a timestamp, and a hint at its likely cause. */
export interface Stale {
  readonly detail: string;
  readonly hint?: string;
}

/** Returns why a timestamp is refused; undefined if it is inside the window, or none is declared. */
export function checkTime(
  { time, timestamp }: Presented,
  { timestamp: declared, nonce, replay }: DeclaredOptions,
  { clock, notBefore }: SchemeContext,
): Stale | undefined {
  if (declared === undefined || time === undefined) return undefined;
  const { unit, window } = declared;
  const now = clock.now();
  // In the resolution of the timestamp: fractions of it are ignored.
  const off = time - roundedDown(now, unit);
  if (Math.abs(off) > window) {
    const detail = describeDistance('The timestamp', off / 1000, window / 1000);
    return { detail, hint: hintFor(timestamp, off, unit, now) };
  }
  const isRemembered = nonce !== undefined || replay === 'refuse';
  if (isRemembered && time < roundedDown(notBefore ?? Number.NEGATIVE_INFINITY, unit))
    return {
      detail: 'The timestamp is before the start of this server, which does not know the nonces used before.',
    };
  return undefined;
}

function roundedDown(ms: number, unit: TimestampUnit): number {
  return unit === 'ms' ? ms : wholeSecond(ms);
}

/** Tolerance (ms, in either direction) for another unit, because of the transmission time and the clock. */
const tolerance = 3_600_000;

/** Returns the likely cause of a timestamp outside the window. */
function hintFor(timestamp: string, off: number, unit: TimestampUnit, now: number): string {
  const isNear = (ms: number): boolean => Math.abs(ms - now) <= tolerance;
  if (unit === 's' && isNear(Number(timestamp)))
    return 'the timestamp is in milliseconds; seconds are expected';
  if (unit === 'ms' && isNear(Number(timestamp) * 1000))
    return 'the timestamp is in seconds; milliseconds are expected';
  const hours = zoneHoursOf(off / 1000);
  return hours === undefined
    ? wrongClock
    : `off by nearly ${hours} hours: probably a time zone; the timestamp must be in UTC`;
}

/**
 * Claims a nonce, or a signature in place of one. Returns the Problem if it was used before or cannot be stored.
 *
 * @param once The nonce or the signature, after the name of the scheme, so that schemes do not share nonces.
 * @param time The time (ms) of the timestamp.
 */
export function claimOnce(
  user: string,
  once: string,
  time: number,
  now: number,
  { nonces, nonceWindow }: SchemeContext,
  { timestamp, nonce }: DeclaredOptions,
): Problem | undefined {
  const { window, unit } = timestamp ?? { window: 0, unit: 's' as const };
  // Until the timestamp is outside the window, to the end of what it covers.
  const until = time + Math.max(nonceWindow, window) + resolutionOf(unit);
  const claimed = nonces.claim(user, once, until, now);
  if (claimed === 'fresh') return undefined;
  if (claimed !== 'seen') return noRoomForNonce(claimed, window, now);
  const what = nonce === undefined ? 'signature' : 'nonce';
  return new Problem('nonce-replayed', `The user has already used this ${what}.`);
}
