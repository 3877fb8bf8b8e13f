import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMemoryStore } from '../../src/store/memory.ts';
import { storeContract } from '../support/store/contract.ts';

storeContract('a store in memory', async () => createMemoryStore({ storeId: 'm' }));

test('a store in memory has the given store id', () => {
  assert.equal(createMemoryStore({ storeId: 'x7' }).storeId, 'x7');
});
