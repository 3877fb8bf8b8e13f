import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Sent as Change, Ledger } from '../support/cli/ledger.ts';
import type { Answer } from '../support/oauth/server.ts';
import { type Seeded, seeded } from '../support/seeded.ts';
import { long } from '../support/store/thoroughness.ts';
import { formatArticle, type Host, noCluster, send, signed, startCluster, withPostgres } from './cluster.ts';

const failures = ['kill -9', 'SIGTERM', 'cut connections', 'crash of the database'] as const;
/** How often each failure occurs. */
const rounds = long ? 3 : 1;
const writers = 16;
/** The number of acknowledged changes before a failure and after it. */
const between = long ? 60 : 30;
const chosenIds = Array.from({ length: 24 }, (_, number) => `chosen-${number}`);

/** The cluster of the running test. */
let cluster = noCluster;

for (const failure of failures)
  test(
    `after ${failure} under load every acknowledged write is there, and no id is used twice`,
    withPostgres,
    async (t) => {
      cluster = await startCluster();
      const random = seeded();
      t.diagnostic(`SEED=${random.seed}`);
      const ledger = new Ledger();
      ledger.settle(await contents());
      for (let round = 0; round < rounds; round += 1) {
        const load = new Load(ledger, random);
        t.after(() => load.stop().catch(() => {}));
        await load.acknowledged(between);
        await fail(failure, random.below(3));
        await load.acknowledged(between);
        await load.stop();
        await startMissing();
        ledger.settle(await contents());
      }
    },
  );

/** Causes a failure, and ends it. A host that was ended is started again later. */
async function fail(failure: (typeof failures)[number], host: number): Promise<void> {
  if (failure === 'kill -9') await cluster.end(host, 'SIGKILL');
  if (failure === 'SIGTERM') assert.equal(await cluster.end(host, 'SIGTERM'), 0);
  if (failure === 'cut connections') await cluster.cutConnections();
  if (failure === 'crash of the database') await cluster.crashDatabase();
}

async function startMissing(): Promise<void> {
  await Promise.all(cluster.hosts.map((host, number) => host ?? cluster.start(number)));
}

/** Reads the titles of all articles by their ids, from each host. All hosts must list the same. */
async function contents(): Promise<ReadonlyMap<string, string>> {
  // A statement of a host that was killed may still run.
  await cluster.idle();
  const [first, ...others] = await Promise.all(cluster.running().map(listAll));
  assert.ok(first !== undefined);
  for (const other of others) assert.deepEqual(other, first);
  return first;
}

async function listAll({ ask }: Host): Promise<Map<string, string>> {
  const all = new Map<string, string>();
  for (let path: string | undefined = '/articles?limit=500'; path !== undefined; ) {
    const { status, text, field } = await ask('GET', path, { fields: [['Accept', 'application/json']] });
    assert.equal(status, 200, text);
    const { articles }: { articles: { href: string; title: string; price: { value: string } }[] } =
      JSON.parse(text);
    for (const { href, title, price } of articles) {
      assert.equal(price.value, `${title.length}.25`);
      assert.ok(!all.has(href), `${href} is listed twice`);
      all.set(href.slice('/articles/'.length), title);
    }
    path = /<([^>]+)>; rel="?next"?/.exec(field('Link'))?.[1];
  }
  return all;
}

let marks = 0;

/** Writers that send changes to random hosts until they are stopped. */
class Load {
  readonly #ledger: Ledger;
  readonly #random: Seeded;
  readonly #working: Promise<unknown>;
  #stopped = false;
  #count = 0;
  #onAcknowledged: () => void = () => {};

  constructor(ledger: Ledger, random: Seeded) {
    this.#ledger = ledger;
    this.#random = random;
    this.#working = Promise.all(Array.from({ length: writers }, () => this.#write()));
    // The failure of one writer is reported where they are awaited, and ends the others.
    this.#working.catch(() => {
      this.#stopped = true;
    });
  }

  /** Resolves when as many further changes have been acknowledged. */
  async acknowledged(further: number): Promise<void> {
    const enough = this.#count + further;
    const reached = new Promise<void>((resolve) => {
      this.#onAcknowledged = () => {
        if (this.#count >= enough) resolve();
      };
    });
    await Promise.race([reached, this.#working]);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#working;
  }

  async #write(): Promise<void> {
    while (!this.#stopped) {
      const host = this.#random.pick(cluster.running());
      const draw = this.#random.below(10);
      if (draw < 4) await this.#create(host);
      else if (draw < 8) await this.#put(host, this.#someId());
      else await this.#delete(host, this.#someId());
    }
  }

  #someId(): string {
    const { present } = this.#ledger;
    return present.length === 0 || this.#random.below(2) === 0
      ? this.#random.pick(chosenIds)
      : this.#random.pick(present);
  }

  #mark(): string {
    marks += 1;
    return `m${marks}-${this.#random.text('abcdefgh', 40)}`;
  }

  async #create(host: Host): Promise<void> {
    const mark = this.#mark();
    const sent = this.#ledger.sending('put', mark);
    const answer = await this.#send(host, 'POST', '/articles', mark);
    if (answer === undefined) return;
    assert.equal(answer.status, 201, answer.text);
    this.#ledger.created(sent, answer.field('Location').slice('/articles/'.length));
    this.#acknowledge();
  }

  async #put(host: Host, id: string): Promise<void> {
    const mark = this.#mark();
    const sent = this.#ledger.sending('put', mark, id);
    const answer = await this.#send(host, 'PUT', `/articles/${id}`, mark);
    if (answer !== undefined) this.#note(sent, id, answer, [200, 201]);
  }

  async #delete(host: Host, id: string): Promise<void> {
    const sent = this.#ledger.sending('delete', '', id);
    const answer = await this.#send(host, 'DELETE', `/articles/${id}`);
    if (answer !== undefined) this.#note(sent, id, answer, [200, 204]);
  }

  #note(sent: Change, id: string, { status, text }: Answer, successes: readonly number[]): void {
    if (successes.includes(status)) {
      this.#ledger.made(sent);
      this.#acknowledge();
      return;
    }
    assert.ok([404, 412].includes(status), `${status} ${text}`);
    this.#ledger.refused(sent, id);
  }

  #acknowledge(): void {
    this.#count += 1;
    this.#onAcknowledged();
  }

  /** Sends a request. Returns undefined if the result is unknown. */
  async #send(host: Host, method: string, path: string, mark?: string): Promise<Answer | undefined> {
    const request = signed(method, path, mark === undefined ? {} : { content: formatArticle(mark) });
    const answer = await send(host, request).catch(() => undefined);
    if (answer?.status !== 503) return answer;
    assert.notEqual(answer.field('Retry-After'), '', '503 has Retry-After');
    return undefined;
  }
}
