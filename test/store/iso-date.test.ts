import assert from 'node:assert/strict';
import { test } from 'node:test';
import { IsoDates, isoDateAt, parseIsoDate } from '../../src/store/iso-date.ts';
import { seeded } from '../seeded.ts';

const latest = 8.64e15;

test('a date is read from its bytes as ECMAScript reads it from its text', () => {
  const random = seeded();
  for (let round = 0; round < 20_000; round += 1) {
    const time = Math.floor((random.next() * 2 - 1) * latest * 10 ** -random.below(6));
    const text = new Date(time).toISOString();
    const expected = /^(0[1-9]|[1-9])\d/.test(text) ? time : undefined;
    const before = random.below(5);
    const bytes = Buffer.from(`${'"'.repeat(before)}${text}"`);
    assert.equal(isoDateAt(bytes, before), expected, `SEED=${random.seed}: ${text}`);
  }
});

test('bytes that are no date in that form are none', () => {
  const text = '2013-04-20T12:59:24.007Z';
  assert.equal(isoDateAt(Buffer.from(text), 0), Date.parse(text));
  for (let at = 0; at < text.length; at += 1) {
    for (const other of ['/', ':', 'x', '\0', '\u00b2']) {
      if (text[at] === other) continue;
      const bytes = Buffer.from(text.slice(0, at) + other + text.slice(at + 1), 'latin1');
      assert.equal(isoDateAt(bytes, 0), undefined, bytes.toString('latin1'));
    }
    assert.equal(isoDateAt(Buffer.from(text.slice(0, at)), 0), undefined);
  }
  assert.equal(isoDateAt(Buffer.from(text), 1), undefined);
  assert.equal(isoDateAt(Buffer.from(text), 99), undefined);
});

test('dates are formatted alike one after the other and each by itself', () => {
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
