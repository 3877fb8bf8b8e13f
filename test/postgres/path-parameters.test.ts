import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createService } from '../../src/index.ts';
import { openPostgresStore } from '../../src/postgres/index.ts';
import { createMemoryStore } from '../../src/store/memory.ts';
import type { Store } from '../../src/store/store.ts';
import { missingPostgres, startServer } from '../support/postgres/server.ts';

const notes = {
  element: 'notes',
  item: 'note',
  fields: { text: { type: 'text' } },
  access: { read: 'anyone', write: 'anyone' },
  createWithPut: true,
  idempotency: 'accepted',
} as const;

const parameters: readonly [what: string, text: string][] = [
  ['plain text', 'ann'],
  ['the longest text that is stored', 'x'.repeat(1985)],
  ['a text that is one byte too long', 'x'.repeat(1986)],
  ['a text of 3,000 bytes', 'x'.repeat(3000)],
  ['900 bytes that are 2,700 when they are encoded', '%C3%A9'.repeat(450)],
  ['NUL', 'a%00b'],
  ['a line end', 'a%0Ab'],
  ['invalid UTF-8', 'a%FFb'],
  ['a lone surrogate', 'a%ED%A0%80b'],
  ['a slash', 'a%2Fb'],
  ['quotation marks and backslashes', '%22%5C'.repeat(300)],
];

/** Returns the statuses of requests to the collection of a user and to its items. */
async function statuses(store: Store, user: string): Promise<number[]> {
  const service = createService({ store, collections: { '/users/{user}/notes': notes } });
  const headers = { 'Content-Type': 'application/json', 'Idempotency-Key': `"${'k'.repeat(200)}"` };
  const send = async (method: string, path: string, body?: string): Promise<number> => {
    const sent = { method, headers, ...(body !== undefined && { body }) };
    return (await service.fetch(`http://localhost/users/${user}${path}`, sent)).status;
  };
  const text = '{"text":"a"}';
  return [
    await send('GET', '/notes'),
    await send('POST', '/notes', text),
    await send('PUT', '/notes/own', text),
    await send('PUT', `/notes/${'y'.repeat(129)}`, text),
    await send('GET', '/notes/own'),
    await send('POST', '/notes/own', text),
    await send('DELETE', '/notes/own'),
  ];
}

if (missingPostgres === false) {
  const server = await startServer();
  const client = server.pool();
  for (const [what, user] of parameters)
    test(`over PostgreSQL, a path parameter with ${what} gets the same statuses as in memory`, async () => {
      const store = await openPostgresStore(client, { schema: server.schema(), endClient: false });
      const here = await statuses(createMemoryStore({ storeId: 'a' }), user);
      assert.deepEqual(await statuses(store, user), here);
      assert.ok(
        here.every((status) => status < 500),
        `${here}`,
      );
      await store.close();
    });
} else {
  test('path parameters over PostgreSQL', { skip: missingPostgres }, () => {});
}
