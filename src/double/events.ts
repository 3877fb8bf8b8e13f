import type { GrantEvent } from '../oauth/records.ts';

/** What a double tells of: what happens to grants and tokens, and nonces that came again. No token or nonce is in it. */
export type DoubleEvent =
  | GrantEvent
  | {
      readonly kind: 'replay';
      /** Whose nonce it was. */
      readonly user: string;
    };

/** An event of this kind. */
export type EventOf<Kind extends DoubleEvent['kind']> = Extract<DoubleEvent, { readonly kind: Kind }>;

/** Where events are told and listened to. */
export interface Events {
  /** Has `listener` told of every event of this kind; gives what ends that. */
  on<Kind extends DoubleEvent['kind']>(kind: Kind, listener: (event: EventOf<Kind>) => void): () => void;
  emit(event: DoubleEvent): void;
}

/** Makes a place for events. */
export function createEvents(): Events {
  const listeners = new Set<(event: DoubleEvent) => void>();
  return {
    on(kind, listener) {
      const hear = (event: DoubleEvent): void => {
        if (isOf(event, kind)) listener(event);
      };
      listeners.add(hear);
      return () => void listeners.delete(hear);
    },
    emit(event) {
      for (const listener of [...listeners]) listener(event);
    },
  };
}

function isOf<Kind extends DoubleEvent['kind']>(event: DoubleEvent, kind: Kind): event is EventOf<Kind> {
  return event.kind === kind;
}
