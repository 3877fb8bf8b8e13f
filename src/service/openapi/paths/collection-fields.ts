/** The request fields that the operations of a collection read beside those of authentication schemes. */
import type { Collection } from '../../../collections/declaration.ts';
import type { Components } from '../components.ts';
import type { JsonSchema } from '../document.ts';
import {
  changePreconditions,
  preconditionParameter,
  preferParameter,
  readPreconditions,
} from '../header-fields.ts';
import type { OperationMethod } from './operation.ts';

/**
 * Returns the parameters of the request fields of an operation. Fields that depend on the declaration of the collection belong here.
 * @param _collection the declaration
 * @param _on whether the target is the collection or one of its items
 */
export function collectionFields(
  _collection: Collection,
  _on: 'collection' | 'item',
  method: OperationMethod,
  components: Components,
): JsonSchema[] {
  const reads = method === 'GET' || method === 'HEAD';
  const preconditions = reads ? readPreconditions : changePreconditions;
  const prefers = method === 'PUT' || method === 'POST';
  return [
    ...preconditions.map((name) => preconditionParameter(name, components)),
    ...(prefers ? [preferParameter(components)] : []),
  ];
}
