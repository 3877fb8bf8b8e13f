import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { createManualClock, type ManualClock } from '../../src/clock.ts';
import type { CollectionDeclaration } from '../../src/collections/declaration.ts';
import type { Response } from '../../src/http/message.ts';
import { createRequest } from '../../src/http/message.ts';
import type { MaybePromise } from '../../src/maybe-promise.ts';
import { type ControllableService, createControllableService } from '../../src/service/service.ts';
import { createMemoryStore } from '../../src/store/memory.ts';
import type { Store, StoredPage } from '../../src/store/store.ts';
import { deferred } from '../support/net/service.ts';
import { exchange, open } from '../support/net/wire.ts';

const things = {
  element: 'things',
  item: 'thing',
  fields: { count: { type: 'integer' } },
  access: { read: 'anyone' },
  sort: ['count'],
} as const satisfies CollectionDeclaration;

/** Takes 20 steps to be searched. */
const size = 5000;

interface Scanned {
  readonly service: ControllableService;
  /** How often the store was read. */
  readonly steps: () => number;
}

/** Creates a service whose store calls `read` with the number of each step of a search. */
function scanned(
  context: TestContext,
  clock: ManualClock,
  read: (step: number) => void | Promise<void>,
): Scanned {
  // Without the method, no index is built.
  const { watch: _, ...memory } = createMemoryStore({ storeId: 'test' });
  for (let at = 0; at < size; at += 1)
    memory.applyNow({ kind: 'create', collection: '/things', value: { count: at }, at: 0 });
  let steps = 0;
  const store: Store = {
    ...memory,
    list(...wanted) {
      if (wanted[0] !== '/things') return memory.list(...wanted);
      steps += 1;
      const waiting = read(steps);
      const page = (): MaybePromise<StoredPage> => memory.list(...wanted);
      return waiting === undefined ? page() : waiting.then(page);
    },
  };
  const service = createControllableService({ clock, store, collections: { '/things': things } });
  context.after(() => service.close({ grace: 0 }));
  return { service, steps: () => steps };
}

function search(service: ControllableService, isOpen: () => boolean = () => true): Promise<Response> {
  const request = createRequest({ method: 'GET', target: '/things?sort=count&limit=1' });
  return service.respond({ ...request, connection: { ...request.connection, isOpen } });
}

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('all searches together take at most 5 ms in a turn of the event loop', async (context) => {
  const clock = createManualClock(Date.UTC(2024, 1, 29));
  const { service, steps } = scanned(context, clock, () => clock.advance(1));
  let answered = 0;
  const searches = Array.from({ length: 20 }, () =>
    search(service).then(({ status }) => {
      assert.equal(status, 200);
      answered += 1;
    }),
  );
  await nextTurn();
  let longest = 0;
  while (answered < searches.length) {
    const before = clock.steady();
    await nextTurn();
    longest = Math.max(longest, clock.steady() - before);
  }
  assert.ok(longest > 0 && longest <= 5, `${longest} ms`);
  assert.equal(steps(), 20 * 20);
});

test('searches proceed if the clock does not advance', async (context) => {
  const { service, steps } = scanned(context, createManualClock(0), () => {});
  const all = Array.from({ length: 20 }, () => search(service));
  await nextTurn();
  const before = steps();
  await nextTurn();
  assert.ok(steps() - before <= 8, `${steps() - before} steps in a turn`);
  for (const { status } of await Promise.all(all)) assert.equal(status, 200);
});

test('at most two searches wait for a slow store at the same time', async (context) => {
  let waiting = 0;
  let most = 0;
  const { service } = scanned(context, createManualClock(0), async (step) => {
    if (step <= 20) return;
    waiting += 1;
    most = Math.max(most, waiting);
    await nextTurn();
    waiting -= 1;
  });
  await Promise.all(Array.from({ length: 20 }, () => search(service)));
  assert.equal(most, 2);
});

for (const [store, wait] of [
  ['in memory', undefined],
  ['on another host', nextTurn],
] as const) {
  test(`a search ${store} ends when its client disconnects, and so do waiting searches`, async (context) => {
    let isOpen = true;
    const { service, steps } = scanned(context, createManualClock(0), (step) => {
      if (step === 8) isOpen = false;
      return wait?.();
    });
    const responses = await Promise.all(Array.from({ length: 4 }, () => search(service, () => isOpen)));
    assert.deepEqual(
      responses.map(({ status }) => status),
      [503, 503, 503, 503],
    );
    assert.ok(steps() <= 9, `${steps()} steps`);
    assert.equal((await search(service)).status, 200);
  });
}

for (const [name, leave] of [
  ['closes', 'close'],
  ['resets', 'reset'],
] as const) {
  test(`a search ends when its client ${name} the connection`, async (context) => {
    const reached = deferred();
    const left = deferred();
    const { service, steps } = scanned(context, createManualClock(0), (step) => {
      if (step !== 4) return undefined;
      reached.resolve();
      return left.promise;
    });
    const { port } = await service.listen({});
    const wire = await open(port);
    await wire.send('GET /things?sort=count HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await reached.promise;
    await wire[leave]();
    const [reply] = await exchange(port, 'GET /things/1 HTTP/1.1\r\nHost: localhost\r\n\r\n');
    assert.equal(reply?.status, 200);
    left.resolve();
    for (let turn = 0; turn < 50; turn += 1) await nextTurn();
    assert.equal(steps(), 4);
  });
}
