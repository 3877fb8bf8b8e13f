import assert from 'node:assert/strict';
import test from 'node:test';
import { DoubleError, startDouble } from '../../../src/double/index.ts';

test('a function that throws rejects its own wait only', async () => {
  await using double = await startDouble({ https: false });
  const failure = new Error('the function failed');
  const wait = () =>
    double.journal.waitFor(() => {
      throw failure;
    });
  const failing = assert.rejects(wait(), failure);
  const waiting = double.journal.waitFor({ path: '/articles' });
  assert.equal((await fetch(`${double.url}/articles`)).status, 200);
  await failing;
  assert.equal((await waiting).number, 1);
  await assert.rejects(wait(), failure, 'for an earlier entry');
  assert.equal((await fetch(`${double.url}/articles`)).status, 200);
});

test('errors of listeners are passed to onError, and affect neither clients nor other listeners', async () => {
  const errors: unknown[] = [];
  await using double = await startDouble({ users: ['ann'], onError: (error) => errors.push(error) });
  const [thrown, rejected, emitted] = ['thrown', 'rejected', 'emitted'].map((name) => new Error(name));
  const seen: number[] = [];
  double.on('request', () => {
    throw thrown;
  });
  double.on('request', async () => {
    throw rejected;
  });
  double.on('request', ({ number }) => seen.push(number));
  double.on('nonce-replayed', () => {
    throw emitted;
  });
  assert.equal((await fetch(`${double.url}/articles`)).status, 200);
  assert.deepEqual([errors, seen], [[thrown, rejected], [1]]);
  const replaying = double.as('ann', { nonce: 'n1' });
  assert.equal((await replaying.fetch('/articles')).status, 200);
  assert.equal((await replaying.fetch('/articles')).status, 401);
  assert.ok(errors.includes(emitted));
});

test('an onError that throws does not affect clients', async (t) => {
  const written = t.mock.method(console, 'error', () => undefined);
  const failure = new Error('onError failed');
  await using double = await startDouble({
    https: false,
    onError() {
      throw failure;
    },
  });
  double.on('request', () => {
    throw new Error('the listener failed');
  });
  assert.equal((await fetch(`${double.url}/articles`)).status, 200);
  assert.deepEqual(written.mock.calls[0]?.arguments, [failure]);
});

test('a wait on a closed double ends at once, with an earlier entry if one matches', async () => {
  const double = await startDouble({ https: false });
  await double.fetch('/articles');
  const waiting = assert.rejects(double.journal.waitFor({ path: '/a' }, { timeout: 60_000 }), {
    code: 'closed',
  });
  await double.close();
  await waiting;
  assert.equal((await double.journal.waitFor({ path: '/articles' })).number, 1);
  await assert.rejects(double.journal.waitFor({ path: '/b' }, { timeout: 60_000 }), (error) => {
    assert.ok(error instanceof DoubleError);
    assert.equal(error.code, 'closed');
    assert.match(
      error.message,
      /^No request matched any method \/b before the double was closed\. Requests:/,
    );
    return true;
  });
});
