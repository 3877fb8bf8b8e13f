import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { startDouble } from 'countersign/double';
import { createNotes } from './notes.mjs';

let double;

beforeEach(async () => {
  const users = { johndoe: { secret: 's3cret' }, ann: {} };
  double = await startDouble({ users, resources: { '/notes/{user}': createNotes() } });
});

afterEach(() => double.close());

/** Sends a note as the user. */
function put(user, note, headers = {}) {
  const init = { method: 'PUT', body: note, headers: { 'Content-Type': 'text/plain', ...headers } };
  return double.as(user).fetch('/notes/johndoe', init);
}

test('a user writes a note that anyone can read', async () => {
  assert.equal((await put('johndoe', 'Buy tea')).status, 201);
  assert.equal(await (await double.fetch('/notes/johndoe')).text(), 'Buy tea');
});

test('another user is not allowed to write it', async () => {
  assert.equal((await put('ann', 'Buy coffee')).status, 403);
  assert.equal((await double.fetch('/notes/johndoe', { method: 'PUT', body: 'x' })).status, 401);
});

test('a precondition prevents a lost update', async () => {
  await put('johndoe', 'Buy tea');
  const etag = (await double.fetch('/notes/johndoe')).headers.get('ETag');
  assert.equal((await put('johndoe', 'Buy milk', { 'If-Match': etag })).status, 204);
  assert.equal((await put('johndoe', 'Buy eggs', { 'If-Match': etag })).status, 412);
  assert.equal(await (await double.fetch('/notes/johndoe')).text(), 'Buy milk');
});

test('a note with a NUL character is rejected', async () => {
  assert.equal((await put('johndoe', 'Buy\0tea')).status, 422);
  assert.equal((await double.fetch('/notes/johndoe')).status, 404);
});

test('Allow lists what each user can do', async () => {
  await put('johndoe', 'Buy tea');
  const allowed = async (fetch) =>
    (await fetch('/notes/johndoe', { method: 'OPTIONS' })).headers.get('Allow');
  assert.equal(await allowed(double.fetch), 'HEAD, GET, OPTIONS');
  assert.equal(await allowed(double.as('ann').fetch), 'HEAD, GET, OPTIONS');
  assert.equal(await allowed(double.as('johndoe').fetch), 'HEAD, GET, PUT, DELETE, OPTIONS');
});
