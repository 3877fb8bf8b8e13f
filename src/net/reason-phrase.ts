import { STATUS_CODES } from 'node:http';

/** Returns the reason phrase of a status; '' if it has none. */
export function findReasonPhrase(status: number): string {
  return STATUS_CODES[status] ?? '';
}
