// Judges the time of a request, its expiry, and whether it is after the start of the server, each on its own.

import { formatDate } from '../http/headers/date.ts';
import { describeDistance, describeMovedClock, describeOtherUnit, describeTimeError } from './freshness.ts';
import { type Failure, failWith } from './refuse.ts';
import type { Presented, RefusalReason, Rules, TimeRule } from './scheme.ts';
import type { SchemeContext, Verification } from './scheme-context.ts';
import { isAcceptedOnce } from './verify-nonce.ts';

/** Why the time of a request is refused. */
interface TimeFault {
  readonly reason: RefusalReason;
  readonly detail: string;
  readonly hint?: string | undefined;
}

/** What the time of a request is compared with. */
interface Moment {
  /** The time of the clock (ms), and the same without what the times of the scheme have not. */
  readonly now: number;
  readonly rounded: number;
  /** How far (ms) the time of the request is ahead of the clock; 0 if it has none. */
  readonly off: number;
}

/** Returns the failure if the time is outside the window or over, or before the start of the server. */
export function checkTime<Own extends Presented>(
  presented: Own,
  passed: readonly string[],
  now: number,
  { scheme, context }: Verification<Own>,
  content: Uint8Array,
): Failure<Own> | undefined {
  const { rules } = scheme;
  if (rules.time === undefined) return undefined;
  const { resolution } = rules.time;
  const rounded = Math.floor(now / resolution) * resolution;
  const off = presented.time === undefined ? 0 : presented.time - rounded;
  const moment = { now, rounded, off };
  const fault =
    checkWindow(presented, moment, rules.time, context) ??
    checkExpiry(presented, moment, rules.time, context) ??
    checkStart(presented, rules, rules.time, context);
  if (fault === undefined) return undefined;
  const { reason, detail, hint } = fault;
  return failWith(presented, reason, 'date', detail, passed, {
    ...(hint === undefined ? {} : { hint }),
    serverDate: formatDate(now),
    ...scheme.mistakes?.members?.(presented, content, reason),
  });
}

function checkWindow(
  { time, expires }: Presented,
  { now, off }: Moment,
  { subject, window, expiryReplacesWindow = false }: TimeRule,
  { clock }: SchemeContext,
): TimeFault | undefined {
  if (time === undefined) return undefined;
  const isLate = -off > window && !(expiryReplacesWindow && expires !== undefined);
  if (off <= window && !isLate) return undefined;
  const hint =
    describeMovedClock(off, clock.ahead?.()) ??
    describeOtherUnit(subject, time, now) ??
    describeTimeError(subject, off / 1000);
  return { reason: 'time', detail: describeDistance(subject, off / 1000, window / 1000), hint };
}

function checkExpiry(
  { time, expires }: Presented,
  { now, rounded, off }: Moment,
  { subject }: TimeRule,
  { clock }: SchemeContext,
): TimeFault | undefined {
  if (expires === undefined || rounded <= expires) return undefined;
  const detail = `The signature expired ${Math.ceil((rounded - expires) / 1000)} s ago.`;
  const isWindow = time !== undefined && expires - time <= longestWindow;
  const usual = isWindow
    ? (describeOtherUnit(subject, time, now) ?? describeTimeError('The time', off / 1000))
    : 'its lifetime is over; sign the request again';
  return { reason: 'expired', detail, hint: describeMovedClock(off, clock.ahead?.()) ?? usual };
}

/** The longest lifetime (ms) that is a window for clocks, and not a permission for a while. */
const longestWindow = 300_000;

function checkStart(
  presented: Presented,
  rules: Rules,
  { subject, resolution }: TimeRule,
  { notBefore }: SchemeContext,
): TimeFault | undefined {
  const { time } = presented;
  if (time === undefined || notBefore === undefined || !isAcceptedOnce(presented, rules)) return undefined;
  if (time >= Math.floor(notBefore / resolution) * resolution) return undefined;
  const detail = `${subject} is before the start of this server, which does not know the nonces used before.`;
  return { reason: 'before-start', detail };
}
