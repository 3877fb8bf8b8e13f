import type { Clock } from '../../clock.ts';
import { DoubleError } from '../error.ts';
import type { CredentialEvent, Events } from '../events.ts';
import { Waiters } from '../journal/waiting.ts';

/** An event in the log. */
type LoggedEvent = CredentialEvent & {
  /** The sequence number, from 1. */
  readonly number: number;
  /** The time of the double's clock, in ms. */
  readonly time: number;
};

/** Selects events. An event matches if it matches every member that is present. */
interface EventMatch {
  readonly type?: string | undefined;
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
    const record = (event: CredentialEvent): void => {
      this.#count += 1;
      const logged: LoggedEvent = { ...event, number: this.#count, time: clock.now() };
      this.#events = [...this.#events.slice(1 - maxEvents), logged];
      this.#waiters.notify(logged);
    };
    this.#unsubscribe = [
      events.on('token-issued', record),
      events.on('token-revoked', record),
      events.on('token-reused', record),
      events.on('nonce-replayed', record),
    ];
  }

  /** All events in the log, oldest first. */
  get all(): readonly LoggedEvent[] {
    return this.#events;
  }

  /**
   * Returns the first matching event with a number above `after`, waiting up to `timeout` ms for it. Rejects with DoubleError (`timeout`
   * or `closed`).
   */
  waitFor(match: EventMatch, timeout: number, after: number): Promise<LoggedEvent> {
    const fits = (event: LoggedEvent): boolean => event.number > after && matches(event, match);
    return this.#waiters.waitFor(this.#events, fits, timeout, (why) => {
      const others = this.#events.filter(({ number }) => number > after).map(({ type }) => type);
      return new DoubleError(
        why,
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

function matches(event: LoggedEvent, { type = event.type, client, user }: EventMatch): boolean {
  if (event.type !== type || (user !== undefined && event.user !== user)) return false;
  return client === undefined || ('client' in event && event.client === client);
}
