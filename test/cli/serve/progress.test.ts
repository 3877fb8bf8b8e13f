import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withProgress } from '../../../src/cli/serve/progress.ts';
import { createManualClock } from '../../../src/clock.ts';
import type { OnProgress } from '../../../src/store/scan.ts';

function terminal(isTTY: boolean): { isTTY: boolean; text: string; write(more: string): void } {
  return {
    isTTY,
    text: '',
    write(more) {
      this.text += more;
    },
  };
}

test('loading shows its progress on a terminal after one second, and clears it at the end', async () => {
  const clock = createManualClock(0);
  const outlet = terminal(true);
  const load = async (onProgress: OnProgress): Promise<void> => {
    onProgress('store.jsonl', 10, 200, 1);
    clock.advance(999);
    onProgress('store.jsonl', 50, 200, 1234);
    assert.equal(outlet.text.length, 0);
    clock.advance(1);
    onProgress('store.jsonl', 100, 200, 1234);
    onProgress('store.jsonl', 101, 200, 1235);
    assert.match(outlet.text, /^\r\u001b\[Kloading store\.jsonl: 1,234 items, 50 %$/);
    clock.advance(100);
    onProgress('journal-3.jsonl', 300, 200, 7);
    assert.ok(outlet.text.endsWith('\r\u001b[Kloading journal-3.jsonl: 7 changes, 100 %'));
    throw new Error('not readable');
  };
  await assert.rejects(withProgress(outlet, load, clock), /not readable/);
  assert.ok(outlet.text.endsWith('%\r\u001b[K'));
});

test('loading shows no progress if it is quick or if the output is not a terminal', async () => {
  const clock = createManualClock(0);
  for (const isTTY of [true, false]) {
    const outlet = terminal(isTTY);
    const loaded = await withProgress(
      outlet,
      async (onProgress) => {
        if (!isTTY) clock.advance(5000);
        onProgress('store.jsonl', 1, 2, 3);
        return 'loaded';
      },
      clock,
    );
    assert.deepEqual([loaded, outlet.text], ['loaded', '']);
  }
});
