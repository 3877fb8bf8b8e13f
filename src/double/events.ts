import type { TokenEvent } from '../oauth/records.ts';
import { callback, read, word } from '../shape/shape.ts';
import { callListener, type ReportError, writeError } from './callback.ts';
import type { JournalEntry } from './journal/entry.ts';

/** A nonce that was rejected because it had been used. */
interface NonceEvent {
  /** The name of the event. */
  readonly type: 'nonce-replayed';
  /** The user of the nonce. */
  readonly user: string;
}

/** The events of a double by name, each with what its listeners receive. Those about tokens and nonces contain neither. */
export interface DoubleEventMap {
  /** A request was answered, refused or left without a response: its entry in the journal. */
  readonly request: JournalEntry;
  /** A token, code or request token was issued. */
  readonly 'token-issued': TokenEvent;
  /** A token, or a grant with all its tokens, was revoked. */
  readonly 'token-revoked': TokenEvent;
  /** A code or a refresh token was used a second time. Its grant is revoked. */
  readonly 'token-reused': TokenEvent;
  /** A nonce was rejected because it had been used. */
  readonly 'nonce-replayed': NonceEvent;
}

/** Ends the calls of a listener: call it, or dispose of it with `using`. */
export interface Subscription extends Disposable {
  (): void;
}

type EventName = keyof DoubleEventMap;

/** An event about tokens or nonces. */
export type CredentialEvent = TokenEvent | NonceEvent;

/** Emits events to listeners. */
export type Events = ReturnType<typeof createEvents>;

type Listeners = { readonly [Name in EventName]: Set<(value: DoubleEventMap[Name]) => void> };

function createListeners(): Listeners {
  return {
    request: new Set(),
    'token-issued': new Set(),
    'token-revoked': new Set(),
    'token-reused': new Set(),
    'nonce-replayed': new Set(),
  };
}

const eventNames = Object.keys(createListeners());

/** The names of the events about tokens and nonces. */
export const credentialEvents: readonly string[] = eventNames.filter((name) => name !== 'request');

const eventShape = word(eventNames);

/** Creates an emitter without listeners. `onError` is called with the errors of listeners. */
export function createEvents(onError: ReportError = writeError) {
  const listeners = createListeners();
  return {
    /** Calls `listener` for every event of this name. Throws RangeError if there is none, or if `listener` is not a function. */
    on<Name extends EventName>(event: Name, listener: (value: DoubleEventMap[Name]) => void): Subscription {
      read(eventShape, event, 'the event');
      read(callback(), listener, 'the listener of an event');
      const added: Listeners[Name] = listeners[event];
      // A function of its own, so that a listener can be added twice.
      const call = (value: DoubleEventMap[Name]): void => callListener(listener, value, onError);
      added.add(call);
      const end = (): void => void added.delete(call);
      return Object.assign(end, { [Symbol.dispose]: end });
    },
    emit<Name extends EventName>(event: Name, value: DoubleEventMap[Name]): void {
      const called: Listeners[Name] = listeners[event];
      for (const call of [...called]) call(value);
    },
  };
}
