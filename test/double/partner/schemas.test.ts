// How a double checks and creates values of schemas, through requests.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { startDouble } from '../../../src/double/index.ts';
import { ajvFor } from '../../support/double/partner-requests.ts';
import { missingPackage } from '../../support/packages.ts';

type Schema = Readonly<Record<string, unknown>>;

const text = { type: 'string' };
const readOnlyId = { properties: { id: { ...text, readOnly: true } } };

/** Returns a document with the operation `POST /x`, whose request content has a schema. */
function requesting(schema: Schema, schemas: Schema = {}, openapi = '3.0.3') {
  return {
    openapi,
    info: { title: 'Partner', version: '1' },
    paths: {
      '/x': {
        post: {
          requestBody: { required: true, content: { 'application/json': { schema } } },
          responses: { 204: { description: 'Done' } },
        },
      },
    },
    components: { schemas },
  };
}

const requests: readonly (readonly [
  what: string,
  document: object,
  accepted: readonly unknown[],
  refused: readonly unknown[],
])[] = [
  [
    'a member that is readOnly in another part of allOf is not required',
    requesting({ allOf: [readOnlyId, { required: ['id', 'name'], properties: { name: text } }] }),
    [{ name: 'a' }, { id: '1', name: 'a' }],
    [{ id: '1' }, { id: 1, name: 'a' }],
  ],
  [
    'a member that is readOnly behind references and allOf is not required',
    requesting(
      { required: ['id'], allOf: [{ $ref: '#/components/schemas/Base' }] },
      {
        Base: { properties: { id: { allOf: [{ $ref: '#/components/schemas/Id' }] } } },
        Id: { ...text, readOnly: true },
      },
    ),
    [{}],
    [{ id: 1 }],
  ],
  [
    'readOnly beside a reference counts in 3.1',
    requesting(
      { required: ['id'], properties: { id: { $ref: '#/components/schemas/Id', readOnly: true } } },
      { Id: text },
      '3.1.0',
    ),
    [{}],
    [{ id: 1 }],
  ],
  [
    'the parts of a member know which of its members are readOnly',
    requesting({
      properties: { line: { allOf: [{ required: ['id'] }, { anyOf: [readOnlyId, { maxProperties: 0 }] }] } },
    }),
    [{ line: {} }],
    [{ line: { id: 1 } }],
  ],
  [
    'a member that is not readOnly stays required beside one of the same name that is',
    requesting({
      required: ['id', 'line'],
      properties: { id: text, line: { required: ['id'], ...readOnlyId } },
    }),
    [{ id: '1', line: {} }],
    [{ line: {} }],
  ],
];

describe('contents of requests', () => {
  for (const [what, partner, accepted, refused] of requests)
    test(what, async () => {
      await using double = await startDouble({ partner, https: false });
      const send = async (content: unknown): Promise<number> => {
        const headers = { 'Content-Type': 'application/json' };
        const init = { method: 'POST', headers, body: JSON.stringify(content) };
        return (await double.fetch('/x', init)).status;
      };
      for (const content of accepted) assert.equal(await send(content), 204, JSON.stringify(content));
      for (const content of refused) assert.equal(await send(content), 422, JSON.stringify(content));
    });
});

const currency = { propertyNames: { pattern: '^[A-Z]{3}$' }, additionalProperties: { type: 'number' } };
const animal = (kind: string) => ({
  ...object({ type: { type: 'string', enum: [kind] } }),
  required: ['type'],
});
const pets = { Cat: animal('cat'), Dog: animal('Dog') };
const oneOfPets = {
  oneOf: [{ $ref: '#/components/schemas/Cat' }, { $ref: '#/components/schemas/Dog' }],
  discriminator: { propertyName: 'type' },
};

function object(properties: Schema, more: Schema = {}): Schema {
  return { type: 'object', properties, ...more };
}

/** Schemas of responses that have values. */
const responses: Readonly<Record<string, readonly [schema: Schema, schemas?: Schema]>> = {
  'a discriminator without mapping, and other names in the branches': [oneOfPets, pets],
  'a discriminator with a mapping of several names': [
    {
      ...oneOfPets,
      discriminator: { propertyName: 'type', mapping: { cat: '#/components/schemas/Cat', puss: 'Cat' } },
    },
    pets,
  ],
  'a branch with a discriminator that permits any text': [
    { oneOf: [{ $ref: '#/components/schemas/Any' }], discriminator: { propertyName: 'type' } },
    { Any: object({ type: text }, { required: ['type'] }) },
  ],
  'distinct items of an enumeration with one value': [
    { type: 'array', uniqueItems: true, items: { enum: ['a'] } },
  ],
  'distinct booleans': [{ type: 'array', uniqueItems: true, minItems: 2, items: { type: 'boolean' } }],
  'distinct integers of a short range': [
    { type: 'array', uniqueItems: true, minItems: 11, items: { type: 'integer', minimum: -5, maximum: 5 } },
  ],
  'distinct items of a long enumeration': [
    {
      type: 'array',
      uniqueItems: true,
      minItems: 60,
      items: { enum: Array.from({ length: 60 }, (_, index) => index) },
    },
  ],
  'distinct objects': [
    {
      type: 'array',
      uniqueItems: true,
      minItems: 2,
      items: object({ a: { type: 'boolean' } }, { required: ['a'], additionalProperties: false }),
    },
  ],
  'names that match a pattern': [{ type: 'object', minProperties: 3, ...currency }],
  'names of an enumeration': [
    {
      type: 'object',
      minProperties: 2,
      propertyNames: { enum: ['EUR', 'JPY'] },
      additionalProperties: { type: 'number' },
    },
  ],
  'short names': [{ type: 'object', minProperties: 2, propertyNames: { minLength: 2, maxLength: 2 } }],
  'members by the pattern of their names': [
    {
      type: 'object',
      minProperties: 2,
      patternProperties: { '^[a-z]{2}$': text },
      additionalProperties: false,
    },
  ],
  'a required member that a pattern describes': [
    {
      type: 'object',
      required: ['x-a'],
      patternProperties: { '^x-': { type: 'integer' } },
      additionalProperties: text,
    },
  ],
  'at most as many members as permitted': [
    object({ a: text, b: text, c: text }, { maxProperties: 1, required: ['b'] }),
  ],
  'an exclusive bound': [{ type: 'number', exclusiveMinimum: 0 }],
  'a narrow range': [{ type: 'number', minimum: 0.1, maximum: 0.2 }],
  'a negative range': [{ type: 'integer', minimum: -9, maximum: -7, multipleOf: 4 }],
  'multiples of a fraction': [{ type: 'number', minimum: 0.25, multipleOf: 0.1 }],
  'an integer or a number, not both': [{ oneOf: [{ type: 'integer' }, { type: 'number' }] }],
  'lists of which the items differ': [
    {
      oneOf: [
        { type: 'array', items: text },
        { type: 'array', items: { type: 'integer' } },
      ],
    },
  ],
};

describe('contents of responses', { skip: missingPackage('ajv') }, () => {
  for (const [what, [schema, schemas = {}]] of Object.entries(responses))
    test(`${what}: the value is valid`, async () => {
      const get = { responses: { 200: { description: 'OK', content: { 'application/json': { schema } } } } };
      const partner = { ...requesting({}, schemas, '3.1.0'), paths: { '/x': { get } } };
      const validate = ajvFor(partner);
      await using double = await startDouble({ partner, https: false, randomSeed: 1 });
      for (const prefer of ['dynamic=false', 'dynamic=true', 'dynamic=true']) {
        const response = await double.fetch('/x', { headers: { Prefer: prefer } });
        const content = await response.text();
        const place = '#/paths/~1x/get/responses/200/content/application~1json/schema';
        assert.equal(validate(place, JSON.parse(content)), undefined, `${prefer}: ${content}`);
        assert.deepEqual([response.status, double.journal.last().warnings], [200, []]);
      }
    });

  test('numbers have few digits', async () => {
    const schema = object(
      {
        weight: { type: 'number', exclusiveMinimum: 0 },
        rate: { type: 'number', multipleOf: 0.1, minimum: 0.3 },
      },
      { required: ['weight', 'rate'] },
    );
    assert.deepEqual(await contentOf(schema), { weight: 0.5, rate: 0.4 });
  });

  test('optional members with an example or a default in them are sent, also in lists', async () => {
    const task = object({ name: { ...text, example: 'Buy tea' }, done: { type: 'boolean' } });
    const page = object({ next: text, size: { type: 'integer', default: 20 } });
    const schema = object({ data: { type: 'array', items: task }, page, other: object({ a: text }) });
    assert.deepEqual(await contentOf(schema), { data: [{ name: 'Buy tea' }], page: { size: 20 } });
  });
});

/** Returns the default content of a response with a schema. */
async function contentOf(schema: Schema): Promise<unknown> {
  const get = { responses: { 200: { description: 'OK', content: { 'application/json': { schema } } } } };
  const partner = { ...requesting({}), paths: { '/x': { get } } };
  await using double = await startDouble({ partner, https: false });
  return (await double.fetch('/x')).json();
}

describe('fields of responses', () => {
  const string = { type: 'string' };
  const fields: Readonly<Record<string, readonly [header: Schema, value: string | RegExp | undefined]>> = {
    'a list': [{ schema: { type: 'array', items: string }, example: ['a', 'b'] }, 'a,b'],
    'an object': [{ schema: { type: 'object' }, example: { a: 1, b: 2 } }, 'a,1,b,2'],
    'an object, explode': [{ explode: true, schema: { type: 'object' }, example: { a: 1, b: 2 } }, 'a=1,b=2'],
    'an example behind a reference': [
      { schema: string, examples: { one: { $ref: '#/components/examples/One' } } },
      'of the example',
    ],
    'the example of a schema behind a reference': [
      { schema: { $ref: '#/components/schemas/Text' } },
      'of the schema',
    ],
    'the example of a part of allOf': [
      { schema: { allOf: [{ $ref: '#/components/schemas/Text' }] } },
      'of the schema',
    ],
    'the default of a schema': [{ schema: { type: 'integer', default: 7 } }, '7'],
    JSON: [{ content: { 'application/json': { schema: {}, example: { a: [1] } } } }, '{"a":[1]}'],
    'a field without an example': [{ schema: { type: 'integer', minimum: 1 } }, /^\d+$/],
    'a field of a format': [{ schema: { type: 'string', format: 'uri' } }, /^https:/],
  };
  for (const [what, [header, value]] of Object.entries(fields))
    test(what, async () => {
      const get = { responses: { 204: { description: 'Done', headers: { 'X-Field': header } } } };
      const components = {
        schemas: { Text: { type: 'string', example: 'of the schema' } },
        examples: { One: { value: 'of the example' } },
      };
      const partner = { ...requesting({}), paths: { '/x': { get } }, components };
      await using double = await startDouble({ partner, https: false });
      const sent = (await double.fetch('/x')).headers.get('x-field');
      if (value instanceof RegExp) assert.match(sent ?? '', value);
      else assert.equal(sent, value);
    });
});
