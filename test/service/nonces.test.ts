import assert from 'node:assert/strict';
import { test } from 'node:test';
import { signRequest } from '../../src/client/sign.ts';
import { createRequest } from '../../src/http/message.ts';
import type { NonceClaim } from '../../src/principal.ts';
import { createControllableService } from '../../src/service/service.ts';

import { StoreError } from '../../src/store/errors.ts';
import { createMemoryStore } from '../../src/store/memory.ts';
import type { NonceStore } from '../../src/store/nonces/nonces.ts';
import type { Store, StoreChange } from '../../src/store/store.ts';

const content = '<article><title>Tea</title><price currency="EUR">1.00</price></article>';

/** The interface of nonces before claims could return promises. */
interface EarlierNonces {
  claim(
    user: string,
    nonce: string,
    until: number,
    now: number,
  ): 'fresh' | 'seen' | 'full' | { freeAt: number };
  kept(durably: boolean): Promise<void> | undefined;
  hold(): NonceClaim | undefined;
  release(held: NonceClaim, durably: boolean): Promise<void> | undefined;
  readonly size: number;
}

/** A service whose store and nonces tell what they were given. The nonces have the earlier interface. */
function openWatched(release: () => Promise<void> | undefined = () => undefined) {
  const changes: StoreChange[] = [];
  const released: [nonce: string, durably: boolean][] = [];
  let latest: NonceClaim | undefined;
  const memory = createMemoryStore({ storeId: 'test' });
  const store: Store = {
    ...memory,
    apply(change) {
      changes.push(change);
      return memory.apply(change);
    },
  };
  const earlier: EarlierNonces = {
    size: 0,
    claim(user, nonce, until) {
      latest = { user, nonce, until };
      return 'fresh';
    },
    kept: () => undefined,
    hold: () => latest,
    release(held, durably) {
      released.push([held.nonce, durably]);
      return release();
    },
  };
  const nonces: NonceStore = earlier;
  const service = createControllableService({
    store,
    nonces,
    users: { ann: { secret: 'secret' } },
    onError: () => {},
  });
  const send = async (method: string, target: string, nonce: string, body?: string) => {
    const headers = signRequest({
      method,
      url: `http://localhost${target}`,
      user: 'ann',
      secret: 'secret',
      nonce,
    });
    const fields = Object.entries({ ...headers, 'Content-Type': 'application/xml' });
    const reply = await service.respond(
      createRequest({ method, target, headers: fields, ...(body === undefined ? {} : { body: body }) }),
    );
    return reply.status;
  };
  return { send, changes, released };
}

test('each change is stored with the nonce of its request', async () => {
  const { send, changes } = openWatched();
  assert.equal(await send('POST', '/articles', 'made', content), 201);
  assert.equal(await send('PUT', '/articles/1', 'replaced', content), 200);
  assert.equal(await send('POST', '/articles/1', 'changed', '<article><title>Coffee</title></article>'), 200);
  assert.equal(await send('DELETE', '/articles/1', 'deleted'), 204);
  assert.deepEqual(
    changes.map(({ nonce }) => [nonce?.user, nonce?.nonce]),
    [
      ['ann', 'made'],
      ['ann', 'replaced'],
      ['ann', 'changed'],
      ['ann', 'deleted'],
    ],
  );
});

test('the nonce of a request that changes nothing is released before the response', async () => {
  const { send, changes, released } = openWatched();
  assert.equal(
    await send('PUT', '/articles/1', 'refused', '<article><title>No price</title></article>'),
    422,
  );
  assert.equal(await send('DELETE', '/articles/7', 'absent'), 404);
  assert.deepEqual(changes, []);
  assert.deepEqual(released, [
    ['refused', false],
    ['absent', false],
  ]);
});

test('a request that changes nothing gets 507 or 503 if its nonce cannot be stored', async () => {
  for (const [code, status] of [
    ['full', 507],
    ['failed', 503],
  ] as const) {
    const { send } = openWatched(() => Promise.reject(new StoreError(code, 'no')));
    assert.equal(await send('DELETE', '/articles/7', 'absent'), status);
  }
});
