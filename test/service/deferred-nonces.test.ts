import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { AuthenticationTrace } from '../../src/auth/trace.ts';
import { signRequest } from '../../src/client/index.ts';
import { compose } from '../../src/double/compose.ts';
import { createSeededRandom } from '../../src/double/state/random.ts';
import { createRequest } from '../../src/http/message.ts';
import {
  action,
  json,
  NonceRefusedError,
  type Resource,
  type ServiceOptions,
  StoreError,
} from '../../src/index.ts';
import { createRequestTrace } from '../../src/pipeline/call.ts';
import type { Observer } from '../../src/pipeline/observer.ts';
import { createRemoteNonces } from './remote-nonces.ts';
import {
  article,
  openSigned,
  openUnused,
  problemIn,
  type Reply,
  type SignedService,
  schemeNames,
  type Unsigned,
} from './signed-requests.ts';

const put: Unsigned = { method: 'PUT', target: '/articles/1', content: article };
const post: Unsigned = { method: 'POST', target: '/articles', content: article };
const remove: Unsigned = { method: 'DELETE', target: '/articles/1' };
const list: Unsigned = { method: 'GET', target: '/articles' };

/** Requests that are refused after their credentials were accepted, with their status. */
const refusedLate: readonly (readonly [status: number, Unsigned])[] = [
  [403, { method: 'GET', target: '/users/bob/financialrecords' }],
  [404, { ...remove, target: '/articles/none' }],
  [405, { ...put, target: '/articles' }],
  [412, { ...put, fields: [['If-Match', '"other"']] }],
  [415, { ...put, fields: [['Content-Encoding', 'br']] }],
  [422, { ...put, content: '{"title":"Tea"}' }],
];

/** Opens two services: one whose engine claims nonces with changes, and one with the embedded engine. */
async function openBoth(options: ServiceOptions = {}, max?: number) {
  const remote = createRemoteNonces({ defers: true, ...(max === undefined ? {} : { max }) });
  const { nonces, store } = remote;
  const limits = max === undefined ? {} : { maxNonces: max, maxNoncesPerUser: max };
  const embedded = await openSigned({ ...options, ...limits });
  return { remote, embedded, deferring: await openSigned({ ...options, nonces, store }) };
}

/** Signs the same request in both services, sends it a number of times, and returns the responses. */
async function repeat({ sign, send }: SignedService, scheme: string, unsigned: Unsigned, times = 2) {
  const signed = sign(scheme, { ...unsigned, nonce: 'once' });
  const replies: Reply[] = [];
  for (let time = 0; time < times; time += 1) replies.push(await send(signed));
  return replies;
}

/** Records how each request was decided. */
function recordingObserver() {
  const records: unknown[] = [];
  const observer: Observer = {
    async observe(request, answer) {
      const authTrace = new AuthenticationTrace();
      const trace = createRequestTrace(authTrace);
      const response = await answer({ ...request, trace: authTrace }, trace);
      const { scheme, passed, failedAt, details } = authTrace;
      records.push({ scheme, passed: [...passed], failedAt, details, step: trace.step });
      records.push([trace.principal?.name, trace.problem?.type]);
      return response;
    },
    observeRefused() {},
  };
  return { observer, records };
}

for (const scheme of schemeNames) {
  describe(`with ${scheme} and an engine that claims a nonce with its change`, () => {
    test('a change is accepted once, and its replay is refused as with the embedded engine', async () => {
      for (const explain of [false, true]) {
        const { remote, embedded, deferring } = await openBoth({ explain });
        const [first, second] = await repeat(deferring, scheme, put);
        const [, refused] = await repeat(embedded, scheme, put);
        assert.equal(first?.status, 201);
        assert.equal(remote.claims.at(-1)?.deferrable, true);
        assert.equal(second?.status, 401);
        assert.deepEqual(second, refused);
      }
    });

    test('a replay of a request that failed after authentication is refused as with the embedded engine', async () => {
      for (const [status, unsigned] of refusedLate) {
        const { embedded, deferring } = await openBoth();
        for (const { sign, send } of [embedded, deferring]) await send(sign('hmac', put));
        const [first, second] = await repeat(deferring, scheme, unsigned);
        const [, refused] = await repeat(embedded, scheme, unsigned);
        assert.equal(first?.status, status, first?.text);
        assert.equal(second?.status, 401);
        assert.deepEqual(second, refused);
      }
    });

    test('a nonce beyond the limit is refused with 503 as with the embedded engine', async () => {
      const { embedded, deferring } = await openBoth({}, 3);
      const replies: Reply[] = [];
      for (const { sign, send } of [embedded, deferring]) {
        await send(sign('hmac', put));
        replies.push(await send(sign(scheme, { ...put, target: '/articles/2' })));
      }
      assert.equal(replies[0]?.status, 503);
      assert.deepEqual(replies[1], replies[0]);
    });

    test('the trace of a replay equals that of the embedded engine', async () => {
      const [here, there] = [recordingObserver(), recordingObserver()];
      const remote = createRemoteNonces({ defers: true });
      const { nonces, store } = remote;
      const embedded = await openSigned({ observer: here.observer });
      const deferring = await openSigned({ observer: there.observer, nonces, store });
      for (const unsigned of [put, { ...remove, target: '/articles/none' }])
        for (const opened of [embedded, deferring]) await repeat(opened, scheme, unsigned);
      assert.ok(JSON.stringify(there.records).includes('"failedAt":"nonce"'));
      assert.deepEqual(there.records, here.records);
    });

    test('exactly one of 100 simultaneous requests with one nonce is accepted', async () => {
      for (const unsigned of [post, put, remove]) {
        const { nonces, store } = createRemoteNonces({ defers: true });
        const { sign, send } = await openSigned({ nonces, store, maxAuthFailures: 0 });
        if (unsigned === remove) await send(sign('hmac', put));
        const signed = sign(scheme, unsigned);
        const replies = await Promise.all(Array.from({ length: 100 }, () => send(signed)));
        const passed = replies.filter(({ status }) => status < 300);
        const refused = replies.filter(({ status }) => status === 401);
        assert.deepEqual([passed.length, refused.length], [1, 99], unsigned.method);
        const { entries } = await store.list('/articles', 0, 500);
        assert.equal(entries.length, unsigned === remove ? 0 : 1);
      }
    });
  });
}

test('replays that are detected late count as failures of the user', async () => {
  const { embedded, deferring } = await openBoth({ maxAuthFailures: 3 });
  const statuses = [];
  for (const opened of [embedded, deferring])
    statuses.push((await repeat(opened, 'hmac', put, 6)).map(({ status }) => status));
  assert.deepEqual(statuses[0], [201, 401, 401, 401, 429, 429]);
  assert.deepEqual(statuses[1], statuses[0]);
});

/** A resource in code that counts its calls, and has no store. */
function countingResource(): { resource: Resource; calls: string[] } {
  const calls: string[] = [];
  const run = action('authenticated', async ({ method }) => {
    await new Promise((resolve) => setImmediate(resolve));
    calls.push(method);
    return json({ done: true });
  });
  return { resource: { GET: { ...run, storesNonce: true }, PUT: run, POST: run, DELETE: run }, calls };
}

test('an action that does not store the nonce runs once, because the nonce is claimed first', async () => {
  for (const scheme of schemeNames) {
    const { resource, calls } = countingResource();
    const { nonces, store, claims } = createRemoteNonces({ defers: true });
    const { sign, send } = await openSigned({ nonces, store, resources: { '/mail': resource } });
    for (const method of ['POST', 'PUT', 'DELETE', 'GET']) {
      const before = claims.length;
      const signed = sign(scheme, { method, target: '/mail' });
      const replies = await Promise.all(Array.from({ length: 100 }, () => send(signed)));
      assert.equal(replies.filter(({ status }) => status === 200).length, 1, method);
      assert.equal(replies.filter(({ status }) => status === 401).length, 99);
      assert.ok(claims.slice(before).every(({ deferrable }) => !deferrable));
    }
    assert.deepEqual(calls, ['POST', 'PUT', 'DELETE', 'GET']);
  }
});

test('nonces of PUT and DELETE are claimed with the change, and those of GET, HEAD and OPTIONS are not', async () => {
  const { nonces, store, claims } = createRemoteNonces({ defers: true });
  const { sign, send } = openUnused({ nonces, store });
  for (const unsigned of [put, list, { ...list, method: 'HEAD' }, { ...put, method: 'OPTIONS' }, remove])
    await send(sign('hmac', { ...unsigned, nonce: unsigned.method }));
  assert.deepEqual(
    claims.filter(({ deferrable }) => deferrable).map(({ nonce }) => nonce),
    ['PUT', 'DELETE'],
  );
});

/** A resource in code that stores the nonce with its change. */
function storingResource(store: ReturnType<typeof createRemoteNonces>['store']): Resource {
  return {
    POST: action(
      'authenticated',
      async ({ principal, now }) => {
        const value = { text: 'sent' };
        await store.apply({ kind: 'create', collection: '/outbox', value, at: now, nonce: principal?.nonce });
        return json({ done: true });
      },
      { storesNonce: true },
    ),
  };
}

test('a resource in code that stores the nonce makes one change for 100 requests with one nonce', async () => {
  const { nonces, store, claims } = createRemoteNonces({ defers: true });
  const { sign, send } = openUnused({ nonces, store, resources: { '/outbox': storingResource(store) } });
  const signed = sign('hmac', { method: 'POST', target: '/outbox' });
  const replies = await Promise.all(Array.from({ length: 100 }, () => send(signed)));
  assert.equal(replies.filter(({ status }) => status === 200).length, 1);
  assert.equal(replies.filter((reply) => problemIn(reply) === 'nonce-replayed').length, 99);
  assert.ok(claims.every(({ deferrable }) => deferrable));
  assert.equal((await store.list('/outbox', 0, 10)).entries.length, 1);
});

test('a request gets 503 if its deferred nonce cannot be claimed', async () => {
  const { nonces, store } = createRemoteNonces({ defers: true });
  const failure = new StoreError('failed', 'connect ECONNREFUSED 10.0.0.7:5432');
  const failing = { ...nonces, release: () => Promise.reject(failure) };
  const { sign, send } = openUnused({ nonces: failing, store, onError: () => {} });
  const reply = await send(sign('hmac', { ...remove, target: '/articles/none' }));
  assert.deepEqual([reply.status, problemIn(reply)], [503, 'store-unavailable']);
  assert.doesNotMatch(JSON.stringify(reply), /ECONNREFUSED|10\.0\.0\.7/);
});

test('a request gets 500 if the engine refuses its nonce after having claimed it', async () => {
  const { nonces, store } = createRemoteNonces();
  const reported: unknown[] = [];
  const refusing = {
    ...nonces,
    hold: (user: string, nonce: string, until: number) => ({ user, nonce, until }),
    release(): never {
      throw new NonceRefusedError('seen');
    },
  };
  const { resource } = countingResource();
  const options = { nonces: refusing, store, resources: { '/mail': resource } };
  const { sign, send } = openUnused({ ...options, onError: (error) => reported.push(error) });
  const reply = await send(sign('hmac', { method: 'POST', target: '/mail' }));
  assert.deepEqual([reply.status, problemIn(reply)], [500, 'internal-error']);
  assert.equal(reported.length, 1);
});

test('a request with several signatures is refused if the nonce of one of them was used', async () => {
  const { embedded, deferring } = await openBoth();
  for (const { sign, send } of [embedded, deferring]) {
    const used = sign('message-signatures', put);
    assert.equal((await send(used)).status, 201);
    const fresh = sign('message-signatures', put);
    const value = ({ headers: fields = [] }: typeof used, name: string): string =>
      fields.find(([known]) => known.toLowerCase() === name)?.[1] ?? '';
    const others = (fresh.headers ?? []).filter(([name]) => !name.toLowerCase().startsWith('signature'));
    const both = ['signature-input', 'signature'].map((name): [string, string] => [
      name,
      `${value(used, name)}, ${value(fresh, name).replace('sig1=', 'sig2=')}`,
    ]);
    const signed = { ...fresh, headers: [...others, ...both] };
    const reply = await send(signed);
    assert.deepEqual([reply.status, problemIn(reply)], [401, 'nonce-replayed']);
  }
});

test('the journal and the events of a controlled service contain a replay that is detected late', async () => {
  const { nonces, store } = createRemoteNonces({ defers: true });
  const users = new Map([['ann', { secret: 'ann-secret' }]]);
  const { service, journal, events } = compose({ users, store, nonces }, { random: createSeededRandom('a') });
  const replays: string[] = [];
  events.on('nonce-replayed', ({ user }) => replays.push(user));
  const target = '/articles/none';
  const signing = { method: 'DELETE', url: `http://localhost${target}`, user: 'ann', secret: 'ann-secret' };
  const fields = Object.entries(signRequest(signing));
  for (const status of [404, 401]) {
    const reply = await service.respond(createRequest({ method: 'DELETE', target, headers: fields }));
    assert.equal(reply.status, status);
  }
  assert.deepEqual(replays, ['ann']);
  const { auth, problem } = journal.journal.last() ?? {};
  assert.equal(problem?.type, 'nonce-replayed');
  assert.deepEqual(auth?.passed, ['parse', 'user', 'digest', 'date']);
  assert.equal(auth?.failedAt, 'nonce');
});

test('a storesNonce that is not true or false is rejected', () => {
  const resource = { POST: { ...action('anyone', () => json({})), storesNonce: 'yes' } };
  assert.throws(
    () => openUnused(Object.fromEntries([['resources', { '/mail': resource }]])),
    /POST\.storesNonce of the resource at \/mail must be true or false, is a string$/,
  );
});
