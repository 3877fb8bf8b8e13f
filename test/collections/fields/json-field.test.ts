import assert from 'node:assert/strict';
import test from 'node:test';
import { readCollection } from '../../../src/collections/declaration.ts';
import { compileShape } from '../../../src/collections/fields/schema.ts';
import { writeItemJson } from '../../../src/collections/formats/json/writer.ts';
import { writeItemXml } from '../../../src/collections/formats/xml/writer.ts';
import { startDouble } from '../../../src/double/index.ts';
import { fromJson, fromXml, listFaults } from '../../support/collections/decode.ts';

const shape = compileShape(
  'things',
  'thing',
  { any: { type: 'json', maxLength: 100 } },
  'collections./things',
);

const kept: readonly [what: string, sent: string, shown?: string][] = [
  ['an object, in the order of its members', '{"b":1,"a":{"__proto__":[]},"1":0}'],
  ['an array', '[1,"2",null,true,[],{}]'],
  ['null', 'null'],
  ['false', 'false'],
  ['a text', '"a < b & \\"c\\" ]]>"'],
  ['an empty text', '""'],
  ['the digits of numbers', '[1.10,-0,1e400,12345678901234567890,1E+2]'],
  ['white space in texts only', '{ "a" :\n[ " b " ] }', '{"a":[" b "]}'],
  ['characters that XML cannot represent', '"\\u0000\\ud800\\uffff"'],
  ['other characters as they are', '"\\u00e9\\ud83d\\ude00\\/"', '"é😀/"'],
  ['the deepest nesting', `${'['.repeat(30)}${']'.repeat(30)}`],
];

for (const [what, sent, shown = sent] of kept)
  test(`a json field preserves its value in JSON and as text in XML: ${what}`, () => {
    const item = fromJson(shape, `{"any":${sent}}`);
    assert.equal(writeItemJson(shape, item), `{"any":${shown}}`);
    const xml = writeItemXml(shape, item);
    assert.deepEqual(fromXml(shape, xml), item, xml);
  });

test('a json field in XML accepts white space around and inside its text', () => {
  assert.equal(
    writeItemJson(shape, fromXml(shape, '<thing><any>\n { "a" : 1.0 }\n</any></thing>')),
    '{"any":{"a":1.0}}',
  );
});

const refused: readonly [what: string, text: string, told: RegExp][] = [
  ['no value', '', /found the end of the document/],
  ['text without quotes', 'tea', /must be JSON: Line 1, column 1: found "t"/],
  ['a duplicate member', '{"a":1,"a":2}', /duplicate member/],
  ['two values', '1 2', /expected the end/],
  ['more than 32 levels', `${'['.repeat(33)}${']'.repeat(33)}`, /deeper than 32 levels/],
  ['too long a text', `"${'x'.repeat(99)}"`, /at most 100 characters, has 101/],
];

for (const [what, text, told] of refused)
  test(`a json field rejects invalid or excessive JSON: ${what}`, () => {
    const faults = listFaults(() => fromXml(shape, `<thing><any>${text}</any></thing>`));
    assert.equal(faults.length, 1);
    assert.match(faults[0]?.detail ?? '', told);
  });

test('the maximum length of a json field has a default, and does not count white space', () => {
  const free = compileShape('things', 'thing', { any: { type: 'json' } }, 'collections./things');
  fromJson(free, `{"any":"${'x'.repeat(65_534)}"}`);
  const [fault] = listFaults(() => fromJson(free, `{"any":"${'x'.repeat(65_535)}"}`));
  assert.deepEqual([fault?.field, fault?.rule], ['any', 'maxLength']);
  fromJson(shape, `{"any":[${' '.repeat(200)}]}`);
});

test('a json field cannot be an attribute, a filter or a sort key', () => {
  const declare = (more: object) => () =>
    readCollection('/things', {
      element: 'things',
      item: 'thing',
      fields: { any: { type: 'json' } },
      ...more,
    });
  assert.throws(declare({ filter: ['any'] }), /not a field with a single value/);
  assert.throws(declare({ sort: ['any'] }), /not a field with a single value/);
  assert.throws(
    declare({ fields: { a: { type: 'text', attributes: { b: { type: 'json' } } } } }),
    /"json" is not a field type/,
  );
  assert.throws(
    declare({ fields: { a: { type: 'json', pattern: 'x' } } }),
    /pattern: is not an option of json/,
  );
});

test('a service stores, lists and changes json fields', async () => {
  const fields = {
    title: { type: 'text' },
    meta: { type: 'json', attributes: { kind: { type: 'text' } } },
    tags: { type: 'list', of: 'json' },
  } as const;
  const collections = {
    '/things': { element: 'things', item: 'thing', fields, access: { read: 'anyone', write: 'anyone' } },
  } as const;
  const seed = {
    '/things': [{ title: 'Tea', meta: { value: { a: [1, null] }, kind: 'x' }, tags: [1, 'b', null] }],
  };
  await using double = await startDouble({ https: false, collections, seed, defaultFormat: 'json' });
  const get = async (accept = 'application/json') =>
    (await double.fetch('/things/1', { headers: { Accept: accept } })).text();
  assert.equal(await get(), '{"title":"Tea","meta":{"value":{"a":[1,null]},"kind":"x"},"tags":[1,"b",null]}');
  assert.equal(
    await get('application/xml'),
    '<thing><title>Tea</title><meta kind="x">{"a":[1,null]}</meta><tags><item>1</item><item>"b"</item><item>null</item></tags></thing>',
  );
  const changed = await double.fetch('/things/1', {
    method: 'POST',
    body: '{"meta":{"value":12.50}}',
    headers: { 'Content-Type': 'application/json' },
  });
  assert.equal(changed.status, 200);
  assert.equal(await get(), '{"title":"Tea","meta":{"value":12.50},"tags":[1,"b",null]}');
  assert.match(await (await double.fetch('/things')).text(), /"meta":\{"value":12\.50\}/);
});
