import { formatDate } from '../http/headers/date.ts';
import type { Response } from '../http/message.ts';

/** Sets the `Date` of a response to `time` (ms). */
export function redate({ headers: fields }: Response, time: number): void {
  const date = fields.find(([name]) => name === 'Date');
  if (date !== undefined) date[1] = formatDate(time);
}
