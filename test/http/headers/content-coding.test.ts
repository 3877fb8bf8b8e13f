import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseContentCoding } from '../../../src/http/headers/content-coding.ts';
import { hostile } from '../../support/http/hostile.ts';
import { seeded } from '../../support/seeded.ts';

test('gzip and x-gzip are gzip, and identity or no value is identity', () => {
  for (const value of [undefined, '', ',', 'identity', 'Identity, identity'])
    assert.equal(parseContentCoding(value), 'identity', value);
  for (const value of ['gzip', 'GZip', 'x-gzip', 'identity, gzip', ' gzip ,', ',gzip'])
    assert.equal(parseContentCoding(value), 'gzip', value);
});

test('another coding or a second one is not known', () => {
  for (const value of [
    ...['br', 'deflate', 'compress', 'gzip, gzip', 'gzip, br', 'x-gzip,gzip', 'gzip;q=1', 'gzip gzip'],
    '"gzip"',
  ])
    assert.equal(parseContentCoding(value), undefined, value);
});

test('no value makes the parser throw', () => {
  const random = seeded();
  for (let round = 0; round < 2000; round += 1) {
    const value = hostile(random, ['gzip', 'identity', ',', ' ', '"', ';']);
    const coding = parseContentCoding(value);
    const message = `${JSON.stringify(value)}, seed ${random.seed}`;
    assert.ok(coding !== 'gzip' || value.split('gzip').length === 2, message);
  }
});
