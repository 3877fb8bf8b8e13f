import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  formatEntityTag,
  isTag,
  matchesStrongly,
  matchesWeakly,
  parseEntityTags,
} from '../../../src/http/headers/entity-tag.ts';
import { hostile } from '../../support/http/hostile.ts';
import { seeded } from '../../support/seeded.ts';

const strong = (opaque: string) => ({ weak: false, opaque });
const weak = (opaque: string) => ({ weak: true, opaque });

test('the examples of RFC 9110 §8.8.3, §13.1.1 and §13.1.2 are read', () => {
  assert.deepEqual(parseEntityTags('"xyzzy"'), [strong('xyzzy')]);
  assert.deepEqual(parseEntityTags('W/"xyzzy"'), [weak('xyzzy')]);
  assert.deepEqual(parseEntityTags('""'), [strong('')]);
  assert.deepEqual(
    parseEntityTags('"xyzzy", "r2d2xxxx", "c3piozzzz"'),
    ['xyzzy', 'r2d2xxxx', 'c3piozzzz'].map(strong),
  );
  assert.deepEqual(
    parseEntityTags('W/"xyzzy", W/"r2d2xxxx", W/"c3piozzzz"'),
    ['xyzzy', 'r2d2xxxx', 'c3piozzzz'].map(weak),
  );
  assert.equal(parseEntityTags('*'), '*');
});

test('a tag may contain commas, backslashes and octets above ASCII, and a list may have empty elements', () => {
  assert.deepEqual(parseEntityTags('"a,b" ,\t"c\\", W/"\u00e9"'), [
    strong('a,b'),
    strong('c\\'),
    weak('\u00e9'),
  ]);
  assert.deepEqual(parseEntityTags(', "a",, "b" ,'), [strong('a'), strong('b')]);
  for (const empty of ['', ',', ' , ']) assert.deepEqual(parseEntityTags(empty), []);
});

test('a malformed list of entity tags is rejected', () => {
  const refused = [
    ...['xyzzy', '"xyzzy', 'xyzzy"', 'w/"xyzzy"', 'W"xyzzy"', 'W/xyzzy', 'W/ "x"', '"a" "b"', '"a""b"'],
  ];
  refused.push(
    '"a", b',
    '*, "a"',
    '"a", *',
    '*, *',
    '"a b"',
    '"a\tb"',
    '"\x7f"',
    '"\0"',
    '"\u0100"',
    '"a"; x',
    '"',
  );
  for (const value of refused) assert.equal(parseEntityTags(value), undefined, value);
});

test('both comparisons match the table in RFC 9110 §8.8.3.2', () => {
  const table = [
    [weak('1'), weak('1'), false, true],
    [weak('1'), weak('2'), false, false],
    [weak('1'), strong('1'), false, true],
    [strong('1'), weak('1'), false, true],
    [strong('1'), strong('1'), true, true],
    [strong('1'), strong('2'), false, false],
  ] as const;
  for (const [one, other, strongly, weakly] of table) {
    assert.equal(matchesStrongly(one, other), strongly);
    assert.equal(matchesWeakly(one, other), weakly);
  }
});

test('a formatted tag is parsed back unchanged, and an invalid one throws a RangeError', () => {
  const random = seeded();
  const characters = Array.from({ length: 223 }, (_, n) => String.fromCharCode(n + 33))
    .join('')
    .replace(/["\x7f]/g, '');
  for (let round = 0; round < 2000; round += 1) {
    const opaques = Array.from({ length: 1 + random.below(4) }, () => random.text(characters, 12));
    const value = opaques.map(formatEntityTag).join(random.pick([',', ', ', ' ,\t']));
    assert.deepEqual(parseEntityTags(value), opaques.map(strong), `${value}, seed ${random.seed}`);
  }
  for (const opaque of ['a"b', 'a b', 'a\r\n', '\x7f', '\u0100'])
    assert.throws(() => formatEntityTag(opaque), RangeError);
});

test('isTag matches only the same strong tag', () => {
  for (const value of ['"a"', '""']) assert.ok(isTag(value, value.slice(1, -1)), value);
  for (const value of [
    ...['W/"a"', '"b"', '"A"', '"aa"', '"a" ', '"a","a"', "'a'", '"a', 'a"', 'a', '"', '', '*'],
  ])
    assert.equal(isTag(value, 'a'), false, value);
  for (const value of ['"', '', '"" ']) assert.equal(isTag(value, ''), false, value);
  const random = seeded();
  for (let round = 0; round < 3000; round += 1) {
    const value = hostile(random, ['"', 'W/', ',', ' ', '*', 'a', '"a"', '"b"', 'W/"b"', '\\']);
    const opaque = random
      .pick(['', 'a', 'b', 'ab', value, value.slice(1, -1)])
      .replace(/[^!#-~\x80-\xff]/g, '');
    if (!isTag(value, opaque)) continue;
    assert.deepEqual(
      parseEntityTags(value),
      [strong(opaque)],
      `${JSON.stringify(value)}, seed ${random.seed}`,
    );
  }
});

test('no value makes the parser throw', () => {
  const random = seeded();
  for (let round = 0; round < 3000; round += 1) {
    const value = hostile(random, ['"', 'W/', ',', ' ', '*', 'abc', '"a"', 'W/"b"', '\\']);
    const tags = parseEntityTags(value);
    if (tags === undefined || tags === '*') continue;
    const again = tags.map((tag) => (tag.weak ? 'W/' : '') + formatEntityTag(tag.opaque)).join(', ');
    assert.deepEqual(parseEntityTags(again), tags, `${JSON.stringify(value)}, seed ${random.seed}`);
  }
});
