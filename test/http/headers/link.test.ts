import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatLink } from '../../../src/collections/lists/page-links.ts';
import { seeded } from '../../support/seeded.ts';

test('links are written as in RFC 8288 §3', () => {
  assert.equal(formatLink([]), '');
  assert.equal(formatLink([{ href: '/articles?after=7', rel: 'next' }]), '</articles?after=7>; rel="next"');
  assert.equal(
    formatLink([
      { href: 'http://example.com/TheBook/chapter2', rel: 'previous' },
      { href: '/', rel: 'http://example.net/foo start' },
    ]),
    '<http://example.com/TheBook/chapter2>; rel="previous", </>; rel="http://example.net/foo start"',
  );
});

test('characters that a URI cannot contain are percent-encoded, and existing escapes are unchanged', () => {
  const href = (value: string): string => formatLink([{ href: value, rel: 'x' }]);
  assert.equal(href('/a>b<c"d e'), '</a%3Eb%3Cc%22d%20e>; rel="x"');
  assert.equal(href('/%2F?q=[1]|{2}^`\\'), '</%2F?q=[1]%7C%7B2%7D%5E%60%5C>; rel="x"');
  assert.equal(href('/ü€😀\ud800'), '</%C3%BC%E2%82%AC%F0%9F%98%80%EF%BF%BD>; rel="x"');
  assert.equal(href('/a\r\nX: y'), '</a%0D%0AX:%20y>; rel="x"');
  assert.throws(() => formatLink([{ href: '/', rel: 'a\r\nb' }]), RangeError);
});

test('every address results in exactly one link of visible ASCII characters', () => {
  const random = seeded();
  for (let round = 0; round < 2000; round += 1) {
    const href = random.text('ab/?%<>;, "\\\r\n\0é€😀', 16);
    const value = formatLink([{ href, rel: 'next' }]);
    assert.match(value, /^<[!#-;=?-~]*>; rel="next"$/, `${JSON.stringify(href)}, seed ${random.seed}`);
  }
});
