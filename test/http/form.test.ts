import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  findQueryValues,
  parseForm,
  parseFormOctets,
  parseTargetQuery,
  removeParameters,
} from '../../src/http/form.ts';
import { seeded } from '../support/seeded.ts';

/** Octets as characters, as they come from a socket. */
const octets = (text: string): string => Buffer.from(text).toString('latin1');

// The examples are of RFC 6749 Appendix B and RFC 5849 §3.4.1.3.1, or plain applications of WHATWG URL §5.1.
const forms: readonly [sent: string, read: readonly (readonly [string, string])[]][] = [
  ['', []],
  [
    'a=1&b=2',
    [
      ['a', '1'],
      ['b', '2'],
    ],
  ],
  [
    'a=1&a=2&a=1',
    [
      ['a', '1'],
      ['a', '2'],
      ['a', '1'],
    ],
  ],
  [
    'c2&a3=2+q',
    [
      ['c2', ''],
      ['a3', '2 q'],
    ],
  ],
  [
    'b5=%3D%253D&a3=a&c%40=&a2=r%20b',
    [
      ['b5', '=%3D'],
      ['a3', 'a'],
      ['c@', ''],
      ['a2', 'r b'],
    ],
  ],
  ['x=+%25%26%2B%C2%A3%E2%82%AC', [['x', ' %&+£€']]],
  ['a=b=c', [['a', 'b=c']]],
  ['=x', [['', 'x']]],
  ['&&a=1&', [['a', '1']]],
  ['a=1;b=2', [['a', '1;b=2']]],
  ['__proto__=1', [['__proto__', '1']]],
  ['a=%EF%BB%BFx', [['a', '\uFEFFx']]],
  [octets('name=Zoë'), [['name', 'Zoë']]],
];

for (const [sent, read] of forms) {
  test(`parseForm decodes the form ${JSON.stringify(sent)}`, () => assert.deepEqual(parseForm(sent), read));
}

const broken = [
  ...['a=%', 'a=%4', 'a=%G1', '%zz=1', 'a=%FF', 'a=%C3', 'a=%ED%A0%80', 'a=%C0%80', 'a=1&b=%E2%82'],
  'a=\xe9',
];
for (const sent of broken) {
  test(`parseForm rejects the malformed form ${JSON.stringify(sent)}`, () =>
    assert.equal(parseForm(sent), undefined));
}

test('a query begins after the first question mark', () => {
  assert.deepEqual(parseTargetQuery('/path'), []);
  assert.deepEqual(parseTargetQuery('/path?'), []);
  assert.deepEqual(parseTargetQuery('/path?a=b?c'), [['a', 'b?c']]);
  assert.deepEqual(parseTargetQuery('https://host/path?a=1'), [['a', '1']]);
  assert.equal(parseTargetQuery('/path?a=%'), undefined);
});

test('any output of URLSearchParams is parsed to the same pairs', () => {
  const random = seeded();
  for (let run = 0; run < 500; run += 1) {
    const pairs = Array.from({ length: random.below(6) }, (): [string, string] => [
      `n${random.text('ab+& =%é€𝄞\0\r\n', 6)}`,
      random.text('xyz+&=%;/?ü漢😀"\\ ', 10),
    ]);
    assert.deepEqual(parseForm(new URLSearchParams(pairs).toString()), pairs, `seed ${random.seed}`);
  }
});

test('parseForm accepts or rejects any octets, and agrees with URLSearchParams on ASCII', () => {
  const random = seeded();
  for (let run = 0; run < 2000; run += 1) {
    const sent = random.text('ab=&+%0123cCfFeE\xc3\xa9;', 20);
    const read = parseForm(sent);
    const octetsOnly = sent.includes('\xc3') || sent.includes('\xa9');
    if (read === undefined || octetsOnly) continue;
    assert.deepEqual(read, [...new URLSearchParams(sent)], `seed ${random.seed}: ${sent}`);
  }
});

test('a parameter is removed from the query at any position', () => {
  for (const target of ['/p?s=x&a=1&b', '/p?a=1&s=x&b', '/p?a=1&b&s=x']) {
    assert.deepEqual(findQueryValues(target, 's'), ['x']);
    assert.equal(removeParameters(target, ['s']), '/p?a=1&b');
  }
  assert.equal(removeParameters('/p?s=x', ['s']), '/p');
  assert.equal(removeParameters('/p?s=x&a=1&t', ['s', 't', 'u']), '/p?a=1');
  assert.deepEqual(findQueryValues('/p?s&s=&s=a=b', 's'), ['', '', 'a=b']);
});

test('what is not the parameter stays as it was sent', () => {
  for (const target of ['/p', '/p?', '/p?ss=x', '/s=x?a', '/p?a=s=x', '/p?%73=x'])
    assert.equal(removeParameters(target, ['s']), target);
  assert.equal(removeParameters('/p?&s=x', ['s']), '/p?');
  assert.equal(removeParameters('http://a.example?s=x', ['s']), 'http://a.example');
});

test('a form of any octets is parsed to octets', () => {
  assert.deepEqual(parseFormOctets('a=%FF+\xe9&&b'), [
    ['a', '\xff \xe9'],
    ['b', ''],
  ]);
  assert.equal(parseFormOctets('a=%F'), undefined);
});
