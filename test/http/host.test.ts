import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isValidHost } from '../../src/http/host.ts';
import { hostile } from '../support/http/hostile.ts';
import { seeded } from '../support/seeded.ts';

test('names, addresses and ports of RFC 3986 §3.2.2 are valid', () => {
  const valid = [
    ...['localhost', 'localhost:8080', 'example.com', 'EXAMPLE.com.', '127.0.0.1:80', '[::1]'],
    '[::1]:8443',
  ];
  valid.push(
    'example.com:',
    '[::]:',
    'x',
    'a:0',
    'a:65535',
    'a:00080',
    "a_b-c~d!$&'()*+,;=e",
    '%41%c3%BC.example',
  );
  valid.push(
    '[2001:db8::7]',
    '[::ffff:192.0.2.128]',
    '[1:2:3:4:5:6:7:8]',
    '[1:2:3:4:5:6:1.2.3.4]',
    '[v7.a:b]',
  );
  // A registered name by the grammar, though no address (RFC 3986 §3.2.2).
  valid.push('999.1.1.1', '1.2.3');
  for (const value of valid) assert.equal(isValidHost(value), true, value);
});

test('everything else is not a host', () => {
  const invalid = [
    ...['', ':', ':80', ' ', 'a b', 'a, b', 'a/b', 'a?b', 'a#b', 'user@a', 'u:p@a', 'a:b', 'a:-1', 'a:+1'],
  ];
  invalid.push(
    'a:65536',
    'a:123456',
    'a:000080',
    'a:80:80',
    'a: 80',
    '%4',
    '%zz',
    'a%',
    'ä',
    'a\0',
    'a\\b',
    '"a"',
    '<a>',
  );
  invalid.push(
    '[]',
    '[::1',
    '::1',
    '[::1]x',
    '[::1]80',
    '[:::]',
    '[1:2:3:4:5:6:7]',
    '[1:2:3:4:5:6:7:8:9]',
    '[1::2::3]',
  );
  invalid.push('[1:2:3:4:5:6:7::8]', '[::12345]', '[::g]', '[fe80::1%25eth0]', '[fe80::1%eth0]', '[::1.2.3]');
  invalid.push(
    '[::1.2.3.256]',
    '[::01.2.3.4]',
    '[1.2.3.4::]',
    '[::1.2.3.4:1]',
    '[127.0.0.1]',
    '[v.a]',
    '[vg.a]',
    '[v7.]',
  );
  for (const value of invalid) assert.equal(isValidHost(value), false, value);
});

test('no value makes the check throw, and a valid host contains no delimiter of fields or URIs', () => {
  const random = seeded();
  for (let round = 0; round < 5000; round += 1) {
    const value = hostile(random, [
      ...['a', '.', ':', '80', '[', ']', '::', '1', '%41', '%', '@', '127.0.0.1', 'v1.', '/'],
    ]);
    if (isValidHost(value))
      assert.doesNotMatch(value, /[\s/?#@\\"<>^`{|}\x00-\x20\x7f-\uffff]/, `${value}, seed ${random.seed}`);
  }
});
