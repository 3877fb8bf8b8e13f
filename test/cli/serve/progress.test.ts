import assert from 'node:assert/strict';
import { test } from 'node:test';
import { showProgress } from '../../../src/cli/serve/progress.ts';
import { createManualClock } from '../../../src/clock.ts';

function terminal(isTTY: boolean): { isTTY: boolean; text: string; write(more: string): void } {
  return {
    isTTY,
    text: '',
    write(more) {
      this.text += more;
    },
  };
}

test('loading shows its progress on a terminal after one second, and clears it at the end', () => {
  const clock = createManualClock(0);
  const outlet = terminal(true);
  const { loading, end } = showProgress(outlet, clock);
  loading('store.json', 10, 200, 1);
  clock.advance(999);
  loading('store.json', 50, 200, 1234);
  assert.equal(outlet.text.length, 0);
  clock.advance(1);
  loading('store.json', 100, 200, 1234);
  loading('store.json', 101, 200, 1235);
  assert.match(outlet.text, /^\r\u001b\[Kloading store\.json: 1,234 items, 50 %$/);
  clock.advance(100);
  loading('journal-3.jsonl', 300, 200, 7);
  assert.ok(outlet.text.endsWith('\r\u001b[Kloading journal-3.jsonl: 7 changes, 100 %'));
  end();
  assert.ok(outlet.text.endsWith('%\r\u001b[K'));
});

test('loading shows no progress if it is quick or if the output is not a terminal', () => {
  const clock = createManualClock(0);
  for (const isTTY of [true, false]) {
    const outlet = terminal(isTTY);
    const { loading, end } = showProgress(outlet, clock);
    if (!isTTY) clock.advance(5000);
    loading('store.json', 1, 2, 3);
    end();
    assert.equal(outlet.text, '');
  }
});
