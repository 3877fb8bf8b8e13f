import { STATUS_CODES } from 'node:http';

/** The reason phrase that goes with a status; empty where there is none. */
export function reasonPhraseOf(status: number): string {
  return STATUS_CODES[status] ?? '';
}
