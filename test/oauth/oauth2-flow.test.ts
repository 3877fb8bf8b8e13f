import assert from 'node:assert/strict';
import { test } from 'node:test';
import { callback, codeFor, exchange, openServer, tokensFor } from './server.ts';

const annsRecords = '/users/ann/financialrecords';

test('a user allows a client, and the client reads in the name of the user', async () => {
  const server = openServer();
  const reply = await exchange(server, await codeFor(server));
  assert.equal(reply.status, 200);
  assert.equal(reply.field('Cache-Control'), 'no-store');
  assert.equal(reply.field('Pragma'), 'no-cache');
  const { access_token: access, refresh_token: refresh, ...rest } = JSON.parse(reply.text);
  assert.match(access, /^[A-Za-z0-9_-]{43}$/);
  assert.match(refresh, /^[A-Za-z0-9_-]{43}$/);
  assert.deepEqual(rest, { token_type: 'Bearer', expires_in: 3600, scope: 'read write' });
  assert.equal((await server.ask('GET', annsRecords, { bearer: access })).status, 200);
});
