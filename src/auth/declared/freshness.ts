import { counted } from '../../counted.ts';
import { Problem } from '../../http/problem.ts';
import { resolutionOf, type TimestampUnit } from '../../signature/declared/timestamp.ts';
import { describeDistance, wholeSecond, wrongClock, zoneHoursOf } from '../freshness.ts';
import { noRoomForNonce, type RefusedNonce } from '../nonce-claim.ts';
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
    : `off by nearly ${counted(hours, 'hour')}: probably a time zone; the timestamp must be in UTC`;
}

const noTimestamp = { window: 0, unit: 's' as const };

/** Returns the last time (ms) at which a request with a timestamp (ms) could be accepted: to the end of what it covers. */
export function endOf(time: number, { nonceWindow }: SchemeContext, { timestamp }: DeclaredOptions): number {
  const { window, unit } = timestamp ?? noTimestamp;
  return time + Math.max(nonceWindow, window) + resolutionOf(unit);
}

/** Returns the Problem for a nonce, or a signature in place of one, that was used before or cannot be stored. */
export function refusedOnce(
  claimed: RefusedNonce,
  now: number,
  { timestamp, nonce }: DeclaredOptions,
  explain: boolean,
): Problem {
  if (claimed !== 'seen') return noRoomForNonce(claimed, (timestamp ?? noTimestamp).window, now);
  const what = nonce === undefined ? 'signature' : 'nonce';
  const members = explain ? { check: 'nonce' } : {};
  return new Problem('nonce-replayed', `The user has already used this ${what}.`, { members });
}
