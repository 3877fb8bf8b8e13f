import assert from 'node:assert/strict';
import { test } from 'node:test';
import { acceptsCoding, selectPreferred } from '../../../src/http/headers/accept.ts';
import { hostile } from '../../support/http/hostile.ts';
import { seeded } from '../../support/seeded.ts';

const xml = { type: 'application/xml' };
const json = { type: 'application/json' };
const variants = [xml, json];

function chosen(accept: string | undefined, ...types: string[]): string | undefined {
  return selectPreferred(
    accept,
    types.map((type) => ({ type })),
  )?.type;
}

test('without a preference the first variant is selected', () => {
  for (const accept of [undefined, '', ',', ' , ', '*/*', '*/*;q=0.1', 'application/*'])
    assert.equal(selectPreferred(accept, variants), xml, String(accept));
  assert.equal(selectPreferred(undefined, []), undefined);
  assert.equal(selectPreferred('*/*', []), undefined);
});

test('the variant with the highest weight is selected, and the first of equals', () => {
  assert.equal(selectPreferred('application/json', variants), json);
  assert.equal(selectPreferred('Application/JSON', variants), json);
  assert.equal(selectPreferred('application/json, application/xml', variants), xml);
  assert.equal(selectPreferred('application/xml;q=0.9, application/json', variants), json);
  assert.equal(selectPreferred('application/xml;q=0.998, application/json;q=0.999', variants), json);
  assert.equal(
    selectPreferred('text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', variants),
    xml,
  );
  assert.equal(selectPreferred('application/json;q=0.5, */*;q=0.1', variants), json);
});

test('a range without a weight is equivalent to the same range with q=1', () => {
  const types = ['a/b;v=1', 'a/b ;v=2', 'a/c', 'a/b', 'A/D'];
  for (const accept of [...types, 'a', 'a/', 'A/B', 'a/d', '*', 'a/*'])
    assert.equal(chosen(accept, ...types), chosen(`${accept};q=1`, ...types), accept);
  assert.equal(chosen('a/b', ...types), 'a/b;v=1');
  assert.equal(chosen('a/b;v=1', 'a/b; v=1', 'a/b;v=1'), 'a/b; v=1');
});

test('weight 0 excludes, also where a wider range would include', () => {
  assert.equal(selectPreferred('application/xml;q=0, */*', variants), json);
  assert.equal(selectPreferred('application/*, application/xml;q=0.000', variants), json);
  assert.equal(selectPreferred('*/*;q=0', variants), undefined);
  assert.equal(selectPreferred('application/*;q=0, */*', variants), undefined);
  assert.equal(selectPreferred('text/html', variants), undefined);
});

test('the weights are those of the table in RFC 9110 §12.5.1', () => {
  const accept =
    'text/*;q=0.3, text/plain;q=0.7, text/plain;format=flowed, text/plain;format=fixed;q=0.4, */*;q=0.5';
  const byWeight = [
    ['text/plain;format=flowed'],
    ['text/plain'],
    ['image/jpeg'],
    ['text/plain;format=fixed'],
    ['text/html', 'text/html;level=3'],
  ];
  for (const [index, heavier] of byWeight.entries())
    for (const lighter of byWeight.slice(index + 1).flat())
      for (const type of heavier)
        assert.equal(chosen(accept, lighter, type), type, `${type} before ${lighter}`);
  assert.equal(chosen(accept, 'text/html', 'text/html;level=3'), 'text/html');
  assert.equal(chosen(accept, 'text/html;level=3', 'text/html'), 'text/html;level=3');
});

test('the examples of RFC 9110 §12.5.1 select the expected variants', () => {
  assert.equal(chosen('audio/*; q=0.2, audio/basic', 'audio/ogg', 'audio/basic'), 'audio/basic');
  assert.equal(chosen('audio/*; q=0.2, audio/basic', 'audio/ogg'), 'audio/ogg');
  const accept = 'text/plain; q=0.5, text/html,\ttext/x-dvi; q=0.8, text/x-c';
  assert.equal(chosen(accept, 'text/plain', 'text/x-dvi', 'text/x-c', 'text/html'), 'text/x-c');
  assert.equal(chosen(accept, 'text/plain', 'text/x-dvi'), 'text/x-dvi');
  assert.equal(chosen(accept, 'text/plain'), 'text/plain');
});

test('a range with parameters matches only variants with the same parameters', () => {
  const utf8 = 'application/xml; charset=utf-8';
  assert.equal(chosen('application/xml;charset=UTF-8', utf8), utf8);
  assert.equal(chosen('application/xml;charset="Utf-8"', utf8), utf8);
  assert.equal(chosen('application/xml', utf8), utf8);
  assert.equal(chosen('application/xml;charset=latin1', utf8), undefined);
  assert.equal(chosen('a/b;profile=X', 'a/b;profile=x'), undefined);
  assert.equal(chosen('a/b;q=0.1;profile=x, a/b;q=0.5', 'a/b', 'a/b;profile=x'), 'a/b');
  assert.equal(chosen('*/*;profile=x;q=0.9, a/*;q=0.1', 'a/b;profile=x', 'c/d;profile=x'), 'c/d;profile=x');
});

test('a malformed element counts as not sent', () => {
  for (const element of [
    '*json',
    '*/json',
    'application',
    'application/json;q=2',
    'application/json;q=0.1234',
  ])
    assert.equal(selectPreferred(`${element}, application/xml;q=0.1`, [json, xml]), xml, element);
  for (const element of [
    'application/json;q=-1',
    'application/json;q=.',
    'application/json;q=.1234',
    'application/json;q=',
    'application/json;q',
  ])
    assert.equal(selectPreferred(element, [json]), undefined, element);
  for (const element of ['a/b;q=1.', 'a/b;q=0.', 'a/b;Q=0.5', 'a/b ; q=1.000'])
    assert.equal(chosen(element, 'a/b'), element === 'a/b;q=0.' ? undefined : 'a/b', element);
});

test('a charset of UTF-8 matches a variant without a charset, and UTF-16 does not', () => {
  assert.equal(chosen('application/json; charset=utf-8', 'application/json'), 'application/json');
  assert.equal(chosen('application/json; charset=utf-16', 'application/json'), undefined);
});

test('the field that Java sends by itself is understood: a bare asterisk, and weights without their 0', () => {
  const java = 'text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2';
  assert.equal(selectPreferred(java, [xml, json]), xml);
  assert.equal(selectPreferred('application/xml; q=.1, *;q=.2', [xml, json]), json);
});

test('the order of the elements and malformed elements between them do not affect the selection', () => {
  const random = seeded();
  const types = ['a/x', 'a/y', 'b/x', 'b/x;v=1', 'b/x;v=1;w=2'];
  const ranges = ['*/*', 'a/*', 'b/*', '*/*;v=1', ...types];
  for (let round = 0; round < 2000; round += 1) {
    const elements = Array.from(
      { length: 1 + random.below(5) },
      () => random.pick(ranges) + random.pick(['', ';q=0', ';q=0.3', ';q=0.7', ';q=1']),
    );
    const shuffled = elements
      .map((element) => ({ element, key: random.next() }))
      .sort((one, other) => one.key - other.key)
      .flatMap(({ element }) => [random.pick(['', '*/x', 'a', ';;', 'a/b;q=7', 'a/b;=']), element]);
    const message = `${elements.join()} against ${shuffled.join()}, seed ${random.seed}`;
    assert.equal(chosen(shuffled.join(', '), ...types), chosen(elements.join(','), ...types), message);
  }
});

test('a coding is acceptable only when it is asked for', () => {
  // The examples of RFC 9110 §12.5.3, and what each says of gzip.
  assert.equal(acceptsCoding(undefined, 'gzip'), false);
  assert.equal(acceptsCoding('compress, gzip', 'gzip'), true);
  assert.equal(acceptsCoding('', 'gzip'), false);
  assert.equal(acceptsCoding('*', 'gzip'), true);
  assert.equal(acceptsCoding('compress;q=0.5, gzip;q=1.0', 'gzip'), true);
  assert.equal(acceptsCoding('gzip;q=1.0, identity; q=0.5, *;q=0', 'gzip'), true);
  assert.equal(acceptsCoding('identity', 'gzip'), false);
  assert.equal(acceptsCoding('gzip;q=0, *', 'gzip'), false);
  assert.equal(acceptsCoding('*;q=0', 'gzip'), false);
  assert.equal(acceptsCoding('*;q=0.5, *;q=0', 'gzip'), true);
  assert.equal(acceptsCoding('gzip;q=0.5, gzip;q=0', 'gzip'), true);
  assert.equal(acceptsCoding('GZIP', 'gzip'), true);
  assert.equal(acceptsCoding('x-gzip', 'gzip'), true);
  assert.equal(acceptsCoding('gzip ; q=0.001', 'gzip'), true);
  for (const malformed of ['gzip;q=2', 'gzip;level=9', 'gzip gzip', '"gzip"', ';q=1', 'gzip;q=0;q=1'])
    assert.equal(acceptsCoding(malformed, 'gzip'), false, malformed);
});

test('no value makes negotiation throw', () => {
  const random = seeded();
  const pieces = [...'*/;,"\\ =', ...['*/*', 'application/', 'json', 'gzip', 'q=', '0.5', '__proto__']];
  for (let round = 0; round < 3000; round += 1) {
    const value = hostile(random, pieces);
    const message = `${JSON.stringify(value)}, seed ${random.seed}`;
    assert.ok([xml, json, undefined].includes(selectPreferred(value, variants)), message);
    assert.equal(typeof acceptsCoding(value, 'gzip'), 'boolean', message);
  }
});
