import { didYouMean } from '../did-you-mean.ts';
import { DeclarationError } from '../schema/error.ts';
import type { Field, Schema } from '../schema/schema.ts';
import type { SimpleTypeName } from '../schema/simple-type.ts';
import type { UniqueRules } from '../store/store.ts';

/** The types of which equal values are stored as equal text. */
const uniqueTypes: readonly SimpleTypeName[] = [
  'text',
  'decimal',
  'integer',
  'date',
  'currency',
  'reference',
];

/**
 * Compiles `unique` of the fields and of a collection.
 * @param together the names of the fields that are unique together
 * @param path the position of the collection in the configuration
 * @throws {DeclarationError} for a field that does not exist, or whose values are not compared
 */
export function compileUnique(
  schema: Schema,
  together: readonly string[] | undefined,
  path: string,
): UniqueRules | undefined {
  const alone = schema.fields.filter(({ unique }) => unique);
  for (const field of alone) checkField(field, `${path}.fields.${field.name}.unique`);
  for (const [at, name] of (together ?? []).entries()) {
    const known = schema.fields.map((field) => field.name);
    const field = schema.byName.get(name);
    const position = `${path}.unique[${at}]`;
    if (field === undefined)
      throw new DeclarationError('value', position, `"${name}" is not a field${didYouMean(name, known)}`);
    checkField(field, position);
  }
  const rules = [...alone.map(({ name }) => [name]), ...(together === undefined ? [] : [together])];
  return rules.length === 0 ? undefined : rules;
}

function checkField({ content, attributes, set }: Field, path: string): void {
  const comparable = content.kind === 'simple' && uniqueTypes.includes(content.type);
  if (comparable && attributes.length === 0 && set !== 'id') return;
  const reason =
    set === 'id' ? 'the id is unique' : `unique is for ${uniqueTypes.join(', ')} without attributes`;
  throw new DeclarationError('value', path, reason);
}
