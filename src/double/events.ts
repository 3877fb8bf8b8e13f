import type { TokenEvent } from '../oauth/records.ts';
import { checkFunction, checkWord } from '../service/argument-checks.ts';
import { callListener, type ReportError, writeError } from './callback.ts';

/** An event of a double: a change of grants or tokens, or a replayed nonce. It contains no token and no nonce. */
export type DoubleEvent =
  | TokenEvent
  | {
      readonly kind: 'replay';
      /** The user of the nonce. */
      readonly user: string;
    };

/** The events of one kind. */
export type EventOf<Kind extends DoubleEvent['kind']> = Extract<DoubleEvent, { readonly kind: Kind }>;

/** The names of all kinds. The type checks that the list is complete. */
const kindNames: Readonly<Record<DoubleEvent['kind'], true>> = {
  issued: true,
  reuse_detected: true,
  revoked: true,
  replay: true,
};

/** The names of all kinds of events. */
export const eventKinds: readonly string[] = Object.keys(kindNames);

/** Emits events to listeners. */
export interface Events {
  /**
   * Calls `listener` for every event of a kind. Returns a function that removes the listener. Throws RangeError on an unknown kind.
   */
  on<Kind extends DoubleEvent['kind']>(kind: Kind, listener: (event: EventOf<Kind>) => void): () => void;
  emit(event: DoubleEvent): void;
}

/** Creates an emitter without listeners. `onError` is called with the errors of listeners. */
export function createEvents(onError: ReportError = writeError): Events {
  const listeners = new Set<(event: DoubleEvent) => void>();
  return {
    on(kind, listener) {
      checkSubscription(kind, listener);
      const forward = (event: DoubleEvent): void => {
        if (isOf(event, kind)) callListener(listener, event, onError);
      };
      listeners.add(forward);
      return () => void listeners.delete(forward);
    },
    emit(event) {
      for (const listener of [...listeners]) listener(event);
    },
  };
}

function checkSubscription(kind: unknown, listener: unknown): void {
  checkWord(kind ?? null, eventKinds, 'a kind of event');
  checkFunction(listener ?? null, 'the listener of an event');
}

function isOf<Kind extends DoubleEvent['kind']>(event: DoubleEvent, kind: Kind): event is EventOf<Kind> {
  return event.kind === kind;
}
