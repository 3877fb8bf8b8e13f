import { accessKeys, type CollectionDeclaration, segmentForm } from '../../collections/declaration.ts';
import { idempotencyModes } from '../../collections/idempotency-key.ts';
import { accessRules } from '../../pipeline/access-rule.ts';
import { corsShape, originsShape } from '../../pipeline/cors/policy.ts';
import { defaultJsonLength } from '../../schema/any-json.ts';
import { maxFractionDigits } from '../../schema/simple-declaration.ts';
import { type SimpleTypeName, simpleTypes } from '../../schema/simple-type.ts';
import { optionTable } from '../table.ts';
import {
  addDescription,
  buildArray,
  buildMap,
  buildObject,
  definition,
  flag,
  type JsonSchema,
  type MembersOf,
  text,
  wholeNumber,
  word,
} from './json-schema.ts';

const string: JsonSchema = { type: 'string' };
const safeInteger = wholeNumber(Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER);

function choices(item: JsonSchema): JsonSchema {
  return addDescription('the permitted values', buildArray(item, { minItems: 1, uniqueItems: true }));
}

function range(value: JsonSchema): Readonly<Record<'enum' | 'min' | 'max', JsonSchema>> {
  return { enum: choices(value), min: value, max: value };
}

/** The members of each simple type, in addition to those of every field. */
const simpleMembers: Readonly<Record<SimpleTypeName, Readonly<Record<string, JsonSchema>>>> = {
  text: {
    maxLength: addDescription('characters', wholeNumber(1, Number.MAX_SAFE_INTEGER)),
    pattern: addDescription('an I-Regexp (RFC 9485) that must match the whole value', string),
    enum: choices(string),
  },
  decimal: { fractionDigits: wholeNumber(0, maxFractionDigits), ...range(string) },
  integer: range(safeInteger),
  boolean: {},
  date: range(string),
  dateTime: range(string),
  currency: { enum: choices(string) },
  json: {
    maxLength: addDescription('characters', {
      ...wholeNumber(1, Number.MAX_SAFE_INTEGER),
      default: defaultJsonLength,
    }),
  },
};

/** Returns the schemas of the simple types, each with the members of its place. */
function buildSimpleFields(
  general: Readonly<Record<string, JsonSchema>>,
  types: readonly SimpleTypeName[] = simpleTypes,
): JsonSchema[] {
  return types.map((type) =>
    buildObject({ type: { const: type }, ...general, ...simpleMembers[type] }, ['type']),
  );
}

/** Returns the schema of a field, or of a value of a list. */
function fieldSchema(general: Readonly<Record<string, JsonSchema>>): JsonSchema {
  const element = { type: { const: 'element' }, ...general, fields: definition('fields') };
  const of = { anyOf: [word(simpleTypes), definition('value')] };
  const list = {
    type: { const: 'list' },
    ...general,
    of,
    item: addDescription('the element name of each value', { ...text, default: 'item' }),
  };
  return {
    oneOf: [
      ...buildSimpleFields(general),
      buildObject(element, ['type', 'fields']),
      buildObject(list, ['type', 'of']),
    ],
  };
}

const required = addDescription('whether every item has it', { ...flag, default: false });
const attributes = addDescription('attributes by name', buildMap(text, definition('attribute')));

const access: JsonSchema = {
  anyOf: [
    word(accessRules),
    { type: 'string', pattern: '^owner:[A-Za-z][A-Za-z0-9_]*$' },
    buildArray(text, { uniqueItems: true }),
  ],
};

const collectionMembers: MembersOf<CollectionDeclaration> = {
  element: addDescription('the element name of the collection', text),
  item: addDescription('the element name of an item', text),
  fields: definition('fields'),
  access: addDescription(
    'access rules; the rule of a method takes precedence over read and write',
    buildObject(Object.fromEntries(accessKeys.map((key) => [key, definition('access')]))),
  ),
  createWithPut: addDescription('whether PUT creates an item that does not exist', {
    ...flag,
    default: true,
  }),
  schemes: addDescription(
    'names of the authentication schemes that it accepts; by default all',
    buildArray(text, { minItems: 1, uniqueItems: true }),
  ),
  filter: addDescription('fields by which clients may select items', buildArray(text, { uniqueItems: true })),
  sort: addDescription('fields by which clients may sort the list', buildArray(text, { uniqueItems: true })),
  defaultFormat: addDescription(
    'format of responses to clients that accept both; by default that of the service',
    word(optionTable.defaultFormat.words),
  ),
  idempotency: addDescription('whether requests with an Idempotency-Key can be repeated', {
    ...word(idempotencyModes),
    default: 'off',
  }),
  requirePrecondition: addDescription('whether changes of an item require a precondition, such as If-Match', {
    ...flag,
    default: false,
  }),
  cors: addDescription('other origins whose pages may use it; by default those of the service', {
    anyOf: [originsShape.schema, corsShape.schema],
  }),
};

const segment = `(?:${segmentForm.source.slice(1, -1)})`;

/** The schema of `collections`. */
export const collectionsSchema = addDescription(
  'collections by path template, such as /users/{name}/notes',
  buildMap({ pattern: `^(?:/${segment})+$` }, buildObject(collectionMembers, ['element', 'item', 'fields'])),
);

/** The schema of `seed`. The reader checks the items by the fields of their collection. */
export const seedSchema = addDescription(
  'initial items by the path of a collection',
  buildMap({ pattern: '^/' }, buildArray({ type: 'object' })),
);

/** The definitions that the schema of `collections` refers to. */
export const collectionDefinitions: Readonly<Record<string, JsonSchema>> = {
  fields: addDescription(
    'fields by name, in the order in which they are written',
    buildMap(text, definition('field')),
  ),
  field: fieldSchema({ required, attributes }),
  value: fieldSchema({ attributes }),
  attribute: {
    oneOf: buildSimpleFields(
      { required },
      simpleTypes.filter((type) => type !== 'json'),
    ),
  },
  access,
};
