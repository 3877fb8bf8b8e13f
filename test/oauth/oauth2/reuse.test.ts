import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, type TestContext, test } from 'node:test';
import { systemClock } from '../../../src/clock.ts';
import { openJournaledStore } from '../../../src/store/durable.ts';
import { createMemoryStore } from '../../../src/store/memory.ts';
import { recover } from '../../../src/store/recover.ts';
import type { Store } from '../../../src/store/store.ts';
import {
  type Answer,
  codeFor,
  decide,
  exchange,
  openServer,
  refresh,
  type Server,
  ticketFor,
  tokensFor,
} from '../../support/oauth/server.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const records = '/users/ann/financialrecords';

async function openDirectory(directory: string): Promise<Store> {
  const recovered = await recover({ directory });
  const given = { newStoreId: () => 'd', durability: 'os', clock: systemClock, onWarning: () => {} } as const;
  return openJournaledStore({ directory, recovered, ...given });
}

async function onDisk(context: TestContext): Promise<Store> {
  const store = await openDirectory(temporaryDirectory(context));
  context.after(() => store.close());
  return store;
}

const inMemory = async (): Promise<Store> => createMemoryStore({ storeId: 'm' });

/** Whether an access token is good. */
async function works({ ask }: Server, bearer: string): Promise<boolean> {
  return (await ask('GET', records, { bearer })).status === 200;
}

function tally(answers: readonly Answer[]): string[] {
  return answers.map((answer) => `${answer.status} ${answer.member('error')}`.trim()).sort();
}

for (const [name, open] of [
  ['in memory', inMemory],
  ['in a journal', onDisk],
] as const) {
  describe(`reuse of codes, tokens and tickets, stored ${name}`, () => {
    test('reusing a code by another client ends the tokens as well', async (t) => {
      const server = openServer({ store: await open(t) });
      const code = await codeFor(server);
      const first = await exchange(server, code);
      await exchange(server, code, {}, 'rival:rival-client-secret-0123456789');
      assert.equal(await works(server, first.member('access_token')), false);
    });

    test('reusing a refresh token by another client ends nothing', async (t) => {
      const server = openServer({ store: await open(t) });
      const first = await tokensFor(server);
      const second = await refresh(server, first.refresh);
      await refresh(server, first.refresh, {}, 'rival:rival-client-secret-0123456789');
      assert.equal(await works(server, second.member('access_token')), true);
    });

    test('of eight concurrent exchanges of one code, one returns tokens, and these are not valid', async (t) => {
      const server = openServer({ store: await open(t) });
      const code = await codeFor(server);
      const answers = await Promise.all(Array.from({ length: 8 }, () => exchange(server, code)));
      assert.deepEqual(tally(answers), ['200', ...Array(7).fill('400 invalid_grant')]);
      const winner = answers.find(({ status }) => status === 200);
      assert.equal(await works(server, winner?.member('access_token') ?? ''), false);
    });

    test('of a right and a wrong concurrent exchange of one code, at most one returns tokens, none of them valid', async (t) => {
      const server = openServer({ store: await open(t) });
      const code = await codeFor(server);
      const wrong = { code_verifier: 'x'.repeat(43) };
      const answers = await Promise.all([exchange(server, code, wrong), exchange(server, code)]);
      const access = answers[1]?.member('access_token') ?? '';
      assert.equal(answers[0]?.member('error'), 'invalid_grant');
      assert.equal(access !== '' && (await works(server, access)), false);
    });

    test('of eight concurrent uses of one refresh token, one returns tokens, and the family is not valid', async (t) => {
      const server = openServer({ store: await open(t) });
      const tokens = await tokensFor(server);
      const answers = await Promise.all(Array.from({ length: 8 }, () => refresh(server, tokens.refresh)));
      assert.deepEqual(tally(answers), ['200', ...Array(7).fill('400 invalid_grant')]);
      const winner = answers.find(({ status }) => status === 200);
      for (const access of [tokens.access, winner?.member('access_token') ?? ''])
        assert.equal(await works(server, access), false);
    });

    test('of eight concurrent decisions with one ticket, one returns a code, and the code is valid', async (t) => {
      const server = openServer({ store: await open(t) });
      const ticket = await ticketFor(server);
      const answers = await Promise.all(Array.from({ length: 8 }, () => decide(server, ticket)));
      assert.deepEqual(answers.map(({ status }) => status).sort(), [303, ...Array(7).fill(400)]);
      const code = answers.find(({ status }) => status === 303)?.returned('code') ?? '';
      assert.equal((await exchange(server, code)).status, 200);
    });

    test('a ticket that another user sent is still valid for its own user', async (t) => {
      const server = openServer({ store: await open(t) });
      const ticket = await ticketFor(server);
      assert.equal((await decide(server, ticket, 'allow', 'bob')).status, 400);
      assert.equal((await decide(server, ticket)).status, 303);
    });
  });
}

test('a restart preserves unused tokens and the record of used ones', async (t) => {
  const directory = temporaryDirectory(t);
  const store = await openDirectory(directory);
  const before = openServer({ store });
  const kept = await tokensFor(before);
  const rotated = await tokensFor(before);
  const second = await refresh(before, rotated.refresh);
  const code = await codeFor(before);
  const usedCode = await codeFor(before);
  const ofUsed = await exchange(before, usedCode);
  const ticket = await ticketFor(before);
  const usedTicket = await ticketFor(before);
  await decide(before, usedTicket);
  await store.close();

  const again = await openDirectory(directory);
  t.after(() => again.close());
  const after = openServer({ store: again, random: randomBytes });
  assert.equal(await works(after, kept.access), true);
  assert.equal((await refresh(after, kept.refresh)).status, 200);
  assert.equal((await exchange(after, code)).status, 200);
  assert.equal((await decide(after, ticket)).status, 303);
  assert.equal((await decide(after, usedTicket)).status, 400);
  assert.equal(await works(after, second.member('access_token')), true);
  assert.equal((await refresh(after, rotated.refresh)).member('error'), 'invalid_grant');
  assert.equal(await works(after, second.member('access_token')), false);
  assert.equal(await works(after, ofUsed.member('access_token')), true);
  assert.equal((await exchange(after, usedCode)).member('error'), 'invalid_grant');
  assert.equal(await works(after, ofUsed.member('access_token')), false);
});
