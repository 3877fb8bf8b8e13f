import type { ItemOrder, Position } from './order.ts';
import { malformedQuery } from './query.ts';

/**
 * Formats the place after which a page begins. Without an order: the sequence in base 36. With one: also the key, so that the
 * place stays the same if the item is changed or deleted.
 */
export function formatCursor(order: ItemOrder | undefined, { sequence, key }: Position): string {
  const number = sequence.toString(36);
  if (order === undefined) return number;
  return key === undefined ? `${number}-` : `${number}.${Buffer.from(String(key)).toString('base64url')}`;
}

/** Parses a cursor of a list with this order. Throws a Problem (400) if it is malformed. */
export function parseCursor(order: ItemOrder | undefined, text: string): Position {
  const parts = /^([0-9a-z]{1,10})(?:(-)|\.([\w-]*))?$/.exec(text);
  const sequence = Number.parseInt(parts?.[1] ?? '', 36);
  if (!Number.isSafeInteger(sequence)) throw malformedCursor();
  const [absent, encoded] = [parts?.[2] !== undefined, parts?.[3]];
  const isSorted = absent || encoded !== undefined;
  if (isSorted !== (order !== undefined)) throw malformedCursor();
  if (encoded === undefined || order === undefined) return { sequence, key: undefined };
  const key = order.parseKey(Buffer.from(encoded, 'base64url').toString());
  if (key === undefined) throw malformedCursor();
  return { sequence, key };
}

function malformedCursor(): Error {
  return malformedQuery('after', 'a value from a Link field of this collection');
}
