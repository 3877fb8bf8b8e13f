import { formatDate } from '../../http/headers/date.ts';
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
  if (-behind > most)
    return fault(
      'date-ahead',
      `The date is ${-behind} s ahead of the server's clock; the maximum is ${most} s.`,
      behind,
      now,
    );
  if (expires === undefined && behind > most)
    return fault(
      'date-behind',
      `The date is ${behind} s behind the server's clock; the maximum is ${most} s.`,
      behind,
      now,
    );
  if (expires !== undefined && behind > expires)
    return fault('presigned-expired', `The presigned URL expired ${behind - expires} s ago.`, behind, now);
  if (replay === 'refuse' && notBefore !== undefined && time < wholeSecond(notBefore)) {
    const detail =
      'The date is before the start of this server, which does not know the signatures used before.';
    return { reason: 'date-behind', detail, details: {} };
  }
  return undefined;
}

function wholeSecond(ms: number): number {
  return Math.floor(ms / 1000) * 1000;
}

function fault(reason: Reason, detail: string, behind: number, now: number): DateFault {
  return { reason, detail, details: { hint: hintOf(Math.abs(behind)), serverDate: formatDate(now) } };
}

const quarter = 900;
/** Tolerance (s) for a time zone offset, because of the transmission time. */
const tolerance = 30;

/** Time zone offsets are multiples of a quarter of an hour, up to 14 hours. Below one, a wrong clock is more likely. */
function hintOf(distance: number): string {
  const quarters = Math.round(distance / quarter);
  const isZone = quarters >= 4 && quarters <= 56 && Math.abs(distance - quarters * quarter) <= tolerance;
  return isZone
    ? `off by ${quarters / 4} h: probably the date of another time zone; it must be in UTC`
    : "the client's clock is wrong, or the request was delayed";
}
