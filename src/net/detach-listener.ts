import type { EventEmitter } from 'node:events';

/**
 * Removes a listener that node:http itself has added, and returns it, so that the caller can call it later. It is the first
 * listener of a new response, and the last one of a socket that was just accepted. Returns undefined if there is none.
 */
export function detachListener(
  emitter: EventEmitter,
  event: string,
  which: 'first' | 'last',
): (() => void) | undefined {
  const listener = emitter.listeners(event).at(which === 'first' ? 0 : -1);
  if (!isListener(listener)) return undefined;
  emitter.removeListener(event, listener);
  return () => listener.call(emitter);
}

function isListener(value: unknown): value is () => void {
  return typeof value === 'function';
}
