import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseTraceparent, usableRequestId } from '../../src/pipeline/access-entry.ts';

import { seeded } from '../support/seeded.ts';

// The first is the example of W3C Trace Context §3.2.3.
const example = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';

test('a valid traceparent is accepted unchanged, also of a later version with further parts', () => {
  for (const value of [
    example,
    '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00',
    'cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
    'cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-what-the-future-will-be-like',
  ])
    assert.equal(parseTraceparent(value), value);
});

test('a traceparent that is not valid is ignored', () => {
  for (const value of [
    undefined,
    '',
    'ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
    '00-00000000000000000000000000000000-00f067aa0ba902b7-01',
    '00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01',
    '00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01',
    `${example}-more`,
    'cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01.more',
    `${example}, ${example}`,
    `${example}\n`,
    ` ${example}`,
  ])
    assert.equal(parseTraceparent(value), undefined, JSON.stringify(value));
});

test('only values that match the grammar are accepted, and they are unchanged', () => {
  const random = seeded();
  for (let round = 0; round < 5000; round += 1) {
    const at = random.below(example.length);
    const changed = example.slice(0, at) + random.text('0f-F \n,é', 3) + example.slice(at + random.below(3));
    const trace = parseTraceparent(changed);
    const isValid =
      /^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/.test(changed) &&
      !changed.endsWith('\n');
    assert.equal(trace, isValid || trace !== undefined ? changed : undefined, `seed ${random.seed}`);
    if (isValid) assert.equal(trace, changed, `seed ${random.seed}`);
    if (changed.startsWith('00'))
      assert.equal(trace !== undefined, isValid, `${changed}, seed ${random.seed}`);
    const id = random.text('aZ09._~:=+/@- "\\,\n\u001b\u2028é', 140);
    const usable = usableRequestId(id);
    if (usable === undefined) continue;
    assert.equal(usable, id);
    assert.match(usable, /^[!-~]{1,128}$/, `seed ${random.seed}`);
    assert.doesNotMatch(usable, /["\\,]/, `seed ${random.seed}`);
  }
});

test('a request id is usable if it has 1 to 128 permitted characters', () => {
  assert.equal(
    usableRequestId('7f1c0a52-13d4-4f0e-9a51-0c35cd2f3a11'),
    '7f1c0a52-13d4-4f0e-9a51-0c35cd2f3a11',
  );
  assert.equal(usableRequestId('a'.repeat(128))?.length, 128);
  for (const id of [undefined, '', 'a'.repeat(129), 'a b', 'a, b', 'a"b', 'a\nb'])
    assert.equal(usableRequestId(id), undefined);
});
