import type { Clock } from '../../../clock.ts';
import { listOf, number, object, optional, text, word } from '../../../shape/shape.ts';
import { DoubleError } from '../../error.ts';
import { type CredentialEvent, credentialEvents, type Events } from '../../events.ts';
import { Waiters } from '../../journal/waiting.ts';
import { type Operation, operation } from '../operation.ts';
import { longestWait, notFoundInTime } from './journal.ts';

/** The operations on events: changes of grants and tokens, and replays. */
export function eventOperations(log: EventLog): readonly Operation[] {
  return [
    operation('GET', '/events', 'events', {
      returns: object({ events: listOf(eventShape) }),
      summary: 'Returns the events since the interface was opened, oldest first',
      description: 'The log holds the latest 1000 events. They contain no token and no nonce.',
      run: () => ({ events: log.all }),
    }),
    operation('POST', '/events/wait', 'waitForEvent', {
      returns: eventShape,
      summary: 'Returns the first matching event, and waits for it if necessary',
      errors: { 404: 'No matching event in time; the detail lists the other events.' },
      accepts: object({
        type: optional(word(credentialEvents)),
        client: optional(text('the client’s id, or the consumer’s key')),
        user: optional(text()),
        timeout: optional(number({ min: 0, max: longestWait }, 'ms; default: 2000')),
        after: optional(number({ min: 0 }, 'the number of an event; it and earlier ones are ignored')),
      }),
      run: ({ timeout = 2000, after = 0, ...match }) =>
        log.waitFor(match, timeout, after).catch(notFoundInTime),
    }),
  ];
}

const eventShape = object({
  number: number({}, 'sequence number, from 1'),
  time: number({ whole: false }, 'time of the server’s clock, in ms since 1970-01-01T00:00:00Z'),
  type: word(credentialEvents),
  mechanism: optional(word(['oauth1', 'oauth2'])),
  client: optional(text()),
  user: optional(text('absent if a client acts for itself')),
  token: optional(
    word(
      ['ticket', 'code', 'access', 'refresh', 'request'],
      'the kind of the issued, revoked or reused token; absent for a whole grant',
    ),
  ),
});

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
