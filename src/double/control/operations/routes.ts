import { anything, object, text } from '../../../shape/shape.ts';
import { type Operation, operation } from '../operation.ts';
import { type ControlTarget, requireMemory } from '../target.ts';

/** The operation that adds collections. */
export function routeOperations(target: ControlTarget): readonly Operation[] {
  return [
    operation({
      method: 'POST',
      path: '/collections',
      id: 'addCollection',
      memoryOnly: true,
      summary: 'Adds or replaces a collection',
      accepts: object({
        path: text('path template of the collection'),
        declaration: { ...anything, schema: declarationSchema },
      }),
      run: ({ path, declaration }) => requireMemory(target).collection(path, declaration),
    }),
  ];
}

const declarationSchema = {
  type: 'object',
  description: 'as in the configuration under collections: element, item, fields, access, createWithPut',
};
