import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HttpHeaders } from '../../src/http/fields.ts';
import { Problem } from '../../src/http/problem.ts';
import { checkExpectation, checkFraming } from '../../src/http/transfer.ts';
import { hostile } from '../support/http/hostile.ts';
import { seeded } from '../support/seeded.ts';

const refusedAs = (type: string, close: boolean) => (error: unknown) =>
  error instanceof Problem && error.type === type && error.close === close;

test('chunked alone, in any case, is the supported transfer coding', () => {
  checkFraming(new HttpHeaders([]));
  checkFraming(new HttpHeaders(['Content-Length', '3']));
  checkFraming(new HttpHeaders(['Transfer-Encoding', 'chunked']));
  checkFraming(new HttpHeaders(['transfer-encoding', 'Chunked']));
});

test('any other transfer coding is rejected, and the connection closes', () => {
  const refused = refusedAs('transfer-coding-not-implemented', true);
  for (const value of [
    ...['', 'gzip', 'gzip, chunked', 'chunked, chunked', 'chunked, gzip', 'identity', 'chunked;a=b'],
    ...['xchunked', ' chunked', 'chunked,'],
  ])
    assert.throws(() => checkFraming(new HttpHeaders(['Transfer-Encoding', value])), refused, value);
  const twice = new HttpHeaders(['Transfer-Encoding', 'chunked', 'Transfer-Encoding', 'chunked']);
  assert.throws(() => checkFraming(twice), refused);
});

test('100-continue is the only supported expectation', () => {
  checkExpectation(new HttpHeaders([]), '1.1');
  for (const value of ['100-continue', '100-Continue', '100-continue, 100-continue', ',100-continue', ''])
    checkExpectation(new HttpHeaders(['Expect', value]), '1.1');
  for (const value of [
    ...['200-ok', '100-continue, x', '100-continue;a=b', '100-continue=1', '100', '"100-continue"'],
  ])
    assert.throws(
      () => checkExpectation(new HttpHeaders(['Expect', value]), '1.1'),
      refusedAs('expectation-failed', false),
      value,
    );
});

test('HTTP/1.0 has no expectations', () => {
  for (const value of ['100-continue', '200-ok']) checkExpectation(new HttpHeaders(['Expect', value]), '1.0');
});

test('no value makes the checks throw anything but a Problem', () => {
  const random = seeded();
  for (let round = 0; round < 2000; round += 1) {
    const value = hostile(random, ['chunked', '100-continue', ',', ' ', '"', ';']);
    const fields = new HttpHeaders(['Transfer-Encoding', value, 'Expect', value]);
    for (const judge of [() => checkFraming(fields), () => checkExpectation(fields, '1.1')])
      try {
        judge();
      } catch (error) {
        assert.ok(error instanceof Problem, `${JSON.stringify(value)}, seed ${random.seed}`);
      }
  }
});
