import assert from 'node:assert/strict';
import test from 'node:test';
import { signRequest } from '../../../src/client/index.ts';
import { type Double, startDouble } from '../../../src/double/index.ts';

const collections = {
  '/notes': {
    element: 'notes',
    item: 'note',
    fields: { text: { type: 'text', required: true } },
    access: { read: 'anyone', write: 'authenticated' },
    idempotency: 'accepted',
  },
} as const;
const options = { users: { johndoe: { secret: 'a-secret' } }, collections, now: '2026-03-01T12:00:00Z' };
const note = { method: 'POST', body: '<note><text>Hello</text></note>' };
const keyed = { ...note, headers: { 'Idempotency-Key': '"8e03978e-40d5-43e8-bc93-6894a57f9324"' } };

async function countNotes(double: Double): Promise<number> {
  const list = await double.fetch('/notes', { headers: { Accept: 'application/json' } });
  const { notes } = JSON.parse(await list.text());
  return notes.length;
}

test('lostAfterActing makes the change, and the client gets a reset instead of a response', async () => {
  await using double = await startDouble(options);
  const url = `${double.url}/notes`;
  const signed = { method: 'POST', url, user: 'johndoe', secret: 'a-secret', date: '01 mar 2026 12:00:00' };
  const overSocket = () =>
    fetch(url, { ...note, headers: { ...signRequest(signed), 'Content-Type': 'application/xml' } });
  const inProcess = () => double.as('johndoe').fetch('/notes', note);
  for (const [made, post] of [overSocket, inProcess].entries()) {
    double.faults.next({}, { lostAfterActing: true });
    await assert.rejects(post(), (error) => {
      assert.ok(error instanceof TypeError && error.cause instanceof Error);
      return Reflect.get(error.cause, 'code') === 'ECONNRESET';
    });
    assert.equal(await countNotes(double), made + 1);
  }
});

test('lostAfterActing waits for a request that makes a change', async () => {
  await using double = await startDouble(options);
  const planned = double.faults.next({}, { lostAfterActing: true });
  assert.equal((await double.fetch('/notes', note)).status, 401);
  assert.equal((await double.fetch('/notes')).status, 200);
  assert.deepEqual([planned.remaining, planned.count], [1, 0]);
  await assert.rejects(double.as('johndoe').fetch('/notes', note));
  assert.deepEqual([planned.remaining, planned.count], [0, 1]);
});

test('lostAfterActing also loses a response without content', async () => {
  await using double = await startDouble(options);
  const john = double.as('johndoe');
  await john.fetch('/notes', note);
  double.faults.next({ method: 'DELETE' }, { lostAfterActing: true });
  await assert.rejects(john.fetch('/notes/1', { method: 'DELETE' }));
  assert.equal(await countNotes(double), 0);
});

test('a client that repeats a lost request with its Idempotency-Key makes one change', async () => {
  await using double = await startDouble(options);
  const john = double.as('johndoe');
  double.faults.next({ method: 'POST' }, { lostAfterActing: true });
  await assert.rejects(john.fetch('/notes', keyed));
  const again = await john.fetch('/notes', keyed);
  assert.deepEqual([again.status, again.headers.get('location')], [201, '/notes/1']);
  assert.equal(await countNotes(double), 1);
});

test('idempotency keys expire by the clock of the double', async () => {
  await using double = await startDouble(options);
  const john = double.as('johndoe');
  await john.fetch('/notes', keyed);
  double.clock.advance('23h');
  assert.equal((await john.fetch('/notes', keyed)).headers.get('location'), '/notes/1');
  double.clock.advance('1h');
  assert.equal((await john.fetch('/notes', keyed)).headers.get('location'), '/notes/2');
});

test('a snapshot contains idempotency keys, and a reset removes them', async () => {
  await using double = await startDouble(options);
  const john = double.as('johndoe');
  await john.fetch('/notes', keyed);
  const snapshot = double.snapshot();
  double.reset();
  await john.fetch('/notes', { ...note, body: '<note><text>Other</text></note>' });
  assert.equal((await john.fetch('/notes', keyed)).headers.get('location'), '/notes/2');
  double.restore(snapshot);
  assert.equal((await john.fetch('/notes', keyed)).headers.get('location'), '/notes/1');
  assert.equal(await countNotes(double), 1);
});
