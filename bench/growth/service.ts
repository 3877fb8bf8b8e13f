/**
 * Holds a service without a socket in its own process. Its words are the quantity and its size. Each order names an
 * operation and returns the time of one request.
 */

import { createHmac } from 'node:crypto';
import type { CollectionDeclaration } from '../../src/collections/declaration.ts';
import { startDouble } from '../../src/double/index.ts';
import { createRequest, type IncomingRequest } from '../../src/http/message.ts';
import { type ControllableService, createControllableService } from '../../src/service/service.ts';

import { createMemoryStore } from '../../src/store/memory.ts';
import type { Store } from '../../src/store/store.ts';
import { article, articles } from '../data/articles.ts';
import type { Sample } from '../measure/benchmark.ts';
import type { Answer } from '../measure/parts/part.ts';
import { repeating } from '../measure/timing.ts';

type Rounds = Readonly<Record<string, () => Promise<Sample>>>;

/** Creates the service and the rounds that answer the orders. */
export async function part(what = '', size = ''): Promise<Answer> {
  const made = await rounds(what, Number(size));
  return (order) => made[order ?? '']?.() ?? {};
}

function rounds(what: string, size: number): Rounds | Promise<Rounds> {
  switch (what) {
    case 'articles':
      return ofArticles(size);
    case 'users':
      return ofUsers(size);
    case 'stubs':
      return ofStubs(size);
    case 'collections':
      return ofRoutes(size);
    case 'bytes':
      return ofBodies(size);
    default:
      throw new RangeError(`nothing grows that is called ${what}`);
  }
}

async function ofArticles(size: number): Promise<Rounds> {
  const store = createMemoryStore({ storeId: 'bench' });
  for (let number = 0; number < size; number += 1) {
    await store.apply({ kind: 'create', collection: articles, value: article(number), at: 0 });
  }
  const service = createControllableService({ store });
  const someId = picked(size);
  return {
    GET: asking(service, () => get(`${articles}/${someId()}`)),
    page: asking(service, () => get(`${articles}?limit=50&after=${(someId() - 1).toString(36)}`)),
    change: repeating((count) => change(store, someId, count)),
  };
}

async function change(store: Store, someId: () => number, count: number): Promise<void> {
  for (let number = 0; number < count; number += 1) {
    const id = String(someId());
    const expected = (await store.read(articles, id))?.revision ?? 0;
    const value = article(number, 1);
    const applied = await store.apply({ kind: 'put', collection: articles, id, expected, value, at: 0 });
    if (!applied.applied) throw new Error(`article ${id} was not replaced`);
  }
}

/** Requests that are signed by one user after the other. */
function ofUsers(size: number): Rounds {
  const secretOf = (number: number): string => `the secret of user ${number}`;
  const users = new Map(
    Array.from({ length: size }, (_, number) => [`user${number}`, { secret: secretOf(number) }]),
  );
  const service = createControllableService({
    users,
    maxNoncesPerUser: 10_000_000,
    seed: { [articles]: [article(1)] },
  });
  const some = picked(size);
  let made = 0;
  const signed = (): IncomingRequest => {
    const number = some() - 1;
    made += 1;
    const date = new Date().toUTCString();
    const message = `GET+${articles}/1+${date.replaceAll(' ', '')}+n${made}`;
    const digest = createHmac('sha256', secretOf(number)).update(message).digest('base64');
    return get(`${articles}/1`, [
      ['Date', date],
      ['Authentication', `hmac user${number}:n${made}:${digest}`],
    ]);
  };
  return { GET: asking(service, signed) };
}

/** A double with stubs, each with its own path. */
async function ofStubs(size: number): Promise<Rounds> {
  const double = await startDouble({
    https: false,
    stubs: Array.from({ length: size }, (_, index) => ({
      match: { method: 'GET', path: `/v1/partners/p${index}/orders/{id}` },
      response: { body: { id: index } },
      access: 'anyone',
    })),
  });
  const some = picked(size);
  return {
    GET: repeating(async (count) => {
      for (let number = 0; number < count; number += 1)
        await (await double.fetch(`/v1/partners/p${some() - 1}/orders/1`)).text();
    }),
  };
}

/** Declares collections, each with its own path. */
function ofRoutes(size: number): Rounds {
  const declaration: CollectionDeclaration = {
    element: 'things',
    item: 'thing',
    access: { read: 'anyone' },
    fields: { name: { type: 'text' } },
  };
  const collections = Object.fromEntries(
    Array.from({ length: size }, (_, number) => [`/things-${number + 1}`, declaration]),
  );
  const service = createControllableService({ collections });
  const some = picked(size);
  return { GET: asking(service, () => get(`/things-${some()}`)) };
}

/** Returns an article with a title of `bytes` bytes. */
function ofBodies(size: number): Rounds {
  const service = createControllableService({
    users: { demo: { secret: 'a secret' } },
    collections: {
      [articles]: {
        element: 'articles',
        item: 'article',
        access: { read: 'anyone', write: 'anyone' },
        fields: { title: { type: 'text', required: true } },
      },
    },
  });
  const title = 'The Old Man and the Sea '.repeat(size / 24 + 1).slice(0, size);
  const put = (type: string, content: string): (() => IncomingRequest) => {
    const length = String(Buffer.byteLength(content));
    const fields: [string, string][] = [
      ['Host', 'localhost'],
      ['Content-Type', type],
      ['Content-Length', length],
      ['Prefer', 'return=minimal'],
    ];
    const bytes = Buffer.from(content);
    return () => createRequest({ method: 'PUT', target: `${articles}/1`, headers: fields, body: bytes });
  };
  return {
    XML: asking(service, put('application/xml', `<article><title>${title}</title></article>`)),
    JSON: asking(service, put('application/json', JSON.stringify({ title }))),
  };
}

const host: [string, string] = ['Host', 'localhost'];

function get(target: string, fields: readonly [string, string][] = []): IncomingRequest {
  return createRequest({ method: 'GET', target, headers: [host, ...fields] });
}

/** Returns random numbers from 1 to `count`: mulberry32 with a constant seed. */
function picked(count: number): () => number {
  let state = 1;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return 1 + (((mixed ^ (mixed >>> 14)) >>> 0) % count);
  };
}

/** The maximum number of requests in a round. */
const mostRequests = 20_000;

/** Runs rounds of requests that are created beforehand, so that only their handling is measured. Each is sent once. */
function asking(service: ControllableService, make: () => IncomingRequest): () => Promise<Sample> {
  let requests: IncomingRequest[] = [];
  let needed = mostRequests;
  const run = repeating(
    async (count) => {
      needed = count;
      for (let number = 0; number < count; number += 1) {
        const request = requests.pop() ?? make();
        const { status } = await service.respond(request);
        if (status >= 300) throw new Error(`${request.method} ${request.target} is answered ${status}`);
      }
    },
    { most: mostRequests },
  );
  return async () => {
    requests = Array.from({ length: needed }, make);
    await service.ready;
    return run();
  };
}
