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

const named = { $ref: '#/components/schemas/Named' };
/** A schema with a discriminator, and those that extend it, directly and behind each other. */
const kinds = {
  Kind: object(
    { kind: text, id: { ...text, readOnly: true } },
    {
      required: ['kind'],
      discriminator: { propertyName: 'kind', mapping: { puss: '#/components/schemas/Cat' } },
    },
  ),
  Cat: {
    allOf: [
      { $ref: '#/components/schemas/Kind' },
      object({ lives: { type: 'integer' } }, { required: ['lives'] }),
    ],
  },
  Lion: {
    allOf: [
      { $ref: '#/components/schemas/Cat' },
      object({ roars: { type: 'boolean' } }, { required: ['roars'] }),
    ],
  },
};
const kind = { $ref: '#/components/schemas/Kind' };
/** A list of anything, and one that says by a dynamic anchor of what. */
const pages = {
  Page: object(
    { data: { type: 'array', items: { $dynamicRef: '#item' } } },
    { required: ['data'], $defs: { item: { $dynamicAnchor: 'item' } } },
  ),
  Orders: {
    $ref: '#/components/schemas/Page',
    $defs: { item: { $dynamicAnchor: 'item', ...object({ id: text }, { required: ['id'] }) } },
  },
};
/** A tree that can be extended (JSON Schema 2020-12, Core, 8.2.3.2), with `$id`. */
const trees = {
  Tree: {
    $id: 'https://schemas.example/tree',
    $dynamicAnchor: 'node',
    ...object({ data: true, children: { type: 'array', items: { $dynamicRef: '#node' } } }),
  },
  Strict: {
    $id: 'https://schemas.example/strict-tree',
    $dynamicAnchor: 'node',
    $ref: 'tree',
    unevaluatedProperties: false,
  },
};

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
  [
    'keywords beside a reference apply in 3.1, also behind another reference',
    requesting(named, { Named: { ...kind, required: ['b'] }, Kind: { required: ['a'] } }, '3.1.0'),
    [{ a: 1, b: 1 }],
    [{ a: 1 }, { b: 1 }],
  ],
  [
    'a reference to an $id, and to a pointer and an anchor in it',
    requesting(
      {
        properties: {
          a: { $ref: 'https://a.example/b' },
          b: { $ref: 'https://a.example/b#c' },
          d: { $ref: '#/components/schemas/D' },
        },
      },
      {
        B: { $id: 'https://a.example/b', type: 'integer', $defs: { c: { $anchor: 'c', ...text } } },
        D: {
          $id: 'https://a.example/d',
          properties: { e: { $ref: '#/$defs/e' }, b: { $ref: 'b' } },
          $defs: { e: text },
        },
      },
      '3.1.0',
    ),
    [{ a: 1, b: 'b', d: { e: 'e', b: 1 } }],
    [{ a: 'a' }, { b: 1 }, { d: { e: 1 } }, { d: { b: 'b' } }],
  ],
  [
    'a reference in a schema with $id leads to the components, unless it has such a place itself',
    requesting(
      named,
      { Named: { $id: 'https://a.example/x', properties: { a: kind } }, Kind: text },
      '3.1.0',
    ),
    [{ a: 'a' }],
    [{ a: 1 }],
  ],
  [
    'a reference to an $anchor of the document',
    requesting({ properties: { a: { $ref: '#text' } } }, { Text: { $anchor: 'text', ...text } }, '3.1.0'),
    [{ a: 'a' }],
    [{ a: 1 }],
  ],
  [
    'a dynamic reference leads to the anchor of the schema that was used, which needs no $id',
    requesting(
      {
        properties: {
          orders: { $ref: '#/components/schemas/Orders' },
          all: { $ref: '#/components/schemas/Page' },
        },
      },
      pages,
      '3.1.0',
    ),
    [{ orders: { data: [{ id: 'a' }] }, all: { data: [1, {}] } }],
    [{ orders: { data: [{}] } }, { orders: { data: [1] } }, { all: {} }],
  ],
  [
    'a dynamic reference in a tree',
    requesting(
      {
        properties: {
          loose: { $ref: 'https://schemas.example/tree' },
          strict: { $ref: 'https://schemas.example/strict-tree' },
        },
      },
      trees,
      '3.1.0',
    ),
    [{ loose: { children: [{ daat: 1 }] }, strict: { children: [{ data: 1 }] } }],
    [{ strict: { children: [{ daat: 1 }] } }, { strict: { daat: 1 } }],
  ],
  [
    'unevaluatedProperties counts members of allOf, of alternatives that fit, of conditions and references',
    requesting(
      {
        $ref: '#/components/schemas/Named',
        allOf: [{ properties: { a: text } }],
        anyOf: [
          { required: ['b'], properties: { b: text } },
          { required: ['c'], properties: { c: text } },
          {},
        ],
        if: { not: { required: ['d'] } },
        else: { properties: { d: text, e: text } },
        unevaluatedProperties: false,
      },
      { Named: { patternProperties: { '^x-': true } } },
      '3.1.0',
    ),
    [{ a: 'a', b: 'b', 'x-a': 1 }, { c: 'c' }, { d: 'd', e: 'e' }, {}],
    [{ z: 1 }, { a: 'a', e: 'e' }, { a: 1 }],
  ],
  [
    'unevaluatedProperties can be a schema',
    requesting(
      { allOf: [{ properties: { a: text } }], unevaluatedProperties: { type: 'number' } },
      {},
      '3.1.0',
    ),
    [{ a: 'a', b: 1 }],
    [{ a: 'a', b: 'b' }],
  ],
  [
    'unevaluatedItems counts items by their place, and those that contains accepts',
    requesting(
      {
        properties: {
          list: { allOf: [{ prefixItems: [text] }], contains: { type: 'number' }, unevaluatedItems: false },
        },
      },
      {},
      '3.1.0',
    ),
    [{ list: ['a', 1, 2] }],
    [{ list: ['a', 1, 'b'] }],
  ],
  [
    'in 3.0 these keywords mean nothing',
    requesting({ properties: { a: text }, unevaluatedProperties: false }),
    [{ a: 'a', b: 1 }],
    [{ a: 1 }],
  ],
  [
    'the discriminator of a schema that others extend selects one of them, by name or mapping',
    requesting(kind, kinds),
    [
      { kind: 'Kind' },
      { kind: 'Cat', lives: 9 },
      { kind: 'puss', lives: 9 },
      { kind: 'Lion', lives: 9, roars: true },
    ],
    [
      { kind: 'Cat' },
      { kind: 'puss' },
      { kind: 'Lion', lives: 9 },
      { kind: 'Lion', roars: true },
      { kind: 'Dog' },
      {},
    ],
  ],
  [
    'such a discriminator leaves the schemas that extend it as they are',
    requesting({ $ref: '#/components/schemas/Cat' }, kinds),
    [{ kind: 'Cat', lives: 9 }],
    [{ kind: 'Cat' }, { lives: 9 }],
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
  'a schema that others extend': [kind, kinds],
  'a schema that extends another one': [{ $ref: '#/components/schemas/Lion' }, kinds],
  'members that unevaluatedProperties describes': [
    {
      type: 'object',
      minProperties: 2,
      allOf: [object({ a: text })],
      unevaluatedProperties: { type: 'integer' },
    },
  ],
  'unevaluatedProperties beside alternatives': [
    {
      type: 'object',
      oneOf: [object({ a: text }, { required: ['a'] }), object({ b: text }, { required: ['b'] })],
      unevaluatedProperties: false,
    },
  ],
  'items that unevaluatedItems describes': [
    { type: 'array', minItems: 3, allOf: [{ prefixItems: [text] }], unevaluatedItems: { type: 'integer' } },
  ],
  'several items that contains requires': [
    { type: 'array', contains: { type: 'integer', minimum: 5 }, minContains: 2, maxContains: 3 },
  ],
  'anything but an object': [{ not: { type: 'object' } }],
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
  'a discriminator that its branches do not document, where the first branch also fits the second': [
    {
      oneOf: [{ $ref: '#/components/schemas/Full' }, { $ref: '#/components/schemas/Short' }],
      discriminator: {
        propertyName: 'type',
        mapping: { full: '#/components/schemas/Full', short: '#/components/schemas/Short' },
      },
    },
    {
      Full: object({ host: text, name: text }, { required: ['host', 'name'] }),
      Short: object({ name: text }),
    },
  ],
  'a discriminator that is a list, which no name of a schema can be': [
    { $ref: '#/components/schemas/Articles' },
    {
      Page: object(
        { content: { type: 'array', items: {} }, size: { type: 'integer' } },
        { required: ['content', 'size'], discriminator: { propertyName: 'content' } },
      ),
      Articles: { allOf: [{ $ref: '#/components/schemas/Page' }], type: 'object' },
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

  test('a schema that others extend is answered as one of them, with its name', async () => {
    const partner = requesting({}, kinds);
    const contents = { Kind: { kind: 'puss', lives: 0 }, Lion: { kind: 'Lion', lives: 0, roars: false } };
    for (const [name, content] of Object.entries(contents))
      assert.deepEqual(await contentOf({ $ref: `#/components/schemas/${name}` }, partner), content);
  });

  test('the items of a page are those of its dynamic anchor', async () => {
    const partner = requesting({}, pages, '3.1.0');
    const schema = { ...{ $ref: '#/components/schemas/Orders' }, properties: { data: { minItems: 1 } } };
    assert.deepEqual(await contentOf(schema, partner), { data: [{ id: '' }] });
  });

  test('texts look like what the names of their members say, as far as the schema permits', async () => {
    const members = {
      email: text,
      billing_email: { ...text, maxLength: 9 },
      currency: { ...text, pattern: '^[a-z]{3}$' },
      countryCode: text,
      created_at: text,
      name: text,
      format: text,
      urls: { type: 'array', minItems: 1, items: text },
    };
    const content = await contentOf(object(members, { required: Object.keys(members) }));
    assert.ok(isRecord(content));
    const { currency, billing_email, created_at, ...others } = content;
    assert.match(String(currency), /^[a-z]{3}$/);
    assert.equal(billing_email, '');
    assert.match(String(created_at), /^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
    assert.deepEqual(others, {
      email: 'ann@example.com',
      countryCode: 'DE',
      name: 'Ann Smith',
      format: '',
      urls: ['https://example.com/'],
    });
  });

  test('a relative URI is sent, and permitted to stubs, where the own example of the document is one', async () => {
    const schema = object({ next: { ...text, format: 'uri' } });
    const media = { schema, examples: { one: { value: { next: '/orders?page=2' } } } };
    const get = { responses: { 200: { description: 'OK', content: { 'application/json': media } } } };
    const other = { responses: { 200: { description: 'OK', content: { 'application/json': { schema } } } } };
    const sent = object({ self: { ...text, format: 'uri', example: '/orders' } });
    const own = {
      responses: { 200: { description: 'OK', content: { 'application/json': { schema: sent } } } },
    };
    const paths = { '/example': { get }, '/none': { get: structuredClone(other) }, '/schema': { get: own } };
    await using double = await startDouble({
      partner: { ...requesting({}), paths },
      https: false,
      onError: () => {},
    });
    assert.deepEqual(await (await double.fetch('/example')).json(), { next: '/orders?page=2' });
    assert.deepEqual(await (await double.fetch('/schema')).json(), { self: '/orders' });
    const warningsOf = async (path: string, next: string) => {
      double.stub({ path: new RegExp(`^${path}$`) }, { body: { next } }, { access: 'anyone' });
      await double.fetch(path);
      return double.journal.last().warnings.length;
    };
    assert.deepEqual([await warningsOf('/example', '/a'), await warningsOf('/example', 'no uri')], [0, 1]);
    assert.equal(await warningsOf('/none', '/a'), 1);
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

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

/** Returns the default content of a response with a schema. */
async function contentOf(schema: Schema, document: object = requesting({})): Promise<unknown> {
  const get = { responses: { 200: { description: 'OK', content: { 'application/json': { schema } } } } };
  const partner = { ...document, paths: { '/x': { get } } };
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
