/**
 * Limits the time that the patterns of a schema take for the content of one request. Matching a text takes at most its length
 * multiplied by the cost of the pattern (pattern.ts).
 */
import { DeclarationError } from '../error.ts';
import type { Content, Field } from '../schema.ts';
import type { Simple } from '../simple-type.ts';
import { longestText, mostSteps } from './match.ts';

/** A pattern in a schema, the place of its field, and how long the texts may be that it is matched against in one request. */
interface Place {
  readonly path: string;
  readonly cost: number;
  readonly length: number;
}

/**
 * Throws DeclarationError where all patterns of an item together take too many steps. In a list there may be as many texts as a
 * request has room for, so `maxLength` does not count there.
 * @param path where the fields of the item stand in the configuration
 */
export function judgeCosts(root: Field, path: string): void {
  const places = [...placesIn(root.content, path, false)];
  const costliest = Math.max(0, ...places.map(({ cost }) => cost));
  const together = places.reduce((sum, { cost, length }) => sum + cost * length, 0);
  // No more text than the request has can come to any of them.
  if (Math.min(together, costliest * longestText) <= mostSteps) return;
  const listed = places.find(({ cost, length }) => cost * length > mostSteps);
  if (listed === undefined) {
    throw new DeclarationError(
      'pattern',
      path,
      'the patterns take too long together; make maxLength smaller',
    );
  }
  const most = Math.floor(mostSteps / longestText);
  throw new DeclarationError(
    'pattern',
    `${listed.path}.pattern`,
    `takes ${listed.cost} steps for a character, and in a list at most ${most} are allowed; make it simpler`,
  );
}

function* placesIn(content: Content, path: string, repeated: boolean): Generator<Place> {
  if (content.kind === 'simple') yield* placesOf(content, path, repeated);
  else if (content.kind === 'list') yield* placesInField(content.of, `${path}.of`, true);
  else
    for (const field of content.schema.fields) yield* placesInField(field, `${path}.${field.name}`, repeated);
}

function* placesInField(field: Field, path: string, repeated: boolean): Generator<Place> {
  const inner = field.content.kind === 'element' ? `${path}.fields` : path;
  yield* placesIn(field.content, inner, repeated);
  for (const { name, content } of field.attributes)
    yield* placesOf(content, `${path}.attributes.${name}`, repeated);
}

function* placesOf({ pattern, maxLength }: Simple, path: string, repeated: boolean): Generator<Place> {
  const length = repeated ? longestText : (maxLength ?? longestText);
  if (pattern !== undefined) yield { path, cost: pattern.cost, length };
}
