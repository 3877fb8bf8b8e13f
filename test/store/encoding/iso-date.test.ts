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
