import { formatDate } from '../../http/headers/date.ts';
import { describeDistance, wholeSecond, wrongClock, zoneHoursOf } from '../freshness.ts';
import type { TraceDetails } from '../trace.ts';
import type { Reason } from './errors/refusal.ts';
import type { Aws4Options } from './options.ts';
import type { Presented } from './presented.ts';

/** A refused date. */
export interface DateFault {
  readonly reason: Reason;
  readonly detail: string;
  /** The likely cause. */
  readonly details: TraceDetails;
}

/** Returns the fault of a date outside the window, or of a presigned URL whose lifetime is over. Compares whole seconds. */
export function dateFault(
  { time, expires }: Presented,
  now: number,
  { window, replay }: Aws4Options,
  notBefore: number | undefined,
): DateFault | undefined {
  const behind = (wholeSecond(now) - time) / 1000;
  const most = window / 1000;
  if (-behind > most) return fault('date-ahead', describeDistance('The date', -behind, most), behind, now);
  if (expires === undefined && behind > most)
    return fault('date-behind', describeDistance('The date', -behind, most), behind, now);
  if (expires !== undefined && behind > expires)
    return fault('presigned-expired', `The presigned URL expired ${behind - expires} s ago.`, behind, now);
  if (replay === 'refuse' && notBefore !== undefined && time < wholeSecond(notBefore)) {
    const detail =
      'The date is before the start of this server, which does not know the signatures used before.';
    return { reason: 'date-behind', detail, details: {} };
  }
  return undefined;
}

function fault(reason: Reason, detail: string, behind: number, now: number): DateFault {
  return { reason, detail, details: { hint: hintOf(behind), serverDate: formatDate(now) } };
}

function hintOf(distance: number): string {
  const hours = zoneHoursOf(distance);
  return hours === undefined
    ? wrongClock
    : `off by ${hours} h: probably the date of another time zone; it must be in UTC`;
}
