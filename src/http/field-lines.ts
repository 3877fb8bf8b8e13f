import type { FieldLine } from './fields.ts';
import type { Response } from './message.ts';

/** Converts a flat list of alternating names and values, as node:http uses it, to field lines. */
export function linesInTurn(flat: readonly string[]): FieldLine[] {
  const lines: FieldLine[] = [];
  for (let at = 0; at + 1 < flat.length; at += 2) lines.push([flat[at] ?? '', flat[at + 1] ?? '']);
  return lines;
}

type Line = readonly [name: string, value: string];

/** Converts fields to lines; they are given as an object, or as lines already. */
export function linesOf(fields: Readonly<Record<string, string>> | readonly Line[]): readonly Line[] {
  return isList(fields) ? fields : Object.entries(fields);
}

function isList(fields: object | readonly Line[]): fields is readonly Line[] {
  return Array.isArray(fields);
}

/** Returns whether the content of a response is compressed with gzip. */
export function isCompressed({ headers: fields }: Pick<Response, 'headers'>): boolean {
  return fields.some(([name, value]) => name.toLowerCase() === 'content-encoding' && value === 'gzip');
}
