// The rules of schemas for types and numbers.
import { describeKind } from '../../shape/fault.ts';
import { isObject, type Located } from './located.ts';
import { listTypes, readBounds } from './schema-parts.ts';
import type { Found } from './violations.ts';

/** Checks the type. Returns whether it is permitted. */
export function checkType({ value: schema }: Located, value: unknown, found: Found): boolean {
  const types = listTypes(schema);
  if (types === undefined || types.some((type) => isOfType(value, type))) return true;
  found.add('type', `must be ${types.join(' or ')}, is ${describeKind(value)}`);
  return false;
}

/** Checks a number. */
export function checkNumber({ value: schema }: Located, value: number, found: Found): void {
  const { least, above, most, below } = readBounds(schema);
  const { multipleOf, format } = schema;
  if (value < least) found.add('minimum', `must be at least ${least}`);
  else if (value <= above) found.add('exclusiveMinimum', `must be more than ${above}`);
  if (value > most) found.add('maximum', `must be at most ${most}`);
  else if (value >= below) found.add('exclusiveMaximum', `must be less than ${below}`);
  if (typeof multipleOf === 'number' && multipleOf > 0 && !isMultiple(value, multipleOf))
    found.add('multipleOf', `must be a multiple of ${multipleOf}`);
  if (format === 'int32' && (!Number.isInteger(value) || Math.abs(value) > 2 ** 31))
    found.add('format', 'must be of the format int32');
  if (format === 'int64' && !Number.isInteger(value)) found.add('format', 'must be of the format int64');
}

function isOfType(value: unknown, type: string): boolean {
  switch (type) {
    case 'null':
      return value === null;
    case 'array':
      return Array.isArray(value);
    case 'object':
      return isObject(value);
    case 'integer':
      return typeof value === 'number' && Number.isInteger(value);
    case 'number':
      return typeof value === 'number' && Number.isFinite(value);
    default:
      return typeof value === type;
  }
}

function isMultiple(value: number, of: number): boolean {
  const quotient = value / of;
  return Math.abs(quotient - Math.round(quotient)) < 1e-9 * Math.max(1, Math.abs(quotient));
}
