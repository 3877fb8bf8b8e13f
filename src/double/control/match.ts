import {
  anything,
  either,
  leaf,
  listOf,
  mapOf,
  number,
  optional,
  type Shape,
  text,
  word,
} from '../../shape/shape.ts';
import { matchMembers, pathShape, type RequestMatch, writePattern } from '../match.ts';

const textOrNone = leaf(
  { type: ['string', 'null'], description: 'null requires that it is absent' },
  'text or null',
  (value): value is string | null => value === null || typeof value === 'string',
);

/** The members of an object that selects requests. A request matches if it matches every member that is present. */
export const requestMatchMembers = {
  method: matchMembers.method,
  path: optional(pathShape),
  user: optional(text('the user whom the credentials name, or to whom the token was issued, valid or not')),
  scheme: optional(text('the scheme of the credentials, valid or not')),
  query: optional(mapOf(textOrNone, 'parameters of the query, decoded')),
  headers: optional(mapOf(textOrNone, 'header fields by name')),
  body: optional({ ...anything, schema: { description: 'a part of JSON or of a form, or the whole text' } }),
};

/** Returns a match without what JSON cannot represent: patterns become text, and functions their names. */
export function matchToJson(match: RequestMatch): Readonly<Record<string, unknown>> {
  return JSON.parse(
    JSON.stringify(match, (name, value: unknown) =>
      typeof value === 'function' ? { function: value.name } : writePattern(name, value),
    ),
  );
}

/** The number of requests to which a rule will still be applied. */
export const remainingShape = either(
  number({}),
  word(['always']),
  'the number of requests that it will still answer or change',
);

/** Returns a number of requests as JSON, which has no infinite one. */
export function countToJson(remaining: number): number | 'always' {
  return Number.isFinite(remaining) ? remaining : 'always';
}

/** The header fields of a response. */
export function describeHeaders(
  description: string,
): Shape<Readonly<Record<string, string | readonly string[]>>> {
  return mapOf(either(text(), listOf(text())), `${description}; a list is sent as several lines`);
}
