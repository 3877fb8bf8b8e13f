import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seeded } from '../support/seeded.ts';

interface Segment {
  readonly kind: 'same' | 'changed' | 'gap';
  readonly text: string;
}

interface TextDiff {
  differ(one: string, other: string): { readonly one: Segment[]; readonly other: Segment[] };
}

interface Format {
  indented(text: string, type: string): string;
  span(seconds: number): string;
}

const folder = '../../src/console/';
const { differ }: TextDiff = await import(new URL(`${folder}text-diff.js`, import.meta.url).href);
const { indented, span }: Format = await import(new URL(`${folder}format.js`, import.meta.url).href);

function changedIn(segments: readonly Segment[]): string[] {
  return segments.filter(({ kind }) => kind !== 'same').map(({ text }) => text);
}

test('a comparison marks the characters that differ, and a gap where characters are missing', () => {
  const cases: [one: string, other: string, changed: string[], others: string[]][] = [
    ['GET', 'GET', [], []],
    ['/a', '/a?b=c', [''], ['?b=c']],
    ['POST+/articles', 'PUT+/articles', ['OS'], ['U']],
    ['%c3-------%a9', '%C3-------%A9', ['c', 'a'], ['C', 'A']],
    ['', 'x', [''], ['x']],
  ];
  for (const [one, other, changed, others] of cases) {
    const found = differ(one, other);
    assert.deepEqual([changedIn(found.one), changedIn(found.other)], [changed, others], `${one} ${other}`);
  }
});

test('the segments of two random texts make up both texts, and the equal ones are the same', () => {
  const random = seeded();
  for (let round = 0; round < 2000; round += 1) {
    const one = random.text('ab+%', 40);
    const other = random.text('ab+%', 40);
    const told = `SEED=${random.seed} ${JSON.stringify([one, other])}`;
    const found = differ(one, other);
    assert.equal(found.one.map(({ text }) => text).join(''), one, told);
    assert.equal(found.other.map(({ text }) => text).join(''), other, told);
    const same = (segments: readonly Segment[]): string[] =>
      segments.filter(({ kind }) => kind === 'same').map(({ text }) => text);
    assert.deepEqual(same(found.one), same(found.other), told);
  }
});

test('long texts that have little in common are compared without aligning every character', () => {
  const { one, other } = differ('a'.repeat(50_000), 'b'.repeat(50_000));
  assert.deepEqual([changedIn(one).length, changedIn(other).length], [1, 1]);
});

test('JSON is indented without a change of its values', () => {
  const text = '{"a":[1,2.50,1e3,{"b":"x, {y}: \\"z\\""},[],{}],"n":12345678901234567890}';
  const shown = indented(text, 'application/problem+json');
  assert.equal(shown.split('\n')[1], '  "a": [');
  assert.ok(shown.includes('2.50') && shown.includes('12345678901234567890') && shown.includes('[]'));
  assert.equal(indented('{"a":', 'application/json'), '{"a":');
  assert.equal(indented('{"a":1}', 'text/plain'), '{"a":1}');
});

test('indentation does not change the value of random JSON', () => {
  const random = seeded();
  const value = (depth: number): unknown => {
    const kind = random.below(depth > 3 ? 3 : 5);
    if (kind === 0) return random.text('a"\\ {}[],:\n\té', 8);
    if (kind === 1) return random.below(1000) / 8;
    if (kind === 2) return random.pick([true, false, null]);
    if (kind === 3) return Array.from({ length: random.below(4) }, () => value(depth + 1));
    return Object.fromEntries(
      Array.from({ length: random.below(4) }, (_, at) => [`k${at}`, value(depth + 1)]),
    );
  };
  for (let round = 0; round < 500; round += 1) {
    const expected = value(0);
    const shown = indented(JSON.stringify(expected), 'application/json');
    assert.deepEqual(JSON.parse(shown), expected, `SEED=${random.seed}`);
  }
});

test('XML is indented, and text that is not XML is not changed', () => {
  const text = '<?xml version="1.0"?><a x="1"><b>text</b><c/><d><e></e></d><!-- <f> --></a>';
  assert.equal(
    indented(text, 'application/xml'),
    [
      '<?xml version="1.0"?>',
      '<a x="1">',
      '  <b>text</b>',
      '  <c/>',
      '  <d>',
      '    <e></e>',
      '  </d>',
      '  <!-- <f> -->',
      '</a>',
    ].join('\n'),
  );
  for (const broken of ['<<a', '<a><!-- b</a>', '<a><![CDATA[ b</a>'])
    assert.equal(indented(broken, 'application/xml'), broken);
  const random = seeded();
  for (let round = 0; round < 2000; round += 1) {
    const any = random.text('<>/a!-[]CDT" \n', 30);
    const squeezed = (shown: string): string => shown.replace(/\s+/g, '');
    assert.equal(
      squeezed(indented(any, 'text/xml')),
      squeezed(any),
      `SEED=${random.seed} ${JSON.stringify(any)}`,
    );
  }
});

test('durations are shown in a suitable unit', () => {
  const shown = [0.25, -5, 119, 600, -7200, 100_000, 200_000].map(span);
  assert.deepEqual(shown, ['0.3 s', '5 s', '119 s', '10 min', '2 h', '27.8 h', '2 days']);
});
