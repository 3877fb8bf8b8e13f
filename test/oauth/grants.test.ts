import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { createManualClock, systemClock } from '../../src/clock.ts';
import { type Found, Grants, type Issued, isLive } from '../../src/oauth/grants.ts';
import type { TokenDraft, TokenEvent } from '../../src/oauth/records.ts';
import { grantsCollection, tokensCollection } from '../../src/oauth/records.ts';
import { hashSha256 } from '../../src/oauth/sha256.ts';
import { openJournaledStore } from '../../src/store/durable.ts';
import { createMemoryStore } from '../../src/store/memory.ts';
import { recover } from '../../src/store/recover.ts';
import type { Store } from '../../src/store/store.ts';
import { seeded } from '../support/seeded.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const start = Date.UTC(2024, 1, 29, 12, 0, 0);
const minute = 60_000;

/** Grants in a store, on a clock that stands. */
interface Opened {
  readonly grants: Grants;
  readonly store: Store;
  readonly clock: ReturnType<typeof createManualClock>;
  readonly events: TokenEvent[];
  /** Closes all and opens what was kept; the same grants where nothing is. */
  restart(): Promise<Grants>;
}

type Open = (context: TestContext) => Promise<Opened>;

const random = seeded(7);
const bytes = (size: number): Uint8Array => Uint8Array.from({ length: size }, () => random.below(256));

async function inMemory(): Promise<Opened> {
  const clock = createManualClock(start);
  const store = createMemoryStore({ storeId: 'm' });
  const events: TokenEvent[] = [];
  const grants = new Grants({ store, clock, random: bytes, onEvent: (event) => events.push(event) });
  return { grants, store, clock, events, restart: async () => grants };
}

async function onDisk(context: TestContext): Promise<Opened> {
  const clock = createManualClock(start);
  const directory = temporaryDirectory(context);
  const events: TokenEvent[] = [];
  const openStore = async (): Promise<Store> =>
    openJournaledStore({
      directory,
      recovered: await recover({ directory }),
      newStoreId: () => 'd',
      durability: 'os',
      clock: systemClock,
      onWarning: () => {},
    });
  let store = await openStore();
  context.after(() => store.close());
  const grantsIn = (kept: Store): Grants =>
    new Grants({ store: kept, clock, random: bytes, onEvent: (event) => events.push(event) });
  return {
    grants: grantsIn(store),
    store,
    clock,
    events,
    async restart() {
      await store.close();
      store = await openStore();
      return grantsIn(store);
    },
  };
}

const draft = (changes: Partial<TokenDraft> = {}): TokenDraft => ({
  mechanism: 'oauth2',
  kind: 'code',
  client: 'app',
  user: 'ann',
  scopes: ['read'],
  expires: start + minute,
  ...changes,
});

const anns = {
  mechanism: 'oauth2',
  client: 'app',
  user: 'ann',
  scopes: ['read'],
  ends: start + 60 * minute,
} as const;

/** The first of what was issued, as it is kept. */
async function kept(grants: Grants, [issued]: readonly (Issued | undefined)[]): Promise<Found> {
  if (issued === undefined) throw new Error('nothing was issued');
  const { mechanism, kind } = issued.token;
  const found = await grants.find(issued.value, mechanism, kind);
  if (found === undefined) throw new Error('what was issued is not kept');
  return found;
}

for (const [name, open] of [
  ['in memory', inMemory],
  ['in a journal', onDisk],
] as const) {
  describe(`grants ${name}`, () => {
    describeTokens(open);
    describeSpending(open);
    describeEnding(open);
    describeSweep(open);
  });
}

function describeTokens(open: Open): void {
  test('a token is found by its value, for its own mechanism and kind alone', async (t) => {
    const { grants } = await open(t);
    const [issued] = await grants.issue([draft({ details: { redirect_uri: 'https://app.example/' } })]);
    assert.match(issued?.value ?? '', /^[A-Za-z0-9_-]{43}$/);
    const found = await kept(grants, [issued]);
    assert.deepEqual(found.token.details, { redirect_uri: 'https://app.example/' });
    assert.deepEqual([found.token.user, found.token.client, found.token.scopes], ['ann', 'app', ['read']]);
    assert.equal(await grants.find(issued?.value ?? '', 'oauth1', 'code'), undefined);
    assert.equal(await grants.find(issued?.value ?? '', 'oauth2', 'access'), undefined);
    assert.equal(await grants.find(hashSha256(issued?.value ?? ''), 'oauth2', 'code'), undefined);
    assert.equal(await grants.find('', 'oauth2', 'code'), undefined);
  });

  test('a token expires with its grant at the latest', async (t) => {
    const { grants } = await open(t);
    const { issued } = await grants.begin({ ...anns, ends: start + 10 }, [
      draft({ expires: start + minute }),
    ]);
    const found = await kept(grants, issued);
    assert.equal(isLive(found, start + 9), true);
    assert.equal(isLive(found, start + 10), false);
  });

  test('an updated token has the added details, and the version before it can no longer be updated or consumed', async (t) => {
    const { grants } = await open(t);
    const found = await kept(grants, await grants.issue([draft({ kind: 'request', user: undefined })]));
    const amended = await grants.update(found, { user: 'ann', details: { tries: '1' } });
    assert.equal(amended?.token.user, 'ann');
    assert.deepEqual(amended?.token.details, { tries: '1' });
    assert.equal(await grants.update(found, { details: { tries: '2' } }), undefined);
    assert.equal(await grants.consume(found), false);
    assert.equal(amended && (await grants.consume(amended)), true);
  });
}

function describeSpending(open: Open): void {
  test('exactly one of twenty concurrent exchanges of a token returns tokens, and only these are reported', async (t) => {
    const { grants, events } = await open(t);
    const { issued } = await grants.begin(anns, [draft({ kind: 'refresh' })]);
    const found = await kept(grants, issued);
    events.length = 0;
    const drafts = [draft({ kind: 'access' }), draft({ kind: 'refresh' })];
    const given = await Promise.all(Array.from({ length: 20 }, () => grants.exchange(found, drafts)));
    const winners = given.filter((each) => each !== undefined);
    assert.equal(winners.length, 1);
    assert.deepEqual(
      events.map(({ type, token }) => `${type} ${token}`),
      ['token-issued access', 'token-issued refresh'],
    );
    for (const one of winners[0] ?? []) assert.equal(isLive(await kept(grants, [one]), start), true);
  });
}

function describeEnding(open: Open): void {
  test('revoking a grant ends all its tokens, also after a restart, and no others', async (t) => {
    const { grants, restart, events } = await open(t);
    const ended = await grants.begin(anns, [draft(), draft({ kind: 'access' })]);
    const other = await grants.begin(anns, [draft({ kind: 'access' })]);
    events.length = 0;
    await grants.revokeGrant(ended.grant.id, 'code');
    await grants.revokeGrant(ended.grant.id, 'code');
    await grants.revokeGrant('unknown');
    assert.deepEqual(events, [
      { type: 'token-reused', mechanism: 'oauth2', client: 'app', user: 'ann', token: 'code' },
    ]);
    for (const each of [grants, await restart()]) {
      for (const one of ended.issued) assert.equal(isLive(await kept(each, [one]), start), false);
      assert.equal(isLive(await kept(each, other.issued), start), true);
    }
  });

  test('a token that is issued for a grant revoked in the meantime is not live', async (t) => {
    const { grants } = await open(t);
    const { grant, issued } = await grants.begin(anns, [draft({ kind: 'code' })]);
    const code = await kept(grants, issued);
    await grants.revokeGrant(grant.id);
    const drawn = await grants.exchange(code, [draft({ kind: 'access' })]);
    assert.ok(drawn !== undefined);
    assert.equal(isLive(await kept(grants, drawn), start), false);
  });

  test('all() iterates over all tokens in the order of issue', async (t) => {
    const { grants } = await open(t);
    const issued = await grants.issue(Array.from({ length: 300 }, () => draft({ kind: 'access' })));
    const digests: string[] = [];
    for await (const { token } of grants.all()) digests.push(token.digest);
    assert.deepEqual(
      digests,
      issued.map(({ token }) => token.digest),
    );
  });
}

function describeSweep(open: Open): void {
  /** How many are kept, once what is under way has settled. */
  const count = async (store: Store, collection: string): Promise<number> => {
    for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
    return (await store.list(collection, 0, 100_000)).entries.length;
  };

  test('expired tokens and grants are removed while others are issued, so that their number stays bounded', async (t) => {
    const { grants, store, clock } = await open(t);
    let most = 0;
    for (let round = 0; round < 400; round += 1) {
      const now = clock.now();
      await grants.begin({ ...anns, ends: now + 20 * minute }, [draft({ expires: now + minute })]);
      await grants.issue([draft({ kind: 'ticket', expires: now + minute })]);
      clock.advance(minute);
      if (round % 50 === 49) most = Math.max(most, await count(store, tokensCollection));
    }
    // Live at a time are 20 codes with their grants, and a ticket.
    assert.ok(most < 80, `${most} tokens are kept`);
    const grantsKept = await count(store, grantsCollection);
    assert.ok(grantsKept < 60, `${grantsKept} grants are kept`);
  });

  test('a used code is remembered as long as its grant lasts, regardless of how many tokens are issued', async (t) => {
    const { grants, clock } = await open(t);
    const { issued } = await grants.begin(anns, [draft()]);
    await grants.consume(await kept(grants, issued));
    clock.advance(59 * minute);
    for (let round = 0; round < 50; round += 1)
      await grants.issue([draft({ expires: clock.now() + minute })]);
    assert.equal((await kept(grants, issued)).token.used, true);
    clock.advance(minute);
    for (let round = 0; round < 50; round += 1)
      await grants.issue([draft({ expires: clock.now() + minute })]);
    assert.equal(await grants.find(issued[0]?.value ?? '', 'oauth2', 'code'), undefined);
  });
}
