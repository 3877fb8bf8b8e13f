/**
 * Limits the time that the patterns of a schema take for one request. Matching takes at most the length of
 * the text times the cost of the pattern (match.ts).
 */
import { DeclarationError } from '../error.ts';
import type { Content, Field } from '../schema.ts';
import type { Simple } from '../simple-type.ts';
import { maxSteps, maxTextLength } from './match.ts';

/**
 * A pattern in a schema with its path, its cost, and the maximum total length of the texts that one request
 * can contain for it.
 */
interface PatternUse {
  readonly path: string;
  readonly cost: number;
  readonly length: number;
}

/**
 * Checks that the patterns of an item together take few enough steps. A list may contain as many texts as a
 * request has room for, so `maxLength` does not count there.
 * @param path the position of the item's fields in the configuration
 * @throws {DeclarationError} if they take too many steps
 */
export function checkPatternCosts(root: Field, path: string): void {
  const uses = [...usesIn(root.content, path, false)];
  const costliest = Math.max(0, ...uses.map(({ cost }) => cost));
  const total = uses.reduce((sum, { cost, length }) => sum + cost * length, 0);
  // The texts together are no longer than the request.
  if (Math.min(total, costliest * maxTextLength) <= maxSteps) return;
  const overLimit = uses.find(({ cost, length }) => cost * length > maxSteps);
  if (overLimit === undefined) {
    throw new DeclarationError(
      'pattern',
      path,
      'the patterns together take too many steps; reduce maxLength',
    );
  }
  const max = Math.floor(maxSteps / maxTextLength);
  throw new DeclarationError(
    'pattern',
    `${overLimit.path}.pattern`,
    `takes ${overLimit.cost} steps per character; in a list, at most ${max} are allowed; simplify it`,
  );
}

function* usesIn(content: Content, path: string, repeated: boolean): Generator<PatternUse> {
  if (content.kind === 'simple') yield* listUses(content, path, repeated);
  else if (content.kind === 'list') yield* usesInField(content.of, `${path}.of`, true);
  else
    for (const field of content.schema.fields) yield* usesInField(field, `${path}.${field.name}`, repeated);
}

function* usesInField(field: Field, path: string, repeated: boolean): Generator<PatternUse> {
  const inner = field.content.kind === 'element' ? `${path}.fields` : path;
  yield* usesIn(field.content, inner, repeated);
  for (const { name, content } of field.attributes)
    yield* listUses(content, `${path}.attributes.${name}`, repeated);
}

function* listUses({ pattern, maxLength }: Simple, path: string, repeated: boolean): Generator<PatternUse> {
  const length = repeated ? maxTextLength : (maxLength ?? maxTextLength);
  if (pattern !== undefined) yield { path, cost: pattern.cost, length };
}
