import { systemClock } from '../clock.ts';

/** The time (ms) after which a query that is repeated or not answered fails: a client must get its 503 within 2 s. */
export const patience = 1700;

/**
 * The same while PostgreSQL cannot be reached: a request may need another query after one has failed, to claim its nonce, and
 * its client must not wait twice.
 */
export const shortPatience = 250;

/** Returns the time by which what begins now must have finished. Deadlines belong to timers, so they follow the host. */
export function deadlineFromNow(within = patience): number {
  return systemClock.steady() + within;
}

/** Returns the time (ms) until a deadline; not above 0 if it has passed. */
export function timeUntil(deadline: number): number {
  return deadline - systemClock.steady();
}
