import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  parseForwarded,
  parseForwardedFor,
  parseForwardedProto,
} from '../../../src/http/headers/forwarded.ts';
import { hostile } from '../../support/http/hostile.ts';
import { seeded } from '../../support/seeded.ts';

const hop = (from?: string, proto?: string) => ({ from, proto });

test('the examples of RFC 7239 are read', () => {
  // §4
  assert.deepEqual(parseForwarded('for="_gazonk"'), [hop()]);
  assert.deepEqual(parseForwarded('For="[2001:db8:cafe::17]:4711"'), [hop('2001:db8:cafe::17')]);
  assert.deepEqual(parseForwarded('for=192.0.2.60;proto=http;by=203.0.113.43'), [hop('192.0.2.60', 'http')]);
  assert.deepEqual(parseForwarded('for=192.0.2.43, for=198.51.100.17'), [
    hop('192.0.2.43'),
    hop('198.51.100.17'),
  ]);
  // §6.3 and §7.1
  assert.deepEqual(parseForwarded('for=_hidden, for=_SEVKISEK'), [hop(), hop()]);
  assert.deepEqual(parseForwarded('for=192.0.2.43,for="[2001:db8:cafe::17]",for=unknown'), [
    hop('192.0.2.43'),
    hop('2001:db8:cafe::17'),
    hop(),
  ]);
  // §7.4
  assert.deepEqual(parseForwarded('for=192.0.2.43, for="[2001:db8:cafe::17]"'), [
    hop('192.0.2.43'),
    hop('2001:db8:cafe::17'),
  ]);
});

test('names and schemes are case-insensitive, pairs may be empty, and extensions are ignored', () => {
  assert.deepEqual(parseForwarded(';PROTO=HTTPS;;FoR=192.0.2.1;'), [hop('192.0.2.1', 'https')]);
  assert.deepEqual(parseForwarded('secret="a;b,c\\"d";proto="https"'), [hop(undefined, 'https')]);
  assert.deepEqual(parseForwarded('for="192.0.2.1:80";host="example.org:8080"'), [hop('192.0.2.1')]);
  assert.deepEqual(parseForwarded('for="unknown:_p";by=_proxy'), [hop()]);
  assert.deepEqual(parseForwarded(', for=192.0.2.1 ,, proto=https ,'), [
    hop('192.0.2.1'),
    hop(undefined, 'https'),
  ]);
});

test('a value that does not follow the grammar is rejected as a whole', () => {
  const refused = [
    ...['', ',', 'for', 'for=', '=192.0.2.1', 'for =192.0.2.1', 'for= 192.0.2.1'],
    ...['for=192.0.2.1; proto=https', 'for=192.0.2.1 ;proto=https', 'for=192.0.2.1 proto=https'],
    ...['for=192.0.2.1:80', 'for=[2001:db8::1]', 'for="2001:db8::1"', 'for="[2001:db8::1%eth0]"'],
    ...['for="[192.0.2.1]"', 'for="192.0.2.1:"', 'for="192.0.2.1:123456"', 'for="192.0.2.1'],
    ...['for="192.0.2.1"x', 'for=192.0.2.256', 'for=_', 'for=example.org', 'for=""', 'by=example.org'],
    ...['proto=""', 'proto="https:"', 'proto=2https', 'host=""', 'host="a b"'],
    ...['for=192.0.2.1;for=192.0.2.1', 'proto=https;Proto=https', 'for=192.0.2.1, for="', 'für=192.0.2.1'],
  ];
  for (const value of refused) assert.equal(parseForwarded(value), undefined, value);
});

test('X-Forwarded-For is a list of addresses, optionally with ports', () => {
  assert.deepEqual(parseForwardedFor('192.0.2.1'), ['192.0.2.1']);
  assert.deepEqual(parseForwardedFor('2001:db8::1, [2001:db8::2]:80,\t[::3] , 192.0.2.1:80'), [
    '2001:db8::1',
    '2001:db8::2',
    '::3',
    '192.0.2.1',
  ]);
  assert.deepEqual(parseForwardedFor('unknown, localhost, 1.2.3, fe80::1%1'), Array(4).fill(undefined));
  for (const value of ['', ',', '192.0.2.1,', ',192.0.2.1', '192.0.2.1,,192.0.2.2'])
    assert.equal(parseForwardedFor(value), undefined, value);
});

test('X-Forwarded-Proto is one scheme', () => {
  assert.equal(parseForwardedProto('https'), 'https');
  assert.equal(parseForwardedProto('HTTP'), 'http');
  for (const value of ['', 'https, http', 'https,https', 'https ', '"https"', 'https;', 'https://'])
    assert.equal(parseForwardedProto(value), undefined, value);
});

test('a list of valid elements is parsed in any combination, and one invalid element invalidates all', () => {
  const random = seeded();
  const fit = ['for=192.0.2.1', 'proto=https', 'by="[::1]"', 'x="a, b"', 'for=unknown;proto=http', ';'];
  const unfit = ['for', 'for=a', 'proto=http s', 'x="', 'for="[::1"'];
  for (let round = 0; round < 2000; round += 1) {
    const elements = Array.from({ length: 1 + random.below(5) }, () => random.pick(fit));
    const joined = elements.join(random.pick([',', ', ', ' , ']));
    assert.equal(parseForwarded(joined)?.length, elements.length, `${joined}, seed ${random.seed}`);
    const spoilt = [...elements, random.pick(unfit)].join(', ');
    assert.equal(parseForwarded(spoilt), undefined, `${spoilt}, seed ${random.seed}`);
  }
});

test('no value makes the parsers throw, and every address that they return has the form of an address', () => {
  const random = seeded();
  const pieces = ['for=', '192.0.2.1', '"', '[', ']', '::1', ';', ',', 'proto=', 'https', ' ', ':80', '_x'];
  for (let round = 0; round < 20_000; round += 1) {
    const value = hostile(random, pieces);
    const hops = parseForwarded(value) ?? [];
    const addresses = [...hops.map(({ from }) => from), ...(parseForwardedFor(value) ?? [])];
    for (const address of addresses) {
      const message = `${JSON.stringify(value)}, seed ${random.seed}`;
      if (address !== undefined) assert.match(address, /^(192\.0\.2\.1|[0-9a-f:.]+)$/i, message);
    }
    for (const { proto } of hops) assert.match(proto ?? 'a', /^[a-z][a-z0-9+.-]*$/);
    parseForwardedProto(value);
  }
});
