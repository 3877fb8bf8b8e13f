import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type Answer,
  codeFor,
  decide,
  exchange,
  refresh,
  ticketFor,
  tokensFor,
} from '../support/oauth/server.ts';
import { long } from '../support/store/thoroughness.ts';
import { formatArticle, type Host, noCluster, send, signed, startCluster, withPostgres } from './cluster.ts';

const rounds = long ? 1000 : 16;
/** The number of rounds that run at the same time. */
const atOnce = 8;

/** What is offered to all hosts at once: each call sends it to one host. */
type Offer = (host: Host) => Promise<Answer>;

interface Kind {
  readonly what: string;
  /** Prepares one round at a host. */
  prepare(host: Host, round: string): Promise<Offer>;
  readonly success: number;
  readonly refusal: number;
  /** Matches the content of each refusal. */
  readonly reason: RegExp;
}

const replayed = { refusal: 401, reason: /nonce-replayed/ } as const;
const invalidGrant = { refusal: 400, reason: /invalid_grant/ } as const;

const kinds: readonly Kind[] = [
  {
    what: 'nonce of a GET',
    async prepare() {
      const request = signed('GET', '/articles?limit=1');
      return (host) => send(host, request);
    },
    success: 200,
    ...replayed,
  },
  {
    what: 'nonce of a PUT',
    async prepare(_, round) {
      const request = signed('PUT', `/articles/nonce-${round}`, { content: formatArticle('n') });
      return (host) => send(host, request);
    },
    success: 201,
    ...replayed,
  },
  {
    what: 'nonce of a DELETE of nothing',
    async prepare(_, round) {
      const request = signed('DELETE', `/articles/none-${round}`);
      return (host) => send(host, request);
    },
    success: 404,
    ...replayed,
  },
  {
    what: 'entity tag in If-Match',
    async prepare(host, round) {
      const path = `/articles/tag-${round}`;
      const created = await send(host, signed('PUT', path, { content: formatArticle('first') }));
      assert.equal(created.status, 201, created.text);
      const fields = [['If-Match', created.field('ETag')]] as const;
      return (each) => send(each, signed('PUT', path, { content: formatArticle('next'), fields }));
    },
    success: 200,
    refusal: 412,
    reason: /precondition-failed/,
  },
  {
    what: 'authorization code',
    async prepare(host) {
      const code = await codeFor(host);
      return (each) => exchange(each, code);
    },
    success: 200,
    ...invalidGrant,
  },
  {
    what: 'refresh token',
    async prepare(host) {
      const tokens = await tokensFor(host);
      return (each) => refresh(each, tokens.refresh);
    },
    success: 200,
    ...invalidGrant,
  },
  {
    what: 'consent ticket',
    async prepare(host) {
      const ticket = await ticketFor(host);
      return (each) => decide(each, ticket);
    },
    success: 303,
    refusal: 400,
    reason: /./,
  },
];

const cluster = withPostgres.skip === false ? await startCluster() : noCluster;

for (const kind of kinds) {
  test(
    `in each of ${rounds} rounds, three hosts receive the same ${kind.what} at once, and one request succeeds`,
    withPostgres,
    async () => {
      let next = 0;
      const worker = async (): Promise<void> => {
        for (let round = next++; round < rounds; round = next++) await offerToAll(kind, round);
      };
      await Promise.all(Array.from({ length: atOnce }, worker));
    },
  );
}

/**
 * Offers something to all hosts at once. On a busy machine the database may not answer in time: such a round must not have two
 * successes, and is repeated.
 */
async function offerToAll(kind: Kind, round: number): Promise<void> {
  for (let attempt = 0; attempt < 10; attempt += 1) if (await isDecided(kind, `${round}-${attempt}`)) return;
  assert.fail('the database does not answer in time');
}

async function isDecided(kind: Kind, round: string): Promise<boolean> {
  const hosts = cluster.running();
  const host = hosts[Number.parseInt(round, 10) % hosts.length];
  assert.ok(host !== undefined);
  const offer = await kind.prepare(host, round).catch(() => undefined);
  if (offer === undefined) return false;
  const answers = await Promise.all(hosts.map(offer));
  const successes = answers.filter(({ status }) => status === kind.success);
  const isLate = answers.some(({ status }) => status === 503);
  const shown = answers.map(({ status, text }) => `${status} ${text.slice(0, 200)}`).join('\n');
  assert.ok(successes.length === 1 || (isLate && successes.length === 0), `round ${round}: ${shown}`);
  for (const { status, text } of answers) {
    if (status === kind.success || status === 503) continue;
    assert.equal(status, kind.refusal, `round ${round}: ${shown}`);
    assert.match(text, kind.reason);
  }
  return !isLate;
}
