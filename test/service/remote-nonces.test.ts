import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { action, json, type Resource, StoreError } from '../../src/index.ts';
import { createRequestTrace } from '../../src/pipeline/call.ts';
import type { Observer } from '../../src/pipeline/observer.ts';
import { AuthenticationTrace } from '../../src/schemes/trace.ts';
import type { ServiceOptions } from '../../src/service/options.ts';
import { askRequestToken, openTestService } from '../support/oauth/consumer.ts';
import { createRemoteNonces } from './remote-nonces.ts';
import {
  article,
  openSigned,
  openUnused,
  problemIn,
  type Reply,
  readField,
  schemeNames,
  type Unsigned,
} from './signed-requests.ts';

const list: Unsigned = { method: 'GET', target: '/users/ann/financialrecords' };
const put: Unsigned = { method: 'PUT', target: '/articles/1', content: article };
const remove: Unsigned = { method: 'DELETE', target: '/articles/1' };

/** Requests that are refused after their credentials were accepted, with their status. */
const refusedLate: readonly (readonly [status: number, Unsigned])[] = [
  [403, { method: 'GET', target: '/users/bob/financialrecords' }],
  [404, { ...remove, target: '/articles/none' }],
  [405, { ...put, target: '/articles' }],
  [412, { ...put, fields: [['If-Match', '"other"']] }],
  [415, { ...put, fields: [['Content-Encoding', 'br']] }],
  [422, { ...put, content: '{"title":"Tea"}' }],
];

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

/** Returns a service on nonces of another host. */
function openRemote(options: Parameters<typeof createRemoteNonces>[0] = {}, service: ServiceOptions = {}) {
  const remote = createRemoteNonces(options);
  const { nonces } = remote;
  return openSigned({ nonces, ...service }).then((opened) => ({ ...remote, ...opened }));
}

for (const scheme of schemeNames) {
  describe(`with ${scheme} and an engine on another host`, () => {
    for (const unsigned of [list, put]) {
      test(`a ${unsigned.method} with a fresh nonce is accepted, and its replay is refused as with the embedded engine`, async () => {
        for (const explain of [false, true]) {
          const [remote, embedded] = [await openRemote({}, { explain }), await openSigned({ explain })];
          const once = { ...unsigned, nonce: 'once' };
          const [here, there] = [embedded.sign(scheme, once), remote.sign(scheme, once)];
          const replies = [];
          for (let time = 0; time < 2; time += 1)
            replies.push([await embedded.send(here), await remote.send(there)] as const);
          const [[, passed], [refused, refusedThere]] = replies as [[Reply, Reply], [Reply, Reply]];
          assert.equal(passed.status, unsigned === list ? 200 : 201, passed.text);
          assert.equal(refused.status, 401, refused.text);
          assert.match(problemIn(refused), /^(nonce-replayed|oauth1-nonce-used)$/);
          assert.deepEqual(refusedThere, refused);
        }
      });
    }

    test('one user has at most maxNoncesPerUser nonces, and replays do not count', async () => {
      const { sign, send } = await openRemote({}, { maxNonces: 20, maxNoncesPerUser: 10 });
      const first = sign(scheme, put);
      assert.equal((await send(first)).status, 201);
      for (let replay = 0; replay < 15; replay += 1) assert.equal((await send(first)).status, 401);
      const replies: Reply[] = [];
      while (replies.length < 12 && replies.at(-1)?.status !== 429)
        replies.push(await send(sign(scheme, { ...put, target: `/articles/of-${replies.length}` })));
      const refused = replies.pop();
      assert.equal(refused?.status, 429, refused?.text);
      assert.ok(replies.every(({ status }) => status === 201));
      // The consumer of OAuth has used some of them to obtain its token.
      assert.ok(replies.length === 9 || (scheme === 'oauth' && replies.length > 5), `${replies.length}`);
      assert.ok(refused !== undefined);
      assert.match(String(readField(refused, 'Retry-After')), /^[0-9]+$/);
    });

    test('a replay of a request that failed after authentication is refused as with the embedded engine', async () => {
      for (const [status, unsigned] of refusedLate) {
        const both = [await openSigned(), await openRemote()];
        const refused: Reply[] = [];
        for (const { sign, send } of both) {
          await send(sign('hmac', put));
          const signed = sign(scheme, { ...unsigned, nonce: 'once' });
          const first = await send(signed);
          assert.equal(first.status, status, first.text);
          refused.push(await send(signed));
        }
        assert.equal(refused[0]?.status, 401);
        assert.deepEqual(refused[1], refused[0]);
      }
    });

    test('the trace of a replay equals that of the embedded engine', async () => {
      const [here, there] = [recordingObserver(), recordingObserver()];
      const embedded = await openSigned({ observer: here.observer });
      const remote = await openRemote({}, { observer: there.observer });
      for (const unsigned of [put, { ...remove, target: '/articles/none' }])
        for (const { sign, send } of [embedded, remote]) {
          const signed = sign(scheme, { ...unsigned, nonce: 'once' });
          for (let time = 0; time < 2; time += 1) await send(signed);
        }
      assert.ok(JSON.stringify(there.records).includes('"failedAt":"nonce"'));
      assert.deepEqual(there.records, here.records);
    });

    test('exactly one of 100 simultaneous requests with one nonce is accepted', async () => {
      for (const unsigned of [list, { ...put, target: '/articles/7' }, remove]) {
        const { sign, send } = await openRemote();
        await send(sign('hmac', put));
        const signed = sign(scheme, unsigned);
        const replies = await Promise.all(Array.from({ length: 100 }, () => send(signed)));
        const passed = replies.filter(({ status }) => status < 300);
        const refused = replies.filter(({ status }) => status === 401);
        assert.deepEqual([passed.length, refused.length], [1, 99], unsigned.method);
      }
    });

    test('a request gets 503 with Retry-After if the engine has lost nonces', async () => {
      const remote = createRemoteNonces();
      const { claim } = remote.nonces;
      const state = { isLost: false };
      const nonces = {
        ...remote.nonces,
        claim: (...parts: Parameters<typeof claim>) =>
          state.isLost ? { knownFrom: parts[3] + 30_000 } : claim(...parts),
      };
      const { sign, send } = await openSigned({ nonces, explain: true });
      state.isLost = true;
      for (const unsigned of [list, put]) {
        const reply = await send(sign(scheme, unsigned));
        assert.equal(reply.status, 503, reply.text);
        assert.equal(problemIn(reply), 'nonces-lost');
        assert.equal(readField(reply, 'Retry-After'), '30');
        assert.match(reply.text, /Requests that are signed at .* GMT or later are accepted/);
      }
    });

    test('a request gets 503 without details if the engine cannot be reached, and a change 507 if it is full', async () => {
      for (const code of ['failed', 'full'] as const) {
        const failing = { failure: undefined as Error | undefined };
        const remote = createRemoteNonces();
        const { claim } = remote.nonces;
        const reported: unknown[] = [];
        const nonces = {
          ...remote.nonces,
          claim: (...parts: Parameters<typeof claim>) =>
            failing.failure === undefined ? claim(...parts) : Promise.reject(failing.failure),
        };
        const onError = (error: unknown): unknown => reported.push(error);
        const { sign, send } = await openSigned({ nonces, onError, explain: true });
        failing.failure = new StoreError(code, 'connect ECONNREFUSED 10.0.0.7:5432');
        for (const unsigned of [list, put, remove]) {
          const reply = await send(sign(scheme, unsigned));
          const isFull = code === 'full' && unsigned !== list;
          assert.equal(reply.status, isFull ? 507 : 503, reply.text);
          assert.equal(problemIn(reply), isFull ? 'store-full' : 'store-unavailable');
          if (!isFull) assert.match(readField(reply, 'Retry-After'), /^[1-9][0-9]*$/);
          assert.doesNotMatch(JSON.stringify(reply), /ECONNREFUSED|10\.0\.0\.7/);
        }
        assert.deepEqual(reported, [failing.failure, failing.failure, failing.failure]);
        failing.failure = undefined;
        assert.equal((await send(sign('hmac', { ...put, method: 'GET' }))).status, 404, 'nothing was made');
      }
    });

    test('a request gets 500 and changes nothing if its claim fails in any other way', async () => {
      const failures: (() => never | Promise<never>)[] = [
        () => Promise.reject(new TypeError('cannot read properties of undefined')),
        () => {
          throw new TypeError('cannot read properties of undefined');
        },
      ];
      for (const failure of failures) {
        const remote = createRemoteNonces();
        let failing = false;
        const { claim } = remote.nonces;
        const nonces = {
          ...remote.nonces,
          claim: (...parts: Parameters<typeof claim>) => (failing ? failure() : claim(...parts)),
        };
        const { sign, send } = await openSigned({ nonces, onError: () => {} });
        failing = true;
        for (const unsigned of [list, put]) {
          const reply = await send(sign(scheme, unsigned));
          assert.deepEqual([reply.status, problemIn(reply)], [500, 'internal-error']);
        }
        failing = false;
        assert.equal((await send(sign('hmac', { ...put, method: 'GET' }))).status, 404, 'nothing was made');
      }
    });

    test('a nonce beyond the limit is refused with 503 as with the embedded engine', async () => {
      const [remote, embedded] = [
        await openRemote({ max: 3 }),
        await openSigned({ maxNonces: 3, maxNoncesPerUser: 3 }),
      ];
      const replies = [];
      for (const { sign, send } of [embedded, remote]) {
        await send(sign('hmac', list));
        replies.push(await send(sign(scheme, put)));
      }
      assert.equal(replies[0]?.status, 503);
      assert.deepEqual(replies[1], replies[0]);
    });
  });
}

test('a request token is issued once for a nonce, and not if the engine cannot be reached', async () => {
  const { nonces } = createRemoteNonces();
  const server = openTestService({ nonces });
  const protocol = { oauth_nonce: 'once' };
  const replies = await Promise.all(Array.from({ length: 100 }, () => askRequestToken(server, { protocol })));
  assert.equal(replies.filter(({ status }) => status === 200).length, 1);
  assert.equal(replies.filter(({ text }) => text === 'oauth_problem=nonce_used').length, 99);

  const failing = createRemoteNonces({ failure: new StoreError('failed', 'connect ECONNREFUSED') });
  const without = openTestService({ nonces: failing.nonces, onError: () => {} });
  const refused = await askRequestToken(without);
  assert.equal(refused.status, 503);
  assert.match(refused.field('Retry-After'), /^[1-9][0-9]*$/);
  assert.doesNotMatch(refused.text, /ECONNREFUSED|oauth_token/);
});

test('claims that complete in another order are assigned to their own requests', async () => {
  const { nonces, inFlight } = createRemoteNonces({ byHand: true });
  const { sign, send } = openUnused({ nonces });
  const changes = ['first', 'second', 'third'].map((nonce) => ({
    ...put,
    target: `/articles/${nonce}`,
    nonce,
  }));
  const nothing = { method: 'DELETE', target: '/articles/none', nonce: 'fourth' };
  const answered: number[] = [];
  const replies = [...changes, nothing].map(async (unsigned, place) => {
    const reply = await send(sign('hmac', unsigned));
    answered.push(place);
    return reply.status;
  });
  await settle();
  assert.deepEqual(
    inFlight.map(({ nonce }) => nonce),
    ['first', 'second', 'third', 'fourth'],
  );
  for (const place of [2, 0, 3, 1]) {
    inFlight[place]?.answer();
    await settle();
  }
  assert.deepEqual(await Promise.all(replies), [201, 201, 201, 404]);
  assert.deepEqual(answered, [2, 0, 3, 1]);
});

/** Returns a resource in code that counts its calls, and has no store. */
function countingResource(): { resource: Resource; calls: string[] } {
  const calls: string[] = [];
  const run = action('authenticated', async ({ method }) => {
    await settle();
    calls.push(method);
    return json({ done: true });
  });
  return { resource: { GET: run, PUT: run, POST: run, DELETE: run }, calls };
}

test('an action runs once for 100 requests with one nonce, because the nonce is claimed first', async () => {
  for (const scheme of schemeNames) {
    const { resource, calls } = countingResource();
    const { sign, send } = await openRemote({}, { resources: { '/mail': resource } });
    for (const method of ['POST', 'PUT', 'DELETE', 'GET']) {
      const signed = sign(scheme, { method, target: '/mail' });
      const replies = await Promise.all(Array.from({ length: 100 }, () => send(signed)));
      assert.equal(replies.filter(({ status }) => status === 200).length, 1, method);
      assert.equal(replies.filter(({ status }) => status === 401).length, 99);
    }
    assert.deepEqual(calls, ['POST', 'PUT', 'DELETE', 'GET']);
  }
});

/** Waits until everything that can go on has gone on. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}
