import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Answer } from '../support/oauth/server.ts';
import { type Seeded, seeded } from '../support/seeded.ts';
import { long } from '../support/store/thoroughness.ts';
import { formatArticle, noCluster, send, signed, startCluster, withPostgres } from './cluster.ts';
import { isLinearizable, type Operation } from './linearizable.ts';

const clientsPerHost = 4;
const operationsPerClient = long ? 120 : 40;
const paths = ['/articles/a', '/articles/b', '/articles/c', '/articles/d', '/articles/e'];

const cluster = withPostgres.skip === false ? await startCluster() : noCluster;

test(
  'reads and conditional changes at three hosts are linearizable, also when connections are cut',
  withPostgres,
  async (t) => {
    const random = seeded();
    t.diagnostic(`SEED=${random.seed}`);
    const histories = new Map<string, Operation[]>(paths.map((path) => [path, []]));
    const clients = cluster
      .running()
      .flatMap((host) => Array.from({ length: clientsPerHost }, () => new Client(host, histories, random)));
    const working = clients.map((client) => client.work());
    await clients[0]?.half;
    await cluster.cutConnections();
    await Promise.all(working);
    const changes = [...histories.values()].flat().filter(({ kind }) => kind !== 'read');
    assert.ok(changes.filter(({ result }) => result !== undefined).length > changes.length / 2);
    for (const [path, history] of histories)
      assert.ok(isLinearizable(history), `${path}: ${JSON.stringify(history)}`);
  },
);

/** Sends one request after the other, and records them. */
class Client {
  /** Resolves when half of the requests were sent. */
  readonly half: Promise<void>;
  #halfDone: () => void = () => {};
  readonly #host: Parameters<typeof send>[0];
  readonly #histories: ReadonlyMap<string, Operation[]>;
  readonly #random: Seeded;
  /** The states that this client saw last, with their entity tags. */
  readonly #seen = new Map<string, { readonly state: string; readonly tag: string }>();
  #written = 0;
  readonly #name: string;

  constructor(host: Parameters<typeof send>[0], histories: ReadonlyMap<string, Operation[]>, random: Seeded) {
    this.#host = host;
    this.#histories = histories;
    this.#random = random;
    this.#name = random.text('abcdefghijklmnop', 12);
    this.half = new Promise((resolve) => {
      this.#halfDone = resolve;
    });
  }

  async work(): Promise<void> {
    for (let number = 0; number < operationsPerClient; number += 1) {
      if (number === operationsPerClient / 2) this.#halfDone();
      await this.#one(this.#random.pick(paths));
    }
  }

  async #one(path: string): Promise<void> {
    const kind = this.#random.pick(['read', 'write', 'write', 'delete'] as const);
    const seen = this.#random.below(2) === 0 ? this.#seen.get(path) : undefined;
    this.#written += 1;
    const value = `${this.#name}-${this.#written}`;
    const fields = seen === undefined ? [] : [['If-Match', seen.tag] as const];
    const request = {
      read: () => signed('GET', path),
      write: () => signed('PUT', path, { content: formatArticle(value), fields }),
      delete: () => signed('DELETE', path, { fields }),
    }[kind]();
    const called = performance.now();
    // A connection that is cut leaves the result unknown, as 503 does.
    const answer = await send(this.#host, request).catch(() => undefined);
    const known = answer !== undefined && answer.status !== 503;
    if (known && kind !== 'delete' && answer.status < 300) this.#remember(path, answer);
    const expected =
      kind === 'read'
        ? undefined
        : seen !== undefined
          ? { state: seen.state }
          : kind === 'delete'
            ? 'present'
            : undefined;
    this.#histories.get(path)?.push({
      kind,
      ...(kind === 'write' && { value }),
      ...(expected !== undefined && { expected }),
      called,
      returned: known ? performance.now() : Number.POSITIVE_INFINITY,
      ...(known && { result: readResult(kind, answer) }),
    });
  }

  #remember(path: string, answer: Answer): void {
    this.#seen.set(path, { state: titleIn(answer), tag: answer.field('ETag') });
  }
}

function titleIn({ text }: Answer): string {
  const { title }: { title: string } = JSON.parse(text);
  return title;
}

function readResult(kind: Operation['kind'], answer: Answer): NonNullable<Operation['result']> {
  const { status, text } = answer;
  assert.ok([200, 201, 204, 404, 412].includes(status), `${status} ${text}`);
  if (kind === 'read') return { state: status === 404 ? undefined : titleIn(answer) };
  return { done: status < 300 };
}
