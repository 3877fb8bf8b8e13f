import assert from 'node:assert/strict';
import test from 'node:test';
import {
  formatTimestamp,
  parseTimestamp,
  type TimestampUnit,
  timestampUnits,
} from '../../../src/schemes/declared/timestamp.ts';
import { seeded } from '../../support/seeded.ts';

const time = Date.UTC(2024, 1, 29, 12, 0, 0);

const valid: [text: string, unit: TimestampUnit, ms: number][] = [
  ['1709208000', 's', time],
  ['0', 's', 0],
  ['1709208000123', 'ms', time + 123],
  ['2024-02-29T12:00:00Z', 'rfc3339', time],
  ['2024-02-29T12:00:00.5Z', 'rfc3339', time + 500],
  ['2024-02-29T14:30:00+02:30', 'rfc3339', time],
  ['2024-02-29T04:00:00.123456789-08:00', 'rfc3339', time + 123],
  ['Thu, 29 Feb 2024 12:00:00 GMT', 'http-date', time],
];

for (const [text, unit, ms] of valid) {
  test(`${text} is a timestamp in the unit ${unit}`, () => {
    assert.equal(parseTimestamp(text, unit), ms);
  });
}

const invalid: [text: string, unit: TimestampUnit][] = [
  ['', 's'],
  ['01', 's'],
  ['+1', 's'],
  ['-1', 's'],
  ['1.5', 's'],
  ['1e9', 's'],
  [' 1', 's'],
  ['1234567890123456', 'ms'],
  ['2024-02-30T12:00:00Z', 'rfc3339'],
  ['2024-02-29T24:00:00Z', 'rfc3339'],
  ['2024-02-29T12:00:60Z', 'rfc3339'],
  ['2024-02-29T12:00:00', 'rfc3339'],
  ['2024-02-29 12:00:00Z', 'rfc3339'],
  ['2024-02-29T12:00:00+24:00', 'rfc3339'],
  ['Fri, 29 Feb 2024 12:00:00 GMT', 'http-date'],
  ['Thursday, 29-Feb-24 12:00:00 GMT', 'http-date'],
  ['Thu, 29 Feb 2024 12:00:00 UTC', 'http-date'],
];

for (const [text, unit] of invalid) {
  test(`${JSON.stringify(text)} is not a timestamp in the unit ${unit}`, () => {
    assert.equal(parseTimestamp(text, unit), undefined);
  });
}

test('a formatted timestamp is parsed to the same time', () => {
  const random = seeded();
  for (let round = 0; round < 2000; round += 1) {
    const unit = random.pick(timestampUnits);
    const ms = random.below(4_000_000_000) * 1000;
    assert.equal(parseTimestamp(formatTimestamp(ms, unit), unit), ms, `seed ${random.seed}`);
  }
});
