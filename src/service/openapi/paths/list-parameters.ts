import type { Collection } from '../../../collections/declaration.ts';
import { compileListRules, type FilterParameter } from '../../../collections/lists/rules.ts';
import type { Components } from '../components.ts';
import type { JsonSchema } from '../document.ts';
import { typeSchema } from '../simple-schema.ts';

const comparisons = { equals: 'is', min: 'is at least', max: 'is at most' } as const;

/** Returns the query parameters of a list: those that filter and sort it, and those of pages. */
export function listParameters(collection: Collection, components: Components): JsonSchema[] {
  const lists = compileListRules(collection);
  const orders = [...(lists?.orders.keys() ?? [])];
  const sort = query('sort', 'The order of the items; a minus means descending', {
    type: 'string',
    enum: orders,
  });
  return [
    ...[...(lists?.parameters ?? [])].map(([name, filter]) => filterParameter(name, filter, components)),
    ...(orders.length > 0 ? [sort] : []),
    components.add(
      'parameters',
      'limit',
      query('limit', 'The highest number of items of the page; 500 for any higher value', {
        type: 'integer',
        minimum: 1,
        maximum: 999_999_999,
        default: 50,
      }),
    ),
    components.add(
      'parameters',
      'after',
      query('after', 'The place where the page begins: a value from a Link field of this collection', {
        type: 'string',
      }),
    ),
  ];
}

function filterParameter(
  name: string,
  { field, type, comparison }: FilterParameter,
  components: Components,
): JsonSchema {
  return query(
    name,
    `Selects items whose ${field} ${comparisons[comparison]} this value`,
    typeSchema(type, components),
  );
}

function query(name: string, description: string, schema: JsonSchema): JsonSchema {
  return { name, in: 'query', description, schema };
}
