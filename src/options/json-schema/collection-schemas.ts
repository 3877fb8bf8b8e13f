import { accessKeys, type CollectionDeclaration, segmentForm } from '../../collections/declaration.ts';
import { idempotencyModes } from '../../collections/idempotency-key.ts';
import { accessRules } from '../../pipeline/access-rule.ts';
import { type CorsOptions, longestCorsMaxAge } from '../../pipeline/cors/policy.ts';
import { defaultJsonLength } from '../../schema/any-json.ts';
import { maxFractionDigits } from '../../schema/simple-declaration.ts';
import { type SimpleTypeName, simpleTypes } from '../../schema/simple-type.ts';
import { optionTable } from '../table.ts';
import {
  arrayOf,
  definition,
  described,
  flag,
  type JsonSchema,
  type MembersOf,
  mapOf,
  objectOf,
  text,
  wholeNumber,
  word,
} from './json-schema.ts';

const string: JsonSchema = { type: 'string' };
const safeInteger = wholeNumber(Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER);

function choices(item: JsonSchema): JsonSchema {
  return described('the permitted values', arrayOf(item, { minItems: 1, uniqueItems: true }));
}

function range(value: JsonSchema): Readonly<Record<'enum' | 'min' | 'max', JsonSchema>> {
  return { enum: choices(value), min: value, max: value };
}

/** The members of each simple type, in addition to those of every field. */
const simpleMembers: Readonly<Record<SimpleTypeName, Readonly<Record<string, JsonSchema>>>> = {
  text: {
    maxLength: described('characters', wholeNumber(1, Number.MAX_SAFE_INTEGER)),
    pattern: described('an I-Regexp (RFC 9485) that must match the whole value', string),
    enum: choices(string),
  },
  decimal: { fractionDigits: wholeNumber(0, maxFractionDigits), ...range(string) },
  integer: range(safeInteger),
  boolean: {},
  date: range(string),
  dateTime: range(string),
  currency: { enum: choices(string) },
  json: {
    maxLength: described('characters', {
      ...wholeNumber(1, Number.MAX_SAFE_INTEGER),
      default: defaultJsonLength,
    }),
  },
};

/** Returns the schemas of the simple types, each with the members of its place. */
function simpleFields(
  general: Readonly<Record<string, JsonSchema>>,
  types: readonly SimpleTypeName[] = simpleTypes,
): JsonSchema[] {
  return types.map((type) =>
    objectOf({ type: { const: type }, ...general, ...simpleMembers[type] }, ['type']),
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
    item: described('the element name of each value', { ...text, default: 'item' }),
  };
  return {
    oneOf: [...simpleFields(general), objectOf(element, ['type', 'fields']), objectOf(list, ['type', 'of'])],
  };
}

const required = described('whether every item has it', { ...flag, default: false });
const attributes = described('attributes by name', mapOf(text, definition('attribute')));

const access: JsonSchema = {
  anyOf: [
    word(accessRules),
    { type: 'string', pattern: '^owner:[A-Za-z][A-Za-z0-9_]*$' },
    arrayOf(text, { uniqueItems: true }),
  ],
};

const corsMembers: MembersOf<CorsOptions> = {
  origins: arrayOf(text),
  credentials: flag,
  maxAge: described('seconds', wholeNumber(0, longestCorsMaxAge)),
};

const collectionMembers: MembersOf<CollectionDeclaration> = {
  element: described('the element name of the collection', text),
  item: described('the element name of an item', text),
  fields: definition('fields'),
  access: described(
    'access rules; the rule of a method takes precedence over read and write',
    objectOf(Object.fromEntries(accessKeys.map((key) => [key, definition('access')]))),
  ),
  createWithPut: described('whether PUT creates an item that does not exist', { ...flag, default: true }),
  schemes: described(
    'names of the authentication schemes that it accepts; by default all',
    arrayOf(text, { minItems: 1, uniqueItems: true }),
  ),
  filter: described('fields by which clients may select items', arrayOf(text, { uniqueItems: true })),
  sort: described('fields by which clients may sort the list', arrayOf(text, { uniqueItems: true })),
  defaultFormat: described(
    'format of responses to clients that accept both; by default that of the service',
    word(optionTable.defaultFormat.words),
  ),
  idempotency: described('whether requests with an Idempotency-Key can be repeated', {
    ...word(idempotencyModes),
    default: 'off',
  }),
  requirePrecondition: described('whether changes of an item require a precondition, such as If-Match', {
    ...flag,
    default: false,
  }),
  cors: described('other origins whose pages may use it; by default those of the service', {
    anyOf: [arrayOf(text), objectOf(corsMembers, ['origins'])],
  }),
};

const segment = `(?:${segmentForm.source.slice(1, -1)})`;

/** The schema of `collections`. */
export const collectionsSchema = described(
  'collections by path template, such as /users/{name}/notes',
  mapOf({ pattern: `^(?:/${segment})+$` }, objectOf(collectionMembers, ['element', 'item', 'fields'])),
);

/** The schema of `seed`. The reader checks the items by the fields of their collection. */
export const seedSchema = described(
  'initial items by the path of a collection',
  mapOf({ pattern: '^/' }, arrayOf({ type: 'object' })),
);

/** The definitions that the schema of `collections` refers to. */
export const collectionDefinitions: Readonly<Record<string, JsonSchema>> = {
  fields: described(
    'fields by name, in the order in which they are written',
    mapOf(text, definition('field')),
  ),
  field: fieldSchema({ required, attributes }),
  value: fieldSchema({ attributes }),
  attribute: {
    oneOf: simpleFields(
      { required },
      simpleTypes.filter((type) => type !== 'json'),
    ),
  },
  access,
};
