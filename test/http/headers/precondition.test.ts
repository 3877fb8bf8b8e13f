import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HttpHeaders } from '../../../src/http/fields.ts';
import { type Current, evaluatePreconditions, type Verdict } from '../../../src/http/headers/precondition.ts';
import type { HttpMethod } from '../../../src/http/method.ts';
import { Problem } from '../../../src/http/problem.ts';
import { hostile } from '../../support/http/hostile.ts';
import { seeded } from '../../support/seeded.ts';

const modified = Date.UTC(1994, 9, 29, 19, 43, 31, 750);
const same = 'Sat, 29 Oct 1994 19:43:31 GMT';
const before = 'Sat, 29 Oct 1994 19:43:30 GMT';
const after = 'Sat, 29 Oct 1994 19:43:32 GMT';
const now = Date.UTC(2025, 0, 1);
const current: Current = { tags: ['xml-1', 'json-1'], modified };

type Outcome = Verdict | 'failed' | 'malformed';

function outcome(
  method: HttpMethod,
  lines: Record<string, string>,
  at: Current | 'nothing' = current,
): Outcome {
  const fields = new HttpHeaders(Object.entries(lines).flat());
  try {
    return evaluatePreconditions(fields, method, at === 'nothing' ? undefined : at, now);
  } catch (error) {
    assert.ok(error instanceof Problem, String(error));
    if (error.type === 'precondition-failed') return 'failed';
    assert.equal(error.type, 'malformed-field');
    return 'malformed';
  }
}

test('If-Match needs a strong match with any current representation', () => {
  for (const method of ['GET', 'HEAD', 'PUT', 'POST', 'DELETE'] as const) {
    for (const value of ['*', '"xml-1"', '"json-1"', '"old", "json-1"', ', "xml-1",'])
      assert.equal(outcome(method, { 'If-Match': value }), 'proceed', value);
    for (const value of ['"old"', 'W/"xml-1"', '""', '', '"XML-1"'])
      assert.equal(outcome(method, { 'If-Match': value }), 'failed', value);
    for (const value of ['*', '"xml-1"'])
      assert.equal(outcome(method, { 'If-Match': value }, 'nothing'), 'failed', value);
  }
});

test('the detail names a weak tag in If-Match, with the reason and the remedy', () => {
  const readDetail = (value: string): string => {
    const fields = new HttpHeaders(['If-Match', value]);
    try {
      evaluatePreconditions(fields, 'PUT', current, now);
      return '';
    } catch (error) {
      return error instanceof Problem ? error.detail : String(error);
    }
  };
  const expected =
    'If-Match does not match the current state. The entity tag W/"xml-1" is weak, and If-Match compares strongly (RFC 9110 §13.1.1): a weak tag never matches. This server sends strong tags only; a proxy that compresses responses makes them weak. Turn off compression in the proxy (nginx: gzip off): the server compresses by itself.';
  assert.equal(readDetail('W/"xml-1"'), expected);
  assert.equal(readDetail('"old", W/"xml-1"'), expected);
  assert.equal(readDetail('"old"'), 'If-Match does not match the current state.');
});

test('If-Unmodified-Since fails only when there was a later change', () => {
  assert.equal(outcome('PUT', { 'If-Unmodified-Since': before }), 'failed');
  assert.equal(outcome('PUT', { 'If-Unmodified-Since': same }), 'proceed');
  assert.equal(outcome('PUT', { 'If-Unmodified-Since': after }), 'proceed');
  assert.equal(outcome('GET', { 'If-Unmodified-Since': before }), 'failed');
  assert.equal(outcome('PUT', { 'If-Unmodified-Since': 'Saturday, 29-Oct-94 19:43:30 GMT' }), 'failed');
  assert.equal(outcome('PUT', { 'If-Unmodified-Since': 'Sat Oct 29 19:43:30 1994' }), 'failed');
  assert.equal(outcome('PUT', { 'If-Unmodified-Since': 'yesterday' }), 'proceed');
  assert.equal(outcome('PUT', { 'If-Unmodified-Since': `${before}, ${before}` }), 'proceed');
  assert.equal(outcome('PUT', { 'If-Unmodified-Since': before }, 'nothing'), 'proceed');
  assert.equal(
    outcome('PUT', { 'If-Unmodified-Since': before }, { tags: [], modified: Number.NaN }),
    'proceed',
  );
});

test('If-None-Match answers a read with 304 and refuses a change', () => {
  for (const value of ['"xml-1"', 'W/"xml-1"', '"old", W/"xml-1"', '*', '"json-1", "xml-1"']) {
    assert.deepEqual(outcome('GET', { 'If-None-Match': value }), { notModified: 'xml-1' }, value);
    assert.deepEqual(outcome('HEAD', { 'If-None-Match': value }), { notModified: 'xml-1' }, value);
    for (const method of ['PUT', 'POST', 'DELETE'] as const)
      assert.equal(outcome(method, { 'If-None-Match': value }), 'failed', value);
  }
  assert.deepEqual(outcome('GET', { 'If-None-Match': 'W/"json-1"' }), { notModified: 'json-1' });
  for (const value of ['"old"', '""', ''])
    assert.equal(outcome('GET', { 'If-None-Match': value }), 'proceed', value);
  for (const value of ['*', '"xml-1"'])
    assert.equal(outcome('PUT', { 'If-None-Match': value }, 'nothing'), 'proceed', value);
  assert.deepEqual(outcome('GET', { 'If-None-Match': '*' }, { tags: [], modified }), { notModified: '' });
});

test('If-Modified-Since applies only to reads, and only without If-None-Match', () => {
  for (const method of ['GET', 'HEAD'] as const) {
    assert.equal(outcome(method, { 'If-Modified-Since': before }), 'proceed');
    assert.deepEqual(outcome(method, { 'If-Modified-Since': same }), { notModified: '' });
    assert.deepEqual(outcome(method, { 'If-Modified-Since': after }), { notModified: '' });
    assert.equal(outcome(method, { 'If-Modified-Since': 'Sat, 29 Oct 1994 19:43:60 GMT' }), 'proceed');
    assert.equal(outcome(method, { 'If-None-Match': '"old"', 'If-Modified-Since': after }), 'proceed');
    assert.equal(outcome(method, { 'If-Modified-Since': after }, 'nothing'), 'proceed');
    assert.equal(
      outcome(method, { 'If-Modified-Since': after }, { tags: [], modified: Number.NaN }),
      'proceed',
    );
  }
  for (const method of ['PUT', 'POST', 'DELETE'] as const)
    assert.equal(outcome(method, { 'If-Modified-Since': after }), 'proceed');
});

test('a malformed list of tags is rejected with 400 and the name of its field', () => {
  for (const field of ['If-Match', 'If-None-Match'])
    for (const value of ['xml-1', '"a" "b"', '*, "a"'])
      for (const at of [current, undefined])
        assert.throws(
          () => evaluatePreconditions(new HttpHeaders([field, value]), 'PUT', at, now),
          (error) => error instanceof Problem && error.status === 400 && error.members['field'] === field,
          `${field}: ${value}`,
        );
});

test('a failed precondition names the field and does not disclose the state', () => {
  for (const [field, value] of [
    ['If-Match', '"old"'],
    ['If-Unmodified-Since', before],
    ['If-None-Match', '*'],
  ] as const)
    assert.throws(
      () => evaluatePreconditions(new HttpHeaders([field, value]), 'PUT', current, now),
      (error) =>
        error instanceof Problem &&
        error.status === 412 &&
        error.detail.includes(field) &&
        !/xml-1|json-1|1994/.test(error.detail),
    );
});

test('two lines of one field are one list', () => {
  const fields = new HttpHeaders(['If-Match', '"old"', 'If-Match', '"xml-1"']);
  assert.equal(evaluatePreconditions(fields, 'PUT', current, now), 'proceed');
});

test('OPTIONS selects nothing, so it has no preconditions', () => {
  assert.equal(outcome('OPTIONS', { 'If-Match': '"old"', 'If-None-Match': '*' }), 'proceed');
});

// What each value says by itself of the state above: true, false, malformed, or not to be heard at all.
const ifMatch = {
  '*': true,
  '"xml-1"': true,
  'W/"xml-1"': false,
  '"old"': false,
  broken: 'malformed',
} as const;
const ifUnmodified = { [before]: false, [same]: true, [after]: true, never: 'ignored' } as const;
const ifNoneMatch = { '*': false, 'W/"xml-1"': false, '"old"': true, broken: 'malformed' } as const;
const ifModified = { [before]: true, [same]: false, [after]: false, never: 'ignored' } as const;

/** The steps of RFC 9110 §13.2.2 over what the fields said. */
function ordered(
  reads: boolean,
  [match, unmodified, noneMatch, changed]: readonly (boolean | string | undefined)[],
): string {
  if (match === 'malformed' || match === false) return match === false ? 'failed' : 'malformed';
  if (match === undefined && unmodified === false) return 'failed';
  if (noneMatch === 'malformed') return 'malformed';
  if (noneMatch === false) return reads ? 'not modified' : 'failed';
  return reads && noneMatch === undefined && changed === false ? 'not modified' : 'proceed';
}

test('all combinations of the four fields are judged in the order of RFC 9110 §13.2.2', () => {
  const options = <T extends object>(values: T) => [
    [undefined, undefined] as const,
    ...Object.entries(values),
  ];
  for (const [match, matchSays] of options(ifMatch))
    for (const [unmodified, unmodifiedSays] of options(ifUnmodified))
      for (const [noneMatch, noneMatchSays] of options(ifNoneMatch))
        for (const [changed, changedSays] of options(ifModified))
          for (const method of ['GET', 'PUT'] as const) {
            const lines = Object.entries({
              'If-Modified-Since': changed,
              'If-None-Match': noneMatch,
              'If-Unmodified-Since': unmodified,
              'If-Match': match,
            }).flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]));
            const got = outcome(method, Object.fromEntries(lines));
            const says = [matchSays, unmodifiedSays, noneMatchSays, changedSays];
            assert.equal(
              typeof got === 'object' ? 'not modified' : got,
              ordered(method === 'GET', says),
              `${method} ${JSON.stringify(lines)}`,
            );
          }
});

test('no field value makes the evaluation throw anything but a Problem', () => {
  const random = seeded();
  const pieces = ['"xml-1"', 'W/', '"', ',', '*', ' ', same, 'Sat, ', '1994'];
  for (let round = 0; round < 2000; round += 1) {
    const lines = Object.fromEntries(
      ['If-Match', 'If-Unmodified-Since', 'If-None-Match', 'If-Modified-Since']
        .filter(() => random.below(2) === 0)
        .map((name) => [name, hostile(random, pieces)]),
    );
    const method = random.pick(['GET', 'HEAD', 'PUT', 'POST', 'DELETE'] as const);
    try {
      outcome(method, lines);
    } catch (error) {
      assert.fail(`${String(error)} for ${JSON.stringify(lines)}, seed ${random.seed}`);
    }
  }
});
