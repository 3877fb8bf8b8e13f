/** The operations of collections and their items. */
import type { Collection } from '../../collections/declaration.ts';
import { formats, formatsFor } from '../../collections/formats/index.ts';
import { mergePatchType } from '../../collections/formats/json/merge-patch.ts';
import { itemTemplate } from '../../collections/item.ts';
import { compileListRules } from '../../collections/lists/rules.ts';
import type { ProblemType } from '../../http/problem-types.ts';
import type { Access } from '../../pipeline/resource.ts';
import { type Components, type JsonSchema, type PathItem, pascalCase, pathParameters } from './document.ts';
import { addItemSchemas, type ItemSchemas, typeSchema } from './item-schema.ts';
import {
  buildNotModified,
  buildOperation,
  changePreconditions,
  type DocumentContext,
  listDescribedMethods,
  type OperationMethod,
  type OperationParts,
  preconditionParameter,
  preferParameter,
  type ResponseField,
  readPreconditions,
  response,
} from './operation.ts';
import { ofChanges, ofItemContent, ofPreconditions } from './problems.ts';

/** A collection with the context of its document. */
interface Subject {
  readonly collection: Collection;
  readonly schemas: ItemSchemas;
  readonly context: DocumentContext;
}

/** The parts of an operation that its method determines. */
type MethodParts = Pick<OperationParts, 'id' | 'summary' | 'responses' | 'problems'> & {
  readonly parameters?: readonly JsonSchema[];
  /** The schema of the content that it reads. */
  readonly reads?: JsonSchema;
};

/** Returns the path items of a collection and of its items, by template. Those without operations are left out. */
export function collectionPaths(
  collection: Collection,
  context: DocumentContext,
): readonly (readonly [string, PathItem])[] {
  const schemas = addItemSchemas(collection.shape, collection.showId, context.components);
  const subject = { collection, schemas, context };
  const item = itemTemplate(collection);
  const parameter = pathParameters(item).at(-1)?.['name'];
  const described = { [String(parameter)]: 'The id of the item, at most 128 bytes in UTF-8' };
  const items: readonly (readonly [string, PathItem])[] = [
    [
      collection.path,
      pathItem(pathParameters(collection.path), 'collection', subject, {
        GET: describeListing,
        HEAD: describeListing,
        POST: creation,
      }),
    ],
    [
      item,
      pathItem(pathParameters(item, described), 'item', subject, {
        GET: reading,
        HEAD: reading,
        PUT: replacement,
        POST: describeChanging,
        ...(collection.patch && { PATCH: describePatching }),
        DELETE: deletion,
      }),
    ],
  ];
  return items.filter(([, { parameters: _, ...operations }]) => Object.keys(operations).length > 0);
}

function pathItem(
  parameters: readonly JsonSchema[],
  on: 'collection' | 'item',
  subject: Subject,
  parts: Partial<Record<OperationMethod, (subject: Subject) => MethodParts>>,
): PathItem {
  const { access } = subject.collection;
  const operations = listDescribedMethods((method) =>
    method === 'PATCH' || (on === 'item' && method === 'POST') ? access.change : access[method],
  ).flatMap(([method, rule]) => {
    const partsOf = parts[method];
    if (partsOf === undefined) return [];
    return [[method.toLowerCase(), operation(method, rule, on, partsOf(subject), subject)]];
  });
  return { ...(parameters.length > 0 && { parameters }), ...Object.fromEntries(operations) };
}

function operation(
  method: OperationMethod,
  access: Access,
  on: 'collection' | 'item',
  { reads, parameters = [], ...parts }: MethodParts,
  { collection, context }: Subject,
): JsonSchema {
  const { schemes: allowed, shape } = collection;
  const describeReading = method === 'PATCH' ? [mergePatchType] : formats.map((each) => each.reads);
  return buildOperation(
    {
      ...(method === 'HEAD' ? removeContent(parts) : parts),
      method,
      access,
      allowed,
      tag: shape.element,
      reads: reads !== undefined,
      problems: [...parts.problems, ...collectionProblems(collection, on, method, context.referred)],
      parameters: [...parameters, ...collectionFields(collection, method, context.components)],
      ...(reads !== undefined && {
        requestBody: { required: true, content: buildContent(describeReading, reads) },
      }),
    },
    context,
  );
}

/** Returns the parts of HEAD from those of GET. */
function removeContent({ id, responses, ...parts }: MethodParts): MethodParts {
  const withoutAny = Object.entries(responses).map(([status, { content: _, ...others }]) => [status, others]);
  return { ...parts, id: `${id}Head`, responses: Object.fromEntries(withoutAny) };
}

function describeListing(subject: Subject): MethodParts {
  const { collection, schemas, context } = subject;
  const { element } = collection.shape;
  const strict: readonly ProblemType[] = ['unknown-query-parameter', 'repeated-query-parameter'];
  return {
    id: `list${pascalCase(element)}`,
    summary: `Lists the items of ${collection.path}`,
    parameters: listParameters(collection, context.components),
    responses: {
      200: buildItemResponse('A page of items', ['ETag', 'Last-Modified', 'Link'], subject, schemas.page),
      304: buildNotModified(context),
    },
    problems: [
      ...(['malformed-query', 'not-acceptable'] as const),
      ...ofPreconditions,
      ...(context.strictQuery ? strict : []),
    ],
  };
}

function creation(subject: Subject): MethodParts {
  return describeItem(subject, 'create', 'Creates an item in', {
    reads: subject.schemas.item,
    responses: { 201: createdResponse(subject) },
    problems: [...ofItemChange, ...(subject.collection.path.includes('{') ? (['invalid-id'] as const) : [])],
  });
}

function reading(subject: Subject): MethodParts {
  return describeItem(subject, 'read', 'Reads an item of', {
    responses: {
      200: buildItemResponse('The item', validators, subject),
      304: buildNotModified(subject.context),
    },
    problems: ['not-found', 'not-acceptable', ...ofPreconditions],
  });
}

function replacement(subject: Subject): MethodParts {
  const { createWithPut } = subject.collection;
  const parts = describeItem(subject, 'replace', 'Replaces an item of', {
    reads: subject.schemas.item,
    responses: {
      ...changeResponses(subject),
      ...(createWithPut && { 201: createdResponse(subject) }),
    },
    // Not found also with `createWithPut`, if the stored item does not match the declaration.
    problems: [...ofItemChange, 'not-found', ...(createWithPut ? (['invalid-id'] as const) : [])],
  });
  return createWithPut ? { ...parts, summary: `${parts.summary}, or creates it` } : parts;
}

function describeChanging(subject: Subject): MethodParts {
  return describeItem(subject, 'change', 'Changes fields of an item of', {
    reads: subject.schemas.change,
    responses: changeResponses(subject),
    problems: ['not-found', ...ofItemChange],
  });
}

function describePatching(subject: Subject): MethodParts {
  const parts = describeItem(subject, 'patch', 'Changes and removes fields of an item of', {
    reads: { type: 'object', description: 'the members that change; null removes a field' },
    responses: changeResponses(subject),
    problems: ['not-found', ...ofItemChange],
  });
  return { ...parts, summary: `${parts.summary} (RFC 7396)` };
}

function deletion(subject: Subject): MethodParts {
  return describeItem(subject, 'delete', 'Deletes an item of', {
    responses: { 204: response('The item was deleted', [], undefined, subject.context) },
    problems: ['not-found', ...ofPreconditions, ...ofChanges],
  });
}

/** Returns the parts of an operation on one item: `readArticle`, which reads an item of `/articles`. */
function describeItem(
  { collection }: Subject,
  verb: string,
  does: string,
  parts: Omit<MethodParts, 'id' | 'summary'>,
): MethodParts {
  return { id: verb + pascalCase(collection.shape.item), summary: `${does} ${collection.path}`, ...parts };
}

/** The problems of a change that has an item as its content. */
const ofItemChange: readonly ProblemType[] = [...ofItemContent, ...ofPreconditions, ...ofChanges];

/** The fields of a representation. */
const validators: readonly ResponseField[] = ['ETag', 'Last-Modified'];
/** The fields of a response to a change. */
const changed: readonly ResponseField[] = ['Content-Location', 'Preference-Applied'];

function createdResponse(subject: Subject): JsonSchema {
  return buildItemResponse('The new item', ['Location', ...changed, ...validators], subject);
}

/** Returns the responses to a change of an item that exists. */
function changeResponses(subject: Subject): Readonly<Record<string, JsonSchema>> {
  const fields = [...changed, ...validators];
  return {
    200: buildItemResponse('The changed item', fields, subject),
    204: response('The item was changed, for Prefer: return=minimal', fields, undefined, subject.context),
  };
}

/** Returns a response with an item or a page, in every format. */
function buildItemResponse(
  description: string,
  fields: readonly ResponseField[],
  { collection, schemas, context }: Subject,
  schema = schemas.item,
): JsonSchema {
  const types = formatsFor(collection.defaultFormat ?? context.defaultFormat).map((each) => each.reads);
  return response(description, fields, buildContent(types, schema), context);
}

function buildContent(types: readonly string[], schema: JsonSchema): JsonSchema {
  return Object.fromEntries(types.map((type) => [type, { schema }]));
}

/** Returns the parameters of the request fields of an operation. Some depend on the declaration of the collection. */
function collectionFields(
  collection: Collection,
  method: OperationMethod,
  components: Components,
): JsonSchema[] {
  const reads = method === 'GET' || method === 'HEAD';
  const preconditions = reads ? readPreconditions : changePreconditions;
  const prefers = method === 'PUT' || method === 'POST' || method === 'PATCH';
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
function collectionProblems(
  { idempotency, requirePrecondition, unique, path }: Collection,
  on: 'collection' | 'item',
  method: OperationMethod,
  referred: ReadonlySet<string>,
): readonly ProblemType[] {
  if (method === 'GET' || method === 'HEAD') return [];
  return [
    ...(idempotency === 'off' ? [] : ofKeys),
    ...(idempotency === 'required' && method === 'POST' ? (['idempotency-key-missing'] as const) : []),
    ...(requirePrecondition && on === 'item' ? (['precondition-required'] as const) : []),
    ...((method === 'DELETE' ? referred.has(path) : unique !== undefined) ? (['conflict'] as const) : []),
  ];
}

const comparisons = { equals: 'is', min: 'is at least', max: 'is at most' } as const;

/** Returns the query parameters of a list: those that filter and sort it, and those of pages. */
function listParameters(collection: Collection, components: Components): JsonSchema[] {
  const lists = compileListRules(collection);
  const orders = [...(lists?.orders.keys() ?? [])];
  const sort = query('sort', 'The order of the items; a minus means descending', {
    type: 'string',
    enum: orders,
  });
  return [
    ...[...(lists?.parameters ?? [])].map(([name, { field, type, comparison }]) =>
      query(
        name,
        `Selects items whose ${field} ${comparisons[comparison]} this value`,
        typeSchema(type, components),
      ),
    ),
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

function query(name: string, description: string, schema: JsonSchema): JsonSchema {
  return { name, in: 'query', description, schema };
}
