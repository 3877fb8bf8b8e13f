import type { Clock } from '../../clock.ts';
import type { DoubleEvent, Events } from '../events.ts';
import { Waiters } from '../journal/waiters.ts';

/** An event in the log. */
export type LoggedEvent = DoubleEvent & {
  /** The sequence number, from 1. */
  readonly number: number;
  /** The time of the double's clock, in ms. */
  readonly time: number;
};

/** Selects events. An event matches if it matches every member that is present. */
export interface EventMatch {
  readonly kind?: string | undefined;
  readonly client?: string | undefined;
  readonly user?: string | undefined;
}

/** The maximum number of events in the log. The oldest are dropped. */
const maxEvents = 1000;

/** Keeps the latest events. */
export class EventLog {
  readonly #waiters = new Waiters<LoggedEvent>();
  readonly #unsubscribe: readonly (() => void)[];
  #events: LoggedEvent[] = [];
  #count = 0;

  constructor(events: Pick<Events, 'on'>, clock: Pick<Clock, 'now'>) {
    const record = (event: DoubleEvent): void => {
      this.#count += 1;
      const logged: LoggedEvent = { ...event, number: this.#count, time: clock.now() };
      this.#events = [...this.#events.slice(1 - maxEvents), logged];
      this.#waiters.notify(logged);
    };
    this.#unsubscribe = [
      events.on('issued', record),
      events.on('reuse_detected', record),
      events.on('revoked', record),
      events.on('replay', record),
    ];
  }

  /** All events in the log, oldest first. */
  get all(): readonly LoggedEvent[] {
    return this.#events;
  }

  /**
   * Returns the first matching event with a number above `after`, waiting up to `timeout` ms for it. Rejects with
   * EventTimeout.
   */
  waitFor(match: EventMatch, timeout: number, after: number): Promise<LoggedEvent> {
    const fits = (event: LoggedEvent): boolean => event.number > after && matches(event, match);
    return this.#waiters.waitFor(this.#events, fits, timeout, () => {
      const others = this.#events.filter(({ number }) => number > after).map(({ kind }) => kind);
      return new EventTimeout(
        `No matching event within ${timeout} ms. Other events: ${others.slice(-20).join(', ') || 'none'}.`,
      );
    });
  }

  /** Removes all listeners and ends all waits. */
  close(): void {
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
    this.#waiters.end();
  }
}

/** Thrown if no matching event occurs in time. */
export class EventTimeout extends Error {
  override readonly name = 'EventTimeout';
}

function matches(event: LoggedEvent, { kind = event.kind, client, user }: EventMatch): boolean {
  if (event.kind !== kind || (user !== undefined && event.user !== user)) return false;
  return client === undefined || ('client' in event && event.client === client);
}
