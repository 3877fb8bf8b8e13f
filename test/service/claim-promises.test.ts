import assert from 'node:assert/strict';
import { createHook } from 'node:async_hooks';
import { test } from 'node:test';
import { article, openUnused, schemeNames, type Unsigned } from './signed-requests.ts';

const list: Unsigned = { method: 'GET', target: '/articles' };
const remove: Unsigned = { method: 'DELETE', target: '/articles/1' };
const put: Unsigned = { method: 'PUT', target: '/articles/1', content: article };

/** Returns the number of promises that are created until a function has finished. */
async function promisesDuring(run: () => Promise<unknown>): Promise<number> {
  let count = 0;
  const hook = createHook({
    init(_id, type) {
      if (type === 'PROMISE') count += 1;
    },
  });
  hook.enable();
  await run();
  hook.disable();
  return count;
}

const synchronous = schemeNames.filter((name) => name !== 'oauth');

for (const scheme of synchronous) {
  test(`with ${scheme} and the embedded engine, a claim creates no promise`, async () => {
    const { sign, send } = openUnused();
    // Code is loaded on first use.
    await send(sign(scheme, { ...list, target: '/articles?first' }));
    const anonymous = await promisesDuring(async () => send({ ...list, headers: [] }));
    const signed = sign(scheme, list);
    const counted = await promisesDuring(async () => assert.equal((await send(signed)).status, 200));
    assert.equal(counted, anonymous);
  });

  test(`with ${scheme} and the embedded engine, a change creates as many promises as without a nonce`, async () => {
    const { sign, send } = openUnused({ hmacSimple: 'all' });
    const counts: number[] = [];
    for (const [name, simple] of [
      [scheme, false],
      ['hmac', true],
      [scheme, false],
    ] as const) {
      await send(sign('hmac', put));
      // A different target, so that the signature is another one where it counts as the nonce.
      const signed = sign(name, { ...remove, target: `/articles/1?n=${counts.length}`, simple });
      counts.push(await promisesDuring(async () => assert.equal((await send(signed)).status, 204)));
    }
    // Code is loaded on first use.
    const [, without, withNonce] = counts;
    assert.equal(withNonce, without);
  });
}
