// Values of a document with their places: JSON Pointers in a fragment (RFC 6901 §6), such as `#/paths/~1orders/get`.

import { DeclarationError } from '../../collections/fields/error.ts';
import { decodeText } from '../../http/syntax/percent.ts';
import type { JsonSchema } from '../../service/openapi/document.ts';
import { describeKind } from '../../shape/fault.ts';

/** A schema or another object of the document, and its place. */
export interface Located<Value = JsonSchema> {
  readonly value: Value;
  /** The place in the document: `#/components/schemas/Order`. */
  readonly at: string;
}

/** A schema of the document; in 3.1 it can be `true` or `false`. */
export type LocatedSchema = Located<JsonSchema | boolean>;

/** Returns whether a value is an object of JSON. */
export function isObject(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns the reference of a schema or another object; undefined if it has none. */
export function referenceOf(value: unknown): string | undefined {
  const reference = isObject(value) ? value['$ref'] : undefined;
  return typeof reference === 'string' ? reference : undefined;
}

/** Returns the place of a member: `#/paths` and `/orders` make `#/paths/~1orders`. */
export function formatPlace(at: string, ...names: readonly (string | number)[]): string {
  return [at, ...names.map((name) => String(name).replaceAll('~', '~0').replaceAll('/', '~1'))].join('/');
}

/** Returns the schema at a place. Throws DeclarationError if it is none. */
export function schemaAt(source: unknown, at: string): LocatedSchema | undefined {
  if (source === undefined) return undefined;
  if (typeof source === 'boolean') return { value: source, at };
  return { value: membersAt(source, at), at };
}

/** Returns the object at a place. Throws DeclarationError if it is none. */
export function membersAt(source: unknown, at: string): JsonSchema {
  if (isObject(source)) return source;
  throw new DeclarationError('type', at, `must be an object, is ${describeKind(source)}`);
}

/** Returns the list at a place. Throws DeclarationError if it is none. */
export function listAt(source: unknown, at: string): readonly unknown[] {
  // A list that a caller passes can have holes.
  if (Array.isArray(source)) return Array.from(source);
  throw new DeclarationError('type', at, `must be an array, is ${describeKind(source)}`);
}

/** Returns the schema or object that a JSON Pointer leads to, or why it leads to none. */
export function followPointer(
  { value: root, at: start }: Located<unknown>,
  pointer: string,
): LocatedSchema | string {
  let [value, at] = [root, start];
  for (const part of pointer.split('/').slice(1)) {
    const name = decodeText(part)?.replaceAll('~1', '/').replaceAll('~0', '~');
    if (name === undefined) return 'is malformed';
    const isIndex = Array.isArray(value) && /^(?:0|[1-9]\d*)$/.test(name);
    if (!isIndex && !(isObject(value) && Object.hasOwn(value, name)))
      return `leads nowhere: ${at} has no ${name}`;
    value = Reflect.get(Object(value), name);
    at = formatPlace(at, name);
  }
  if (isObject(value) || typeof value === 'boolean') return { value, at };
  return `leads to ${describeKind(value)}`;
}
