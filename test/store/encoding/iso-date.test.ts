import assert from 'node:assert/strict';
import { test } from 'node:test';
import { IsoDates, parseIsoDate } from '../../../src/store/encoding/iso-date.ts';
import { seeded } from '../../support/seeded.ts';

const latest = 8.64e15;

test('IsoDates formats any sequence of dates like toISOString, and parseIsoDate returns their times', () => {
  const random = seeded();
  const dates = new IsoDates();
  let time = 0;
  for (let round = 0; round < 20_000; round += 1) {
    if (random.below(10) === 0) time = Math.floor((random.next() * 2 - 1) * latest);
    else time = Math.min(latest, time + random.below(700));
    const text = dates.format(time);
    assert.equal(text, new Date(time).toISOString(), `SEED=${random.seed}`);
    assert.equal(parseIsoDate(text), time, `SEED=${random.seed}`);
  }
});

test('parseIsoDate accepts no date that does not exist, and no other format', () => {
  for (const text of [
    '2013-02-30T00:00:00.000Z',
    '2013-02-29T00:00:00.000Z',
    '2013-04-31T00:00:00.000Z',
    '2013-13-01T00:00:00.000Z',
    '2013-00-01T00:00:00.000Z',
    '2013-01-00T00:00:00.000Z',
    '2013-01-01T24:00:00.000Z',
    '2013-01-01T23:60:00.000Z',
    '2013-01-01T23:59:60.000Z',
    '2013-01-01T00:00:00Z',
    '2013-01-01T00:00:00.000',
    '2013-01-01',
    '+002013-01-01T00:00:00.000Z',
  ])
    assert.equal(parseIsoDate(text), undefined, text);
  assert.equal(parseIsoDate('2012-02-29T23:59:59.999Z'), Date.UTC(2012, 1, 29, 23, 59, 59, 999));
});
