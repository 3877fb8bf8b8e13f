import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { startDouble } from '../../../src/double/index.ts';
import { long } from '../../support/store/thoroughness.ts';

type Schema = Readonly<Record<string, unknown>>;

/** A document with one operation: GET /text with the query parameter `text`, and POST /text with content. */
function documentWith(schema: Schema) {
  const content = { 'application/json': { schema } };
  const parameters = [{ name: 'text', in: 'query', schema }];
  const responses = { 200: { description: '', content } };
  return {
    openapi: '3.1.0',
    paths: {
      '/text': {
        get: { security: [], parameters, responses },
        post: { security: [], requestBody: { content }, responses: { 204: { description: '' } } },
      },
    },
  };
}

const errors: unknown[] = [];

function start(schema: Schema, options: object = {}) {
  return startDouble({
    partner: documentWith(schema),
    randomSeed: 1,
    now: '2024-01-31T10:00:00Z',
    onError: (error) => void errors.push(error),
    ...options,
  });
}

type Double = Awaited<ReturnType<typeof start>>;

/** Returns the status for content. */
async function statusFor(double: Double, value: unknown): Promise<number> {
  const headers = { 'Content-Type': 'application/json' };
  const response = await double.fetch('/text', { method: 'POST', headers, body: JSON.stringify(value) });
  return response.status;
}

/** Returns the smallest value of the response, and several drawn ones. */
async function createdBy(double: Double): Promise<readonly unknown[]> {
  const values: unknown[] = [];
  for (const prefer of ['', 'dynamic=true', 'dynamic=true', 'dynamic=true']) {
    const response = await double.fetch('/text', { headers: prefer === '' ? {} : { Prefer: prefer } });
    const text = await response.text();
    assert.equal(response.status, 200, text);
    values.push(JSON.parse(text));
  }
  return values;
}

/** Patterns of real documents, with a text that is accepted, and one that is not. */
const enforced: readonly (readonly [pattern: string, good: string, bad: string])[] = [
  ['^([a-zA-Z0-9]+[._-]?)+$', 'a.b-c', `${'a'.repeat(40)}!`],
  ['^(?=.*[A-Z])(?=.*\\d)(?=.*[@$!%*?&])[A-Za-z\\d@$!%*?&]{8,}$', 'Passw0rd!', 'password'],
  ['^(?=.*foo)(?!.*bar).+$', 'a foo', 'foo bar'],
  ['^(?!\\s)[^<>]{1,255}(?<!\\s)$', 'a b', ' a'],
  ['^arn:aws[\\w-]*:iam::\\d{12}:role/[\\w+=,.@\\-/]{1,512}$', 'arn:aws:iam::123456789012:role/x', 'arn:aws'],
  ['^[\\u0009\\u000A\\u000D\\u0020-\\uD7FF\\uE000-\\uFFFD]{1,2048}$', 'x', ''],
  ["^\\p{L}[\\p{L}\\p{M}\\p{Zs}.\\-']*$", 'D\u00e9j\u00e0', '1'],
  [
    '^(?<major>0|[1-9]\\d*)\\.(?<minor>0|[1-9]\\d*)\\.(?<patch>0|[1-9]\\d*)(?:-[\\w.]+)?$',
    '1.2.3-rc.1',
    '1.2',
  ],
  ['\\bid:\\d+\\b', 'the id:12.', 'grid:12'],
  ['^(?:(?:31-(?:0[13578]|1[02]))|(?:[0-2]\\d-\\d{2}))$', '31-12', '32-12'],
  ['/^[a-z0-9._]+$/', 'chocobozzz', 'A'],
  ['/^\\d{3}$/g', '123', '/123/'],
];

describe('a pattern is enforced, and values that match it are created', () => {
  for (const [pattern, good, bad] of enforced)
    test(pattern, async () => {
      await using double = await start({ type: 'string', pattern });
      assert.deepEqual([await statusFor(double, good), await statusFor(double, bad)], [204, 422]);
      for (const value of await createdBy(double))
        assert.equal(await statusFor(double, value), 204, String(value));
    });
});

describe('a pattern of another dialect permits every text, and does not fail a response', () => {
  const patterns = [
    ...[
      '(?i)^[a-z]+$',
      '^[a-z]++$',
      '^(?<!x{1,2}y',
      '(?P<name>a)',
      '\\A[a-z]+\\z',
      '^[[:alpha:]]+$',
      '\\p{IsGreek}',
      '/^[a-z]+$/i',
    ],
    ...['^(a)\\1$', '^(?>a)$', '(?#comment)a', '(?:(?:ab){200}){200}', '^\\Qa.b\\E$', '*', '(', '['],
  ];
  for (const pattern of patterns)
    test(pattern, async () => {
      await using double = await start({ type: 'string', pattern });
      assert.equal(await statusFor(double, 'anything'), 204);
      for (const value of await createdBy(double)) assert.equal(typeof value, 'string');
    });
});

test('a pattern of another dialect for names permits members that additionalProperties would refuse', async () => {
  const patternProperties = { '(?i)^x-': { type: 'integer' }, '^y-': { type: 'integer' } };
  await using double = await start({ type: 'object', patternProperties, additionalProperties: false });
  assert.deepEqual(
    [await statusFor(double, { 'X-a': 'text' }), await statusFor(double, { 'y-a': 'text' })],
    [204, 422],
  );
  await using strict = await start({
    type: 'object',
    patternProperties: { '^y-': { type: 'integer' } },
    additionalProperties: false,
  });
  assert.deepEqual(
    [await statusFor(strict, { 'y-a': 1 }), await statusFor(strict, { 'X-a': 1 })],
    [204, 422],
  );
});

/** Rules for one text that a created value meets together. */
const combined: Readonly<Record<string, Schema>> = {
  'date-time with a pattern': {
    format: 'date-time',
    pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}Z$',
  },
  'date-time with an offset': { format: 'date-time', pattern: '\\+\\d{2}:\\d{2}$' },
  'date-time with microseconds': { format: 'date-time', pattern: '\\.\\d{6}Z$' },
  'date with a pattern': { format: 'date', pattern: '^\\d{4}-\\d{2}-\\d{2}$' },
  'time with a pattern': { format: 'time', pattern: '^\\d{2}:\\d{2}:\\d{2}Z$' },
  'uuid in upper case': { format: 'uuid', pattern: '^[0-9A-F-]{36}$' },
  'uri of one host': { format: 'uri', pattern: '^https://api\\.example\\.org/' },
  'uri of plain HTTP': { format: 'uri', pattern: '^http:' },
  'email of one domain': { format: 'email', pattern: '@example\\.org$' },
  'ipv4 with a pattern': { format: 'ipv4', pattern: '^(?:\\d{1,3}\\.){3}\\d{1,3}$' },
  'uri with a length': { format: 'uri', minLength: 80, maxLength: 100 },
  'short uri': { format: 'uri', maxLength: 12 },
  'long email': { format: 'email', minLength: 40 },
  'short email': { format: 'email', maxLength: 8 },
  'hostname with a length': { format: 'hostname', minLength: 30 },
  'unknown format with a pattern': { format: 'sku', pattern: '^[A-Z]{3}-\\d{3}$' },
  'pattern with a minimum length': { pattern: '^[a-z]+(?:-[a-z]+)*$', minLength: 50 },
  'pattern with a maximum length': { pattern: '^[a-z]+(?:-[a-z]+)*$', maxLength: 3 },
  'pattern whose first branch is too long': { pattern: '^(?:[a-z]{10}|[a-z]{3})$', maxLength: 5 },
  'pattern of a part, with a minimum length': { pattern: 'abc', minLength: 10 },
  'pattern of many, with an exact length': { pattern: '^\\S*$', minLength: 3000, maxLength: 3000 },
  'nested repetitions with a length': { pattern: '^(?:(?:a*b)*c)*$', minLength: long ? 5000 : 1000 },
  'two patterns': { allOf: [{ pattern: '^[a-z]+$' }, { pattern: '^.{4}$' }] },
  'pattern and format in two schemas': { allOf: [{ pattern: '^\\S+Z$' }, { format: 'date-time' }] },
};

describe('a created text meets all rules together', () => {
  for (const [name, rules] of Object.entries(combined))
    test(name, async () => {
      await using double = await start({ type: 'string', ...rules });
      for (const value of await createdBy(double))
        assert.equal(await statusFor(double, value), 204, String(value));
    });
});

test('check names each pattern that is not enforced, with its place', async () => {
  const { withPartner } = await import('../../../src/double/partner/partner.ts');
  const source = documentWith({
    type: 'object',
    properties: { pattern: { type: 'string', pattern: '^[a-z]++$' } },
    patternProperties: { '\\A/': {}, '^b': { pattern: '^(?i:c)$', example: { pattern: '(' } } },
  });
  const { prepared } = await withPartner({}, source);
  const found = prepared.examine().filter((each) => each.includes(' is not enforced: '));
  assert.equal(found.length, 3, found.join('\n'));
  for (const form of [
    /^#\/paths\/~1text\/.*\/schema\/properties\/pattern\/pattern is not enforced: .*Nothing to repeat\.$/,
    /\/patternProperties\/\\A~1 is not enforced: the escape \\A is not one of ECMA-262 \(character 1\)\.$/,
    /\/patternProperties\/\^b\/pattern is not enforced: /,
  ])
    assert.ok(
      found.some((each) => form.test(each)),
      `${form}\n${found.join('\n')}`,
    );
});

test('a text that takes too many steps is refused, and the error names the pattern', async () => {
  await using double = await start({ type: 'string', pattern: '(?:a?b?){400}$' });
  const headers = { 'Content-Type': 'application/json' };
  const body = JSON.stringify(`${'ab'.repeat(100_000)}!`);
  const response = await double.fetch('/text', { method: 'POST', headers, body });
  assert.equal(response.status, 422);
  assert.match(await response.text(), /takes too long to be compared with/);
});
