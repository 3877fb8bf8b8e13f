import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  bytesOf,
  decodeName,
  decodeUtf8,
  octetsOf,
  toOctets,
  toReadable,
} from '../../../src/http/syntax/octets.ts';
import {
  decodeEscapes,
  decodeOctets,
  encodeOctets,
  normalizeEscapes,
} from '../../../src/http/syntax/percent.ts';

const all = Array.from({ length: 256 }, (_, code) => String.fromCharCode(code)).join('');

test('bytes, octets and text are converted into each other', () => {
  assert.equal(octetsOf(bytesOf(all)), all);
  // A part of a larger buffer.
  assert.equal(octetsOf(new Uint8Array([1, 2, 0xff, 4]).subarray(1, 3)), '\x02\xff');
  assert.equal(toOctets('é€'), '\xc3\xa9\xe2\x82\xac');
  assert.equal(decodeUtf8('\xc3\xa9\xe2\x82\xac'), 'é€');
  // A byte order mark is a character like any other.
  assert.equal(decodeUtf8('\xef\xbb\xbfa'), '\ufeffa');
  for (const octets of ['\xe9', '\xc0\x80', '\xed\xa0\x80', 'a\xf0\x9f'])
    assert.equal(decodeUtf8(octets), undefined);
});

test('octets are displayed as text if they are UTF-8, and text stays text', () => {
  assert.equal(toReadable('\xc3\xa9'), 'é');
  assert.equal(toReadable('\xe9'), '\xe9');
  assert.equal(toReadable('€'), '€');
});

test('a name has 1 to 128 octets of UTF-8 without control characters', () => {
  for (const name of ['ann', 'an n', 'Zoë', '漢'.repeat(42)]) assert.equal(decodeName(toOctets(name)), name);
  for (const octets of ['', 'a'.repeat(129), 'é'.repeat(65), 'a\tb', 'a\x7f', '\xc2\x85', '\xe9'])
    assert.equal(decodeName(octets), undefined, JSON.stringify(octets));
});

test('every octet is percent-encoded and decoded', () => {
  const encoded = encodeOctets(all);
  assert.equal(decodeOctets(encoded), all);
  const lower = encoded.replace(/%../g, (octet) => octet.toLowerCase());
  assert.equal(decodeOctets(lower), all);
  // RFC 3986 §2.3
  assert.equal(encoded.replace(/%[0-9A-F]{2}/g, '').length, 26 + 26 + 10 + '-._~'.length);
});

test('a percent sign without two digits is malformed, or stands for itself', () => {
  for (const text of ['%', '%4', '%4g', 'a%zz', '%%4']) {
    assert.equal(decodeOctets(text), undefined, text);
    assert.equal(decodeEscapes(text), text);
  }
  assert.equal(decodeEscapes('%%41%4%42%'), '%A%4B%');
});

test('equivalent escapes are normalized', () => {
  // RFC 3986 §6.2.2
  assert.equal(normalizeEscapes('/%7eann/%2f%e2%82%AC%41%'), '/~ann/%2F%E2%82%ACA%');
});
