import { object, text } from '../../../shape/shape.ts';
import { anyObject } from '../content.ts';
import { type Controlled, type Operation, operation, requireMemory } from '../operation.ts';

/** The operation that adds collections. */
export function routeOperations({ core }: Pick<Controlled, 'core'>): readonly Operation[] {
  return [
    operation('POST', '/collections', 'addCollection', {
      summary: 'Adds or replaces a collection',
      description:
        'A server with a data directory serves it until a restart, keeps its items, and replaces none that it has.',
      errors: { 409: 'The server has a data directory and this collection.' },
      accepts: object({
        path: text('path template of the collection'),
        declaration: anyObject(
          'as in the configuration under collections: element, item, fields, access, createWithPut',
        ),
      }),
      run({ path, declaration }) {
        // The stored items are those of the declaration that they were checked against.
        if (core.routes.state.collections.some((each) => each.path === path)) requireMemory({ core });
        core.routes.collection(path, declaration);
      },
    }),
  ];
}
