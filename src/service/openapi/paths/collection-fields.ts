/** The request fields that the operations of a collection read beside those of authentication schemes. */
import type { Collection } from '../../../collections/declaration.ts';
import type { ProblemType } from '../../../http/problem-types.ts';
import type { Components } from '../components.ts';
import type { JsonSchema } from '../document.ts';
import {
  changePreconditions,
  preconditionParameter,
  preferParameter,
  readPreconditions,
} from '../header-fields.ts';
import type { OperationMethod } from './operation.ts';

/** Returns the parameters of the request fields of an operation. Some depend on the declaration of the collection. */
export function collectionFields(
  collection: Collection,
  method: OperationMethod,
  components: Components,
): JsonSchema[] {
  const reads = method === 'GET' || method === 'HEAD';
  const preconditions = reads ? readPreconditions : changePreconditions;
  const prefers = method === 'PUT' || method === 'POST';
  return [
    ...preconditions.map((name) => preconditionParameter(name, components)),
    ...(prefers ? [preferParameter(components)] : []),
    ...(reads ? [] : keyParameters(collection, method)),
  ];
}

/** Returns the parameter for Idempotency-Key, if the collection accepts it. */
function keyParameters({ idempotency }: Collection, method: OperationMethod): JsonSchema[] {
  if (idempotency === 'off') return [];
  return [
    {
      name: 'Idempotency-Key',
      in: 'header',
      required: idempotency === 'required' && method === 'POST',
      description: 'A string in quotes that identifies the request, so that it can be repeated safely',
      schema: { type: 'string', examples: ['"8e03978e-40d5-43e8-bc93-6894a57f9324"'] },
    },
  ];
}

const ofKeys: readonly ProblemType[] = [
  ...(['malformed-idempotency-key', 'idempotency-key-anonymous', 'idempotency-key-in-progress'] as const),
  ...(['idempotency-key-reused', 'too-many-idempotency-keys'] as const),
];

/** Returns the problem types of the fields that the declaration of a collection enables. */
export function collectionProblems(
  { idempotency, requirePrecondition }: Collection,
  on: 'collection' | 'item',
  method: OperationMethod,
): readonly ProblemType[] {
  if (method === 'GET' || method === 'HEAD') return [];
  return [
    ...(idempotency === 'off' ? [] : ofKeys),
    ...(idempotency === 'required' && method === 'POST' ? (['idempotency-key-missing'] as const) : []),
    ...(requirePrecondition && on === 'item' ? (['precondition-required'] as const) : []),
  ];
}
