import type { JsonMember, JsonNode } from '../../../http/json.ts';
import { describeKind } from '../../../shape/fault.ts';
import { DeclarationError } from '../../fields/error.ts';

/**
 * Converts a value of the configuration to JSON nodes.
 * @throws {DeclarationError} for a value that JSON does not have
 */
export function toJsonNode(value: unknown, path: string): JsonNode {
  if (value === null) return { kind: 'null', at: 0, text: 'null' };
  if (typeof value === 'string') return { kind: 'string', at: 0, text: value };
  if (typeof value === 'boolean') return { kind: 'boolean', at: 0, text: value ? 'true' : 'false' };
  if (typeof value === 'number') return { kind: 'number', at: 0, text: String(value) };
  if (Array.isArray(value)) {
    return { kind: 'array', at: 0, items: value.map((item, at) => toJsonNode(item, `${path}[${at}]`)) };
  }
  if (typeof value !== 'object')
    throw new DeclarationError('seed', path, `must be JSON, is ${describeKind(value)}`);
  const members = new Map<string, JsonMember>();
  for (const [name, member] of Object.entries(value)) {
    members.set(name, { at: 0, value: toJsonNode(member, `${path}.${name}`) });
  }
  return { kind: 'object', at: 0, members };
}
