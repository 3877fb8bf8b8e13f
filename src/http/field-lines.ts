import type { FieldLine } from './fields.ts';
import type { Response } from './message.ts';

/** Field lines out of names and values in turn, as node:http has them. */
export function linesInTurn(flat: readonly string[]): FieldLine[] {
  const lines: FieldLine[] = [];
  for (let at = 0; at + 1 < flat.length; at += 2) lines.push([flat[at] ?? '', flat[at + 1] ?? '']);
  return lines;
}

type Line = readonly [name: string, value: string];

/** Field lines out of fields that are given as an object, or as lines already. */
export function linesOf(fields: Readonly<Record<string, string>> | readonly Line[]): readonly Line[] {
  return isList(fields) ? fields : Object.entries(fields);
}

function isList(fields: object | readonly Line[]): fields is readonly Line[] {
  return Array.isArray(fields);
}

/** Whether the content of a reply is compressed with gzip. */
export function isCompressed({ fields }: Pick<Response, 'fields'>): boolean {
  return fields.some(([name, value]) => name.toLowerCase() === 'content-encoding' && value === 'gzip');
}
