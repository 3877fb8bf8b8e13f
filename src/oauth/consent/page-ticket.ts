import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../../clock.ts';

/** Tickets in the forms of a page: they show that a form was sent from the page of the same user (CSRF protection). */
export interface PageTickets {
  /** Returns a ticket for the page of a user. */
  issue(user: string): string;
  /** Returns whether a ticket was issued for this user and has not expired. */
  accepts(user: string, ticket: string): boolean;
}

/** Dependencies of the tickets. */
interface PageTicketContext {
  readonly clock: Clock;
  /** Secret bytes from which the key is derived. */
  readonly masterKey: Uint8Array;
  /** Lifetime of a ticket (ms). */
  readonly lifetime: number;
}

/** Creates tickets that are not stored: the expiry time and a keyed digest of it and the user. */
export function createPageTickets({ clock, masterKey, lifetime }: PageTicketContext): PageTickets {
  const key = createHmac('sha256', masterKey).update('tickets of the page of grants').digest();
  const computeDigest = (user: string, expires: string): Buffer =>
    createHmac('sha256', key).update(`${expires}\n${user}`).digest();
  return {
    issue(user) {
      const expires = (clock.now() + lifetime).toString(36);
      return `${expires}.${computeDigest(user, expires).toString('base64url')}`;
    },
    accepts(user, ticket) {
      const [, expires = '', digest = ''] = /^([0-9a-z]{1,11})\.([\w-]{43})$/.exec(ticket) ?? [];
      const sent = Buffer.from(digest, 'base64url');
      const expected = computeDigest(user, expires);
      const isGenuine = sent.length === expected.length && timingSafeEqual(sent, expected);
      return isGenuine && Number.parseInt(expires, 36) > clock.now();
    },
  };
}
