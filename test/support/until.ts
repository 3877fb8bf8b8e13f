import { setTimeout } from 'node:timers/promises';

/** Resolves when a condition is true. It looks each few milliseconds: each turn of the event loop would keep a processor busy. */
export async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await setTimeout(5);
}
