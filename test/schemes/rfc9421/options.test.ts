import assert from 'node:assert/strict';
import test from 'node:test';
import { readMessageSignaturesOptions } from '../../../src/schemes/rfc9421/options.ts';

const read = (value: unknown) => readMessageSignaturesOptions(value, 'schemes.m');

test('all options have defaults', () => {
  assert.deepEqual(read({}), {
    components: ['@method', '@authority', '@path', '@query'],
    window: 300,
    nonce: 'optional',
    tag: undefined,
    structuredFields: {},
    signResponses: undefined,
  });
});

test('all options are read', () => {
  const options = {
    components: ['@method', '@query-param;name="id"', 'content-type;sf', '"x-id";bs'],
    window: 60,
    nonce: 'required',
    tag: 'app',
    structuredFields: { 'Example-Dict': 'dictionary' },
    signResponses: undefined,
  } as const;
  assert.deepEqual(read(options), { ...options, structuredFields: { 'example-dict': 'dictionary' } });
});

const faults: readonly (readonly [value: unknown, message: RegExp])[] = [
  [{ window: 0 }, /schemes\.m\.window/],
  [
    { nonce: 'require' },
    /^schemes\.m\.nonce must be one of off, optional, required, is "require"; did you mean "required"\?$/,
  ],
  [{ tag: '' }, /^schemes\.m\.tag/],
  [{ tag: 'ä' }, /^schemes\.m\.tag/],
  [{ components: [] }, /^schemes\.m\.components must be a list with at least one component$/],
  [{ components: [1] }, /^schemes\.m\.components\[0\]/],
  [
    { components: ['@method', '@querry'] },
    /^schemes\.m\.components\[1\]: .*"@querry" is not known; did you mean "@query"\?$/,
  ],
  [{ components: ['Date'] }, /^schemes\.m\.components\[0\]: .*not in lower case/],
  [{ components: ['date;x'] }, /must not have the parameter x/],
  [{ components: ['date;'] }, /^schemes\.m\.components\[0\]: a key is expected/],
  [{ components: ['@status'] }, /must not be used in a request/],
  [{ components: ['date', '"date"'] }, /^schemes\.m\.components\[1\]: the component "date" is listed twice$/],
  [
    { structuredFields: { a: 'map' } },
    /^schemes\.m\.structuredFields\.a must be one of item, list, dictionary, is "map"$/,
  ],
  [{ structuredFields: { 'a b': 'list' } }, /is not the name of a field/],
];

for (const [value, message] of faults) {
  test(`an invalid value throws a RangeError with its path: ${JSON.stringify(value)}`, () => {
    assert.throws(() => read(value), { name: 'RangeError', message });
  });
}
