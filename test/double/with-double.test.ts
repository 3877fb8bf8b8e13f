import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { type Double, type DoubleOptions, withDouble } from '../../src/double/index.ts';

const options: DoubleOptions = { users: { ann: { secret: 's3cret of ann' } }, https: false };
const stale = { date: '2020-01-01T00:00:00Z' };

/** Runs a test that fails, and returns its error. */
async function fail(run: (double: Double) => unknown, given = options): Promise<Error> {
  const failure: unknown = await withDouble(given, run)().then(
    () => undefined,
    (error: unknown) => error,
  );
  assert.ok(failure instanceof Error);
  return failure;
}

suite('withDouble', () => {
  test('starts a double for the test and closes it after the test', async () => {
    const used: Double[] = [];
    await withDouble(options, async (double) => {
      used.push(double);
      assert.equal((await fetch(`${double.url}/articles`)).status, 200);
    })();
    const [double] = used;
    assert.ok(double !== undefined);
    await assert.rejects(fetch(`${double.url}/articles`));
  });

  test('adds the refused requests with their reasons to the message of a failure and to its stack', async () => {
    const error = await fail(async (double) => {
      await double.fetch('/articles');
      const { status } = await double.as('ann', stale).fetch('/articles');
      assert.equal(status, 200);
    });
    assert.equal(error.name, 'AssertionError');
    assert.match(
      error.message,
      /^Expected values to be strictly equal:\n\n401 !== 200\n\n\nThe double refused:\n#2 GET \/articles by ann: 401, date-out-of-window, .*clock is wrong/,
    );
    assert.doesNotMatch(error.message, /#1/);
    assert.ok(error.stack?.includes(error.message));
    assert.match(error.stack ?? '', /at .*with-double\.test/);
  });

  test('adds the last three of many refused requests', async () => {
    const error = await fail(async (double) => {
      for (let sent = 0; sent < 5; sent++) await double.fetch('/nothing');
      throw new Error('$& fails');
    });
    assert.match(error.message, /^\$& fails\n\nThe double refused:\n#3 .*\n#4 .*\n#5 GET \/nothing: 404/);
    assert.ok(error.stack?.startsWith(`Error: ${error.message}\n`));
  });

  test('adds that all requests were accepted, or that there was none', async () => {
    const accepted = await fail(async (double) => {
      await double.fetch('/articles');
      throw new Error('fails');
    });
    assert.match(accepted.message, /^fails\n\nThe double accepted all requests\. The last ones:\n#1 GET/);
    const idle = await fail(() => assert.fail('fails'));
    assert.equal(idle.message, 'fails\n\nThe double received no request.');
  });

  test('adds nothing to a message that contains the request, nor to what is not an error', async () => {
    const error = await fail(async (double) => {
      await double.fetch('/nothing');
      throw new Error(`${double.journal.last()}`);
    });
    assert.match(error.message, /^#1 GET \/nothing: 404, .*$/);
    await assert.rejects(withDouble(options, () => Promise.reject('text'))(), (thrown) => thrown === 'text');
  });

  test('rejects if closing the double fails, but not in place of the failure of the test', async () => {
    const strict: DoubleOptions = { ...options, pendingFaults: 'error' };
    const plan = (double: Double): void => void double.faults.next({}, { status: 503 });
    await assert.rejects(withDouble(strict, plan)(), { code: 'pending-faults' });
    const error = await fail((double) => {
      plan(double);
      throw new Error('fails');
    }, strict);
    assert.match(error.message, /^fails\n/);
  });

  test('passes on what the runner passes, and has no parameters that a runner could misread', async () => {
    const runTest = withDouble(
      options,
      function (this: { name: string }, _double, row: number, done: string) {
        assert.deepEqual([this.name, row, done], ['self', 1, 'done']);
      },
    );
    assert.equal(runTest.length, 0);
    await runTest.call({ name: 'self' }, 1, 'done');
  });
});
