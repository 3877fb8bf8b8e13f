import type { ItemAddress } from '../list-item.ts';
import type { Position, ValidationErrors } from '../validation-errors.ts';
import type { JsonNode } from './reader.ts';

/**
 * Returns a document without its members `id` and `href`, so that a client can send an item as the server showed it. Reports members
 * that are those of another item.
 */
export function withoutAddress(
  node: JsonNode,
  address: ItemAddress,
  errors: ValidationErrors,
  findPosition: (at: number) => Position,
): JsonNode {
  if (node.kind !== 'object') return node;
  const members = new Map(node.members);
  for (const [name, expected] of Object.entries(address)) {
    const sent = members.get(name);
    if (sent === undefined) continue;
    members.delete(name);
    if (sent.value.kind === 'string' && sent.value.text === expected) continue;
    const detail = `is set by the server, and is ${JSON.stringify(expected)} for this item`;
    if (errors.hasRoom()) errors.add(name, { rule: 'read-only', detail }, findPosition(sent.at));
  }
  return { ...node, members };
}
