import type { Clock } from '../../clock.ts';
import type { DoubleEvent, Events } from '../events.ts';
import { Waiters } from '../journal/waiters.ts';

/** The kinds of events. The compiler holds the list complete. */
const kindNames: Readonly<Record<DoubleEvent['kind'], true>> = {
  issued: true,
  reuse_detected: true,
  revoked: true,
  replay: true,
};

/** The kinds of events there are. */
export const eventKinds: readonly string[] = Object.keys(kindNames);

/** An event that was heard. */
export type LoggedEvent = DoubleEvent & {
  /** Counted from 1. */
  readonly number: number;
  /** By the clock of the double (ms). */
  readonly time: number;
};

/** Which events are meant: all that fit everything that is given. */
export interface EventMatch {
  readonly kind?: string | undefined;
  readonly client?: string | undefined;
  readonly user?: string | undefined;
}

/** Events that are kept at most; the oldest go when there are more. */
const mostKept = 1000;

/** Keeps the latest events, for those who ask later. */
export class EventLog {
  readonly #arrivals = new Waiters<LoggedEvent>();
  readonly #leave: readonly (() => void)[];
  #heard: LoggedEvent[] = [];
  #count = 0;

  constructor(events: Pick<Events, 'on'>, clock: Pick<Clock, 'now'>) {
    const hear = (event: DoubleEvent): void => {
      this.#count += 1;
      const heard: LoggedEvent = { ...event, number: this.#count, time: clock.now() };
      this.#heard = [...this.#heard.slice(1 - mostKept), heard];
      this.#arrivals.come(heard);
    };
    this.#leave = [
      ...[events.on('issued', hear), events.on('reuse_detected', hear)],
      ...[events.on('revoked', hear), events.on('replay', hear)],
    ];
  }

  /** All that are kept, oldest first. */
  get all(): readonly LoggedEvent[] {
    return this.#heard;
  }

  /** The first that fits of a higher number than `after`, there or to come within `timeout` ms. Rejects with EventTimeout. */
  waitFor(match: EventMatch, timeout: number, after: number): Promise<LoggedEvent> {
    const fits = (event: LoggedEvent): boolean => event.number > after && isSuch(event, match);
    return this.#arrivals.waitFor(this.#heard, fits, timeout, () => {
      const come = this.#heard.filter(({ number }) => number > after).map(({ kind }) => kind);
      return new EventTimeout(
        `None came within ${timeout} ms. Others: ${come.slice(-20).join(', ') || 'none'}.`,
      );
    });
  }

  /** Hears no more, and ends all waiting. */
  close(): void {
    for (const leave of this.#leave) leave();
    this.#arrivals.end();
  }
}

/** What was waited for did not come in time. */
export class EventTimeout extends Error {
  override readonly name = 'EventTimeout';
}

function isSuch(event: LoggedEvent, { kind = event.kind, client, user }: EventMatch): boolean {
  if (event.kind !== kind || (user !== undefined && event.user !== user)) return false;
  return client === undefined || ('client' in event && event.client === client);
}
