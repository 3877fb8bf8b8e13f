import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseDocument } from '../../../src/double/partner/document.ts';
import { readBracketedNames } from '../../../src/double/partner/parameters.ts';
import { createChecker } from '../../../src/double/partner/schema-check.ts';
import { createValue } from '../../../src/double/partner/schema-value.ts';
import { createSeededRandom } from '../../../src/double/state/random.ts';
import { isSuperlinear, measureGrowth } from '../../support/growth.ts';

type Schemas = Readonly<Record<string, unknown>>;

const reference = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const root = { value: reference('Root'), at: '#' };

function parse(schemas: Schemas) {
  return parseDocument({ openapi: '3.1.0', paths: {}, components: { schemas } });
}

/** Nested content: `{ of: [{ of: [ … ] }] }`, with `value` in its middle. */
function nest(depth: number, value: unknown): unknown {
  let nested = value;
  for (let level = 0; level < depth; level += 1) nested = { kind: 'and', of: [nested] };
  return nested;
}

const numbers = (size: number) => Array.from({ length: size }, (_, index) => index);
const members = (size: number) => Object.fromEntries(numbers(size).map((index) => [`m${index}`, index]));
const texts = (size: number) => numbers(size).map((index) => ({ text: `${index}` }));

const branch = (kind: string) => ({
  type: 'object',
  required: ['kind', 'of'],
  properties: { kind: { enum: [kind] }, of: { type: 'array', items: reference('Root') } },
});
const branches = ['And', 'Or', 'Not', 'Leaf'].map(reference);
const tree = {
  And: branch('and'),
  Or: branch('or'),
  Not: branch('not'),
  Leaf: { type: 'object', required: ['leaf'], properties: { leaf: { type: 'string' } } },
};
const inner = { properties: { of: { items: reference('Root') } } };
const failing = { ...inner, required: ['missing'] };

/** An object with a member `then` would look like a promise. */
const conditional = (condition: unknown, consequence: unknown, otherwise: unknown) =>
  Object.fromEntries([
    ['if', condition],
    ['then', consequence],
    ['else', otherwise],
  ]);

/** Schemas with content that a partner's client can send, by the size of the content. */
const hostile: Readonly<
  Record<string, { schemas: Schemas; value?: (size: number) => unknown; size?: number }>
> = {
  'oneOf of a recursive schema': {
    schemas: { Root: { oneOf: branches }, ...tree },
    value: (size) => nest(size, { leaf: 'x' }),
  },
  'oneOf of a recursive schema that nothing fulfils': {
    schemas: { Root: { oneOf: branches }, ...tree },
    value: (size) => nest(size, { leaf: 1 }),
  },
  'anyOf of a recursive schema': {
    schemas: { Root: { anyOf: [failing, failing, inner] } },
  },
  'anyOf in allOf': {
    schemas: { Root: { allOf: [{ anyOf: [failing, inner] }, { anyOf: [failing, inner] }] } },
  },
  'not of anyOf': {
    schemas: { Root: { not: { anyOf: [failing, failing, { not: inner }] } } },
  },
  'if, then and else': {
    schemas: { Root: conditional(failing, inner, conditional(failing, failing, inner)) },
  },
  dependentSchemas: {
    schemas: { Root: { ...inner, dependentSchemas: { kind: { anyOf: [failing, inner] } } } },
  },
  contains: {
    schemas: {
      Root: {
        properties: { of: { contains: reference('Root'), items: { anyOf: [failing, reference('Root')] } } },
      },
    },
  },
  'additionalProperties and patternProperties': {
    schemas: {
      Root: {
        items: reference('Root'),
        additionalProperties: reference('Root'),
        patternProperties: { '^o': reference('Root') },
        anyOf: [failing, { additionalProperties: reference('Root'), items: reference('Root') }],
      },
    },
  },
  discriminator: {
    schemas: {
      Root: { oneOf: [reference('and'), reference('or')], discriminator: { propertyName: 'kind' } },
      and: { anyOf: [failing, inner] },
      or: failing,
    },
  },
  'uniqueItems of objects': {
    schemas: { Root: { uniqueItems: true } },
    value: texts,
    size: 500,
  },
  'enum with as many values': {
    schemas: { Root: { items: { enum: numbers(2000) } } },
    value: numbers,
    size: 500,
  },
  'a list of invalid items in a choice': {
    schemas: { Root: { anyOf: [{ items: { type: 'string' } }, { items: { type: 'null' } }] } },
    value: numbers,
    size: 500,
  },
  'propertyNames and patternProperties': {
    schemas: {
      Root: {
        propertyNames: { anyOf: [{ maxLength: 1 }, { minLength: 1 }] },
        patternProperties: { '^m': {} },
      },
    },
    value: members,
    size: 500,
  },
  'many members that are not known': {
    schemas: { Root: { additionalProperties: false, required: numbers(2000).map(String) } },
    value: members,
    size: 500,
  },
};

for (const [name, { schemas, value = (size: number) => nest(size, 1), size = 12 }] of Object.entries(hostile))
  test(`${name}: the time of a check grows at most linearly with the content`, () => {
    const checker = createChecker(parse(schemas));
    const growth = measureGrowth((content) => checker.check(root, content, 'request'), value, size);
    assert.ok(!isSuperlinear(growth), `four times as much content takes ${growth.toFixed(1)} times as long`);
  });

test('alternatives of one value that refer to each other twice are checked in linear time', () => {
  const chain = (length: number) =>
    parse({
      Root: reference('Link0'),
      ...Object.fromEntries(
        numbers(length).map((index) => {
          const next = reference(`Link${index + 1}`);
          return [`Link${index}`, { anyOf: [next, next] }];
        }),
      ),
      [`Link${length}`]: { type: 'string' },
    });
  const growth = measureGrowth(
    (document: ReturnType<typeof chain>) => createChecker(document).check(root, 1, 'request'),
    chain,
    10,
  );
  assert.ok(!isSuperlinear(growth), `four times as many take ${growth.toFixed(1)} times as long`);
});

test('the violations of the nearest alternative are reported, with their places', () => {
  const checker = createChecker(parse({ Root: { oneOf: branches }, ...tree }));
  assert.deepEqual(checker.check(root, nest(20, { leaf: 'x' }), 'request'), []);
  const found = checker.check(root, { leaf: 1 }, 'request').map(({ path, detail }) => `${path} ${detail}`);
  assert.deepEqual(found, [' does not match any of 4 schemas', '/kind is missing', '/of is missing']);
});

test('a check that would not end, or hardly, is a violation with its reason', () => {
  const check = (schemas: Schemas, value: unknown) =>
    createChecker(parse(schemas))
      .check(root, value, 'request')
      .map(({ detail }) => detail);
  assert.deepEqual(check({ Root: { oneOf: branches }, ...tree }, nest(20_000, 1)), [
    'is nested too deeply to be checked',
  ]);
  assert.deepEqual(check({ Root: { uniqueItems: true } }, [nest(20_000, 1)]), [
    'is nested too deeply to be compared',
  ]);
  assert.deepEqual(check({ Root: { not: { anyOf: [reference('Root')] } } }, 1), [
    'cannot be checked: the schema requires itself of a value',
  ]);
  const large = {
    required: numbers(1000).map(String),
    properties: Object.fromEntries(numbers(1000).map((index) => [index, { readOnly: true }])),
  };
  assert.deepEqual(
    check(
      { Root: { items: large } },
      numbers(3000).map(() => ({})),
    ),
    ['takes more than 2000000 steps to check'],
  );
});

/** Creates a value as a response has it. */
function create(schemas: Schemas, dynamic = false) {
  const document = parse(schemas);
  const { bytes: random } = createSeededRandom('hostile');
  return createValue(root, document, { direction: 'response', dynamic, random, now: 0 });
}

/** Returns the number of objects, lists and plain values in a value. */
function sizeOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1;
  return Object.values(value).reduce((sum: number, each) => sum + sizeOf(each), 1);
}

const filled = (kind: string) => ({
  ...branch(kind),
  properties: { kind: { enum: [kind] }, of: { type: 'array', minItems: 2, items: reference('Root') } },
});
const either = (value: unknown, ...others: readonly unknown[]) => ({ oneOf: [value, ...others] });

/** Schemas of responses that have a small value. */
const creatable: Readonly<Record<string, Schemas>> = {
  'alternatives that require themselves': {
    Root: { oneOf: branches },
    ...tree,
    And: filled('and'),
    Or: filled('or'),
    Not: filled('not'),
  },
  'thirty members of its own type': {
    Root: {
      type: 'object',
      properties: Object.fromEntries(numbers(30).map((index) => [`m${index}`, reference('Root')])),
    },
  },
  'eight types with thirty members each': {
    Root: reference('T0'),
    ...Object.fromEntries(
      numbers(8).map((level) => [
        `T${level}`,
        {
          type: 'object',
          properties: Object.fromEntries(
            numbers(30).map((index) => [`m${index}`, reference(`T${level + 1}`)]),
          ),
        },
      ]),
    ),
    T8: { type: 'string', example: 'x' },
  },
  'a tree that null ends': {
    Root: {
      type: ['object', 'null'],
      required: ['left', 'right'],
      properties: { left: reference('Root'), right: reference('Root') },
    },
  },
  'a tree that an alternative ends': {
    Root: {
      type: 'object',
      required: ['left', 'right'],
      properties: {
        left: either(reference('Root'), { type: 'null' }),
        right: either(reference('Root'), { type: 'null' }),
      },
    },
  },
};

for (const [name, schemas] of Object.entries(creatable))
  for (const dynamic of [false, true])
    test(`${name}: a small value is created${dynamic ? ' with dynamic' : ''}`, () => {
      const { value, fault } = create(schemas, dynamic);
      assert.equal(fault, undefined);
      assert.deepEqual(createChecker(parse(schemas)).check(root, value, 'response'), []);
      assert.ok(sizeOf(value) < 5000, `${sizeOf(value)} values`);
    });

/** Schemas of responses without a value, or with one that is too large, and what is reported of them. */
const impossible: readonly (readonly [name: string, schemas: Schemas, reason: RegExp])[] = [
  [
    'a type that requires itself',
    { Root: { type: 'object', required: ['next'], properties: { next: reference('Root') } } },
    /requires itself/,
  ],
  [
    'types that double twenty-five times',
    {
      Root: reference('T0'),
      ...Object.fromEntries(
        numbers(25).map((level) => {
          const next = reference(`T${level + 1}`);
          return [`T${level}`, { type: 'object', required: ['a', 'b'], properties: { a: next, b: next } }];
        }),
      ),
      T25: { type: 'string' },
    },
    /takes more than 50000 steps/,
  ],
  ['a list of a million items', { Root: { type: 'array', minItems: 1e6 } }, /takes more than 50000 steps/],
  [
    'a text of a billion characters',
    { Root: { type: 'string', minLength: 1e9 } },
    /takes more than 50000 steps/,
  ],
  [
    'an object of a million members',
    { Root: { type: 'object', minProperties: 1e6 } },
    /takes more than 50000 steps/,
  ],
  ['allOf of itself', { Root: { allOf: [reference('Root')] } }, /none of the values tried fits/],
];

for (const [name, schemas, reason] of impossible)
  test(`${name}: the creation ends with the nearest value, the reason and the rule`, () => {
    for (const dynamic of [false, true]) {
      const { value, fault = '' } = create(schemas, dynamic);
      assert.match(fault, reason);
      assert.match(fault, /the nearest one is sent: .* \(#\/components\/schemas\/.*\)/);
      assert.ok(sizeOf(value) < 5000, `${sizeOf(value)} values`);
    }
  });

const forms: Readonly<Record<string, (size: number) => string>> = {
  'brackets that are not closed': (size) => '['.repeat(size),
  'brackets in brackets': (size) => `a${'[b]'.repeat(size)}`,
  'closed brackets alone': (size) => `a[${']'.repeat(size)}`,
  'a long name': (size) => 'a'.repeat(size),
};

for (const [name, nameOf] of Object.entries(forms))
  test(`${name}: names are read in linear time`, () => {
    const growth = measureGrowth((text: string) => readBracketedNames([[text, '1']]), nameOf, 20_000);
    assert.ok(!isSuperlinear(growth), `a name four times as long takes ${growth.toFixed(1)} times as long`);
  });

test('items and members of one name are read in linear time', () => {
  for (const nameOf of [
    () => 'a[]',
    () => 'a',
    (index: number) => `a[${index}]`,
    (index: number) => `a[b][${index}]`,
  ]) {
    const growth = measureGrowth(
      readBracketedNames,
      (size) => numbers(size).map((index): [string, string] => [nameOf(index), '1']),
      500,
    );
    assert.ok(
      !isSuperlinear(growth),
      `four times as many as ${nameOf(0)} take ${growth.toFixed(1)} times as long`,
    );
  }
});
