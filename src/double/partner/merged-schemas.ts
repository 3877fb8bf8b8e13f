// Merges what the schemas that apply to one value say: members and alternatives.
import { isObject, type Located, type LocatedSchema } from './located.ts';
import { textsIn } from './schema-parts.ts';

/** The alternatives that are tried for one value, at most. */
const maxAttempts = 64;

/** Returns the names of the members that objects must have. */
export function requiredIn(schemas: readonly Located[]): Set<string> {
  const required = new Set(schemas.flatMap(({ value }) => textsIn(value['required'])));
  for (const { value } of schemas)
    if (isObject(value['dependentRequired']))
      for (const name of [...required])
        for (const each of textsIn(value['dependentRequired'][name])) required.add(each);
  return required;
}

/** The keywords that `merge` follows, and those that mean something only beside them. */
const choiceNames = [
  ...['oneOf', 'anyOf', 'allOf', '$ref', 'if', 'then', 'else', 'not'],
  ...['unevaluatedProperties', 'unevaluatedItems', 'discriminator'],
];

/** Returns a schema without what `merge` follows. */
export function withoutChoices({ value, at }: Located): LocatedSchema {
  return {
    value: Object.fromEntries(Object.entries(value).filter(([name]) => !choiceNames.includes(name))),
    at,
  };
}

/** Yields the combinations of one schema of each list, at most `maxAttempts`. */
export function* alternativesOf(
  choices: readonly (readonly LocatedSchema[])[],
): Generator<readonly LocatedSchema[]> {
  const total = choices.reduce((product, list) => product * list.length, 1);
  for (let index = 0; index < Math.min(total, maxAttempts); index += 1) {
    let rest = index;
    yield choices.flatMap((list) => {
      const chosen = list[rest % list.length];
      rest = Math.floor(rest / list.length);
      return chosen === undefined ? [] : [chosen];
    });
  }
}
