import type { GrantEvent } from '../oauth/records.ts';

/** An event of a double: a change of grants or tokens, or a replayed nonce. It contains no token and no nonce. */
export type DoubleEvent =
  | GrantEvent
  | {
      readonly kind: 'replay';
      /** The user of the nonce. */
      readonly user: string;
    };

/** The events of one kind. */
export type EventOf<Kind extends DoubleEvent['kind']> = Extract<DoubleEvent, { readonly kind: Kind }>;

/** Emits events to listeners. */
export interface Events {
  /** Calls `listener` for every event of a kind. Returns a function that removes the listener. */
  on<Kind extends DoubleEvent['kind']>(kind: Kind, listener: (event: EventOf<Kind>) => void): () => void;
  emit(event: DoubleEvent): void;
}

/** Creates an emitter without listeners. */
export function createEvents(): Events {
  const listeners = new Set<(event: DoubleEvent) => void>();
  return {
    on(kind, listener) {
      const forward = (event: DoubleEvent): void => {
        if (isOf(event, kind)) listener(event);
      };
      listeners.add(forward);
      return () => void listeners.delete(forward);
    },
    emit(event) {
      for (const listener of [...listeners]) listener(event);
    },
  };
}

function isOf<Kind extends DoubleEvent['kind']>(event: DoubleEvent, kind: Kind): event is EventOf<Kind> {
  return event.kind === kind;
}
