import { either, listOf, mapOf, optional, type Shape, text, textLike } from '../../shape/shape.ts';
import type { MatchMethod, MatchPath } from '../match.ts';

/** A method. The match as a whole is checked where it is used. */
const method: Shape<MatchMethod> = textLike(
  { pattern: '^[^a-z]+$' },
  isUpperCase,
  () => 'must be a method in upper case, such as GET',
);

function isUpperCase(word: string): word is MatchMethod {
  return word === word.toUpperCase();
}

const path: Shape<MatchPath> = textLike(
  {
    pattern: '^(?:/|\\*$)',
    description: 'the path without its query: exactly, or as a template such as /articles/{id}',
  },
  isPath,
  () => 'must begin with a slash',
);

function isPath(word: string): word is MatchPath {
  return word === '*' || word.startsWith('/');
}

/** The members of an object that selects requests. A request matches if it matches every member that is present. */
export const matchMembers = {
  method: optional(either(method, listOf(method), 'a method such as GET, or a list of methods')),
  path: optional(path),
  user: optional(text('the user that the credentials name, valid or not')),
};

/** The header fields of a response. */
export function describeHeaders(
  description: string,
): Shape<Readonly<Record<string, string | readonly string[]>>> {
  return mapOf(either(text(), listOf(text())), `${description}; a list is sent as several lines`);
}
