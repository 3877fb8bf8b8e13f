import assert from 'node:assert/strict';
import test from 'node:test';
import {
  formatSignatures,
  parseSignatureFormat,
  readSignatures,
  type SignatureFormat,
} from '../../../src/schemes/declared/signature-format.ts';
import { seeded } from '../../support/seeded.ts';

function format(text: string, separator?: string, asymmetric?: string): SignatureFormat {
  const parsed = parseSignatureFormat(text, separator, asymmetric);
  if (typeof parsed === 'string') throw new RangeError(parsed);
  return parsed;
}

const none = { asymmetric: [], values: {} };

test('a value that is not a list must match the whole format', () => {
  const github = format('sha256={signature}');
  assert.deepEqual(readSignatures(github, 'sha256=ab'), { ...none, signatures: ['ab'] });
  for (const value of ['ab', 'sha256=', 'SHA256=ab', ' sha256=ab', ''])
    assert.equal(readSignatures(github, value), 'the value does not have the form sha256={signature}');
});

test('a value can contain a timestamp and text after the signature', () => {
  assert.deepEqual(readSignatures(format('T{timestamp}/{signature};'), 'T12/ab/c;'), {
    asymmetric: [],
    signatures: ['ab/c'],
    values: { timestamp: '12' },
  });
});

test('a list can contain several signatures, a timestamp, and elements that are ignored', () => {
  const stripe = format('t={timestamp},v1={signature}', ',');
  assert.deepEqual(readSignatures(stripe, 't=1,v1=a, v1=b,v0=c,x'), {
    asymmetric: [],
    signatures: ['a', 'b'],
    values: { timestamp: '1' },
  });
  assert.equal(readSignatures(stripe, 't=1,t=2,v1=a'), 'the value contains two timestamps');
  assert.equal(
    readSignatures(stripe, 't=1,v0=a'),
    'the value contains no element of the form v1={signature}',
  );
});

test('a list can contain signatures by a private key', () => {
  const webhooks = format('v1,{signature}', ' ', 'v1a,{signature}');
  assert.deepEqual(readSignatures(webhooks, 'v2,x v1a,k  v1,s'), {
    signatures: ['s'],
    asymmetric: ['k'],
    values: {},
  });
});

test('only the first 16 signatures of a list are read', () => {
  const list = Array.from({ length: 100 }, (_, at) => `v1=${at}`).join(',');
  const read = readSignatures(format('v1={signature}', ','), list);
  assert.ok(typeof read === 'object');
  assert.deepEqual(
    read.signatures,
    Array.from({ length: 16 }, (_, at) => String(at)),
  );
});

test('only the first 64 elements of a list are examined', () => {
  const v1 = format('v1={signature}', ',');
  assert.deepEqual(readSignatures(v1, `${'v0=x,'.repeat(63)}v1=a`), { ...none, signatures: ['a'] });
  assert.equal(typeof readSignatures(v1, `${'v0=x,'.repeat(64)}v1=a`), 'string');
  assert.equal(typeof readSignatures(v1, 'v0=x,'.repeat(209_716)), 'string');
});

const faults: [text: string, separator: string | undefined, fault: RegExp][] = [
  ['v1=', undefined, /must contain \{signature\} once/],
  ['{signature}{signature}', undefined, /must have text between/],
  ['{signature},{signature}', ',', /must contain \{signature\} once/],
  ['{timestamp},{timestamp},{signature}', ',', /\{timestamp\} at most once/],
  ['{sig}', undefined, /\{sig\} is not/],
  ['{signature', undefined, /a brace/],
  ['é{signature}', undefined, /visible ASCII/],
  ['{signature}', '', /separator must not be empty/],
];

for (const [text, separator, fault] of faults) {
  test(`the format ${JSON.stringify(text)} is invalid`, () => {
    const parsed = parseSignatureFormat(text, separator);
    assert.ok(typeof parsed === 'string');
    assert.match(parsed, fault);
  });
}

test('a formatted value is parsed to the same signatures and timestamp', () => {
  const random = seeded();
  for (let round = 0; round < 3000; round += 1) {
    const separator = random.pick(['', ',', ' ', ';', ', ']) || undefined;
    const text = random.pick([
      '{signature}',
      'v1={signature}',
      't={timestamp},v1={signature}',
      'a {timestamp} b {signature} c',
    ]);
    const parsed = parseSignatureFormat(text, separator);
    if (typeof parsed === 'string') continue;
    const count = separator === undefined ? 1 : 1 + random.below(16);
    const signatures = Array.from({ length: count }, () => `${random.text('0123456789abcdef', 63)}0`);
    const timestamp = parsed.has.has('timestamp') ? `1${random.text('0123456789', 9)}` : undefined;
    const value = formatSignatures(parsed, signatures, { timestamp });
    const read = readSignatures(parsed, value);
    const message = `seed ${random.seed}: ${text} with ${separator}: ${value}`;
    if (separator === ' ' && text.startsWith('a ')) continue;
    assert.deepEqual(
      read,
      { signatures, asymmetric: [], values: timestamp === undefined ? {} : { timestamp } },
      message,
    );
  }
});

test('random formats and values are parsed without an exception', () => {
  const random = seeded();
  const pieces = ['{signature}', '{timestamp}', '{', '}', 'v1=', ',', ' ', 't', 'ab', '='];
  const text = (): string => Array.from({ length: random.below(7) }, () => random.pick(pieces)).join('');
  for (let round = 0; round < 5000; round += 1) {
    const parsed = parseSignatureFormat(
      text(),
      random.pick(['', ',', ' ', '=']) || undefined,
      random.pick(['', 'v1a,{signature}']) || undefined,
    );
    if (typeof parsed === 'string') continue;
    const read = readSignatures(parsed, text());
    if (typeof read === 'string') continue;
    assert.ok(
      [...read.signatures, ...read.asymmetric].every((signature) => signature !== ''),
      `seed ${random.seed}`,
    );
  }
});
