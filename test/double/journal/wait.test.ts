import assert from 'node:assert/strict';
import test from 'node:test';
import { DoubleError, startDouble } from '../../../src/double/index.ts';

test('waitFor returns the first matching entry, whether earlier or later', async () => {
  await using double = await startDouble();
  await double.fetch('/a');
  assert.equal((await double.journal.waitFor({ path: '/a' })).number, 1);
  const waiting = double.journal.waitFor({ path: '/b' });
  await double.fetch('/a');
  await double.fetch('/b');
  await double.fetch('/b');
  assert.equal((await waiting).number, 3);
});

test('waitFor ignores entries up to the one of the option after', async () => {
  await using double = await startDouble();
  await double.fetch('/a');
  const first = double.journal.last({ path: '/a' });
  assert.ok(first !== undefined);
  const waiting = double.journal.waitFor({ path: '/a' }, { after: first });
  await double.fetch('/a');
  assert.equal((await waiting).number, 2);
});

test('the timeout error of waitFor lists the requests, and how each differs', async () => {
  await using double = await startDouble({ users: { johndoe: { secret: 'a-secret' } } });
  await double.fetch('/articles');
  await double.as('johndoe').fetch('/articles/1');
  const waiting = double.journal.waitFor(
    { method: 'PUT', path: '/articles/{id}', user: 'johndoe', status: 201, text: 'Tea' },
    { timeout: 10 },
  );
  await assert.rejects(waiting, (error) => {
    assert.ok(error instanceof DoubleError);
    assert.equal(error.code, 'timeout');
    assert.equal(
      error.message,
      `No request matched PUT /articles/{id} by johndoe, status 201, text Tea within 10 ms. Requests:
  #1 GET /articles: 200, step 16 (action)
    the method is GET, not PUT; the path is /articles, not /articles/{id}; the user is nobody, not johndoe; the status is 200, not 201; the content does not contain "Tea"
  #2 GET /articles/1 by johndoe: 404, not-found, step 12 (existence): Nothing is at this address.
    the method is GET, not PUT; the status is 404, not 201; the content does not contain "Tea"`,
    );
    return true;
  });
});

test('the timeout error of waitFor reports that there were no requests, or that the function returned false', async () => {
  await using double = await startDouble();
  await assert.rejects(double.journal.waitFor({ path: /^\/x/ }, { timeout: 1 }), {
    message: 'No request matched any method /^\\/x/ within 1 ms. There were no requests.',
  });
  await double.fetch('/a');
  await assert.rejects(
    double.journal.waitFor(() => false, { timeout: 1 }),
    /No request matched the function .*the function returned false/s,
  );
});

test('the timeout error of waitFor lists only the latest of many requests', async () => {
  await using double = await startDouble();
  for (let times = 0; times < 25; times += 1) await double.fetch(`/a${times}`);
  await assert.rejects(double.journal.waitFor({ path: '/b' }, { timeout: 1 }), ({ message }: Error) => {
    assert.match(message, /\(5 earlier requests\)\n {2}#6 GET \/a5: 404/);
    return true;
  });
});
