// The parts of checks of dates and nonces that the schemes share.
import { isMethod, isSafe } from '../http/method.ts';
import type { Principal } from '../principal.ts';
import type { Nonces } from './nonce-claim.ts';
import type { Verdict } from './scheme.ts';

/** Rounds a time (ms) down to whole seconds: fractions of a second are ignored. */
export function wholeSecond(ms: number): number {
  return Math.floor(ms / 1000) * 1000;
}

/** Describes a time outside the window, in seconds: `The date is 700 s behind the server's clock; the maximum is 600 s.` */
export function describeDistance(subject: string, off: number, most: number): string {
  const direction = off < 0 ? 'behind' : 'ahead of';
  return `${subject} is ${Math.abs(off)} s ${direction} the server's clock; the maximum is ${most} s.`;
}

/** The hint at the cause of a wrong date, if there is no better one. */
export const wrongClock = "the client's clock is wrong, or the request was delayed";

/** Tolerance (s, in either direction) for a time zone offset, because of the transmission time. */
const tolerance = 30;

/**
 * Returns the hours by which a time zone could explain a wrong date; undefined if none could. Time zone offsets are multiples of a
 * quarter of an hour, up to 14 hours. Below one hour a wrong clock is more likely.
 *
 * @param off The difference between the date and the clock (s).
 */
export function zoneHoursOf(off: number): number | undefined {
  const distance = Math.abs(off);
  const quarters = Math.round(distance / 900);
  const isZone = quarters >= 4 && quarters <= 56 && Math.abs(distance - quarters * 900) <= tolerance;
  return isZone ? quarters / 4 : undefined;
}

/** Returns whether a method is known and safe (RFC 9110 §9.2.1). */
export function isSafeMethod(method: string): boolean {
  return isMethod(method) && isSafe(method);
}

/**
 * Admits a request whose nonce was claimed last. The nonce of a safe method is written first. That of another method is withheld,
 * so that it is written together with the change.
 */
export function admitClaimed(
  principal: Principal,
  method: string,
  nonces: Pick<Nonces, 'hold' | 'kept'>,
): Verdict | Promise<Verdict> {
  const verdict: Verdict = { outcome: 'good', principal };
  if (!isSafeMethod(method)) {
    const held = nonces.hold();
    return held === undefined ? verdict : { outcome: 'good', principal: { ...principal, nonce: held } };
  }
  const writing = nonces.kept(false);
  return writing === undefined ? verdict : writing.then(() => verdict);
}
